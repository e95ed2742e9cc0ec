#include "codegen/settings.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/groups.h"
#include "codegen/rooms.h"
#include "codegen/shape.h"

namespace mlbcc::codegen {
namespace {

constexpr uint32_t kThreadBytes = 16384;                 // of frames, at most
constexpr uint32_t kSlots = 4096, kSlotsOfFrames = 256;  // threads with state of their own
constexpr uint32_t kMovingBytes = 32U << 20;             // of open calls without a thread, at most
constexpr uint32_t kMaxFrames = 64;  // the kernel keeps as many open return probes a thread
constexpr size_t kWorkBytes = size_t{4} << 20;  // of `work`, at most, where one part is not more

// How many CPUs have a part of their own; a power of two.
size_t work_parts(size_t probes, uint32_t cpus) {
    const size_t fit = std::max<size_t>(1, kWorkBytes / (probes * sizeof(ProbeWork)));
    return std::min(std::bit_floor(fit), std::bit_ceil(size_t{std::max(1u, cpus)}));
}

uint32_t saved_bytes(const plan::Plan& plan) {  // of a frame
    return std::max(8 * plan::argument_registers(plan.arch), (plan.frame_save_bytes + 7) / 8 * 8);
}

std::string sizes(const plan::Plan& plan, const Options& options, bool uses_frames) {
    uint32_t saved = saved_bytes(plan);
    uint32_t frame = 32 + saved + 8 * plan.owns(), frames = kMaxFrames;
    while (frames > 8 && frames * frame > kThreadBytes) frames /= 2;
    std::string own = plan.owns() ? fmt::format("#define MLBCC_OWN {}\n", plan.owns()) : "";
    size_t rules = plan.rules.size();
    const size_t probes = std::max<size_t>(1, plan.probes.size() + options.spare_probes);
    return own + fmt::format("#define MLBCC_SAVED_BYTES {}\n#define MLBCC_FRAMES {}\n"
                             "#define MLBCC_SCRATCH_BYTES {}\n#define MLBCC_SLOTS {}\n"
                             "#define MLBCC_ACCOUNTS {}\n#define MLBCC_SHARED {}\n"
                             "#define MLBCC_PROCESS_RECORDS {}\n"
                             "#define MLBCC_RULES {}\n#define MLBCC_RECORDS {}\n"
                             "#define MLBCC_WORK_PARTS {}\n",
                             saved, frames, (std::max(8u, plan.record_bytes) + 7) / 8 * 8,
                             uses_frames ? kSlotsOfFrames : kSlots, accounts(plan), rules,
                             rules + 1, most_rules(plan), 2 * probes,
                             work_parts(probes, options.cpus));
}

// In the middle of the kernel's own work there may be no memory to be had for a new group.
bool needs_ready_groups(const plan::Plan& plan, const plan::Aggregate& aggregate) {
    return std::ranges::any_of(plan.probes, [&](const plan::ProbePlan& probe) {
        bool in_kernel =
            probe.kind == plan::ProbeKind::tracepoint || probe.kind == plan::ProbeKind::kernel;
        return in_kernel &&
               std::ranges::any_of(probe.aggregates, [&](const plan::AggregateUse& use) {
                   return use.aggregate == aggregate.id;
               });
    });
}

// How many calls may be open that are on no thread's stack.
std::string moving_calls(const plan::Plan& plan) {
    if (!has_moving(plan)) return {};
    return fmt::format("#define MLBCC_MOVING {}\n",
                       std::clamp(kMovingBytes / (64 + saved_bytes(plan)), 1024U, 65536U));
}

std::string awaited_returns(const Options& options) {
    if (!options.task_uprobes_offset || !options.return_instances_offset) return "";
    std::string out =
        fmt::format("#define MLBCC_TASK_UPROBES {}\n#define MLBCC_RETURN_INSTANCES {}\n",
                    *options.task_uprobes_offset, *options.return_instances_offset);
    if (options.awaited_offset)
        out += fmt::format("#define MLBCC_AWAITED {}\n", *options.awaited_offset);
    if (const auto& one = options.return_instance)
        out += fmt::format("#define MLBCC_AWAITED_NEXT {}\n#define MLBCC_AWAITED_SP {}\n"
                           "#define MLBCC_AWAITED_TO {}\n",
                           one->next, one->sp, one->address);
    return out;
}

// Of the uprobe whose `ret` programs do.
std::string places_of_returns(const Options& options) {
    if (!options.return_places) return {};
    const ReturnPlaces& at = *options.return_places;
    std::string out = fmt::format("#define MLBCC_UPROBE {}\n#define MLBCC_UPROBE_CONSUMERS {}\n"
                                  "#define MLBCC_UPROBE_OFFSET {}\n",
                                  at.uprobe, at.consumers, at.offset);
    if (at.task_shadow) out += fmt::format("#define MLBCC_TASK_SHADOW {}\n", *at.task_shadow);
    return out;
}

std::string stack_settings(const plan::Plan& plan, const Options& options) {
    if (!plan.takes(rules::StackKind::user)) return {};
    std::string out = "#define MLBCC_STACKS 1\n";
    if (const auto& at = options.stack_ends) {
        out += fmt::format("#define MLBCC_TASK_MM {}\n#define MLBCC_START_STACK {}\n", at->task_mm,
                           at->start_stack);
        if (at->thread_pointer)
            out += fmt::format("#define MLBCC_THREAD_POINTER {}\n", *at->thread_pointer);
    }
    return out;
}

std::string room_sizes(const plan::Plan& plan) {
    const Rooms all = rooms(plan);
    if (all.count == 0) return {};
    return fmt::format("#define MLBCC_ROOMS {}\n#define MLBCC_ROOM_BYTES {}\n", all.count,
                       all.bytes);
}

}  // namespace

size_t accounts(const plan::Plan& plan) {
    return std::bit_ceil(plan.rules.size() + 2 + kRuleSets);
}

bool has_kind(const plan::Plan& plan, plan::ProbeKind kind) {
    return std::any_of(plan.probes.begin(), plan.probes.end(),
                       [&](const plan::ProbePlan& probe) { return probe.kind == kind; });
}

bool has_moving(const plan::Plan& plan) {
    return std::ranges::any_of(plan.probes, [](const plan::ProbePlan& probe) {
        return plan::is_function(probe.kind) && side_of(probe) == Side::moving;
    });
}

bool uses_frames(const plan::Plan& plan, const Options& options) {
    return std::any_of(plan.probes.begin(), plan.probes.end(), [&](const plan::ProbePlan& probe) {
        if (probe.kind == plan::ProbeKind::interval) return false;
        bool session =
            plan::is_function(probe.kind) && options.mode_of(side_of(probe)) == AttachMode::session;
        return (probe.is_framed(session) && probe.has_return()) || has_large_record(plan, probe) ||
               needs_room(plan, probe);
    });
}

// Where a kernel does not say where a thread's own data is, no Python function is found.
bool walks_python(const plan::Plan& plan, const Options& options) {
    return plan.takes(rules::StackKind::python) && options.task_fsbase_offset;
}

bool follows_answers(const plan::Plan& plan, const Options& options) {
    return options.task_seccomp_offset && options.task_pending_offset &&
           std::ranges::any_of(plan.probes, [](const plan::ProbePlan& probe) {
               return probe.kind == plan::ProbeKind::syscall && probe.has_entry();
           });
}

bool holds_calls(const plan::Plan& plan, const Options& options) {
    return follows_answers(plan, options) && std::ranges::any_of(plan.probes, may_be_held);
}

bool holds_execs(const plan::Plan& plan, const Options& options) {
    return options.prepares_exec && holds_calls(plan, options) &&
           std::ranges::any_of(plan.probes, [](const plan::ProbePlan& probe) {
               return probe.function.starts_with("execve") && may_be_held(probe);
           });
}

bool looks_for_pythons(const plan::Plan& plan, const Options& options) {
    return plan.asks_for_python || walks_python(plan, options);
}

std::string offset_define(std::string name, uint32_t offset) {
    name = name.substr(name.find(':') + 1);
    std::ranges::replace(name, '.', '_');
    return fmt::format("#define MLBCC_OFFSET_{} {}\n", name, offset);
}

std::string file_offsets(const Options& options) {
    std::string out;
    for (size_t i = 0; i < options.file_offsets.size(); ++i)
        out += offset_define(kFileMembers[i], options.file_offsets[i]);
    return out;
}

std::string settings(const plan::Plan& plan, const Options& options, bool frames) {
    std::string out = fmt::format("#define MLBCC_EVERYONE {}\n#define MLBCC_USES_FRAMES {}\n",
                                  options.everyone ? 1 : 0, frames ? 1 : 0);
    bool kernel = has_kind(plan, plan::ProbeKind::kernel);
    bool session = options.mode == AttachMode::session ||
                   (kernel && options.kernel_mode == AttachMode::session);
    out += fmt::format("#define MLBCC_SESSION {}\n#define MLBCC_KERNEL {}\n", session ? 1 : 0,
                       kernel ? 1 : 0);
    if (kernel && options.task_stack_offset) {
        out += fmt::format("#define MLBCC_TASK_STACK {}\n", *options.task_stack_offset);
    }
    out += fmt::format("#define MLBCC_WAKE_BYTES {}\n#define MLBCC_BY_PERF {}\n"
                       "#define MLBCC_WAKES_AT_EXEC {}\n",
                       options.wake_bytes, options.points_by_perf ? 1 : 0,
                       plan.knows_mappings() || plan.knows_pythons() ? 1 : 0);
    if (has_kind(plan, plan::ProbeKind::syscall)) {
        auto timed = [](const plan::ProbePlan& probe) { return probe.ends == target::Ends::timed; };
        out += fmt::format("#define MLBCC_SYSCALLS {}\n#define MLBCC_NO_SHAPE {}\n"
                           "#define MLBCC_SHAPES {}\n#define MLBCC_TIMED {}\n",
                           kMaxSyscalls, kNoShape, plan.shapes.size(),
                           std::ranges::any_of(plan.probes, timed) ? 1 : 0);
        const bool answers = follows_answers(plan, options);
        out += fmt::format("#define MLBCC_ANSWERS {}\n#define MLBCC_HOLDS {}\n"
                           "#define MLBCC_PREPARES_EXEC {}\n",
                           answers ? 1 : 0, holds_calls(plan, options) ? 1 : 0,
                           holds_execs(plan, options) ? 1 : 0);
        if (answers)
            out += fmt::format("#define MLBCC_TASK_SECCOMP {}\n", *options.task_seccomp_offset);
        if (options.task_pending_offset)
            out += fmt::format("#define MLBCC_TASK_PENDING {}\n", *options.task_pending_offset);
    }
    out +=
        fmt::format("#define MLBCC_DEFINED {}\n", has_kind(plan, plan::ProbeKind::defined) ? 1 : 0);
    out += moving_calls(plan);
    if (needs_room_between(plan)) out += "#define MLBCC_BETWEEN 1\n";
    if (uint32_t taken = count_taken(plan); taken > 0) {
        out += fmt::format("#define MLBCC_TAKEN {}\n", taken);
    }
    if (looks_for_pythons(plan, options)) {
        out += "#define MLBCC_PYTHONS 1\n";
        if (options.task_fsbase_offset)
            out += fmt::format("#define MLBCC_FSBASE {}\n", *options.task_fsbase_offset);
    }
    if (walks_python(plan, options)) out += "#define MLBCC_PYTHON 1\n";
    out += fmt::format("#define MLBCC_TASK_PID {}\n", options.task_pid_offset.value_or(0));
    if (session && options.task_start_offset)
        out += fmt::format("#define MLBCC_TASK_START {}\n", *options.task_start_offset);
    if (options.task_status_offset)
        out += fmt::format("#define MLBCC_TASK_STATUS {}\n", *options.task_status_offset);
    out += awaited_returns(options);
    out += stack_settings(plan, options);
    out += places_of_returns(options);
    out += fmt::format("#define MLBCC_NAMESPACE {}\n", options.namespace_ ? 1 : 0);
    if (options.namespace_) {
        out += fmt::format(
            "#define MLBCC_NAMESPACE_DEVICE {}ULL\n#define MLBCC_NAMESPACE_INODE {}ULL\n",
            options.namespace_->device, options.namespace_->inode);
    }
    return out + room_sizes(plan) + sizes(plan, options, frames);
}

std::string aggregate_map(const plan::Plan& plan, const plan::Aggregate& aggregate) {
    std::string map = maps::aggregate(aggregate.id);
    std::string out = fmt::format("struct {}_value {{\n    u64 count;\n", map);
    if (aggregate.kind != plan::AggregateKind::count) out += "    u64 sum, own, own_unknown;\n";
    if (aggregate.kind == plan::AggregateKind::hist) {
        out += fmt::format("    u64 inverse_min, max;\n    u64 buckets[{}];\n",
                           aggregate.is_signed ? buckets::kSigned : buckets::kUnsigned);
    }
    out += "};\n";
    if (aggregate.key_size == 0) {
        return out + fmt::format("BPF_PERCPU_ARRAY({0}, struct {0}_value, 1);\n", map);
    }
    out += fmt::format("struct {}_key {{\n", map);
    for (size_t i = 0; i < aggregate.by.size(); ++i) {
        const plan::RecordSlot& field = aggregate.by[i].field;
        bool text = field.size != 8 || field.type.kind == plan::ValueType::Kind::text;
        out += text ? fmt::format("    char k{}[{}];\n", i, field.size)
                    : fmt::format("    u64 k{};\n", i);
    }
    bool ready = needs_ready_groups(plan, aggregate);
    bool fewer = ready && aggregate.kind == plan::AggregateKind::hist;
    return out +
           fmt::format(
               "}};\nBPF_F_TABLE(\"percpu_hash\", struct {0}_key, struct {0}_value, {0}, {1}, "
               "{2});\nBPF_ARRAY({0}_blank, struct {0}_value, 1);\n",
               map, fewer ? groups::kMostOfReadyHists : groups::kMost,
               ready ? "0" : "BPF_F_NO_PREALLOC");
}

DefinitionText definition_text(const rules::ProbeDefinition& definition, const Options& options) {
    if (options.definition_texts != nullptr) {
        const auto given = options.definition_texts->find(definition.structure());
        if (given != options.definition_texts->end()) return given->second;
    }
    return {"", definition.programs_text};
}

}  // namespace mlbcc::codegen
