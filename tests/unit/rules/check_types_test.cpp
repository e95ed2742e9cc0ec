// What type a checked expression has, and at which end of the call it is known.
#include <gtest/gtest.h>

#include "rules/checked.h"

namespace mlbcc::test {
namespace {

Prototypes prototypes() {
    Prototypes p = cuda_prototypes();
    p.add("int mixed(bool flag, char letter, unsigned char byte, short s, int i, unsigned int u, "
          "long long ll, unsigned long long ull, enum sign sign, CUdeviceptr where, size_t bytes)");
    p.add("const char *texts(const char *name, char *out, const char **names, int *count)");
    p.add("int shadow(int pid, int duration, const char *comm, int kernel)");
    return p;
}

std::string kind(const std::string& function, const std::string& expr) {
    return Checked(prototypes(), function, expr).kind();
}

TEST(CheckTypes, AParameterHasItsCType) {
    EXPECT_EQ(kind("mixed", "flag"), "boolean 1 at entry");
    EXPECT_EQ(kind("mixed", "letter"), "character 1 at entry");
    EXPECT_EQ(kind("mixed", "byte"), "character 1 at entry");
    EXPECT_EQ(kind("mixed", "s"), "signed 2 at entry");
    EXPECT_EQ(kind("mixed", "i"), "signed 4 at entry");
    EXPECT_EQ(kind("mixed", "u"), "unsigned 4 at entry");
    EXPECT_EQ(kind("mixed", "ll"), "signed 8 at entry");
    EXPECT_EQ(kind("mixed", "ull"), "unsigned 8 at entry");
    EXPECT_EQ(kind("mixed", "sign"), "enumeration 4 at entry");
    EXPECT_EQ(kind("mixed", "where"), "hex 8 at entry");
    EXPECT_EQ(kind("mixed", "bytes"), "unsigned 8 bytes at entry");
    EXPECT_EQ(kind("cuLaunchKernel", "f"), "hex 8 at entry");
}

TEST(CheckTypes, ACastHasTheTypeItNames) {
    Prototypes p = prototypes();
    p.add("void mlbcc_cast_enum_20sign(enum sign value)");
    p.add("void mlbcc_cast_unsigned_20char(unsigned char value)");
    p.add("void mlbcc_cast_const_20char_20_2a(const char *value)");
    p.add("void mlbcc_cast_CUdeviceptr_20_2a(CUdeviceptr *value)");
    p.add("void mlbcc_cast_float(float value)");
    auto cast = [&](const std::string& expr) { return Checked(p, "mixed", expr); };
    EXPECT_EQ(cast("(enum sign)u").kind(), "enumeration 4 at entry");
    EXPECT_EQ(cast("(enum sign)ret").kind(), "enumeration 4 at return");
    EXPECT_EQ(cast("(unsigned char)(u >> 8)").kind(), "character 1 at entry");
    EXPECT_EQ(cast("(const char *)ull").kind(), "text 8 at entry");
    EXPECT_EQ(cast("*(CUdeviceptr *)ull").kind(), "hex 8 at return");
    EXPECT_EQ(cast("(float)u").messages(),
              "error: `(float)u` cannot be read by a probe\n"
              "  --> a.rules:14:1\n"
              "   |\n"
              "14 | (float)u\n"
              "   | ^^^^^^^^\n"
              "   = note: BPF does not compute with floating-point numbers\n");
    EXPECT_EQ(cast("(enum sign)comm").messages(),
              "error: `comm` is text, and what is cast is a number\n"
              "  --> a.rules:14:12\n"
              "   |\n"
              "14 | (enum sign)comm\n"
              "   |            ^^^^\n"
              "   = help: text can be shown, grouped by, and compared with `==` and `!=`\n");
}

TEST(CheckTypes, NamesOfFilesAndBeginningsOfText) {
    EXPECT_EQ(kind("mixed", "file_name(u)"), "text 8 at entry");
    EXPECT_EQ(kind("mixed", "file_name(ret)"), "text 8 at return");
    EXPECT_EQ(kind("mixed", "starts_with(file_name(u), \"nv\")"), "boolean 8 at entry");
    EXPECT_EQ(Checked(prototypes(), "mixed", "starts_with(function, \"mix\")").tree(), "1");
    EXPECT_EQ(Checked(prototypes(), "mixed", "starts_with(function, \"max\")").tree(), "0");
    EXPECT_EQ(kind("mixed", "in_python(u)"), "boolean 8 at entry");
    EXPECT_EQ(kind("mixed", "in_python(ret)"), "boolean 8 at return");
    EXPECT_EQ(Checked(prototypes(), "mixed", "starts_with(u, \"nv\")").messages(),
              "error: `starts_with` compares text with a string\n"
              "  --> a.rules:14:1\n"
              "   |\n"
              "14 | starts_with(u, \"nv\")\n"
              "   | ^^^^^^^^^^^^^^^^^^^^\n"
              "   = help: write it as `starts_with(comm, \"python\")`\n");
}

TEST(CheckTypes, ABuiltinHasItsOwn) {
    EXPECT_EQ(kind("mixed", "ret"), "signed 4 at return");
    EXPECT_EQ(kind("cuInit", "ret"), "enumeration 4 at return");
    EXPECT_EQ(kind("mixed", "duration"), "unsigned 8 ns at return");
    EXPECT_EQ(kind("mixed", "time"), "unsigned 8 ns at entry");
    EXPECT_EQ(kind("mixed", "pid"), "unsigned 4 at entry");
    EXPECT_EQ(kind("mixed", "tid"), "unsigned 4 at entry");
    EXPECT_EQ(kind("mixed", "ppid"), "unsigned 4 at entry");
    EXPECT_EQ(kind("mixed", "cpu"), "unsigned 4 at entry");
    EXPECT_EQ(kind("mixed", "comm"), "comm 8 at entry");
    EXPECT_EQ(kind("mixed", "function"), "function 8 at entry");
    EXPECT_EQ(kind("mixed", "symbol"), "symbol 8 at entry");
}

TEST(CheckTypes, AParameterWinsOverABuiltin) {
    EXPECT_EQ(Checked(prototypes(), "shadow", "pid").tree(), "%0");
    EXPECT_EQ(kind("shadow", "pid"), "signed 4 at entry");
    EXPECT_EQ(kind("shadow", "duration"), "signed 4 at entry");
    EXPECT_EQ(kind("shadow", "comm"), "text 8 at entry");
    EXPECT_EQ(Checked(prototypes(), "mixed", "pid").tree(), "pid");
}

TEST(CheckTypes, MemoryIsReadAtEntryBehindConstAndElseAtReturn) {
    EXPECT_EQ(kind("cuMemAlloc_v2", "*dptr"), "hex 8 at return");
    EXPECT_EQ(kind("cuMemAlloc_v2", "dptr"), "hex 8 at entry");
    EXPECT_EQ(kind("cuMemAlloc_v2", "dptr[2]"), "hex 8 at return");
    EXPECT_EQ(kind("cuMemAlloc_v2", "&*dptr"), "hex 8 at entry");
    EXPECT_EQ(kind("cuLaunchKernelEx", "config->gridDimX"), "unsigned 4 at entry");
    EXPECT_EQ(kind("cuLaunchKernelEx", "config->attrs->id"), "signed 4 at return");
    EXPECT_EQ(kind("texts", "*count"), "signed 4 at return");
    EXPECT_EQ(kind("cuInit", "Flags + ret"), "signed 8 at return");
}

TEST(CheckTypes, TextIsWhatAPointerToConstCharactersNames) {
    EXPECT_EQ(kind("texts", "name"), "text 8 at entry");
    EXPECT_EQ(Checked(prototypes(), "texts", "name").tree(), "(text %0:28 64)");
    EXPECT_EQ(kind("texts", "out"), "hex 8 at entry");
    EXPECT_EQ(kind("texts", "str(out)"), "text 8 at return");
    EXPECT_EQ(Checked(prototypes(), "texts", "str(name, 16)").tree(), "(text %0:28 16)");
    EXPECT_EQ(kind("texts", "str(name, 16)"), "text 8 at entry");
    EXPECT_EQ(kind("texts", "demangle(name)"), "text 8 at entry");
    EXPECT_EQ(Checked(prototypes(), "texts", "demangle(name)").tree(), "(text %0:28 256)");
    EXPECT_EQ(Checked(prototypes(), "texts", "demangle(str(name, 100))").tree(),
              "(text %0:28 100)");
    EXPECT_TRUE(Checked(prototypes(), "texts", "demangle(name)").value()->demangle);
    EXPECT_EQ(kind("texts", "name + 1"), "text 8 at entry");
    EXPECT_EQ(kind("texts", "name[0]"), "character 1 at entry");
    EXPECT_EQ(kind("texts", "names[1]"), "text 8 at return");
    EXPECT_EQ(kind("texts", "ret"), "text 8 at return");
    EXPECT_EQ(kind("texts", "\"literal\""), "text 8 at entry");
}

TEST(CheckTypes, ArithmeticIsSignedUnlessA64BitSideIsNot) {
    EXPECT_EQ(kind("mixed", "u - i"), "signed 8 at entry");
    EXPECT_EQ(kind("mixed", "u * u"), "signed 8 at entry");
    EXPECT_EQ(kind("mixed", "byte + 1"), "signed 8 at entry");
    EXPECT_EQ(kind("mixed", "flag + flag"), "signed 8 at entry");
    EXPECT_EQ(kind("mixed", "ll / 2"), "signed 8 at entry");
    EXPECT_EQ(kind("mixed", "ull - 1"), "unsigned 8 at entry");
    EXPECT_EQ(kind("mixed", "i + bytes"), "unsigned 8 bytes at entry");
    EXPECT_EQ(kind("mixed", "where + 1"), "hex 8 at entry");
    EXPECT_EQ(kind("mixed", "~u"), "signed 8 at entry");
    EXPECT_EQ(kind("mixed", "~ull"), "unsigned 8 at entry");
    EXPECT_EQ(kind("mixed", "-i"), "signed 8 at entry");
    EXPECT_EQ(kind("mixed", "+sign"), "signed 8 at entry");
    EXPECT_EQ(kind("mixed", "!ull"), "boolean 8 at entry");
    EXPECT_EQ(kind("mixed", "u < i"), "boolean 8 at entry");
    EXPECT_EQ(kind("mixed", "u && ret"), "boolean 8 at return");
}

TEST(CheckTypes, UnitsGoWithTheValue) {
    EXPECT_EQ(kind("mixed", "bytes * u"), "unsigned 8 bytes at entry");
    EXPECT_EQ(kind("mixed", "bytes / 2"), "unsigned 8 bytes at entry");
    EXPECT_EQ(kind("mixed", "bytes / 1KiB"), "unsigned 8 at entry");
    EXPECT_EQ(kind("mixed", "bytes % 4096"), "unsigned 8 bytes at entry");
    EXPECT_EQ(kind("mixed", "duration - 5ms"), "unsigned 8 ns at return");
    EXPECT_EQ(kind("mixed", "bytes >= 1MiB"), "boolean 8 at entry");
    EXPECT_EQ(kind("mixed", "i ? bytes : 0"), "unsigned 8 bytes at entry");
    EXPECT_EQ(Checked(prototypes(), "mixed", "2MiB").tree(), "2097152");
    EXPECT_EQ(kind("mixed", "2MiB"), "signed 8 bytes at entry");
}

TEST(CheckTypes, AnEnumConstantIsItsNumberAndOfItsEnum) {
    const Checked one(prototypes(), "cuInit", "CUDA_ERROR_INVALID_VALUE");
    EXPECT_EQ(one.kind(), "enumeration 4 at entry");
    EXPECT_EQ(one.tree(), "1");
    EXPECT_EQ(Checked(prototypes(), "cuInit", "SIGN_MINUS").tree(), "18446744073709551615");
    EXPECT_EQ(kind("mixed", "i / SIGN_PLUS"), "signed 8 at entry");
    EXPECT_EQ(kind("cuInit", "ret == CUDA_SUCCESS"), "boolean 8 at return");
    EXPECT_EQ(kind("cuInit", "Flags ? CUDA_SUCCESS : ret"), "enumeration 4 at return");
    EXPECT_EQ(kind("cuInit", "Flags ? SIGN_PLUS : ret"), "signed 8 at return");
}

TEST(CheckTypes, ATextIsComparedWithALiteral) {
    EXPECT_EQ(kind("texts", "name == \"a\""), "boolean 8 at entry");
    EXPECT_EQ(kind("texts", "\"a\" != name"), "boolean 8 at entry");
    EXPECT_EQ(kind("texts", "ret == \"a\""), "boolean 8 at return");
    EXPECT_EQ(kind("mixed", "comm == \"python3\""), "boolean 8 at entry");
    EXPECT_EQ(kind("texts", "name == 0"), "boolean 8 at entry") << "an address like any other";
    EXPECT_EQ(Checked(prototypes(), "mixed", "function == \"mixed\"").tree(), "1");
    EXPECT_EQ(Checked(prototypes(), "mixed", "function != \"mixed\"").tree(), "0");
    EXPECT_EQ(Checked(prototypes(), "mixed", "symbol == \"mixed_v2\"").tree(), "1");
}

TEST(CheckTypes, WhatIsLearntComputesInTheTracer) {
    Prototypes p = prototypes();
    auto sees = [&](const char* expr) {
        Checked value(p, "cuLaunchKernel", expr);
        if (!value.value()) return value.messages();
        return value.kind() + (value.value()->in_tracer ? ", the tracer's" : "");
    };
    EXPECT_EQ(sees("kernel[f] + 1"), "signed 8 at entry, the tracer's");
    EXPECT_EQ(sees("kernel[f] == \"gemm\""), "boolean 8 at entry, the tracer's");
    EXPECT_EQ(sees("starts_with(kernel[f], \"ge\")"), "boolean 8 at entry, the tracer's");
    EXPECT_EQ(sees("kernel[names[f]]"), "signed 8 at entry, the tracer's");
    EXPECT_EQ(sees("size(kernel[f])"), "signed 8 at entry, the tracer's");
    EXPECT_EQ(sees("now(gpu_bytes)"), "signed 8 at entry, the tracer's");
    EXPECT_EQ(sees("gridDimX > 1 ? \"many\" : \"one\""), "text 8 at entry, the tracer's");
    EXPECT_EQ(sees("gridDimX + 1"), "signed 8 at entry");
}

TEST(CheckTypes, ALearntNameIsItsKey) {
    const Checked learnt(prototypes(), "cuLaunchKernel", "kernel[f]");
    EXPECT_EQ(learnt.kind(), "hex 8 at entry");
    EXPECT_EQ(learnt.tree(), "(learnt kernel %0:28)");
    EXPECT_EQ(kind("cuModuleGetFunction", "kernel[*hfunc]"), "hex 8 at return");
}

TEST(CheckTypes, WithoutAPrototypeArgumentsAreWords) {
    EXPECT_EQ(kind("unknown", "arg(0)"), "hex 8 at entry");
    EXPECT_EQ(kind("unknown", "arg(15)"), "hex 8 at entry");
    EXPECT_EQ(kind("unknown", "ret"), "hex 8 at return");
    EXPECT_EQ(kind("unknown", "str(arg(1))"), "text 8 at entry");
    EXPECT_EQ(kind("mixed", "arg(4)"), "signed 4 at entry") << "with one it has its type";
}

TEST(CheckTypes, ConjunctsAreDecidedApart) {
    const Checked both(prototypes(), "cuInit", "Flags && (ret == 0 && pid) && 1");
    ASSERT_TRUE(both.value()) << both.messages();
    std::vector<std::string> parts;
    for (const auto& part : rules::conjuncts(both.value())) {
        parts.emplace_back(part->stage == rules::Stage::entry ? "entry" : "return");
    }
    EXPECT_EQ(parts, (std::vector<std::string>{"entry", "return", "entry", "entry"}));
}

TEST(CheckTypes, AlwaysKnownIsWhatNeedsNoCall) {
    auto always = [](const std::string& expr) {
        return rules::always_known(*Checked(prototypes(), "cuInit", expr).value());
    };
    EXPECT_TRUE(always("1"));
    EXPECT_TRUE(always("\"text\""));
    EXPECT_TRUE(always("CUDA_SUCCESS"));
    EXPECT_TRUE(always("pid"));
    EXPECT_TRUE(always("comm"));
    EXPECT_FALSE(always("Flags"));
    EXPECT_FALSE(always("ret"));
    EXPECT_FALSE(always("duration"));
}

}  // namespace
}  // namespace mlbcc::test
