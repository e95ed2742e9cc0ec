// What libclang says of C headers and declarations, as rules::read_types gets it.
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <filesystem>
#include <map>
#include <set>

#include "bpf/compiler_fixture.h"

namespace mlbcc::bpf {
namespace {

#ifdef __aarch64__
constexpr const char* kVaList = "va_list";  // a struct there
#else
constexpr const char* kVaList = "struct __va_list_tag *";
#endif

using rapidjson::Value;

class TypesTest : public CompilerTest {
protected:
    void parse(TypesRequest request) {
        request.system_dirs = {kLibcHeaders};
        auto json = helper().types(request);
        ASSERT_TRUE(json) << json.error().message();
        reply_.Parse(json->c_str());
        ASSERT_FALSE(reply_.HasParseError());
    }
    void parse(const std::string& text) {
        TypesRequest request;
        request.text = text;
        parse(request);
    }

    const Value& type(const Value& id) { return reply_["types"][id.GetUint()]; }
    std::string spelling(const Value& id) { return type(id)["spelling"].GetString(); }

    // "CUresult cuMemAlloc(CUdeviceptr * dptr, size_t bytesize)", "" if there is none of that name
    std::string prototype(const std::string& name) {
        const Value* function = find("functions", "name", name);
        if (function == nullptr) return "";
        std::string text = spelling((*function)["ret"]) + " " + name + "(";
        for (const Value& parameter : (*function)["params"].GetArray()) {
            if (!text.ends_with('(')) text += ", ";
            text += spelling(parameter["type"]) + " " + parameter["name"].GetString();
        }
        return text + ((*function)["variadic"].GetBool() ? ", ...)" : ")");
    }
    // The JSON of the type that is so called.
    std::string type_json(const std::string& name) {
        const Value* found = find("types", "spelling", name);
        return found == nullptr ? "" : text_of(*found);
    }
    // "struct point {int x @0; ...} 8 bytes"
    std::string layout(const std::string& name) {
        const Value* record = find("types", "spelling", name);
        if (record == nullptr) return "";
        std::string text;
        for (const Value& field : (*record)["fields"].GetArray()) {
            text += spelling(field["type"]) + " " + field["name"].GetString() + " @" +
                    std::to_string(field["offset"].GetUint());
            if (field.HasMember("bit_width")) {
                text += " bits " + std::to_string(field["bit_offset"].GetUint()) + "+" +
                        std::to_string(field["bit_width"].GetUint());
            }
            text += "; ";
        }
        return text + std::to_string((*record)["size"].GetUint()) + " bytes" +
               ((*record)["complete"].GetBool() ? "" : ", incomplete");
    }
    // "error cuda.rules:3:5: unknown type name 'foo'\n..."
    std::string diagnostics() {
        std::string text;
        for (const Value& d : reply_["diagnostics"].GetArray()) text += line_of(d);
        return text;
    }
    static std::string line_of(const Value& d) {
        std::string text = std::string(d["severity"].GetString()) + " " + d["file"].GetString() +
                           ":" + std::to_string(d["line"].GetUint()) + ":" +
                           std::to_string(d["column"].GetUint()) + ": " + d["message"].GetString() +
                           "\n";
        for (const Value& note : d["notes"].GetArray()) text += line_of(note);
        return text;
    }
    static std::string text_of(const Value& value) {
        rapidjson::StringBuffer buffer;
        rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
        value.Accept(writer);
        return buffer.GetString();
    }
    const Value* find(const char* list, const char* key, const std::string& name) {
        for (const Value& value : reply_[list].GetArray()) {
            if (value[key] == name.c_str()) return &value;
        }
        return nullptr;
    }

    rapidjson::Document reply_;
};

TEST_F(TypesTest, Prototype) {
    parse("int step(struct model *m, const char *label, size_t rows);");
    EXPECT_EQ(prototype("step"), "int step(struct model * m, const char * label, size_t rows)");
    EXPECT_EQ(diagnostics(), "");
    EXPECT_EQ(type_json("size_t"),
              R"({"spelling":"size_t","kind":"int","size":8,"signed":false,"bytes":true})");
    EXPECT_EQ(layout("struct model"), "0 bytes, incomplete");
}

TEST_F(TypesTest, PlaceIsTheRuleFiles) {
    parse("#line 12 \"cuda.rules\"\n\n  int step(int n);\n");
    const Value* step = find("functions", "name", "step");
    ASSERT_NE(step, nullptr);
    EXPECT_STREQ((*step)["file"].GetString(), "cuda.rules");
    EXPECT_EQ((*step)["line"].GetUint(), 13u);
    EXPECT_EQ((*step)["column"].GetUint(), 7u);
}

TEST_F(TypesTest, AnEnumOfLargeNumbersThatAreShownInHexadecimal) {
    parse("enum request { ALLOC = 0xc030462b };\ntypedef enum request request_hex;\n"
          "typedef unsigned handle_hex;\nvoid f(enum request r, request_hex h, handle_hex n);");
    EXPECT_EQ(type_json("enum request"), R"({"spelling":"enum request","kind":"enum","size":4,)"
                                         R"("signed":false,"constants":[["ALLOC",3224389163]]})");
    EXPECT_EQ(type_json("request_hex"),
              R"({"spelling":"request_hex","kind":"enum","size":4,)"
              R"("signed":false,"constants":[["ALLOC",3224389163]],"address":true})");
    EXPECT_EQ(type_json("handle_hex"),
              R"({"spelling":"handle_hex","kind":"int","size":4,"signed":false,"address":true})");
}

TEST_F(TypesTest, KindsOfParameters) {
    parse("enum color { RED, BLUE = -2 };\n"
          "void all(_Bool b, char c, signed char s, unsigned char u, float f, double d, void *p,\n"
          "         enum color e, int a[4], int m[2][3], int (*callback)(int), int plain(int),\n"
          "         char *const restrict q, const size_t n, uintptr_t address, ssize_t count,\n"
          "         FILE *file, va_list list, __int128 big, volatile int v);");
    EXPECT_EQ(diagnostics(), "");
    EXPECT_EQ(prototype("all"),
              "void all(_Bool b, char c, signed char s, unsigned char u, float f, double d, "
              "void * p, enum color e, int * a, int (*)[3] m, int (*)(int) callback, "
              "int (*)(int) plain, char * q, size_t n, uintptr_t address, ssize_t count, "
              "FILE * file, " +
                  std::string(kVaList) + " list, __int128 big, int v)");
    EXPECT_EQ(type_json("void"), R"({"spelling":"void","kind":"void"})");
    EXPECT_EQ(type_json("_Bool"), R"({"spelling":"_Bool","kind":"bool"})");
    EXPECT_EQ(type_json("signed char"),
              R"({"spelling":"signed char","kind":"int","size":1,"signed":true})");
    EXPECT_EQ(type_json("double"), R"({"spelling":"double","kind":"float","size":8})");
    EXPECT_EQ(type_json("enum color"), R"({"spelling":"enum color","kind":"enum","size":4,)"
                                       R"("signed":true,"constants":[["RED",0],["BLUE",-2]]})");
    EXPECT_EQ(type_json("int (int)"), R"j({"spelling":"int (int)","kind":"function"})j");
    EXPECT_EQ(type_json("uintptr_t"),
              R"({"spelling":"uintptr_t","kind":"int","size":8,"signed":false,"address":true})");
    EXPECT_EQ(type_json("ssize_t"),
              R"({"spelling":"ssize_t","kind":"int","size":8,"signed":true,"bytes":true})");
}

TEST_F(TypesTest, AddressesByTheNameOfATypedef) {
    parse("typedef unsigned long long CUdeviceptr_v2; typedef CUdeviceptr_v2 CUdeviceptr;\n"
          "typedef CUdeviceptr handle; typedef unsigned int pointer_kind;\n"
          "void f(CUdeviceptr a, handle b, pointer_kind c);");
    EXPECT_EQ(type_json("CUdeviceptr"), R"({"spelling":"CUdeviceptr","kind":"int","size":8,)"
                                        R"("signed":false,"address":true})");
    EXPECT_EQ(type_json("handle"),
              R"({"spelling":"handle","kind":"int","size":8,"signed":false,"address":true})");
    EXPECT_EQ(type_json("pointer_kind"),
              R"({"spelling":"pointer_kind","kind":"int","size":4,"signed":false})");
}

TEST_F(TypesTest, ConstOfWhatIsPointedAt) {
    parse("typedef const struct s cs; void f(const char *a, char *const b, cs *c, char **d);");
    auto is_const = [&](int i) {
        const Value& parameters = (*find("functions", "name", "f"))["params"];
        return type(parameters[static_cast<rapidjson::SizeType>(i)]["type"])["const"].GetBool();
    };
    EXPECT_TRUE(is_const(0));
    EXPECT_FALSE(is_const(1));
    EXPECT_TRUE(is_const(2));
    EXPECT_FALSE(is_const(3));
}

TEST_F(TypesTest, FieldsOfAStruct) {
    parse("struct s { char a; struct { int b; union { long c; char d[3]; }; };\n"
          "           unsigned e : 3, : 2, f : 9; struct { short g; } h; struct s *next; };");
    EXPECT_EQ(layout("struct s"),
              "char a @0; int b @8; long c @16; char[3] d @16; unsigned int e @24 bits 0+3; "
              "unsigned int f @24 bits 5+9; struct (unnamed) h @26; struct s * next @32; 40 bytes");
}

TEST_F(TypesTest, PackedBitFieldsThatStraddle) {
    parse("struct __attribute__((packed)) s { unsigned char a; unsigned b : 20, c : 20; };");
    EXPECT_EQ(layout("struct s"), "unsigned char a @0; unsigned int b @0 bits 8+20; "
                                  "unsigned int c @3 bits 4+20; 6 bytes");
}

TEST_F(TypesTest, Union) {
    parse("union u { int a; char b[7]; };");
    EXPECT_EQ(layout("union u"), "int a @0; char[7] b @0; 8 bytes");
    EXPECT_TRUE((*find("types", "spelling", "union u"))["union"].GetBool());
    EXPECT_EQ(type_json("char[7]").substr(0, 37), R"({"spelling":"char[7]","kind":"array",)");
}

TEST_F(TypesTest, StructDefinedAfterThePrototype) {
    parse("void f(struct model *m); struct model { int layers; };");
    EXPECT_EQ(layout("struct model"), "int layers @0; 4 bytes");
}

TEST_F(TypesTest, OnlyTheFunctionsThatAreWanted) {
    TypesRequest request;
    request.text = "int step_a(void); int step_b(void); int other(void); static int step_c(void);";
    request.names = {"step_*"};
    parse(request);
    ASSERT_EQ(reply_["functions"].Size(), 2u);
    EXPECT_EQ(prototype("step_a"), "int step_a()");
    EXPECT_EQ(prototype("other"), "");
}

TEST_F(TypesTest, LastPrototypeThatNamesItsParametersCounts) {
    parse("int f(int a, int b); int f(int left, int right); int f(int, int);");
    EXPECT_EQ(prototype("f"), "int f(int left, int right)");
    EXPECT_EQ(reply_["functions"].Size(), 1u);
}

TEST_F(TypesTest, MistakesAreShownWhereTheyAre) {
    parse("#line 3 \"a.rules\"\nint f(strct model *m);\nint g(int);\nlong g(int);\nint h(int;\n"
          "int after(void);");
    EXPECT_EQ(diagnostics(), "error a.rules:3:7: unknown type name 'strct'\n"
                             "error a.rules:3:19: expected ')'\n"
                             "note a.rules:3:6: to match this '('\n"
                             "error a.rules:5:6: conflicting types for 'g'\n"
                             "note a.rules:4:5: previous declaration is here\n"
                             "error a.rules:6:10: expected ')'\n"
                             "note a.rules:6:6: to match this '('\n");
    EXPECT_EQ(prototype("after"), "int after()");
}

TEST_F(TypesTest, MissingHeaderDoesNotEndIt) {
    TypesRequest request;
    request.headers = {"/nowhere/x.h"};
    request.text = "int f(void);";
    parse(request);
    EXPECT_EQ(diagnostics(), "error :0:0: '/nowhere/x.h' file not found\n");
    EXPECT_EQ(prototype("f"), "int f()");
}

TEST_F(TypesTest, RubbishIsRefused) {
    for (const std::string& text :
         {std::string("\0\1\377\200 {{{{ ((", 12), std::string(10000, '('), std::string(10000, '{'),
          std::string("\"unterminated"), std::string("#include \"")}) {
        parse(text);
        EXPECT_NE(diagnostics().find("error "), std::string::npos);
    }
}

// It nests so deep that libclang overflows its stack.
TEST(CompilerProcess, LibclangCrashes) {
    auto own = CompilerProcess::start(kHelper);
    ASSERT_TRUE(own);
    TypesRequest request;
    request.text = std::string(3000000, '{');
    auto json = own->types(request);
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().message(), "libclang crashed on the C declarations");
}

TEST_F(TypesTest, OurPrototypesOfTheDriver) {
    TypesRequest request;
    request.headers = {MLBCC_SOURCE_DIR "/rules/types/cuda_driver.h"};
    parse(request);
    EXPECT_EQ(diagnostics(), "");
    EXPECT_GT(reply_["functions"].Size(), 120u);
    EXPECT_EQ(prototype("cuMemAlloc"), "CUresult cuMemAlloc(CUdeviceptr * dptr, size_t bytesize)");
    EXPECT_EQ(
        type_json("CUresult").substr(0, 88),
        R"({"spelling":"CUresult","kind":"enum","size":4,"signed":false,"constants":[["CUDA_SUCCESS)");
}

TEST_F(TypesTest, HeadersOfTheToolkit) {
    const std::string folder = "/usr/local/cuda/include/";
    const std::map<std::string, std::string> prototypes = {
        {"cuda.h", "CUresult cuMemAlloc_v2(CUdeviceptr * dptr, size_t bytesize)"},
        {"cuda_runtime_api.h", "cudaError_t cudaMalloc(void ** devPtr, size_t size)"},
    };
    if (!std::filesystem::exists(folder + "cuda.h")) GTEST_SKIP() << "no CUDA toolkit is installed";
    for (const auto& [header, expected] : prototypes) {
        TypesRequest request;
        request.headers = {folder + header};
        parse(request);
        EXPECT_EQ(diagnostics(), "") << header;
        EXPECT_GT(reply_["functions"].Size(), 250u);
        std::string name = expected.substr(expected.find(' ') + 1);
        EXPECT_EQ(prototype(name.substr(0, name.find('('))), expected);
    }
}

TEST_F(TypesTest, HeaderOfTheMachinesLibrary) {
    if (!std::filesystem::exists("/usr/include/stdlib.h")) GTEST_SKIP() << "no libc6-dev";
    TypesRequest request;
    request.headers = {"/usr/include/stdlib.h", "/usr/include/stdio.h"};
    parse(request);
    EXPECT_EQ(diagnostics(), "");
    EXPECT_EQ(prototype("malloc"), "void * malloc(size_t __size)");
}

TEST_F(TypesTest, SaysWhichFilesItRead) {
    TypesRequest request;
    request.headers = {MLBCC_SOURCE_DIR "/rules/types/cuda.h"};
    request.system_dirs = {kLibcHeaders};
    parse(request);
    EXPECT_FALSE(reply_.HasMember("files"));
    request.list_files = true;
    parse(request);
    std::set<std::string> files;
    for (const auto& file : reply_["files"].GetArray()) files.insert(file.GetString());
    EXPECT_TRUE(files.contains(MLBCC_SOURCE_DIR "/rules/types/cuda.h"));
    EXPECT_TRUE(files.contains(kLibcHeaders + "/stdint.h"));
    EXPECT_FALSE(files.contains("/mlbcc/declarations.c"));
}

}  // namespace
}  // namespace mlbcc::bpf
