// What the programs and the tracer agree on: names, numbers, sizes.
#include <fmt/format.h>

#include "codegen/codegen.h"

namespace mlbcc::codegen {

ProgramKind program_kind(Side side, AttachMode mode, rules::Stage end) {
    bool user = side == Side::user;
    if (mode == AttachMode::session) {
        return user ? ProgramKind::session : ProgramKind::kernel_session;
    }
    if (end == rules::Stage::ret) return user ? ProgramKind::ret : ProgramKind::kernel_ret;
    return user ? ProgramKind::entry : ProgramKind::kernel_entry;
}

Side side_of(ProgramKind kind) {
    bool kernel = kind == ProgramKind::kernel_session || kind == ProgramKind::kernel_entry ||
                  kind == ProgramKind::kernel_ret;
    return kernel ? Side::kernel : Side::user;
}

Side side_of(plan::ProbeKind kind) {
    return kind == plan::ProbeKind::kernel ? Side::kernel : Side::user;
}

const char* maps::rests(Side side) {
    return side == Side::user ? "rests" : "kernel_rests";
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

}  // namespace mlbcc::codegen
