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
  = note: searched the 5 functions of the kernel and its modules, as they are now
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
  = note: searched the 5 functions of the kernel and its modules, as they are now
)");
}

TEST(Kernel, FunctionsOfAnOptionalRuleAreAlternatives) {
    EXPECT_EQ(points("on optional kernel:nv_old, kernel:vfs_read { count }"),
              std::string(kRead) + " <- 0\n");
    EXPECT_EQ(
        said("on optional kernel:nv_old, kernel:nv_new { count } "
             "on optional kernel:nv_open, kernel:vfs_read { count } "
             "on optional kernel:nv_mmap, kernel:nv_new { count }"),
        "note: no function of the kernel matches `nv_old`, `nv_new` and `nv_mmap`: left out, as "
        "the rules are `optional`\n");
}

TEST(Kernel, OfWhatIsExceptedNothingIsSaid) {
    EXPECT_EQ(said("on kernel:vfs_* except vfs_never, vfs_tw* { count }"), "");
}

TEST(Kernel, WhatAModuleWasBuiltWithoutProbesForIsSaidOnce) {
    FakeHost host;
    add_kernel(host);
    for (const char* name : {"rm_alloc", "rm_control", "rm_free", "rm_ioctl"}) {
        host.kernel.unprobed.push_back({name, name, "nvidia", 0});
    }
    host.kernel.functions.push_back({"rm_all", "rm_all", "", 0});
    const Resolved resolved("on kernel:rm_* except rm_free { count }", host);
    EXPECT_EQ(
        resolved.messages(),
        R"(note: `rm_*` leaves out 3 functions of nvidia: `rm_alloc`, `rm_control` and `rm_ioctl`
 --> test.rules:1:4
  |
1 | on kernel:rm_* except rm_free { count }
  |    ^^^^^^^^^^^
  = note: they were built without places for probes
)");
}

TEST(Kernel, OfWhatTheKernelDoesNotKnowAPrototypeMayBeGiven) {
    FakeHost host;
    add_kernel(host);
    host.kernel.functions.push_back({"nvidia_open", "nvidia_open", "nvidia", 0});
    rules::TypeTable types;
    const auto number = types.add({"int", rules::IntType{4, true, false}});
    types.add(rules::Signature{"nvidia_open", number, {{"minor", number}}, false, {}});
    types.add(rules::Signature{"vfs_read", number, {{"fd", number}}, false, {}});
    const Resolved resolved("on kernel:nvidia_open { sum minor } "
                            "on kernel:vfs_read { sum count }",
                            host, types);
    EXPECT_EQ(resolved.messages(), "");
    EXPECT_EQ(resolved.points(),
              "kernel:nvidia_open [nvidia] int(int minor) <- 0\n" + std::string(kRead) + " <- 1\n");
}

TEST(Kernel, WhatTheKernelKeepsProbesOffIsSaid) {
    EXPECT_EQ(said("on kernel:vfs_never { count }"),
              R"(error: the kernel allows no probes on `vfs_never`
 --> test.rules:1:4
  |
1 | on kernel:vfs_never { count }
  |    ^^^^^^^^^^^^^^^^
  = note: /sys/kernel/debug/kprobes/blacklist lists all of them
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
  = note: the kernel allows no probes on these functions

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
    EXPECT_EQ(
        said("on optional kernel:a { count } on optional kernel:b { count }", false),
        "note: functions of the kernel cannot be traced on this machine: there are no kprobes\n");
}

}  // namespace
}  // namespace mlbcc::target
