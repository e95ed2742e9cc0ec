// What the end of a verifier's log says.
#include <gtest/gtest.h>

#include "load/verifier_log.h"

namespace mlbcc::load {
namespace {

TEST(VerifierLog, TheReasonIsBehindTheLastInstruction) {
    const std::string log = "0: R1=ctx() R10=fp0\n"
                            "0: (b7) r2 = 0                        ; R2_w=0\n"
                            "11: (85) call bpf_map_lookup_elem#1\n"
                            "12: (61) r1 = *(u32 *)(r0 +0)\n"
                            "R0 invalid mem access 'map_value_or_null'\n"
                            "processed 13 insns (limit 1000000) max_states_per_insn 0\n";
    const VerifierLog read = read_verifier_log(log);
    ASSERT_EQ(read.steps.size(), 3u);
    EXPECT_EQ(read.steps[1].instruction, 11u);
    EXPECT_EQ(read.steps[2].line, "12: (61) r1 = *(u32 *)(r0 +0)");
    EXPECT_EQ(read.reason, "R0 invalid mem access 'map_value_or_null'");
    EXPECT_EQ(read.culprit, 12u);
}

TEST(VerifierLog, AReasonMayNameAnInstruction) {
    const std::string log = "4: (05) goto pc-2 3: R0=scalar()\n"
                            "infinite loop detected at insn 3\n"
                            "cur state: R0=scalar()\nold state: R0=scalar()\n";
    EXPECT_EQ(read_verifier_log(log).reason, "infinite loop detected at insn 3");
    EXPECT_EQ(read_verifier_log(log).culprit, 3u);
    const VerifierLog behind = read_verifier_log("171: (55) if r1 != 0x0 goto pc-2 "
                                                 "infinite loop detected at insn 170\n"
                                                 "cur state: R0=scalar()\n");
    EXPECT_EQ(behind.reason, "infinite loop detected at insn 170");
    EXPECT_EQ(behind.culprit, 170u);
    EXPECT_EQ(behind.steps.at(0).line, "171: (55) if r1 != 0x0 goto pc-2 ");
    EXPECT_EQ(read_verifier_log("back-edge from insn 5 to 2\n").culprit, 5u);
    EXPECT_EQ(read_verifier_log("BPF program is too large. Processed 1000001 insn\n").culprit, 0u);
}

TEST(VerifierLog, OfNothing) {
    const VerifierLog read = read_verifier_log("");
    EXPECT_TRUE(read.steps.empty());
    EXPECT_EQ(read.reason, "");
}

}  // namespace
}  // namespace mlbcc::load
