// How much of a program's stack the generated C copies.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/generated.h"
#include "codegen/template.h"

namespace mlbcc::test {
namespace {

std::string source(const std::string& rules, codegen::Options options = {}) {
    const Planned planned(rules, kDriver, cuda_prototypes());
    options.templates = &shipped_templates();
    auto program = codegen::generate(planned.plan(), options);
    return program ? program->source : program.error().message();
}

TEST(Stacks, AreCopiedAsDeepAsTheKernelTellsThatTheyAre) {
    const std::string rules = "on cuda:cuMemAlloc { span userspace(args) stack user }\n";
    std::string text = source(rules, {.stack_ends = codegen::StackEnds{2464, 352, 5080}});
    EXPECT_EQ(count_of(text, "#define MLBCC_STACKS 1\n#define MLBCC_TASK_MM 2464\n"
                             "#define MLBCC_START_STACK 352\n#define MLBCC_THREAD_POINTER 5080\n"),
              1u);
    EXPECT_EQ(count_of(text, "mlbcc_submit_stack(&call);"), 1u);
    text = source(rules, {.stack_ends = codegen::StackEnds{2464, 352, {}}});
    EXPECT_EQ(count_of(text, "#define MLBCC_START_STACK 352\n"), 1u);
    EXPECT_EQ(count_of(text, "#define MLBCC_THREAD_POINTER"), 0u);
    EXPECT_EQ(count_of(source(rules), "#define MLBCC_START_STACK"), 0u);
    text = source("on cuda:cuMemAlloc { span userspace(args) }\n",
                  {.stack_ends = codegen::StackEnds{2464, 352, 5080}});
    EXPECT_EQ(count_of(text, "#define MLBCC_STACKS"), 0u);
}

}  // namespace
}  // namespace mlbcc::test
