// Fields, elements, bit-fields and structs passed by value: which bytes are read.
#include <gtest/gtest.h>

#include "rules/checked.h"

namespace mlbcc::test {
namespace {

Prototypes prototypes() {
    Prototypes p = cuda_prototypes();
    p.record("struct layer", 24,
             {{"int kind", 0}, {"unsigned int rows", 4, 0, 0, 3}, {"const char *label", 16}});
    p.record("struct model", 128,
             {{"unsigned int low", 0, 0, 3},
              {"int high", 0, 3, 5},
              {"char name", 8, 0, 0, 32},
              {"struct layer layers", 40, 0, 0, 3},
              {"struct layer *more", 112},
              {"float rate", 120}});
    p.record("struct pair", 16, {{"short a", 0, 0, 0, 4}, {"int b", 8}, {"double d", 8}});
    p.add("int step(const struct model *m, size_t i)");
    p.add("int change(struct model *m, size_t i)");
    p.add("int by_value(struct pair pair, dim3 grid, size_t i)");
    return p;
}

std::string tree(const std::string& function, const std::string& expr) {
    return Checked(prototypes(), function, expr).tree();
}
std::string kind(const std::string& function, const std::string& expr) {
    return Checked(prototypes(), function, expr).kind();
}

TEST(CheckMemory, AFieldIsReadAtItsOffset) {
    EXPECT_EQ(tree("cuLaunchKernelEx", "config->gridDimY"), "(load4 %0:28 +4 0.0)");
    EXPECT_EQ(tree("cuLaunchKernelEx", "(*config).gridDimY"), "(load4 %0:28 +4 0.0)");
    EXPECT_EQ(tree("cuLaunchKernelEx", "config[2].gridDimY"), "(load4 %0:28 +116 0.0)");
    EXPECT_EQ(tree("cuLaunchKernelEx", "config->attrs->value"),
              "(load8 (load8 %0:28 +40 0.0):28 +8 0.0)");
    EXPECT_EQ(tree("cuLaunchKernelEx", "config->attrs[1].id"),
              "(load4 (load8 %0:28 +40 0.0):28 +72 0.0)");
}

TEST(CheckMemory, AFloatingPointNumberIsShown) {
    EXPECT_EQ(kind("step", "m->rate"), "floating 4 at entry");
    EXPECT_EQ(kind("change", "m->rate"), "floating 4 at return");
    const std::string said = Checked(prototypes(), "step", "m->rate * 2").messages();
    EXPECT_EQ(said.substr(0, said.find('\n')),
              "error: `m->rate` is a floating-point number, and an operand is an integer");
}

TEST(CheckMemory, ABitFieldIsPartOfItsUnit) {
    EXPECT_EQ(tree("step", "m->low"), "(load4 %0:28 +0 0.3)");
    EXPECT_EQ(tree("step", "m->high"), "(load4 %0:28 +0 3.5)");
    EXPECT_EQ(kind("step", "m->high"), "signed 4 at entry");
}

TEST(CheckMemory, AnElementIsScaled) {
    EXPECT_EQ(tree("step", "m->layers[2].kind"), "(load4 %0:28 +88 0.0)");
    EXPECT_EQ(tree("step", "m->layers[i].kind"), "(load4[%1:18*24] %0:28 +40 0.0)");
    EXPECT_EQ(tree("step", "m->layers[i].rows[1]"), "(load4[%1:18*24] %0:28 +48 0.0)");
    EXPECT_EQ(tree("step", "m->layers[i].rows[i]"),
              "(load4[%1:18*4] (address[%1:18*24] %0:28 +44):28 +0 0.0)");
    EXPECT_EQ(tree("step", "m->more[i].kind"),
              "(load4[%1:18*24] (load8 %0:28 +112 0.0):28 +0 0.0)");
    EXPECT_EQ(kind("step", "m->more[i].kind"), "signed 4 at return") << "not const";
    EXPECT_EQ(kind("step", "m->layers[i].kind"), "signed 4 at entry");
    EXPECT_EQ(kind("change", "m->layers[i].kind"), "signed 4 at return");
}

TEST(CheckMemory, AnArrayOfCharactersIsTextAndOthersAreAnAddress) {
    EXPECT_EQ(tree("step", "m->name"), "(text (address %0:28 +8):28 32)");
    EXPECT_EQ(kind("step", "m->name"), "text 8 at entry");
    EXPECT_EQ(tree("step", "m->layers[0].rows"), "(address %0:28 +44)");
    EXPECT_EQ(kind("step", "m->layers[0].rows"), "hex 8 at entry");
    EXPECT_EQ(tree("step", "m->layers[1].label"), "(text (load8 %0:28 +80 0.0):28 64)");
    EXPECT_EQ(kind("step", "m->name == \"mlp\""), "boolean 8 at entry");
}

TEST(CheckMemory, AnAddressIsNotRead) {
    EXPECT_EQ(tree("change", "&m->layers[1].kind"), "(address %0:28 +64)");
    EXPECT_EQ(kind("change", "&m->layers[1].kind"), "hex 8 at entry");
    EXPECT_EQ(tree("change", "&m->layers[i]"), "(address[%1:18*24] %0:28 +40)");
}

TEST(CheckMemory, AStructPassedByValueIsReadFromItsWords) {
    EXPECT_EQ(tree("cudaLaunchKernel", "gridDim.x"), "%1.0:4");
    EXPECT_EQ(tree("cudaLaunchKernel", "gridDim.z"), "%1.8:4");
    EXPECT_EQ(kind("cudaLaunchKernel", "blockDim.z"), "unsigned 4 at entry");
    EXPECT_EQ(tree("by_value", "pair.a[3]"), "%0.6:2");
    EXPECT_EQ(kind("by_value", "pair.b"), "signed 4 at entry");
}

TEST(CheckMemory, APointerStepsByWhatItPointsAt) {
    EXPECT_EQ(tree("cuMemAlloc_v2", "*(dptr + 2)"),
              "(load8 (b3 %0:28 (b0 2:08 8:08):18):28 +0 0.0)");
    EXPECT_EQ(tree("cuMemAlloc_v2", "dptr - 1"), "(b4 %0:28 (b0 1:08 8:08):18)");
    EXPECT_EQ(kind("cuMemAlloc_v2", "*(dptr + 2)"), "hex 8 at return");
}

Prototypes with_task() {
    Prototypes p = prototypes();
    p.record("struct task_struct", 4096, {{"int tgid", 1268}, {"char comm", 1752, 0, 0, 16}});
    p.record("struct linked", 16, {{"int tgid", 0}, {"struct task_struct *real_parent", 8}});
    p.add("int shadows(int task)");
    p.table().set_task(p.type("struct linked *"));
    return p;
}

TEST(CheckMemory, TheTaskIsReadInTheKernelAsItIsThen) {
    const Prototypes types = with_task();
    const Checked parent(types, "cuInit", "task->real_parent->tgid");
    EXPECT_EQ(parent.tree(), "(load4 (load8 task:28 +8 0.0):28 +1268 0.0)");
    EXPECT_EQ(parent.kind(), "signed 4 at entry") << "not what the function may write";
    EXPECT_TRUE(rules::is_of_task(*parent.value()));
    EXPECT_TRUE(rules::always_known(*parent.value()));
    const Checked name(types, "cuInit", "task->real_parent->comm", true);
    EXPECT_EQ(name.tree(), "(text (address (load8 task:28 +8 0.0):28 +1752):28 16)");
    EXPECT_TRUE(rules::always_known(*name.value()));
    EXPECT_EQ(Checked(types, "shadows", "task").tree(), "%0");
    const Checked indexed(types, "cuInit", "task[Flags].tgid");
    EXPECT_TRUE(rules::is_of_task(*indexed.value()));
    EXPECT_FALSE(rules::always_known(*indexed.value())) << "the index is an argument";
}

TEST(CheckMemory, WithoutTheKernelsTypesThereIsNoTask) {
    Prototypes types = prototypes();
    types.table().set_task(Error{"the kernel does not describe its types", 2, "build it so"});
    EXPECT_EQ(Checked(types, "cuInit", "task->tgid").messages(),
              "error: nothing is known of what `task` points at\n"
              "  --> a.rules:14:1\n"
              "   |\n"
              "14 | task->tgid\n"
              "   | ^^^^\n"
              "   = note: the kernel does not describe its types: No such file or directory\n"
              "   = help: build it so\n");
}

TEST(CheckMemory, ArgsShowsWhatAProbeCannotReadAsUnread) {
    Prototypes p = prototypes();
    p.add("double pick(int i, float f, dim3 g, const char *name)");
    p.add("void nothing(int i)");
    const std::vector<std::string> tables;
    rules::Scope scope{&p.table(), p.table().function("pick"), &tables, &tables, "pick", "pick",
                       false};
    EXPECT_EQ(rules::to_text(*rules::check_param(0, scope)), "%0:04");
    for (uint32_t unread : {1u, 2u}) {
        EXPECT_EQ(rules::to_text(*rules::check_param(unread, scope)), "unread:108") << unread;
    }
    EXPECT_EQ(rules::to_text(*rules::check_param(3, scope)), "(text %3:28 64):58");
    EXPECT_EQ(rules::check_ret(scope), nullptr);
    scope.signature = p.table().function("nothing");
    EXPECT_EQ(rules::check_ret(scope), nullptr);
    scope.signature = nullptr;
    EXPECT_EQ(rules::to_text(*rules::check_param(5, scope)), "%5:28");
    EXPECT_EQ(rules::to_text(*rules::check_ret(scope)), "ret:28");
}

}  // namespace
}  // namespace mlbcc::test
