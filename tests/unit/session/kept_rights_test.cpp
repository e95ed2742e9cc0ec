// What is kept of the capabilities once probes are attached: what the work to come needs.
#include "session/kept_rights.h"

#include <gtest/gtest.h>
#include <linux/capability.h>

namespace mlbcc::session {
namespace {

const Capabilities kRoot((uint64_t{1} << 41) - 1);

std::string kept(const WorkToCome& work, Capabilities own) {
    return process::names(rights_to_keep(work, own).capabilities);
}

TEST(RightsToKeep, AreNoneWhereNothingIsLeftToDo) {
    EXPECT_EQ(kept({}, kRoot), "");
    EXPECT_EQ(kept({}, {CAP_BPF, CAP_PERFMON}), "");
}

TEST(RightsToKeep, AreWhatTheWorkNeeds) {
    EXPECT_EQ(kept({.command = true}, kRoot), "CAP_KILL");
    EXPECT_EQ(kept({.processes = true}, kRoot),
              "CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE");
    EXPECT_EQ(kept({.command = true, .late = true}, kRoot),
              "CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF and "
              "CAP_CHECKPOINT_RESTORE");
}

TEST(RightsToKeep, AreMoreWhereLateFunctionsAreAttachedOneByOne) {
    EXPECT_EQ(kept({.late = true, .one_by_one = true}, kRoot),
              "CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF and "
              "CAP_CHECKPOINT_RESTORE");
}

TEST(RightsToKeep, AreSysAdminWhereThatStandsForOthers) {
    EXPECT_EQ(kept({.late = true}, {CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_CHOWN}),
              "CAP_SYS_PTRACE and CAP_SYS_ADMIN");
}

TEST(RightsToKeep, AreAllWhereProcessesAreLookedIntoWithoutPtrace) {
    const Capabilities own{CAP_BPF, CAP_PERFMON, CAP_CHOWN};
    EXPECT_EQ(rights_to_keep({.processes = true}, own).capabilities, own);
    EXPECT_EQ(rights_to_keep({.processes = true}, own).why,
              "processes are inspected without CAP_SYS_PTRACE");
    EXPECT_EQ(kept({.command = true}, own), "");
}

TEST(RightsToKeep, SayWhy) {
    EXPECT_EQ(rights_to_keep({.command = true, .processes = true, .late = true}, kRoot).why,
              "signals for the command, files of the traced processes, functions that come later");
}

}  // namespace
}  // namespace mlbcc::session
