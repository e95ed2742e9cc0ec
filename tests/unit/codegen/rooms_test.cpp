// Keys and texts that are too large for BPF's stack have room in the thread's state.
#include "codegen/rooms.h"

#include <gtest/gtest.h>

#include "codegen/generated.h"

namespace mlbcc::test {
namespace {

using codegen::AttachMode;

std::string source_of(const std::string& rules) {
    return generated(rules, AttachMode::session);
}
codegen::Rooms rooms_of(const std::string& rules) {
    const Planned planned(rules);
    EXPECT_EQ(planned.messages(), "");
    return codegen::rooms(planned.plan());
}

TEST(Rooms, AreForKeysThatAreTooLarge) {
    const std::string large = "on syscall:openat { count by str(filename, 100), ret }\n";
    EXPECT_EQ(rooms_of(large).bytes, 112u);  // 100, and 8 at a multiple of 8
    EXPECT_EQ(count_of(source_of(large), "->rooms[0]"), 1u);
    const std::string small = "on syscall:openat { count by comm, ret }\n";
    EXPECT_EQ(rooms_of(small).count, 0u);
    EXPECT_EQ(count_of(source_of(small), "rooms"), 0u);
    EXPECT_EQ(count_of(source_of(small), "_key key = {}"), 1u);
}

TEST(Rooms, AreForTextsThatAreComparedOneAtATime) {
    const std::string text(60, 'a');
    const std::string rules = "on syscall:openat { where str(filename, 100) == \"" + text +
                              "\" || str(filename, 100) == \"" + text + "b\"   count by ret }\n";
    EXPECT_EQ(rooms_of(rules).bytes, codegen::kMaxComparedText);
    EXPECT_EQ(count_of(source_of(rules), "->rooms[0]"), 2u);
    EXPECT_EQ(
        rooms_of("on syscall:openat { where filename == \"/etc/passwd\"   count by ret }\n").count,
        0u);
}

TEST(Rooms, OfWhatComesInTheMiddleAreItsOwn) {
    const std::string rules =
        "on syscall:openat { count by filename }\n"
        "on tracepoint:sched:sched_process_exec { count by str(filename, 100) }\n"
        "on kernel:vfs_read { count by comm, pid, tid }\n";
    EXPECT_EQ(rooms_of(rules).count, 2u);
    const std::string source = source_of(rules);
    EXPECT_EQ(count_of(source, "->rooms[0]"), 1u);
    EXPECT_EQ(count_of(source, "->rooms[1]"), 2u);
}

}  // namespace
}  // namespace mlbcc::test
