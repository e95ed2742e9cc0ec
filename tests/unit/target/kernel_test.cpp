// Functions of the kernel: which a rule means, and what is said where there are none.
#include <gtest/gtest.h>

#include "fake_kernel.h"

namespace mlbcc::target {
namespace {

std::string points(const std::string& rules) {
    FakeHost host;
    add_kernel(host);
    const Resolved resolved(rules, host);
    EXPECT_EQ(resolved.messages(), "");
    return resolved.points();
}

std::string said(const std::string& rules, bool has_kprobes = true) {
    FakeHost host;
    if (has_kprobes) add_kernel(host);
    const Resolved resolved(rules, host);
    return resolved.messages();
}

constexpr const char* kRead = "kernel:vfs_read long(size_t count, const char * name)";

TEST(Kernel, AFunctionHasTheParametersThatTheKernelKnows) {
    EXPECT_EQ(points("on kernel:vfs_read { sum count }"), std::string(kRead) + " <- 0\n");
}

TEST(Kernel, WhatTheCompilerHasChangedIsFoundByItsOwnName) {
    EXPECT_EQ(points("on kernel:nvidia_ioctl { span kernel(arg(1)) }"),
              "kernel:nvidia_ioctl.constprop.0 [nvidia] unknown <- 0\n");
}

TEST(Kernel, WildcardsExceptAndSeveralRules) {
    EXPECT_EQ(points("on kernel:vfs_r*, kernel:vfs_read { count } "
                     "on kernel:vfs_[rw]* except vfs_w* { count }"),
              std::string(kRead) + " <- 1 0\n");
}

TEST(Kernel, AllFunctionsOfOneNameAreMeant) {
    EXPECT_EQ(points("on kernel:size_show { count }"),
              "kernel:size_show at 1000 long(size_t count, const char * name) <- 0\n"
              "kernel:size_show at 2000 long(size_t count, const char * name) <- 0\n");
}

TEST(Kernel, OfANameWithoutMatchTheNearestIsSaid) {
    EXPECT_EQ(said("on kernel:vfs_raed { count }"),
              R"(error: no function of the kernel matches `vfs_raed`
 --> test.rules:1:4
  |
1 | on kernel:vfs_raed { count }
  |    ^^^^^^^^^^^^^^^
  = note: looked at the 5 functions of the kernel and its modules, as they are now
  = note: the compiler may have inlined it: then nothing calls it
  = help: there is one with a similar name: `vfs_read`
)");
}

TEST(Kernel, AnOptionalOneIsLeftOut) {
    EXPECT_EQ(said("on optional kernel:nv_* { count }"),
              R"(note: no function of the kernel matches `nv_*`
 --> test.rules:1:13
  |
1 | on optional kernel:nv_* { count }
  |             ^^^^^^^^^^^ left out
  = note: looked at the 5 functions of the kernel and its modules, as they are now
)");
}

TEST(Kernel, WhatTheKernelKeepsProbesOffIsSaid) {
    EXPECT_EQ(said("on kernel:vfs_never { count }"),
              R"(error: the kernel keeps probes off `vfs_never`
 --> test.rules:1:4
  |
1 | on kernel:vfs_never { count }
  |    ^^^^^^^^^^^^^^^^
  = note: /sys/kernel/debug/kprobes/blacklist has the functions that it does so for
)");
    EXPECT_EQ(said("on kernel:vfs_twice { count }"),
              R"(error: several functions are called `vfs_twice`
 --> test.rules:1:4
  |
1 | on kernel:vfs_twice { count }
  |    ^^^^^^^^^^^^^^^^
  = help: their addresses tell them apart: sysctl -w kernel.kptr_restrict=1 shows them
)");
    EXPECT_EQ(said("on kernel:vfs_[nrt]* { count }"), R"(note: `vfs_[nrt]*` leaves out `vfs_never`
 --> test.rules:1:4
  |
1 | on kernel:vfs_[nrt]* { count }
  |    ^^^^^^^^^^^^^^^^^
  = note: the kernel keeps probes off these functions

note: `vfs_[nrt]*` leaves out `vfs_twice`
 --> test.rules:1:4
  |
1 | on kernel:vfs_[nrt]* { count }
  |    ^^^^^^^^^^^^^^^^^
  = note: several functions are called so, and the kernel hides their addresses: see kernel.kptr_restrict
)");
}

TEST(Kernel, WithoutKprobesThereAreNone) {
    EXPECT_EQ(said("on kernel:a, kernel:b { count }", false),
              R"(error: functions of the kernel cannot be traced on this machine
 --> test.rules:1:4
  |
1 | on kernel:a, kernel:b { count }
  |    ^^^^^^^^
  = note: there are no kprobes
  = help: mark the rule `optional` to go on without this target
)");
    EXPECT_EQ(said("on optional kernel:a { count } on optional kernel:b { count }", false),
              R"(note: functions of the kernel cannot be traced on this machine
 --> test.rules:1:13
  |
1 | on optional kernel:a { count } on optional kernel:b { count }
  |             ^^^^^^^^ left out
  = note: there are no kprobes
)");
}

}  // namespace
}  // namespace mlbcc::target
