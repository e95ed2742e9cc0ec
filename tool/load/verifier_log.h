// The end of what the kernel's verifier says of a program that it refuses (kernel/bpf/verifier.c,
// at log level 1):
//
//   11: (85) call bpf_map_lookup_elem#1   ; R0_w=map_value_or_null(...)
//   12: (61) r1 = *(u32 *)(r0 +0)
//   R0 invalid mem access 'map_value_or_null'
//   processed 13 insns (limit 1000000) ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc::load {

struct VerifierLog {
    struct Step {
        uint32_t instruction = 0;
        std::string_view line;  // of the log
    };
    std::vector<Step> steps;  // instructions in the order in which they were looked at
    std::string reason;       // "R0 invalid mem access 'map_value_or_null'"; "" if it says none
    // The one that is at fault: that of the reason, if it names one, or else the last step.
    uint32_t culprit = 0;
};
// `log` must outlive it.
VerifierLog read_verifier_log(std::string_view log);

}  // namespace mlbcc::load
