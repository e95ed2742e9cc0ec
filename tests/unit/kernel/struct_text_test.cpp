#include "kernel/struct_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "files/scratch.h"
#include "kernel/made_btf.h"

namespace mlbcc::kernel {
namespace {

class StructTextTest : public testing::Test {
protected:
    std::string text(const std::string& program) {
        scratch_.write("vmlinux", btf_.bytes());
        auto opened = KernelBtf::open(scratch_.path());
        EXPECT_TRUE(opened) << opened.error().message();
        const auto made = struct_text(*opened, program, defined_structs(program));
        EXPECT_TRUE(made) << made.error().message();
        return *made;
    }
    MadeBtf btf_;
    files::Scratch scratch_;
    uint32_t integer_ = btf_.integer("int", 4, BTF_INT_SIGNED);
    uint32_t character_ = btf_.integer("char", 1);
};

TEST_F(StructTextTest, HasTheFieldsThatAreNamed) {
    const uint32_t task = btf_.next_id() + 2;
    const uint32_t to_task = btf_.pointer(task), name = btf_.array(character_, 16);
    ASSERT_EQ(btf_.structure("task", 64,
                             {{"state", integer_, 0},
                              {"tgid", integer_, 64},
                              {"parent", to_task, 128},
                              {"comm", name, 256}}),
              task);
    EXPECT_EQ(text("struct task *t; t->parent->tgid"),
              "struct task;\n"
              "struct task { char pad_0[8]; signed int tgid; char pad_1[4]; struct task *parent; "
              "char pad_2[40]; } __attribute__((packed, aligned(8)));\n"
              "_Static_assert(__builtin_offsetof(struct task, tgid) == 8, \"task.tgid\");\n"
              "_Static_assert(__builtin_offsetof(struct task, parent) == 16, \"task.parent\");\n");
}

TEST_F(StructTextTest, WhatLiesOverOtherFieldsIsInAUnionAndBitsAreWhereTheyAre) {
    btf_.structure("over", 8, {{"a", integer_, 0}, {"b", character_, 16}, {"c", integer_, 32, 3}});
    EXPECT_EQ(text("struct over x; a b"),
              "struct over { union { struct { signed int a; } __attribute__((packed)); struct { "
              "char pad_0[2]; char b; } __attribute__((packed)); char pad_1[8]; }; } "
              "__attribute__((packed, aligned(8)));\n"
              "_Static_assert(__builtin_offsetof(struct over, a) == 0, \"over.a\");\n"
              "_Static_assert(__builtin_offsetof(struct over, b) == 2, \"over.b\");\n");
    EXPECT_EQ(text("struct over x; c"),
              "struct over { char pad_0[4]; signed int c : 3; unsigned char : 5; char pad_1[3]; } "
              "__attribute__((packed, aligned(8)));\n");
}

TEST_F(StructTextTest, StructsInStructsComeFirst) {
    const uint32_t inner = btf_.structure("inner", 12, {{"x", integer_, 32}});
    btf_.structure("outer", 24, {{"one", inner, 32}, {"two", inner, 128}});
    EXPECT_EQ(text("struct outer o; o.two.x"),
              "struct inner { char pad_1[4]; signed int x; char pad_2[4]; } "
              "__attribute__((packed));\n"
              "_Static_assert(__builtin_offsetof(struct inner, x) == 4, \"inner.x\");\n"
              "struct outer { char pad_0[16]; struct inner two; } "
              "__attribute__((packed, aligned(8)));\n"
              "_Static_assert(__builtin_offsetof(struct outer, two) == 16, \"outer.two\");\n");
}

TEST_F(StructTextTest, WhatTheProgramDefinesIsItsOwn) {
    btf_.structure("mine", 4, {{"x", integer_, 0}});
    btf_.structure("bpf_thing", 4, {{"x", integer_, 0}});
    EXPECT_EQ(text("struct mine { int x; }; struct mine m; struct bpf_thing t; struct none n;"),
              "");
}

// Whatever the running kernel has, gcc agrees with it.
TEST(StructText, OfThisKernel) {
    auto btf = KernelBtf::open();
    if (!btf) GTEST_SKIP() << btf.error().message();
    const auto made = struct_text(
        *btf,
        "struct task_struct struct sock struct file struct page struct inode real_parent tgid comm "
        "signal rlim mm exe_file f_path dentry d_name name flags mapping __sk_common skc_daddr "
        "skc_family sk_protocol sk_type i_ino i_mode f_mode cred uid val",
        {});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_NE(made->find("struct task_struct {"), std::string::npos);
    const files::Scratch scratch;
    scratch.compile("kernel.o", *made, "-c");
}

}  // namespace
}  // namespace mlbcc::kernel
