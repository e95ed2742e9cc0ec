// What is tried of the kernel: the trials say the same as what the tracer then does.
#include "bpf/abilities.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "bpf/kernel.h"

namespace mlbcc::bpf {
namespace {

TEST(Abilities, AgreeWithTheFeaturesThatTheTracerFinds) {
    const Abilities found = try_abilities();
    TypePlaces types;
    EXPECT_FALSE(find_features(types).session);  // without its functions
    types.session_cookie = types.session_is_return = 1;
    const Features features = find_features(types);
    EXPECT_EQ(found.uprobe_multi.works, features.multi);
    EXPECT_EQ(found.uprobe_session.works, features.session);
    EXPECT_EQ(found.registers.works, features.sets_registers);
    EXPECT_EQ(found.map.works, found.map.code == 0);
    EXPECT_EQ(found.kprobe.works, found.kprobe.code == 0);
    if (!found.map.works) GTEST_SKIP() << "the kernel refuses BPF";
    EXPECT_TRUE(found.program.works);
    EXPECT_TRUE(found.ring_buffer.works);
    EXPECT_TRUE(found.raw_tracepoint.works);
}

void expect_all_records(const Abilities& abilities) {
    auto cost = measure_event(abilities);
    ASSERT_TRUE(cost) << cost.error().message();
    EXPECT_EQ(cost->records, cost->expected);
    EXPECT_GT(cost->expected, 0u);
    EXPECT_GT(cost->event_ns, 0);
}

TEST(Abilities, EachProbeGivesItsRecord) {
    Abilities found = try_abilities();
    if (!found.uprobe.works) GTEST_SKIP() << "no uprobes";
    expect_all_records(found);
    found.uprobe_session.works = false;
    expect_all_records(found);
    found.uprobe_multi.works = false;
    expect_all_records(found);
}

}  // namespace
}  // namespace mlbcc::bpf
