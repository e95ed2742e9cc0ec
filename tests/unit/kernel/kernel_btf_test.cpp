#include "kernel/kernel_btf.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "base/unique_fd.h"
#include "files/scratch.h"
#include "kernel/btf_spelling.h"
#include "kernel/made_btf.h"

namespace mlbcc::kernel {
namespace {

// struct task { int pid; union { long a; struct { char b, c; }; }; unsigned d : 3, e : 30; };
struct Vmlinux {
    MadeBtf btf;
    uint32_t integer = btf.integer("int", 4, BTF_INT_SIGNED);
    uint32_t number = btf.integer("unsigned int", 4);
    uint32_t wide = btf.integer("long int", 8, BTF_INT_SIGNED);
    uint32_t character = btf.integer("char", 1);
    uint32_t inner = btf.structure("", 2, {{"b", character, 0}, {"c", character, 8}});
    uint32_t either = btf.record(BTF_KIND_UNION, "", 8, {{"a", wide, 0}, {"", inner, 0}});
    uint32_t task = btf.structure("task", 32,
                                  {{"pid", integer, 0},
                                   {"", either, 64},
                                   {"d", number, 128, 3},
                                   {"e", number, 131, 30},
                                   {"comm", btf.array(character, 8), 192}});
    uint32_t alias = btf.alias("task_t", task);
    uint32_t holder = btf.structure(
        "holder", 48, {{"before", wide, 0}, {"task", alias, 64}, {"next", btf.pointer(task), 320}});
    uint32_t proto = btf.prototype(integer, {{"task", btf.pointer(task)}});
    uint32_t function = btf.function("task_run", proto);
    uint32_t no_function = btf.function("broken", task);
};

class KernelBtfTest : public testing::Test {
protected:
    KernelBtf open() {
        scratch_.write("vmlinux", vmlinux_.btf.bytes());
        auto types = KernelBtf::open(scratch_.path());
        EXPECT_TRUE(types) << types.error().message();
        return std::move(*types);
    }
    // "8 (4 bytes, bits 3 to 33)"
    std::string field(const std::string& path) {
        KernelBtf types = open();
        const auto found = types.field(path);
        if (!found) return found.error().message();
        std::string text = fmt::format("{} ({} bytes", found->offset, found->size);
        if (found->bit_width != 0) {
            text += fmt::format(", bits {} to {}", found->bit_offset,
                                found->bit_offset + found->bit_width);
        }
        return text + ")";
    }

    Vmlinux vmlinux_;
    files::Scratch scratch_;
};

TEST_F(KernelBtfTest, FieldsAreWhereTheStructHasThem) {
    EXPECT_EQ(field("task.pid"), "0 (4 bytes)");
    EXPECT_EQ(field("task.a"), "8 (8 bytes)");
    EXPECT_EQ(field("task.c"), "9 (1 bytes)");
    EXPECT_EQ(field("task.comm"), "24 (8 bytes)");
    EXPECT_EQ(field("task_t.c"), "9 (1 bytes)");
    EXPECT_EQ(field("holder.next"), "40 (8 bytes)");
    EXPECT_EQ(field("holder.task.c"), "17 (1 bytes)");
}

TEST_F(KernelBtfTest, BitFieldsAreReadAsTheirTypeOrFromTheirByte) {
    EXPECT_EQ(field("task.d"), "16 (4 bytes, bits 0 to 3)");
    EXPECT_EQ(field("task.e"), "16 (4 bytes, bits 3 to 33)") << "straddles two units";
}

TEST_F(KernelBtfTest, FieldsThatThereAreNotAreErrors) {
    EXPECT_EQ(field("tasks.pid"), "the kernel has no type `tasks`");
    EXPECT_EQ(field("task"), "`task` is not a field: write `struct.field`");
    EXPECT_EQ(field("task.tid"), "`task` of the kernel has no field `tid`");
    EXPECT_EQ(field("holder.task.tid"), "`holder.task` of the kernel has no field `tid`");
    EXPECT_EQ(field("holder.next.pid"), "`holder.next` of the kernel has no field `pid`");
    EXPECT_EQ(field("task."), "`task` of the kernel has no field ``");
    EXPECT_EQ(field(""), "the kernel has no type ``");
}

TEST_F(KernelBtfTest, FunctionsAreFoundByName) {
    KernelBtf types = open();
    const auto found = types.function("", "task_run");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, vmlinux_.function);
    EXPECT_EQ(found->proto, vmlinux_.proto);
    for (const char* name : {"task_ru", "task", "broken", ""}) {
        const auto none = types.function("", name);
        ASSERT_FALSE(none);
        EXPECT_EQ(
            none.error().message(),
            fmt::format("{}/vmlinux does not describe the function `{}`", scratch_.path(), name));
    }
}

// By an index when there have been many: it says the same.
TEST_F(KernelBtfTest, NamesAreFoundHoweverOftenTheyAreAskedFor) {
    scratch_.write("vmlinux", vmlinux_.btf.bytes());
    auto image = BtfImage::open(scratch_.path("vmlinux"));
    ASSERT_TRUE(image);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(image->find(BTF_KIND_FUNC, "task_run"), vmlinux_.function);
        EXPECT_EQ(image->find(BTF_KIND_STRUCT, "task"), vmlinux_.task);
        EXPECT_EQ(image->find(BTF_KIND_UNION, "task"), std::nullopt);
        EXPECT_EQ(image->find(BTF_KIND_STRUCT, ""), std::nullopt);
        EXPECT_EQ(image->find(BTF_KIND_INT, "int"), std::nullopt);
    }
}

TEST_F(KernelBtfTest, AModuleHasItsOwnTypesAndThoseOfTheKernel) {
    MadeBtf module = MadeBtf::of_module(vmlinux_.btf);
    const uint32_t device = module.structure(
        "device", 40, {{"owner", module.pointer(vmlinux_.task), 0}, {"task", vmlinux_.task, 64}});
    const uint32_t proto = module.prototype(vmlinux_.integer, {{"d", module.pointer(device)}});
    const uint32_t function = module.function("device_open", proto);
    scratch_.write("gpu", module.bytes());
    KernelBtf types = open();
    const auto found = types.function("gpu", "device_open");
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->id, function);
    EXPECT_EQ(spelling_of(*found->image, device), "struct device");
    EXPECT_EQ(types.field("device.task.c", "gpu")->offset, 17u);
    EXPECT_EQ(types.field("task.c", "gpu")->offset, 9u);
    EXPECT_FALSE(types.function("", "device_open"));
    EXPECT_FALSE(types.function("gpu", "task_run"));
    EXPECT_FALSE(types.field("device.task.c"));
}

TEST_F(KernelBtfTest, SaysThatAModuleHasNoTypes) {
    KernelBtf types = open();
    const auto none = types.function("gpu", "device_open");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message(),
              "nothing describes the types of the kernel module gpu: cannot open " +
                  scratch_.path("gpu") + ": No such file or directory");
    EXPECT_EQ(none.error().help, "it is not loaded, or was built without BTF");
}

// ---- the file

std::string error_of(const files::Scratch& scratch, const std::string& bytes) {
    scratch.write("vmlinux", bytes);
    const auto opened = KernelBtf::open(scratch.path());
    return opened ? "opened" : opened.error().message();
}

TEST_F(KernelBtfTest, SaysWhyAFileIsNoBtf) {
    const std::string path = scratch_.path("vmlinux");
    const std::string begin = "the kernel does not describe its types: ";
    const auto none = KernelBtf::open(scratch_.path());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message(),
              begin + "cannot open " + path + ": No such file or directory");
    EXPECT_EQ(none.error().help, "it has to be built with CONFIG_DEBUG_INFO_BTF");
    EXPECT_EQ(error_of(scratch_, ""), begin + path + " is not BTF");
    EXPECT_EQ(error_of(scratch_, std::string(100, 'x')),
              begin + path + " is not BTF of this machine");
    const std::string whole = vmlinux_.btf.bytes();
    EXPECT_EQ(error_of(scratch_, whole), "opened");
    EXPECT_EQ(error_of(scratch_, whole.substr(0, whole.size() - 1)),
              begin + path + " is broken: it ends too early");
    std::string text = whole;
    text.back() = 'x';
    EXPECT_EQ(error_of(scratch_, text),
              begin + path + " is broken: its string table is not terminated");
    MadeBtf newer = vmlinux_.btf;
    newer.add(30, "new", 0);
    EXPECT_EQ(error_of(scratch_, newer.bytes()),
              begin + path + " is broken: kind 30 of a type is not known");
    MadeBtf cut = vmlinux_.btf;
    cut.add(BTF_KIND_STRUCT, "cut", 8, 2, {0, 1, 0});
    EXPECT_EQ(error_of(scratch_, cut.bytes()),
              begin + path + " is broken: its last type is cut off");
}

// Old kernels do not let it be mapped; nor does a pipe.
TEST_F(KernelBtfTest, AFileThatCannotBeMappedIsRead) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const UniqueFd from(ends[0]);
    UniqueFd to(ends[1]);
    const std::string bytes = vmlinux_.btf.bytes();
    ASSERT_EQ(write(to.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    to.reset();
    const auto image = BtfImage::open(fmt::format("/proc/self/fd/{}", from.get()));
    ASSERT_TRUE(image) << image.error().message();
    EXPECT_EQ(image->end_id(), vmlinux_.btf.next_id());
    EXPECT_EQ(spelling_of(*image, vmlinux_.task), "struct task");
}

TEST_F(KernelBtfTest, SurvivesAnyBytes) {
    const std::string whole = vmlinux_.btf.bytes();
    std::mt19937 random(5);
    int opened = 0;
    for (int i = 0; i < 1500; ++i) {
        std::string bytes = whole;
        for (int n = 0; n < 1 + i % 6; ++n) {
            bytes[random() % bytes.size()] = static_cast<char>(random() % 40);
        }
        scratch_.write("vmlinux", bytes);
        auto types = KernelBtf::open(scratch_.path());
        if (!types) continue;
        ++opened;
        const BtfImage& image = **types->image("");
        for (uint32_t id = 0; id < image.end_id() + 2; ++id) {
            spelling_of(image, id);
            for (const BtfMember& member : members_of(image, id)) field_of(image, member);
        }
        (void)types->function("", "task_run");
        (void)types->field("task.c");
    }
    EXPECT_GT(opened, 300);
}

// ---- how types are written

TEST(Spelling, IsThatOfC) {
    MadeBtf btf;
    const uint32_t character = btf.integer("char", 1), wide = btf.integer("long unsigned int", 8);
    const uint32_t fixed = btf.constant(character);
    const uint32_t file = btf.structure("file", 0, {});
    const uint32_t ids[] = {
        0,
        wide,
        btf.constant(wide),
        btf.pointer(0),
        btf.pointer(fixed),
        btf.pointer(btf.pointer(fixed)),
        btf.pointer(btf.constant(btf.pointer(character))),
        btf.constant(btf.pointer(character)),
        btf.pointer(btf.constant(file)),
        btf.array(btf.array(wide, 3), 2),
        btf.pointer(btf.array(btf.pointer(file), 4)),
        btf.pointer(btf.prototype(0, {{"", btf.pointer(file)}, {"", fixed}, {"", 0}})),
        btf.array(btf.pointer(btf.prototype(btf.pointer(file), {})), 2),
        btf.alias("size_t", wide),
        btf.pointer(btf.alias("loff_t", wide)),
        btf.structure("", 8, {}),
        btf.record(BTF_KIND_UNION, "u", 8, {}),
        btf.enumeration("e", false, {}),
        btf.add(BTF_KIND_FWD, "later", 0),
        btf.pointer(btf.add(BTF_KIND_TYPE_TAG, "user", character)),
        btf.add(BTF_KIND_FLOAT, "double", 8),
    };
    const files::Scratch scratch;
    const auto image = BtfImage::open(scratch.write("vmlinux", btf.bytes()));
    ASSERT_TRUE(image);
    std::string text;
    for (const uint32_t id : ids) text += spelling_of(*image, id) + "\n";
    EXPECT_EQ(text, "void\n"
                    "unsigned long\n"
                    "unsigned long\n"
                    "void *\n"
                    "const char *\n"
                    "const char **\n"
                    "char *const *\n"
                    "char *\n"
                    "const struct file *\n"
                    "unsigned long[2][3]\n"
                    "struct file *(*)[4]\n"
                    "void (*)(struct file *, const char, ...)\n"
                    "struct file *(*[2])(void)\n"
                    "size_t\n"
                    "loff_t *\n"
                    "struct (unnamed)\n"
                    "union u\n"
                    "enum e\n"
                    "struct later\n"
                    "char *\n"
                    "double\n");
}

TEST(KernelBtf, OfThisKernel) {
    auto types = KernelBtf::open();
    if (!types) GTEST_SKIP() << types.error().message();
    EXPECT_EQ(types->field("list_head.prev")->offset, 8u);
    const auto pid = types->field("task_struct.pid"), tgid = types->field("task_struct.tgid");
    ASSERT_TRUE(pid && tgid);
    EXPECT_EQ(tgid->offset, pid->offset + 4);
    EXPECT_EQ(types->field("file.f_path.dentry")->offset,
              types->field("file.f_path.mnt")->offset + 8);
    EXPECT_TRUE(types->function("", "vfs_read"));
}

}  // namespace
}  // namespace mlbcc::kernel
