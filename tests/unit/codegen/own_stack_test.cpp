// Each generated program that runs in a uprobe stays on its thread's stack, whatever it does and
// however it attaches; what of the kernel's it is called by needs nothing.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "codegen/generated.h"

namespace mlbcc::test {
namespace {

using codegen::AttachMode;
using codegen::ProgramKind;

// Shapes of an end that are one program, several with halves and ends apart, stacks, texts, keys,
// probes of programs, an interpreter that is looked for, functions of the kernel, templates.
constexpr const char* kOneShape = "on cuda:cuInit { event a(pid) }\n";
constexpr const char* kManyShapes =
    "on cuda:cuMemAlloc { span a(args)   stack user   stack python }\n"
    "on cuda:cuMemFree { span b(args)   count   hist duration }\n"
    "on cuda:cuModuleGetFunction { span c(args)   learn kernel[*hfunc] = str(name, 200) }\n"
    "on cuda:cuMemcpyHtoD { span d(args)   sum ByteCount by comm }\n"
    "on cuda:cuMemcpyHtoD { where ret == CUDA_SUCCESS   event e(str(srcHost, 200)) }\n"
    "on entry cuda:cuLaunchKernel { count by kernel[f] }\n";
constexpr const char* kAllKinds =
    "on cuda:cuInit, kernel:vfs_read { hist duration }\n"
    "on kernel:vfs_read { event f(count)   stack user }\n"
    "on usdt:python3:python:gc__start { event gc(generation = arg(0))   stack python }\n"
    "on syscall:openat { event a(filename) }\n"
    "on tracepoint:sched:sched_switch { event b(next_pid) }\n";

codegen::Program made(const std::string& rules, AttachMode mode) {
    const Planned planned(rules);
    EXPECT_EQ(planned.messages(), "");
    auto program = codegen::generate(planned.plan(), {.mode = mode,
                                                      .kernel_mode = mode,
                                                      .task_pid_offset = 2480,
                                                      .task_fsbase_offset = 4992,
                                                      .templates = &shipped_templates()});
    EXPECT_TRUE(program) << program.error().message();
    return program ? std::move(*program) : codegen::Program{};
}

// The array for it, "" where the kernel never has two of that kind on one CPU.
std::string array_of(ProgramKind kind) {
    static const std::map<ProgramKind, std::string> kArrays = {
        {ProgramKind::session, "own_stack"},       {ProgramKind::entry, "own_stack"},
        {ProgramKind::ret, "own_stack"},           {ProgramKind::usdt, "own_stack_usdt"},
        {ProgramKind::python, "own_stack_python"},
    };
    const auto found = kArrays.find(kind);
    return found == kArrays.end() ? "" : found->second;
}

void expect_own_stacks(const codegen::Program& program) {
    std::set<std::string> arrays;
    size_t calls = 0;
    for (const codegen::Function& one : program.functions) {
        const std::string array = array_of(one.kind);
        if (array.empty()) continue;
        EXPECT_EQ(count_of(program.source,
                           fmt::format("\nint {}(struct pt_regs *ctx) {{\n    {}.call(ctx, 1);\n",
                                       one.name, array)),
                  1u)
            << one.name;
        arrays.insert(array);
        ++calls;
    }
    for (const std::string& array : arrays) {
        EXPECT_EQ(count_of(program.source, fmt::format("BPF_PROG_ARRAY({}, 1);\n", array)), 1u);
    }
    EXPECT_EQ(count_of(program.source, "BPF_PROG_ARRAY(own_stack"), arrays.size());
    EXPECT_EQ(count_of(program.source, ".call(ctx, 1);\n"), calls) << "no other program has it";
}

TEST(OwnStack, IsThatOfEachProgramOfAUprobe) {
    for (const AttachMode mode : {AttachMode::session, AttachMode::multi, AttachMode::perf}) {
        for (const char* rules : {kOneShape, kManyShapes, kAllKinds}) {
            SCOPED_TRACE(fmt::format("mode {}\n{}", static_cast<int>(mode), rules));
            const codegen::Program program = made(rules, mode);
            expect_own_stacks(program);
        }
    }
}

TEST(OwnStack, TheProgramsOfTheseRulesAreOfEachKind) {
    std::set<std::string> names;
    for (const AttachMode mode : {AttachMode::session, AttachMode::multi}) {
        for (const char* rules : {kOneShape, kManyShapes, kAllKinds}) {
            for (const codegen::Function& one : made(rules, mode).functions) {
                if (!array_of(one.kind).empty()) names.insert(one.name);
            }
        }
    }
    for (const char* name : {"on_call", "begin_recorded", "end_call", "lose_call", "python_starts",
                             "shape_0", "shape_1", "shape_5"}) {
        EXPECT_TRUE(names.contains(name)) << name;
    }
}

TEST(OwnStack, NothingIsAddedForWhatTheKernelRunsOneAtATime) {
    const codegen::Program program =
        made("on syscall:openat { event a(filename) }\non kernel:vfs_read { count }\n",
             AttachMode::session);
    EXPECT_EQ(count_of(program.source, "own_stack"), 0u);
}

}  // namespace
}  // namespace mlbcc::test
