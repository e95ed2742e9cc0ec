// Format files of Linux 6.18, as they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "kernel/syscall_table.h"
#include "kernel/tracepoints.h"

namespace mlbcc::kernel {
namespace {

constexpr const char* kCommon =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

std::string parsed(const std::string& id, const std::string& fields) {
    const target::TracepointFormat format =
        parse_format("name: some\nID: " + id + "\nformat:\n" + kCommon + fields +
                     "\nprint fmt: \"field:%s\", REC->field\n");
    std::string text = fmt::format("{}", format.id);
    for (const target::TraceField& one : format.fields) {
        text += fmt::format("; {} {} {}+{}{}", one.type, one.name, one.offset, one.size,
                            one.is_signed ? " signed" : "");
    }
    return text;
}

TEST(Tracepoints, TextElsewhereInTheRecord) {
    EXPECT_EQ(parsed("365", "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
                            "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"),
              "365; __data_loc char[] filename 8+4; pid_t pid 12+4 signed");
}

TEST(Tracepoints, Arrays) {
    EXPECT_EQ(parsed("372", "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                            "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"),
              "372; char[16] prev_comm 8+16; long prev_state 32+8 signed");
    EXPECT_EQ(parsed("443", "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"),
              "443; unsigned long[6] args 16+48");
}

TEST(Tracepoints, PointersAndBool) {
    EXPECT_EQ(parsed("782", "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
                            "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
                            "\tfield:const char *const * argv;\toffset:32;\tsize:8;\tsigned:0;\n"),
              "782; int __syscall_nr 8+4 signed; const char * filename 24+8; "
              "const char *const * argv 32+8");
    EXPECT_EQ(parsed("7", "\tfield:bool boost;\toffset:8;\tsize:1;\tsigned:0;\n"
                          "\tfield:void *skbaddr;\toffset:16;\tsize:8;\tsigned:0;\n"),
              "7; bool boost 8+1; void * skbaddr 16+8");
}

TEST(Tracepoints, ALineThatIsNotUnderstoodIsLeftOut) {
    EXPECT_EQ(parsed("1", "\tfield:;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:int ;\n\tnonsense\n"
                          "\tfield:int rc;\toffset:20;\tsize:4;\tsigned:1;\n"),
              "1; int rc 20+4 signed");
    EXPECT_EQ(parse_format("").id, 0u);
    EXPECT_TRUE(parse_format("ID: 0\n\nfield:int a;offset:0;size:4;\n").fields.empty());
    EXPECT_EQ(parse_format("ID:").id, 0u);
}

TEST(Tracepoints, NoFieldsOfItsOwn) {
    EXPECT_EQ(parsed("12", ""), "12");
}

TEST(SyscallTable, NumbersOfBothArchitectures) {
    EXPECT_EQ(syscall_number("openat", "x86_64"), 257u);
    EXPECT_EQ(syscall_number("openat", "aarch64"), 56u);
    EXPECT_EQ(syscall_number("clone3", "x86_64"), 435u);
    EXPECT_EQ(syscall_number("clone3", "aarch64"), 435u);
    EXPECT_EQ(syscall_number("open", "aarch64"), std::nullopt);
    EXPECT_EQ(syscall_number("no_such_call", "x86_64"), std::nullopt);
}

TEST(SyscallTable, EachNumberStandsOnce) {
    for (const char* architecture : {"x86_64", "aarch64"}) {
        std::set<uint32_t> numbers;
        std::set<std::string> names;
        for (const std::string& name : syscall_names(architecture)) {
            EXPECT_TRUE(numbers.insert(*syscall_number(name, architecture)).second) << name;
            EXPECT_TRUE(names.insert(name).second) << name;
        }
        EXPECT_GT(names.size(), 300u);
        EXPECT_TRUE(names.contains("read") && names.contains("rt_sigreturn"));
    }
}

TEST(SyscallTable, TheManualsNames) {
    EXPECT_EQ(syscall_name("newfstat"), "fstat");
    EXPECT_EQ(syscall_name("sendfile64"), "sendfile");
    EXPECT_EQ(syscall_name("newfstatat"), "newfstatat");
    EXPECT_EQ(syscall_name("openat"), "openat");
}

}  // namespace
}  // namespace mlbcc::kernel
