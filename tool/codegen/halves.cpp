#include "codegen/halves.h"

#include <algorithm>

#include "codegen/shape.h"

namespace mlbcc::codegen {

std::string FirstHalf::name() const {
    const std::string all = side == Side::user     ? "begin"
                            : side == Side::moving ? "begin_moving"
                                                   : "begin_kernel";
    return records ? all + "_recorded" : all;
}

namespace {

bool are_parted(Side side, const plan::Plan& plan, const Options& options, const Program& program) {
    if (plan.shapes.size() <= kInlinedShapes) return false;
    return !program.direct[side] && options.mode_of(side) != AttachMode::perf;
}

}  // namespace

std::vector<const plan::Shape*> function_shapes(const plan::Plan& plan, Side side) {
    std::vector<const plan::Shape*> all;
    for (const plan::Shape& one : plan.shapes) {
        const plan::ProbePlan& probe = plan.probes[static_cast<uint32_t>(one.example)];
        if (plan::is_function(probe.kind) && side_of(probe) == side) all.push_back(&one);
    }
    return all;
}

std::vector<FirstHalf> first_halves(const plan::Plan& plan, const Options& options,
                                    const Program& program) {
    std::vector<FirstHalf> halves;
    for (Side side : kSides) {
        if (!are_parted(side, plan, options, program)) continue;
        for (bool records : {false, true}) halves.push_back({side, records, false, {}});
    }
    for (const plan::Shape& shape : plan.shapes) {
        const plan::ProbePlan& probe = plan.probes[static_cast<uint32_t>(shape.example)];
        if (!plan::is_function(probe.kind)) continue;
        // Each begins in its own way.
        if (side_of(probe) == Side::moving && probe.moves()) continue;
        const Side side = side_of(probe);
        const ShapeWriter writer(plan, shape, options.mode_of(side));
        if (!writer.can_be_halved()) continue;
        for (FirstHalf& half : halves) {
            if (half.side != side || half.records != probe.entry.has_value()) continue;
            half.shapes.push_back(shape.id);
            half.has_rests |= writer.has_rest();
        }
    }
    std::erase_if(halves, [](const FirstHalf& half) { return half.shapes.size() < 2; });
    return halves;
}

bool ends_apart(const plan::Plan& plan, const Options& options, const Program& program) {
    if (!are_parted(Side::user, plan, options, program)) return false;
    return std::ranges::count_if(plan.shapes, [&](const plan::Shape& shape) {
               return ShapeWriter(plan, shape, options.mode).can_end_apart();
           }) > 1;
}

bool syscalls_end_apart(const plan::Plan& plan, const Options& options) {
    if (plan.shapes.size() <= kInlinedShapes) return false;
    return std::ranges::count_if(plan.shapes, [&](const plan::Shape& shape) {
               return ShapeWriter(plan, shape, options.mode).can_end_syscall_apart();
           }) > 1;
}

}  // namespace mlbcc::codegen
