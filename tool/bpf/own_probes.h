// Probes on a function of this program (own_function.h), for the calls of this process only: what a
// hit costs here is found by calling it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <linux/bpf.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bpf/hit_cost.h"
#include "bpf/own_function.h"

namespace mlbcc::bpf {

struct OwnProbes {
    UniqueFd program;
    std::vector<UniqueFd> links;
};

enum class OwnPlace { entry, both_ends, ret };  // ret: on the instruction, no return probe

// `code` on the function, as the tracer would. A program on both ends of a session returns 1 at the
// beginning where it wants no end.
Result<OwnProbes> probe_own_function(FunctionLinks by, const std::vector<bpf_insn>& code,
                                     OwnPlace place);

// ringbuf_output(ring, {time, 0...}, 64, BPF_RB_NO_WAKEUP); return `result`
std::vector<bpf_insn> recording(int ring, int32_t result);

uint64_t now_ns();  // CLOCK_MONOTONIC

// The median of `batches` batches of calls to it, nanoseconds a call; `before` each call, and
// `after` each batch, of which only the former is part of it.
template <class Before, class After>
double median_call_ns(int batches, int calls, Before before, After after) {
    std::vector<double> each;
    for (int batch = 0; batch < batches; ++batch) {
        const uint64_t begin = now_ns();
        for (int i = 0; i < calls; ++i) {
            before();
            call_own_function();
        }
        each.push_back(static_cast<double>(now_ns() - begin) / calls);
        after();
    }
    std::ranges::sort(each);
    return each[each.size() / 2];
}

}  // namespace mlbcc::bpf
