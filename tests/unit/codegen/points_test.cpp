// The programs of system calls and tracepoints: one golden each of a call with both ends, of an end
// alone, and of a moment.
#include <gtest/gtest.h>

#include "codegen/generated.h"
#include "sink/golden.h"

namespace mlbcc::test {
namespace {

void expect_golden_of(const std::string& name, const std::string& rules) {
    expect_golden("codegen/" + name + ".c.golden", generated(rules, codegen::AttachMode::session));
}

TEST(GeneratePoints, ASystemCallWithBothEnds) {
    expect_golden_of("syscall", "on syscall:openat {\n"
                                "    where flags & 64\n"
                                "    event file.open(filename, ret)\n"
                                "}\n");
}

TEST(GeneratePoints, TheEndOfASystemCall) {
    expect_golden_of("syscall_end", "on syscall:* { count by function }\n");
}

TEST(GeneratePoints, ASystemCallWhoseTimeIsAsked) {
    expect_golden_of("syscall_timed", "on syscall:read, syscall:write {\n"
                                      "    where ret > 0 && fd > 2\n"
                                      "    event file.use(fd, bytes = ret)\n"
                                      "}\n"
                                      "on syscall:read { event file.use(wanted = count) }\n");
}

// What a filter answers is told at its end: the beginning is done there, before the end is.
TEST(GeneratePoints, SystemCallsThatAFilterAnswersAreFollowed) {
    const auto made = [](const std::string& rules, std::optional<uint32_t> offset) {
        const Planned planned(rules);
        return codegen::generate(planned.plan(), {.task_seccomp_offset = offset,
                                                  .task_pending_offset = offset,
                                                  .templates = &shipped_templates()})
            .value();
    };
    const std::string both_ends = "on syscall:openat { span file(args) }\n";
    const codegen::Program program = made(both_ends, 8);
    EXPECT_EQ(count_of(program.source, "= mlbcc_is_answered(at);"), 1u);
    EXPECT_EQ(count_of(program.source, "int on_sys_enter("), 1u) << "it notes which call began";
    const std::string end_alone = "on syscall:openat { count by ret }\n";
    EXPECT_EQ(count_of(made(end_alone, 8).source, "int on_sys_exit("), 0u);
    EXPECT_EQ(count_of(made(both_ends, std::nullopt).source, "int on_sys_exit("), 0u);
    EXPECT_EQ(count_of(made(both_ends, std::nullopt).source, "int on_sys_enter("), 0u);
}

// What is in no memory when the call begins, the kernel brings in: the call is told then.
TEST(GeneratePoints, SystemCallsThatReadMemoryMayBeHeld) {
    const auto made = [](const std::string& rules, bool is_exec = false,
                         bool prepares_exec = true) {
        const Planned planned(rules);
        plan::Plan plan = planned.plan();
        if (is_exec) plan.probes[0].function = "execve";
        return codegen::generate(plan, {.task_seccomp_offset = 8,
                                        .task_pending_offset = 8,
                                        .prepares_exec = prepares_exec,
                                        .templates = &shipped_templates()})
            .value()
            .source;
    };
    const auto holds = [&](const std::string& rules) {
        return count_of(made(rules), "#define MLBCC_HOLDS 1\n") == 1;
    };
    const std::string both_ends = "on syscall:openat { span file(args) }\n";
    EXPECT_TRUE(holds(both_ends));
    EXPECT_TRUE(holds("on syscall:openat { event file(filename) }\n"));
    EXPECT_TRUE(holds("on entry syscall:openat { count by filename }\n"));
    EXPECT_TRUE(holds("on syscall:openat { where filename == \"a\"   count by ret }\n"));
    EXPECT_FALSE(holds("on syscall:openat { span file(flags) }\n"));
    EXPECT_FALSE(holds("on syscall:openat { event file(flags)   count by comm }\n"));

    EXPECT_EQ(count_of(made(both_ends, true), "int on_prepare_exec("), 1u);
    EXPECT_EQ(count_of(made(both_ends, true, false), "int on_prepare_exec("), 0u);
    EXPECT_EQ(count_of(made(both_ends), "int on_prepare_exec("), 0u);
}

TEST(GeneratePoints, PythonFunctionsOfManySystemCallsAreFoundByOneProgram) {
    const std::string few = "on syscall:openat { event a(filename)   stack python }\n"
                            "on syscall:openat { event a(flags) }\n";
    const std::string many = few +
                             "on entry syscall:write { event b(count)   stack python }\n"
                             "on syscall:write { hist duration }\n"
                             "on syscall:read { where ret > 4096   event c(ret)   stack python }\n"
                             "on syscall:close { span d(args) }\n"
                             "on syscall:fstat { count by function }\n";
    const auto made = [](const std::string& rules) {
        const Planned planned(rules);
        auto program = codegen::generate(
            planned.plan(), {.task_fsbase_offset = 8, .templates = &shipped_templates()});
        return program ? program->source : program.error().message();
    };
    const std::string end = "syscall_shapes.call(at, MLBCC_END_SYSCALL);";
    EXPECT_EQ(count_of(made(few), end), 0u);
    EXPECT_EQ(count_of(made(few), "mlbcc_take_python(&call, "), 1u);
    const std::string source = made(many);
    EXPECT_EQ(count_of(source, end), 3u);
    EXPECT_EQ(count_of(source, "mlbcc_take_python(&call, "), 0u);
    EXPECT_EQ(count_of(source, "int end_syscall("), 1u);
    // What goes on in the other program does not come back to begin the call.
    const std::string both_ends = between(source, "if (mlbcc_push(&call)) {", end);
    EXPECT_NE(both_ends.find("mlbcc_lose(&call);"), std::string::npos) << both_ends;
    EXPECT_NE(both_ends.find("mlbcc_leave_python(&call, "), std::string::npos) << both_ends;
}

TEST(GeneratePoints, ATracepoint) {
    expect_golden_of("tracepoint", "on tracepoint:sched:sched_switch {\n"
                                   "    event switch(prev_comm, next_pid)\n"
                                   "    count by next_comm\n"
                                   "}\n");
}

TEST(GeneratePoints, ATracepointsTextAsLongAsAskedFor) {
    const std::string source =
        generated("on tracepoint:sched:sched_process_exec { event a(long = str(filename, 200)) }",
                  codegen::AttachMode::session);
    EXPECT_NE(source.find("mlbcc_read_kernel_text(record->f0, 200, v0);"), std::string::npos);
}

TEST(GeneratePoints, ATracepointOfEveryProcess) {
    const auto contains = [](const std::string& rules, const std::string& text) {
        const std::string source = generated(rules, codegen::AttachMode::session);
        return source.find(text) != std::string::npos;
    };
    const std::string all = "on all tracepoint:sched:sched_switch { event a(next_pid) }\n";
    const std::string traced = "on tracepoint:sched:sched_switch { event b(next_pid) }\n";
    EXPECT_TRUE(contains(all, "if (!mlbcc_admit_all(&call)) return 0;"));
    EXPECT_FALSE(contains(all, "int wanted = mlbcc_is_traced(&call);"));
    EXPECT_TRUE(contains(traced, "if (!mlbcc_admit(&call)) return 0;"));
    EXPECT_TRUE(contains(all + traced, "if (!mlbcc_admit_all(&call)) return 0;"));
    EXPECT_TRUE(contains(all + traced, "int wanted = mlbcc_is_traced(&call);"));
}

TEST(GeneratePoints, AFunctionOfTheKernel) {
    const std::string rules = "on kernel:vfs_read {\n"
                              "    where count > 100\n"
                              "    event file.read(name, count, ret)\n"
                              "    stack user\n"
                              "}\n";
    expect_golden_of("kernel.session", rules);
    expect_golden("codegen/kernel.perf.c.golden", generated(rules, codegen::AttachMode::perf));
}

TEST(GeneratePoints, ProgramsAndTheKernelEachHaveTheirOwnMode) {
    const Planned planned("on cuda:cuInit, kernel:vfs_read { hist duration }");
    codegen::Options options{.mode = codegen::AttachMode::multi,
                             .kernel_mode = codegen::AttachMode::session,
                             .task_stack_offset = 32,
                             .templates = &shipped_templates()};
    auto program = codegen::generate(planned.plan(), options);
    ASSERT_TRUE(program);
    EXPECT_EQ(functions(*program), "// entry shape_0 0\n// return shape_1 1\n"
                                   "// kernel session on_kernel_call -\n");
    EXPECT_TRUE(program->direct[codegen::Side::user] && program->direct[codegen::Side::kernel]);
    for (const char* line : {"#define MLBCC_SESSION 1\n", "#define MLBCC_KERNEL 1\n",
                             "#define MLBCC_TASK_STACK 32\n"}) {
        EXPECT_NE(program->source.find(line), std::string::npos) << line;
    }
}

TEST(GeneratePoints, WhatTheKernelWasDoing) {
    expect_golden_of("kernel_stack", "on syscall:openat {\n"
                                     "    event file.open(ret)\n"
                                     "    stack kernel\n"
                                     "    stack user\n"
                                     "}\n");
}

TEST(GeneratePoints, AnIntervalHasNoProgram) {
    EXPECT_EQ(
        generated("on interval:1s { event a.b(resident)   count }", codegen::AttachMode::session)
            .find("shape_"),
        std::string::npos);
}

TEST(GeneratePoints, ProbesOfAProgramWithArgumentsInTheirPlaces) {
    expect_golden_of("usdt", "on usdt:python3:python:gc__start { event gc(generation = arg(0)) }\n"
                             "on usdt:\"./libshop.so\":shop:sold {\n"
                             "    event sold(what = str(arg(0)), count = arg(1))\n"
                             "}\n");
}

TEST(GeneratePoints, WhatComesBetweenHasRoomOfItsOwnForLargeRecords) {
    const auto rooms = [](const std::string& rules) {
        const std::string source = generated(rules, codegen::AttachMode::multi);
        return fmt::format("{} {} {}", count_of(source, ")thread->scratch;"),
                           count_of(source, ")thread->between;"),
                           count_of(source, "#define MLBCC_BETWEEN 1\n"));
    };
    EXPECT_EQ(rooms("on cuda:cuInit { event a(Flags)   stack user }"), "1 0 0");
    EXPECT_EQ(rooms("on syscall:openat { event a(filename)   stack user }"), "1 0 0");
    EXPECT_EQ(rooms("on tracepoint:sched:sched_switch { event a(next_pid)   stack user }"),
              "0 1 1");
    EXPECT_EQ(rooms("on kernel:vfs_read { event a(count)   stack user }"), "0 1 1");
    EXPECT_EQ(rooms("on tracepoint:sched:sched_switch { event a(next_pid) }"), "0 0 0");
}

// "tracepoint on_sys_enter raw_syscalls:sys_enter": those that are attached by name.
std::string named_points(const codegen::Program& program) {
    std::string out;
    for (const codegen::Function& one : program.functions) {
        if (one.point.empty()) continue;
        const bool raw = one.kind == codegen::ProgramKind::raw_tracepoint;
        out += fmt::format("{} {} {}\n", raw ? "raw" : "perf", one.name, one.point);
    }
    return out;
}

TEST(GeneratePoints, WhereRawTracepointsArePreemptedTheyArePerfs) {
    const Planned planned("on syscall:openat { event a(filename) }\n"
                          "on syscall:read { event b(ret)   stack user }\n");
    codegen::Options options{.task_pid_offset = 2480, .templates = &shipped_templates()};
    const auto raw = codegen::generate(planned.plan(), options);
    options.points_by_perf = true;
    const auto perf = codegen::generate(planned.plan(), options);
    ASSERT_TRUE(raw && perf);
    EXPECT_EQ(count_of(raw->source, "#define MLBCC_BY_PERF 0\n"), 1u);
    EXPECT_EQ(count_of(perf->source, "#define MLBCC_BY_PERF 1\n"), 1u);
    EXPECT_EQ(named_points(*raw),
              "raw on_sys_enter raw_syscalls:sys_enter\n"
              "raw on_sys_exit raw_syscalls:sys_exit\n"
              "raw raw_tracepoint__task_newtask task:task_newtask\n"
              "raw raw_tracepoint__sched_process_exec sched:sched_process_exec\n"
              "raw raw_tracepoint__sched_process_exit sched:sched_process_exit\n"
              "raw raw_tracepoint__task_rename task:task_rename\n");
    EXPECT_EQ(named_points(*perf),
              "perf on_sys_enter raw_syscalls:sys_enter\n"
              "perf on_sys_exit raw_syscalls:sys_exit\n"
              "perf tracepoint__task__task_newtask task:task_newtask\n"
              "perf tracepoint__sched__sched_process_exec sched:sched_process_exec\n"
              "perf tracepoint__sched__sched_process_exit sched:sched_process_exit\n"
              "perf tracepoint__task__task_rename task:task_rename\n");
}

}  // namespace
}  // namespace mlbcc::test
