// Where a call begins most rules want the same: its record of arguments, and a frame. One program
// does that for all such functions; what each saves besides is done by another behind it. The
// verifier, and clang, go through the first half once.
#pragma once

#include <string>
#include <vector>

#include "codegen/codegen.h"

namespace mlbcc::codegen {

inline constexpr size_t kInlinedShapes = 4;  // with more, what they share is not inlined

struct FirstHalf {
    Side side{};
    bool records = false;  // a record of arguments
    bool has_rests = false;
    std::vector<plan::ShapeId> shapes;
    std::string name() const;
};

std::vector<const plan::Shape*> function_shapes(const plan::Plan& plan, Side side);

// Only of functions whose links pass each call on by its shape, and only where there are many.
std::vector<FirstHalf> first_halves(const plan::Plan& plan, const Options& options,
                                    const Program& program);

// Whether the records that ends of calls leave behind, too large for BPF's stack, are submitted by
// a program that all functions share: likewise.
bool ends_apart(const plan::Plan& plan, const Options& options, const Program& program);
// Likewise of those of system calls that have Python functions in them.
bool syscalls_end_apart(const plan::Plan& plan, const Options& options);

}  // namespace mlbcc::codegen
