// The helper as a process: how it starts, is asked, and ends.
#include "bpf/compiler.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "bpf/compiler_fixture.h"

namespace mlbcc::bpf {
namespace {

CompilerProcess start() {
    auto started = CompilerProcess::start(kHelper);
    EXPECT_TRUE(started) << started.error().message();
    return std::move(*started);
}

TypesRequest one_function() {
    TypesRequest request;
    request.text = "int step(int n);";
    request.system_dirs = {kLibcHeaders};
    return request;
}

TEST(CompilerProcess, IsNotThere) {
    auto started = CompilerProcess::start("/nowhere/mlbcc-bcc");
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().message(),
              "cannot start the compiler helper /nowhere/mlbcc-bcc: No such file or directory");
}

TEST(CompilerProcess, IsAnotherProgram) {
    auto started = CompilerProcess::start("/bin/false");
    ASSERT_TRUE(started);
    auto types = started->types(one_function());
    ASSERT_FALSE(types);
    EXPECT_EQ(types.error().message(), "the compiler helper ended unexpectedly (exit status 1)");
}

TEST(CompilerProcess, DiesWhileItIsAsked) {
    CompilerProcess helper = start();
    ASSERT_TRUE(helper.types(one_function()));
    ::kill(helper.pid(), SIGSEGV);
    auto types = helper.types(one_function());
    ASSERT_FALSE(types);
    EXPECT_EQ(types.error().message(), "the compiler helper ended unexpectedly (signal 11)");
    auto again = helper.types(one_function());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message(), "the compiler helper is gone");
}

TEST(CompilerProcess, IsNotWaitedForWithoutEnd) {
    auto helper = CompilerProcess::start(kHelper, std::chrono::seconds(1));
    ASSERT_TRUE(helper);
    const pid_t pid = helper->pid();
    ::kill(pid, SIGSTOP);
    auto types = helper->types(one_function());
    ASSERT_FALSE(types);
    EXPECT_EQ(types.error().message(),
              "the compiler helper has not answered in time, and was ended");
    EXPECT_EQ(::kill(pid, 0), -1) << "nothing of it is left";
}

// As where the tracer is killed: its end of the socket is closed, and nothing else happens.
TEST(CompilerProcess, EndsInTheMiddleOfItsWorkWhenItsOwnerHas) {
    int pipes[2];
    ASSERT_EQ(::pipe(pipes), 0);
    const pid_t owner = ::fork();
    if (owner == 0) {
        CompilerProcess helper = start();
        const pid_t pid = helper.pid();
        (void)!::write(pipes[1], &pid, sizeof pid);
        TypesRequest request = one_function();
        for (int i = 0; i < 200000; ++i) request.text += "int f" + std::to_string(i) + "(int);\n";
        (void)helper.send_types(request);
        ::_exit(0);
    }
    pid_t pid = 0;
    ASSERT_EQ(::read(pipes[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    ::waitpid(owner, nullptr, 0);
    for (int tries = 0; tries < 200 && ::kill(pid, 0) == 0; ++tries) ::usleep(10'000);
    EXPECT_EQ(::kill(pid, 0), -1);
    ::close(pipes[0]);
    ::close(pipes[1]);
}

TEST(CompilerProcess, EndsWithItsOwner) {
    pid_t pid = -1;
    {
        CompilerProcess helper = start();
        pid = helper.pid();
        ASSERT_EQ(::kill(pid, 0), 0);
    }
    EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(CompilerProcess, MovesToAnotherOwner) {
    CompilerProcess first = start();
    CompilerProcess second = start();
    pid_t pid = first.pid(), replaced = second.pid();
    second = std::move(first);
    EXPECT_EQ(second.pid(), pid);
    EXPECT_EQ(::kill(replaced, 0), -1);
    EXPECT_TRUE(second.types(one_function()));
}

// More text both ways than the socket's buffers hold.
TEST(CompilerProcess, TakesRequestsBeforeItsRepliesAreRead) {
    CompilerProcess helper = start();
    TypesRequest types = one_function();
    for (int i = 0; i < 5000; ++i) {
        types.text += "int function_with_a_long_name_" + std::to_string(i) + "(int parameter);\n";
    }
    std::vector<std::byte> code(1 << 20, std::byte{0x90});
    FunctionCode function{code, code.size()};
    ASSERT_TRUE(helper.send_types(types));
    ASSERT_TRUE(helper.send_entries("x86_64", {&function, 1}));
    ASSERT_TRUE(helper.send_types(one_function()));
    auto large = helper.receive_types();
    ASSERT_TRUE(large) << large.error().message();
    EXPECT_GT(large->size(), 500000u);
    auto entries = helper.receive_entries();
    ASSERT_TRUE(entries) << entries.error().message();
    EXPECT_EQ(entries->size(), 1u);
    auto small = helper.receive_types();
    ASSERT_TRUE(small) << small.error().message();
    EXPECT_LT(small->size(), 2000u);
}

TEST(CompilerProcess, TellsItsVersions) {
    CompilerProcess helper = start();
    auto versions = helper.versions();
    ASSERT_TRUE(versions) << versions.error().message();
    EXPECT_NE(versions->clang.find("clang version 14."), std::string::npos) << versions->clang;
    EXPECT_TRUE(versions->libbcc.starts_with("0.")) << versions->libbcc;
}

TEST(CompilerProcess, HasNoReplyThatWasNotAskedFor) {
    CompilerProcess helper = start();
    auto reply = helper.receive_types();
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().message(), "no reply of the compiler helper is due");
}

}  // namespace
}  // namespace mlbcc::bpf
