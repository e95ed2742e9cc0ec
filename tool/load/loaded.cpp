// What is loaded: its programs, and how functions are attached to them, at the start and later.
#include <algorithm>
#include <map>

#include "load/loader.h"

namespace mlbcc::load {

using codegen::AttachMode;
using codegen::Side;

AttachMode Loaded::mode_of(Side side) const {
    codegen::Options options;
    options.mode = mode;
    options.kernel_mode = kernel_mode;
    return options.mode_of(side);
}

bool Loaded::is_dispatched(Side side) const {
    return mode_of(side) != AttachMode::perf && !program.direct[side];
}

uint64_t Loaded::missed() const {
    uint64_t sum = kernel.skipped();
    for (const bpf::Dispatcher& one : dispatchers) sum += one.skipped();
    for (const bpf::Attachment& one : attachments) sum += one.missed();
    return sum;
}

bpf::Programs Loaded::programs(Side side) const {
    if (is_dispatched(side)) return dispatchers[side].programs();
    bpf::Programs all;
    for (const codegen::Function& one : program.functions) {
        all.emplace(one.kind, kernel.program(one.name));
    }
    return all;
}

Result<void> Loaded::tell_rules(const plan::Plan& plan, size_t first) {
    bpf::Map* map = kernel.map(codegen::maps::kRecordRules);
    if (map == nullptr) return Error{"the programs have no table of rules"};
    std::vector<uint32_t> indices;
    std::vector<uint64_t> values;
    const size_t words = codegen::record_rules_words(plan);
    const std::vector<codegen::AccountedRules> sets = codegen::rule_sets(plan);
    for (size_t i = first; i < plan.probes.size(); ++i) {
        const plan::ProbePlan& probe = plan.probes[i];
        for (bool at_return : {false, true}) {
            const std::optional<plan::RecordPlan>& record = at_return ? probe.ret : probe.entry;
            if (!record) continue;
            indices.push_back(codegen::record_index(probe.id, at_return));
            const std::vector<uint64_t> rules = codegen::record_rules(*record, words, sets);
            values.insert(values.end(), rules.begin(), rules.end());
        }
    }
    return map->update(std::as_bytes(std::span(indices)), std::as_bytes(std::span(values)));
}

// A function is attached in the file that it is in, or that comes for it.
Result<Attached> Loaded::attach_functions(const Frontend& frontend, size_t first) {
    return attach_files(sites_of(frontend, first, false));
}

Result<Attached> Loaded::attach_side(const Frontend& frontend, Side side) {
    return attach_files(sites_of(frontend, 0, false, side));
}

Result<Attached> Loaded::attach_but_for_jumps(const Frontend& frontend, size_t first) {
    Result<bpf::Programs> others = dispatchers[Side::user].programs_but_for_jumps();
    if (!others) return others.error();
    return attach_files(sites_of(frontend, first, false), &*others);
}

Result<Attached> Loaded::attach_until_known(const Frontend& frontend) {
    Attached done;
    for (const auto& [where, sites] : sites_of(frontend, 0, true)) {
        const auto& [path, side] = where;
        auto made = attach_file(path, side, sites, programs(side), learning, done);
        if (!made) return made.error();
    }
    return done;
}

Loaded::Sites Loaded::sites_of(const Frontend& frontend, size_t first, bool until_known,
                               std::optional<Side> wanted) {
    Sites by_file;
    for (size_t i = first; i < frontend.plan.probes.size(); ++i) {
        const plan::ProbePlan& probe = frontend.plan.probes[i];
        if (probe.kind != plan::ProbeKind::function || probe.until_known != until_known) continue;
        const Side side = codegen::side_of(probe);
        if (wanted && side != *wanted) continue;
        const target::UserFunction& function = frontend.function(probe.id);
        const EntryPlace& place = frontend.entries[i];
        if (function.path.empty()) continue;  // it is only expected
        if (place.refused) {
            refused.push_back({probe.id, ENOTSUP});
            continue;
        }
        if (probe.ends_at_instructions() && !place.no_end.empty()) {
            refused.push_back({probe.id, ENOTSUP, place.no_end});
            continue;
        }
        if (!place.leaves.empty()) leaving.push_back(probe.id);
        if (place.stepped) stepped_entries.insert(probe.id);
        by_file[{function.path, side}].push_back(
            {&probe, function.offset + place.offset, 0, place.ends, place.role});
    }
    return by_file;
}

Result<Attached> Loaded::attach_files(const Sites& all, const bpf::Programs* of_user) {
    Attached done;
    for (const auto& [where, sites] : all) {
        const auto& [path, side] = where;
        const bool others = side == Side::user && of_user != nullptr;
        auto made =
            attach_file(path, side, sites, others ? *of_user : programs(side), attachments, done);
        if (!made) return made.error();
    }
    probes += done.functions;
    return done;
}

Result<void> Loaded::attach_file(const std::string& path, Side side,
                                 std::span<const bpf::Site> sites, const bpf::Programs& programs,
                                 std::vector<bpf::Attachment>& to, Attached& done) {
    Result<bpf::Attachment> made =
        mode == AttachMode::perf ? bpf::Attachment::functions_by_perf(path, sites, kernel, program)
                                 : bpf::Attachment::functions(path, sites, programs, mode_of(side));
    if (!made) return made.error();
    done.functions += sites.size() - made->refused.size();
    done.links += made->links();
    refused.insert(refused.end(), made->refused.begin(), made->refused.end());
    to.push_back(std::move(*made));
    if (auto touching = bpf::Attachment::touch_texts(path, sites, mode_of(side))) {
        done.links += touching->links();
        to.push_back(std::move(*touching));
    }
    return {};
}

}  // namespace mlbcc::load
