#include "plan/syscall_ends.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc::plan {
namespace {

// What rules need to know of its beginning: each is more than the one before.
enum class Beginning { nothing, time, values };

// Calls behind which a descriptor that they were given is no longer open on the same file.
bool changes_descriptors(const std::string& call) {
    constexpr std::string_view kCalls[] = {"close", "close_range", "dup2",
                                           "dup3",  "execve",      "execveat"};
    return std::ranges::find(kCalls, call) != std::end(kCalls);
}

Beginning beginning(const ProbePlan& probe, const rules::Typed& value) {
    if (rules::always_known(value)) return Beginning::nothing;
    const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value.node);
    if (leaf != nullptr && leaf->which == rules::Builtin::duration) return Beginning::time;
    const auto* text = std::get_if<rules::TextNode>(&value.node);
    const bool is_of_file = text != nullptr && text->of_file;
    bool may_change = is_of_file
                          ? changes_descriptors(probe.function)
                          : text != nullptr || std::holds_alternative<rules::LoadNode>(value.node);
    if (may_change && value.stage == rules::Stage::entry) return Beginning::values;
    Beginning most = Beginning::nothing;
    rules::for_each_operand(value, [&](const rules::TypedPtr& part) {
        most = std::max(most, beginning(probe, *part));
    });
    return most;
}

Beginning beginning(const ProbePlan& probe, const std::vector<rules::TypedPtr>& values) {
    Beginning most = Beginning::nothing;
    for (const rules::TypedPtr& one : values) most = std::max(most, beginning(probe, *one));
    return most;
}

// A system call's arguments are there at its end, too: what asks for no more than these, the result
// and the time that it took has no need of more than the time of its beginning.
Beginning beginning(const ProbePlan& probe, bool probes_functions) {
    if (probe.entry) return Beginning::values;
    // On x86-64 a function's end that is awaited is a system call of the kernel's own making, and
    // comes back as one from a signal's handler does: that one has a beginning.
    const bool may_be_own = probes_functions && probe.function == "rt_sigreturn";
    Beginning most = may_be_own ? Beginning::time : Beginning::nothing;
    if (probe.ret) {
        auto has_time = [](const Emit& emit) {
            return std::holds_alternative<EventEmit>(emit.what) ||
                   std::holds_alternative<LargestEmit>(emit.what);
        };
        if (std::ranges::any_of(probe.ret->emits, has_time)) most = Beginning::time;
        for (const Capture& capture : probe.ret->captures)
            most = std::max(most, beginning(probe, *capture.value));
    }
    for (const AggregateUse& use : probe.aggregates) {
        if (use.at_entry) return Beginning::values;
        if (use.value) most = std::max(most, beginning(probe, *use.value));
        most = std::max(most, beginning(probe, use.by));
    }
    for (const RulePart& part : probe.parts) {
        if (part.at_entry) return Beginning::values;
        most = std::max(
            {most, beginning(probe, part.entry_where), beginning(probe, part.return_where)});
    }
    return most;
}

}  // namespace

target::Ends ends_of_syscall(const ProbePlan& probe, bool probes_functions) {
    switch (beginning(probe, probes_functions)) {
    case Beginning::nothing: return target::Ends::completion;
    case Beginning::time: return target::Ends::timed;
    case Beginning::values: break;
    }
    return target::Ends::call;
}

}  // namespace mlbcc::plan
