// What the programs and the tracer agree on: names, numbers, sizes.
#include <fmt/format.h>

#include "codegen/codegen.h"

namespace mlbcc::codegen {

ProgramKind program_kind(Side side, AttachMode mode, rules::Stage end) {
    const bool session = mode == AttachMode::session, leaves = end == rules::Stage::ret;
    switch (side) {
    case Side::user:
        return session ? ProgramKind::session : leaves ? ProgramKind::ret : ProgramKind::entry;
    case Side::moving: return leaves ? ProgramKind::moving_ret : ProgramKind::moving_entry;
    case Side::kernel:
        return session  ? ProgramKind::kernel_session
               : leaves ? ProgramKind::kernel_ret
                        : ProgramKind::kernel_entry;
    }
    MLBCC_UNREACHABLE();
}

Side side_of(ProgramKind kind) {
    switch (kind) {
    case ProgramKind::kernel_session:
    case ProgramKind::kernel_entry:
    case ProgramKind::kernel_ret: return Side::kernel;
    case ProgramKind::moving_entry:
    case ProgramKind::moving_ret: return Side::moving;
    default: return Side::user;
    }
}

Side side_of(const plan::ProbePlan& probe) {
    if (probe.kind == plan::ProbeKind::kernel) return Side::kernel;
    return probe.ends_at_instructions() || probe.is_of_go() ? Side::moving : Side::user;
}

AttachMode Options::mode_of(Side side) const {
    if (side == Side::kernel) return kernel_mode;
    return side == Side::moving && mode == AttachMode::session ? AttachMode::multi : mode;
}

const char* maps::rests(Side side) {
    switch (side) {
    case Side::user: return "rests";
    case Side::moving: return "moving_rests";
    case Side::kernel: return "kernel_rests";
    }
    MLBCC_UNREACHABLE();
}

std::string maps::aggregate(plan::AggregateId id) {
    return fmt::format("aggregate_{}", static_cast<uint32_t>(id));
}

uint64_t cookie(const plan::ProbePlan& probe) {
    uint64_t words = probe.entry ? probe.entry->argument_words.value_or(0) : 0;
    uint64_t text = probe.entry ? probe.entry->argument_text : 0;
    auto shape = [](const std::optional<plan::ShapeId>& id) {
        return id ? static_cast<uint64_t>(*id) : kNoShape;
    };
    uint64_t entry = shape(probe.entry_shape), leave = shape(probe.return_shape);
    return static_cast<uint64_t>(probe.id) | words << kWordsShift | text << kTextShift |
           entry << kEntryShapeShift | leave << kReturnShapeShift;
}

Role jumps_if(uint32_t condition) {
    return static_cast<Role>(16 + (condition & 15u));
}

uint64_t cookie(const plan::ProbePlan& probe, Role role) {
    constexpr uint64_t kText = 31;
    return (cookie(probe) & ~(kText << kTextShift)) | static_cast<uint64_t>(role) << kTextShift;
}

}  // namespace mlbcc::codegen
