#include "load/given.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/living_thread.h"
#include "files/paths.h"

namespace mlbcc::load {
namespace {

constexpr size_t kMaxSeen = 1 << 20;  // processes and addresses that are remembered

const Mapping* mapping_of(const std::vector<Mapping>& maps, uint64_t address) {
    auto found = std::ranges::find_if(
        maps, [&](const Mapping& one) { return one.start <= address && address < one.end; });
    return found == maps.end() ? nullptr : &*found;
}

// The file as we can open it, whatever mount namespace the process is in.
std::string path_of(const Mapping& mapping, uint32_t pid) {
    std::string path =
        fmt::format("/proc/{}/root{}", living_thread(static_cast<int>(pid)), mapping.path);
    auto file = files::file_id(path);
    return file && file->inode == mapping.inode ? path : mapping.path;
}

}  // namespace

void GivenFunctions::find_clauses() {
    const auto& probes = frontend_.plan.probes;
    for (size_t i = clauses_.size(); i < probes.size(); ++i) {
        std::vector<Clause>& found = clauses_.emplace_back();
        for (bool at_return : {false, true}) {
            const auto& record = at_return ? probes[i].ret : probes[i].entry;
            if (!record) continue;
            for (const plan::Emit& emit : record->emits) {
                const auto* trace = std::get_if<plan::TraceEmit>(&emit.what);
                if (trace == nullptr) continue;
                found.push_back({emit.mask, at_return, &record->layout.fields[trace->address],
                                 &record->layout.fields[trace->name]});
            }
        }
    }
}

void GivenFunctions::look_at(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(plan::RecordHeader)) return;
    const event::Record record(bytes);
    if (record.kind() == plan::RecordKind::process) return;
    if (clauses_.size() < frontend_.plan.probes.size()) find_clauses();
    if (record.header.probe >= clauses_.size()) return;
    for (const Clause& one : clauses_[record.header.probe]) {
        bool applies = one.at_return == (record.kind() == plan::RecordKind::ret) &&
                       (record.hits() & one.mask) != 0;
        size_t needed =
            std::max(one.address->offset + one.address->size, one.name->offset + one.name->size);
        if (applies && bytes.size() >= needed) add_answer(record, one);
    }
}

void GivenFunctions::add_answer(const event::Record& record, const Clause& clause) {
    auto address = read_at<uint64_t>(record.bytes, clause.address->offset);
    if (address == 0) return;  // there is no such function
    std::string_view name = text_at(record.bytes, clause.name->offset, clause.name->size);
    Answer answer{static_cast<plan::ProbeId>(record.header.probe), record.header.pid, address,
                  std::string(name)};
    ++library_of(answer).totals.answers;
    if (seen_.size() >= kMaxSeen) seen_.clear();
    if (seen_.emplace(answer.pid, address).second) new_.push_back(std::move(answer));
}

GivenFunctions::Library& GivenFunctions::library_of(const Answer& answer) {
    const target::UserFunction& giver = frontend_.function(answer.giver);
    auto [found, is_new] = libraries_.try_emplace(giver.path);
    Library& library = found->second;
    if (!is_new) return library;
    library.totals.library = giver.soname;
    for (const plan::ProbePlan& probe : frontend_.plan.probes) {
        if (probe.kind != plan::ProbeKind::function) continue;
        const target::UserFunction& one = frontend_.function(probe.id);
        if (one.path == giver.path) library.known.insert(one.offset);
    }
    return library;
}

// A library that came while the trace ran is known by its name only.
bool GivenFunctions::is_of(const Mapping& mapping, const target::UserFunction& giver) const {
    auto file = files::file_id(giver.path);
    return (file && file->inode == mapping.inode) ||
           files::file_name(mapping.path) == giver.soname || mapping.path == giver.path;
}

std::vector<std::string> GivenFunctions::probe_new() {
    std::vector<std::string> notes;
    Maps maps;
    for (const Answer& answer : std::exchange(new_, {})) {
        if (!maps.contains(answer.pid)) {
            auto read = process::read_maps(static_cast<int>(answer.pid));
            maps[answer.pid] = read ? std::move(*read) : std::vector<Mapping>();
        }
        add(answer, maps, notes);
    }
    return notes;
}

void GivenFunctions::add(const Answer& answer, Maps& maps, std::vector<std::string>& notes) {
    Library& library = library_of(answer);
    const target::UserFunction& giver = frontend_.function(answer.giver);
    const Mapping* mapping = mapping_of(maps[answer.pid], answer.address);
    if (mapping == nullptr) {
        ++library.totals.unseen;
        return;
    }
    const uint64_t offset = answer.address - mapping->start + mapping->offset;
    const bool own = is_of(*mapping, giver);
    if (own && is_function(answer, library, offset)) return;
    const plan::ProbePlan* form = highest_form(answer);
    if (form == nullptr) return;  // no rule wants it
    library.known.insert(offset);
    elsewhere_.push_back(answer);
    std::string said =
        fmt::format("{} gave process {} an address for {} where no function of {} begins",
                    giver.base, answer.pid, form->function, giver.soname);
    Result<void> done = own ? probe(*form, offset, path_of(*mapping, answer.pid))
                            : Error{fmt::format("it lies in {}",
                                                mapping->path.empty() ? "no file" : mapping->path)};
    notes.push_back(
        done ? said + ": traced there, too, from now on"
             : fmt::format("{}, and is not traced there: {}", said, done.error().message()));
    (done ? library.totals.elsewhere : library.totals.untraced).push_back(form->function);
}

void GivenFunctions::join(const GivenFunctions& other) {
    find_clauses();
    for (Answer answer : other.elsewhere_) {
        const target::UserFunction& theirs = other.frontend_.function(answer.giver);
        auto gives = [&](const plan::ProbePlan& probe) {
            if (clauses_[static_cast<uint32_t>(probe.id)].empty()) return false;
            const target::UserFunction& ours = frontend_.function(probe.id);
            return ours.symbol == theirs.symbol && ours.soname == theirs.soname;
        };
        const auto& probes = frontend_.plan.probes;
        auto giver = std::ranges::find_if(probes, gives);
        if (giver == probes.end()) continue;
        answer.giver = giver->id;
        seen_.emplace(answer.pid, answer.address);
        new_.push_back(std::move(answer));
    }
}

// Whether a function begins there that the rules could name: what they do not is none of ours.
bool GivenFunctions::is_function(const Answer& answer, Library& library, uint64_t offset) {
    if (library.known.contains(offset)) return true;
    Result<target::Symbols> symbols =
        frontend_.host->symbols(frontend_.function(answer.giver).path);
    if (!symbols) return false;
    return std::ranges::any_of(symbols->functions, [&](const target::Symbol& one) {
        return one.offset == offset && one.name.starts_with(answer.name);
    });
}

const plan::ProbePlan* GivenFunctions::highest_form(const Answer& answer) const {
    const std::string& path = frontend_.function(answer.giver).path;
    const plan::ProbePlan* best = nullptr;
    for (const plan::ProbePlan& probe : frontend_.plan.probes) {
        if (probe.kind != plan::ProbeKind::function) continue;
        if (probe.function != answer.name && probe.symbol != answer.name) continue;
        if (frontend_.function(probe.id).path != path) continue;
        bool better = best == nullptr || target::is_higher_form(probe.symbol, best->symbol);
        if (better) best = &probe;
    }
    return best;
}

// What comes by the library's own function and is passed on to this one is that function's call:
// it shows by the return probe that is open.
Result<void> GivenFunctions::probe(const plan::ProbePlan& form, uint64_t offset, std::string path) {
    if (!form.has_return()) {
        return Error{"`on entry` rules would count twice the calls that are passed on to it"};
    }
    if (form.ends_at_instructions())
        return Error{"a return probe, by which it would be told apart, would do harm"};
    target::Probe probe = *form.probe;
    auto& function = std::get<target::UserFunction>(probe.at);
    function.path = std::move(path);
    function.offset = offset;
    function.size = 0;
    function.aliases.clear();
    Diagnostics found;
    std::vector<target::Probe> probes;
    probes.push_back(std::move(probe));
    plan::Growth growth = plan::grow(frontend_.plan, std::move(probes), frontend_.rules, found);
    frontend_.entries.resize(frontend_.plan.probes.size(), {0, "+0, where a program was sent"});
    if (!growth.left_out.empty()) return Error{"there is no room for it"};
    if (auto done = loaded_.tell_rules(frontend_.plan, growth.first_probe); !done) return done;
    auto attached = loaded_.attach_but_for_jumps(frontend_, growth.first_probe);
    if (!attached) return attached.error();
    return {};
}

std::vector<sink::GivenAddresses> GivenFunctions::totals() const {
    std::vector<sink::GivenAddresses> all;
    for (const auto& [path, library] : libraries_) {
        all.push_back(library.totals);
        for (const Answer& answer : new_) {
            if (frontend_.function(answer.giver).path == path) ++all.back().unseen;
        }
    }
    return all;
}

}  // namespace mlbcc::load
