// The kernel's words for the types of parameters and fields, as types of the rule language.
#include <gtest/gtest.h>

#include "fake_kernel.h"
#include "target/trace_types.h"

namespace mlbcc::target {
namespace {

using rules::TypeId;
using rules::TypeTable;

// "int4", "unsigned8 bytes", "text", "pointer", "char1[16]"
std::string words(const TypeTable& types, TypeId id) {
    struct Visitor {
        const TypeTable& types;
        const rules::CType& type;
        std::string operator()(const rules::VoidType&) const { return "void"; }
        std::string operator()(const rules::BoolType&) const { return "bool"; }
        std::string operator()(const rules::IntType& one) const {
            if (one.is_char) return fmt::format("char{}", one.size);
            return fmt::format("{}{}{}", one.is_signed ? "int" : "unsigned", one.size,
                               type.is_byte_count ? " bytes" : "");
        }
        std::string operator()(const rules::FloatType&) const { return "float"; }
        std::string operator()(const rules::EnumType&) const { return "enum"; }
        std::string operator()(const rules::PointerType& one) const {
            return (one.to_const ? "const " : "") + words(types, one.to) + "*";
        }
        std::string operator()(const rules::ArrayType& one) const {
            return fmt::format("{}[{}]", words(types, one.of), one.count);
        }
        std::string operator()(const rules::RecordType&) const { return "record"; }
        std::string operator()(const rules::FunctionType&) const { return "function"; }
    };
    return std::visit(Visitor{types, types[id]}, types[id].kind);
}

std::string parameter(const std::string& type) {
    TypeTable types;
    return words(types, syscall_parameter({"p", type, 16, 8, false}, types));
}
std::string field(const std::string& type, uint32_t size, bool is_signed) {
    TypeTable types;
    return words(types, trace_field({"f", type, 8, size, is_signed}, types));
}

// The format files say 8 bytes and unsigned of each.
TEST(TraceTypes, AParameterOfASystemCallIsWhatItsTypeSays) {
    EXPECT_EQ(parameter("int"), "int4");
    EXPECT_EQ(parameter("unsigned int"), "unsigned4");
    EXPECT_EQ(parameter("size_t"), "unsigned8 bytes");
    EXPECT_EQ(parameter("umode_t"), "unsigned2");
    EXPECT_EQ(parameter("loff_t"), "int8");
    EXPECT_EQ(parameter("const clockid_t"), "int4");
    EXPECT_EQ(parameter("aio_context_t"), "unsigned8");
}

TEST(TraceTypes, PointersOfSystemCalls) {
    EXPECT_EQ(parameter("const char *"), "const char1*");
    EXPECT_EQ(parameter("char *"), "void*");
    EXPECT_EQ(parameter("const char *const *"), "const void*");
    EXPECT_EQ(parameter("struct stat *"), "void*");
}

TEST(TraceTypes, AFieldOfATracepointIsAsLargeAsItsRecordSays) {
    EXPECT_EQ(field("pid_t", 4, true), "int4");
    EXPECT_EQ(field("dev_t", 4, false), "unsigned4");
    EXPECT_EQ(field("short", 2, true), "int2");
    EXPECT_EQ(field("bool", 1, false), "bool");
    EXPECT_EQ(field("size_t", 8, false), "unsigned8 bytes");
    EXPECT_EQ(field("void *", 8, false), "void*");
    EXPECT_EQ(field("enum migrate_mode", 4, false), "unsigned4");
    EXPECT_EQ(field("int", 8, false), "int4") << "of syscalls:sys_enter_*";
}

TEST(TraceTypes, ArraysAndTextInTheRecord) {
    EXPECT_EQ(field("char[16]", 16, false), "char1[16]");
    EXPECT_EQ(field("__data_loc char[]", 4, false), "char1[0]");
    EXPECT_EQ(field("unsigned long[6]", 48, false), "unsigned8[6]");
    EXPECT_EQ(field("__u8[16]", 16, false), "unsigned1[16]");
}

TEST(TraceTypes, AResultIsANumberOrAnErrorByItsName) {
    TypeTable types;
    const auto& type = types[syscall_result(types)];
    EXPECT_EQ(type.spelling, "long");
    const auto& results = std::get<rules::EnumType>(type.kind);
    EXPECT_EQ(results.size, 8u);
    EXPECT_TRUE(results.is_signed);
    EXPECT_EQ(results.constants.front(), std::make_pair(std::string("-EPERM"), int64_t{-1}));
    EXPECT_EQ(types.constant("ENOENT")->value, 2);
    EXPECT_FALSE(types.constant("-ENOENT"));
}

}  // namespace
}  // namespace mlbcc::target
