#include "kernel/kernel_types.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "files/scratch.h"
#include "kernel/made_btf.h"

namespace mlbcc::kernel {
namespace {

using rules::TypeId;
using rules::TypeTable;

std::string prototype(const TypeTable& types, const rules::Signature& signature) {
    std::string list;
    for (const rules::Param& param : signature.params) {
        if (!list.empty()) list += ", ";
        list += fmt::format("{}: {}", param.name, types[param.type].spelling);
    }
    if (signature.variadic) list += ", ...";
    return fmt::format("{}({}) -> {}", signature.name, list, types[signature.ret].spelling);
}

// What a rule can do with it: "int4 signed", "-> const char", "{pid at 0, ...}"
std::string kind(const TypeTable& types, TypeId id) {
    struct Text {
        const TypeTable& types;
        std::string operator()(const rules::VoidType&) const { return "void"; }
        std::string operator()(const rules::BoolType&) const { return "bool"; }
        std::string operator()(const rules::IntType& t) const {
            return fmt::format("{}{}{}",
                               t.is_char     ? "char"
                               : t.is_signed ? "int"
                                             : "uint",
                               t.size * 8, "");
        }
        std::string operator()(const rules::FloatType& t) const {
            return fmt::format("float{}", t.size * 8);
        }
        std::string operator()(const rules::EnumType& t) const {
            std::string text = fmt::format("{}enum{}", t.is_signed ? "signed " : "", t.size * 8);
            for (const auto& [name, value] : t.constants)
                text += fmt::format(" {}={}", name, value);
            return text;
        }
        std::string operator()(const rules::PointerType& t) const {
            return fmt::format("-> {}{}", t.to_const ? "const " : "", types[t.to].spelling);
        }
        std::string operator()(const rules::ArrayType& t) const {
            return fmt::format("{} x {}", t.count, types[t.of].spelling);
        }
        std::string operator()(const rules::RecordType& t) const {
            if (!t.complete) return "opaque";
            std::string text;
            for (const rules::RecordField& field : t.fields) {
                text +=
                    fmt::format("{}{} at {}", text.empty() ? "" : ", ", field.name, field.offset);
                if (field.bit_width == 0) continue;
                text += fmt::format(":{}+{}", field.bit_offset, field.bit_width);
            }
            return fmt::format("{}{{{}}} {}", t.is_union ? "union " : "", text, t.size);
        }
        std::string operator()(const rules::FunctionType&) const { return "function"; }
    };
    const rules::CType& type = types[id];
    return std::visit(Text{types}, type.kind) + (type.is_address ? ", address" : "") +
           (type.is_byte_count ? ", bytes" : "");
}

TypeId pointee(const TypeTable& types, TypeId id) {
    return std::get<rules::PointerType>(types[id].kind).to;
}

// Of a record, or of what a pointer to one points at.
TypeId field(const TypeTable& types, TypeId id, const std::string& name) {
    if (std::holds_alternative<rules::PointerType>(types[id].kind)) id = pointee(types, id);
    for (const rules::RecordField& each : std::get<rules::RecordType>(types[id].kind).fields) {
        if (each.name == name) return each.type;
    }
    ADD_FAILURE() << types[id].spelling << " has no field " << name;
    return id;
}

class KernelTypesTest : public testing::Test {
protected:
    KernelTypes& open(uint32_t depth = KernelTypes::kDepth) {
        scratch_.write("vmlinux", btf_.bytes());
        auto opened = KernelBtf::open(scratch_.path());
        EXPECT_TRUE(opened) << opened.error().message();
        kernel_.emplace(std::move(*opened));
        return made_.emplace(*kernel_, types_, depth);
    }
    // What kind of thing each parameter of a function with these is.
    std::vector<std::string> kinds(const std::vector<MadeBtf::Member>& params) {
        btf_.function("f", btf_.prototype(0, params));
        const auto signature = open().signature("f");
        EXPECT_TRUE(signature) << signature.error().message();
        std::vector<std::string> kinds;
        for (const auto& param : (*signature)->params) kinds.push_back(kind(types_, param.type));
        return kinds;
    }

    MadeBtf btf_;
    TypeTable types_;
    files::Scratch scratch_;
    std::optional<KernelBtf> kernel_;
    std::optional<KernelTypes> made_;

    uint32_t integer_ = btf_.integer("int", 4, BTF_INT_SIGNED);
    uint32_t wide_ = btf_.integer("long unsigned int", 8);
    uint32_t character_ = btf_.integer("char", 1);
};

TEST_F(KernelTypesTest, AFunctionHasItsParametersByName) {
    const uint32_t file = btf_.structure("file", 4, {{"f_mode", integer_, 0}});
    const uint32_t size = btf_.alias("size_t", wide_);
    btf_.function("vfs_read",
                  btf_.prototype(btf_.alias("ssize_t", wide_), {{"file", btf_.pointer(file)},
                                                                {"buf", btf_.pointer(character_)},
                                                                {"count", size}}));
    btf_.function("printk", btf_.prototype(integer_, {{"fmt", btf_.pointer(character_)}, {}}));
    btf_.function("schedule", btf_.prototype(0, {}));
    KernelTypes& kernel = open();
    const auto read = kernel.signature("vfs_read");
    ASSERT_TRUE(read);
    EXPECT_EQ(prototype(types_, **read),
              "vfs_read(file: struct file *, buf: char *, count: size_t) -> ssize_t");
    EXPECT_EQ(kernel.signature("vfs_read").value(), *read) << "made once";
    EXPECT_EQ(prototype(types_, **kernel.signature("printk")), "printk(fmt: char *, ...) -> int");
    EXPECT_EQ(prototype(types_, **kernel.signature("schedule")), "schedule() -> void");
    EXPECT_EQ(types_.function("vfs_read"), nullptr) << "it is no function of a library";
    EXPECT_FALSE(kernel.signature("vfs_write"));
}

TEST_F(KernelTypesTest, ScalarsAreWhatTheyAreInC) {
    const uint32_t truth = btf_.integer("_Bool", 1, BTF_INT_BOOL);
    EXPECT_EQ(kinds({{"a", integer_},
                     {"b", btf_.alias("bool", truth)},
                     {"c", character_},
                     {"d", btf_.integer("unsigned char", 1)},
                     {"e", btf_.alias("size_t", wide_)},
                     {"f", btf_.alias("my_size", btf_.alias("ssize_t", wide_))},
                     {"g", btf_.alias("uintptr_t", wide_)},
                     {"h", btf_.alias("dma_addr_t", wide_)},
                     {"i", btf_.constant(integer_)},
                     {"j", btf_.add(BTF_KIND_FLOAT, "double", 8)}}),
              (std::vector<std::string>{"int32", "bool", "char8", "uint8", "uint64, bytes",
                                        "uint64, bytes", "uint64, address", "uint64, address",
                                        "int32", "float64"}));
}

TEST_F(KernelTypesTest, PointersSayWhetherWhatTheyPointAtIsWritten) {
    const uint32_t callback = btf_.prototype(0, {});
    EXPECT_EQ(kinds({{"a", btf_.pointer(btf_.constant(character_))},
                     {"b", btf_.pointer(character_)},
                     {"c", btf_.pointer(0)},
                     {"d", btf_.pointer(btf_.alias("c_t", btf_.constant(integer_)))},
                     {"e", btf_.pointer(btf_.pointer(btf_.constant(character_)))},
                     {"f", btf_.pointer(callback)},
                     {"g", btf_.pointer(btf_.array(integer_, 3))},
                     {"h", btf_.pointer(btf_.add(BTF_KIND_FWD, "later", 0))}}),
              (std::vector<std::string>{"-> const char", "-> char", "-> void", "-> const c_t",
                                        "-> const char *", "-> void (void)", "-> int[3]",
                                        "-> struct later"}));
}

TEST_F(KernelTypesTest, EnumsHaveTheirConstants) {
    const uint32_t action = btf_.enumeration("action", true, {{"STOP", -1}, {"GO", 2}});
    const uint32_t flags = btf_.enumeration("flags", false, {{"HIGH", INT32_MIN}});
    const uint32_t name = btf_.add(BTF_KIND_CONST, "", flags);
    EXPECT_EQ(kinds({{"a", action}, {"b", name}}),
              (std::vector<std::string>{"signed enum32 STOP=-1 GO=2", "enum32 HIGH=2147483648"}));
    ASSERT_TRUE(types_.constant("STOP"));
    EXPECT_EQ(types_.constant("STOP")->value, -1);
}

TEST_F(KernelTypesTest, AnEnumOf64BitsHasAllOfThem) {
    // BTF_KIND_ENUM64: {name, low word, high word}. `btf_` gives no names to constants here.
    const uint32_t wide = btf_.add(BTF_KIND_ENUM64, "wide", 8, 1, {0, 0x5, 0x80000001}, true);
    EXPECT_EQ(kinds({{"a", wide}}),
              (std::vector<std::string>{"signed enum64 =-9223372032559808507"}));
}

TEST_F(KernelTypesTest, StructsHaveTheirFieldsWithThoseOfAnonymousOnes) {
    const uint32_t inner = btf_.structure("", 8, {{"b", integer_, 0}, {"c", integer_, 32}});
    const uint32_t either = btf_.record(BTF_KIND_UNION, "", 8, {{"a", wide_, 0}, {"", inner, 0}});
    const uint32_t path = btf_.record(BTF_KIND_UNION, "path", 8, {{"p", wide_, 0}});
    const uint32_t file = btf_.structure("file", 40,
                                         {{"f_mode", integer_, 0},
                                          {"", either, 64},
                                          {"flag", integer_, 128, 3},
                                          {"", integer_, 131, 5},
                                          {"more", integer_, 136, 30},
                                          {"f_path", path, 192},
                                          {"name", btf_.array(character_, 8), 256}});
    btf_.function("f", btf_.prototype(0, {{"file", btf_.pointer(file)}}));
    const auto signature = open().signature("f");
    ASSERT_TRUE(signature);
    const TypeId param = (*signature)->params[0].type;
    EXPECT_EQ(kind(types_, pointee(types_, param)),
              "{f_mode at 0, a at 8, b at 8, c at 12, flag at 16:0+3, more at 17:0+30, "
              "f_path at 24, name at 32} 40");
    EXPECT_EQ(kind(types_, field(types_, param, "f_path")), "union {p at 0} 8");
    EXPECT_EQ(kind(types_, field(types_, param, "name")), "8 x char");
}

// struct node { struct node *next; struct node **all; }
TEST_F(KernelTypesTest, PointersAreFollowedAsFarAsTheDepthGoes) {
    const uint32_t node = btf_.next_id() + 3;
    const uint32_t to_node = btf_.pointer(node), to_all = btf_.pointer(to_node);
    const uint32_t param = btf_.pointer(node);
    ASSERT_EQ(btf_.structure("node", 16, {{"next", to_node, 0}, {"all", to_all, 64}}), node);
    btf_.function("f", btf_.prototype(to_node, {{"node", param}, {"all", to_all}}));
    const std::string complete = "{next at 0, all at 8} 16";
    for (const uint32_t depth : {0, 1, 3}) {
        const auto signature = open(depth).signature("f");
        ASSERT_TRUE(signature);
        TypeId at = (*signature)->params[0].type;
        for (uint32_t i = 0; i < depth; ++i) {
            EXPECT_EQ(kind(types_, pointee(types_, at)), complete);
            at = field(types_, at, i % 2 == 0 ? "next" : "all");
            if (i % 2 == 1) at = pointee(types_, at);
        }
        EXPECT_EQ(kind(types_, pointee(types_, at)), "opaque");
        EXPECT_EQ(types_[pointee(types_, at)].spelling, "struct node");
    }
}

TEST_F(KernelTypesTest, OnlyFieldsThatAreNamedAreFollowed) {
    const uint32_t node = btf_.next_id() + 1;
    const uint32_t to_node = btf_.pointer(node);
    ASSERT_EQ(btf_.structure("node", 16, {{"next", to_node, 0}, {"last", to_node, 64}}), node);
    open();
    const KernelTypes::Names names{"next"};
    KernelTypes some(*kernel_, types_, 8, names);
    const TypeId first = *some.type("node");
    const std::string complete = "{next at 0, last at 8} 16";
    EXPECT_EQ(kind(types_, first), complete);
    const TypeId next = pointee(types_, field(types_, first, "next"));
    EXPECT_EQ(kind(types_, next), complete);
    EXPECT_EQ(kind(types_, pointee(types_, field(types_, next, "next"))), complete);
    EXPECT_EQ(kind(types_, pointee(types_, field(types_, first, "last"))), "opaque");
    EXPECT_EQ(types_[field(types_, first, "last")].spelling, "struct node *");
}

TEST_F(KernelTypesTest, AStructIsFoundByItsName) {
    const uint32_t task = btf_.structure("task", 8, {{"pid", integer_, 0}});
    btf_.alias("task_t", task);
    KernelTypes& kernel = open();
    EXPECT_EQ(kind(types_, *kernel.type("task")), "{pid at 0} 8");
    EXPECT_EQ(kind(types_, *kernel.type("task_t")), "{pid at 0} 8");
    EXPECT_FALSE(kernel.type("tusk"));
}

TEST_F(KernelTypesTest, AModulesFunctionUsesTypesOfBoth) {
    const uint32_t task = btf_.structure("task", 8, {{"pid", integer_, 0}});
    MadeBtf one = MadeBtf::of_module(btf_), other = MadeBtf::of_module(btf_);
    const uint32_t gpu = one.structure("gpu", 8, {{"owner", one.pointer(task), 0}});
    one.function("start", one.prototype(integer_, {{"gpu", one.pointer(gpu)}}));
    const uint32_t disk = other.structure("disk", 16, {{"task", task, 64}});
    other.function("start", other.prototype(0, {{"disk", other.pointer(disk)}}));
    scratch_.write("one", one.bytes());
    scratch_.write("other", other.bytes());
    KernelTypes& kernel = open();
    const auto first = kernel.signature("start", "one"),
               second = kernel.signature("start", "other");
    ASSERT_TRUE(first && second);
    EXPECT_EQ(prototype(types_, **first), "start(gpu: struct gpu *) -> int");
    EXPECT_EQ(prototype(types_, **second), "start(disk: struct disk *) -> void");
    const TypeId owner = field(types_, (*first)->params[0].type, "owner");
    EXPECT_EQ(kind(types_, pointee(types_, owner)), "{pid at 0} 8");
    EXPECT_EQ(kind(types_, field(types_, (*second)->params[0].type, "task")), "{pid at 0} 8");
}

TEST_F(KernelTypesTest, SurvivesAnyBytes) {
    const uint32_t path = btf_.structure("path", 16, {{"p", btf_.pointer(wide_), 0}});
    const uint32_t file = btf_.structure(
        "file", 40, {{"f_mode", integer_, 0, 5}, {"", path, 64}, {"f_path", path, 192}});
    btf_.enumeration("e", true, {{"A", 1}});
    btf_.function("f", btf_.prototype(wide_, {{"file", btf_.pointer(file)},
                                              {"names", btf_.array(btf_.constant(file), 8)},
                                              {"c", btf_.pointer(btf_.prototype(file, {}))}}));
    const std::string whole = btf_.bytes();
    std::mt19937 random(9);
    int converted = 0;
    for (int i = 0; i < 1500; ++i) {
        std::string bytes = whole;
        for (int n = 0; n < 1 + i % 6; ++n) {
            const size_t at = sizeof(btf_header) + random() % (bytes.size() - sizeof(btf_header));
            bytes[at] = static_cast<char>(random() % 20);
        }
        scratch_.write("vmlinux", bytes);
        auto btf = KernelBtf::open(scratch_.path());
        if (!btf) continue;
        TypeTable types;
        KernelTypes kernel(*btf, types);
        if (kernel.signature("f")) ++converted;
        (void)kernel.type("file");
    }
    EXPECT_GT(converted, 300);
}

TEST(KernelTypes, OfThisKernel) {
    auto btf = KernelBtf::open();
    if (!btf) GTEST_SKIP() << btf.error().message();
    TypeTable types;
    KernelTypes kernel(*btf, types);
    const auto read = kernel.signature("vfs_read");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(prototype(types, **read), "vfs_read(file: struct file *, buf: char *, count: size_t, "
                                        "pos: loff_t *) -> ssize_t");
    const TypeId file = (*read)->params[0].type;
    const TypeId dentry = field(types, field(types, file, "f_path"), "dentry");
    const TypeId name = field(types, field(types, dentry, "d_name"), "name");
    EXPECT_EQ(types[name].spelling, "const unsigned char *");
    EXPECT_EQ(kind(types, field(types, file, "f_mode")), "uint32");
}

}  // namespace
}  // namespace mlbcc::kernel
