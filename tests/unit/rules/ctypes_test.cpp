#include "rules/ctypes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "parse_text.h"

namespace mlbcc::rules {
namespace {

// clang-format off
constexpr const char* kTypes = R"json({"types":[
 {"kind":"void","spelling":"void"},
 {"kind":"int","size":8,"signed":false,"spelling":"CUdeviceptr","address":true},
 {"kind":"int","size":8,"signed":false,"spelling":"size_t","bytes":true},
 {"kind":"pointer","to":1,"const":false,"spelling":"CUdeviceptr *"},
 {"kind":"enum","size":4,"signed":false,"spelling":"CUresult",
  "constants":[["CUDA_SUCCESS",0],["CUDA_ERROR_UNKNOWN",999]]},
 {"kind":"int","size":1,"signed":true,"char":true,"spelling":"char"},
 {"kind":"pointer","to":5,"const":true,"spelling":"const char *"},
 {"kind":"record","union":false,"complete":true,"size":24,"spelling":"struct node","fields":[
   {"name":"next","type":8,"offset":0},{"name":"flags","type":2,"offset":8,"bit_offset":3,"bit_width":5},
   {"name":"data","type":9,"offset":16}]},
 {"kind":"pointer","to":7,"spelling":"struct node *"},
 {"kind":"array","of":5,"count":8,"spelling":"char[8]"},
 {"kind":"record","union":true,"spelling":"union opaque"},
 {"kind":"float","size":8,"spelling":"double"},
 {"kind":"bool","spelling":"bool"},
 {"kind":"function","spelling":"int (void)"},
 {"kind":"enum","size":8,"signed":true,"spelling":"enum wide","constants":[["MINUS",-1],["ALL",18446744073709551615]]}
],"functions":[
 {"name":"cuMemAlloc_v2","ret":4,"params":[{"name":"dptr","type":3},{"name":"bytesize","type":2}],
  "variadic":false,"file":"types/cuda_driver.h","line":31,"column":10},
 {"name":"printf","ret":0,"params":[{"name":"","type":6}],"variadic":true,"file":"stdio.h","line":1,"column":1}
],"diagnostics":[]})json";
// clang-format on

TypeTable read_table(std::string_view json) {
    RuleSet rules;
    Diagnostics diagnostics;
    auto table = read_types(json, rules, diagnostics);
    EXPECT_TRUE(table.ok()) << (table.ok() ? "" : table.error().message());
    EXPECT_EQ(diagnostics.render(), "");
    return table.ok() ? std::move(*table) : TypeTable();
}

struct KindText {
    std::string operator()(const VoidType&) const { return "void"; }
    std::string operator()(const BoolType&) const { return "bool"; }
    std::string operator()(const IntType& t) const {
        return fmt::format("{}int{}{}", t.is_signed ? "" : "u", t.size * 8,
                           t.is_char ? " char" : "");
    }
    std::string operator()(const FloatType& t) const { return fmt::format("float{}", t.size * 8); }
    std::string operator()(const EnumType& t) const {
        std::string out = fmt::format("{}enum{}", t.is_signed ? "" : "u", t.size * 8);
        for (const auto& [name, value] : t.constants) out += fmt::format(" {}={}", name, value);
        return out;
    }
    std::string operator()(const PointerType& t) const {
        return fmt::format("pointer to {}{}", t.to_const ? "const " : "",
                           static_cast<uint32_t>(t.to));
    }
    std::string operator()(const ArrayType& t) const {
        return fmt::format("{} of {}", t.count, static_cast<uint32_t>(t.of));
    }
    std::string operator()(const RecordType& t) const {
        std::string out = fmt::format("{}{} of {}", t.complete ? "" : "opaque ",
                                      t.is_union ? "union" : "struct", t.size);
        for (const RecordField& f : t.fields) {
            out += fmt::format(" {}:{}@{}", f.name, static_cast<uint32_t>(f.type), f.offset);
            if (f.bit_width > 0) out += fmt::format("+{}:{}", f.bit_offset, f.bit_width);
        }
        return out;
    }
    std::string operator()(const FunctionType&) const { return "function"; }
};

std::string describe_type(const TypeTable& table, uint32_t index) {
    const CType& type = table[static_cast<TypeId>(index)];
    return fmt::format("{}: {}{}{}", type.spelling, std::visit(KindText{}, type.kind),
                       type.is_address ? " address" : "", type.is_byte_count ? " bytes" : "");
}

TEST(ReadTypes, EachKind) {
    TypeTable table = read_table(kTypes);
    std::string all;
    for (uint32_t i = 0; i < 15; ++i) all += describe_type(table, i) + "\n";
    EXPECT_EQ(all, R"(void: void
CUdeviceptr: uint64 address
size_t: uint64 bytes
CUdeviceptr *: pointer to 1
CUresult: uenum32 CUDA_SUCCESS=0 CUDA_ERROR_UNKNOWN=999
char: int8 char
const char *: pointer to const 5
struct node: struct of 24 next:8@0 flags:2@8+3:5 data:9@16
struct node *: pointer to 7
char[8]: 8 of 5
union opaque: opaque union of 0
double: float64
bool: bool
int (void): function
enum wide: enum64 MINUS=-1 ALL=-1
)");
}

TEST(ReadTypes, Functions) {
    TypeTable table = read_table(kTypes);
    const Signature* alloc = table.function("cuMemAlloc_v2");
    ASSERT_NE(alloc, nullptr);
    EXPECT_EQ(static_cast<uint32_t>(alloc->ret), 4u);
    ASSERT_EQ(alloc->params.size(), 2u);
    EXPECT_EQ(alloc->params[1].name, "bytesize");
    EXPECT_EQ(static_cast<uint32_t>(alloc->params[1].type), 2u);
    EXPECT_FALSE(alloc->variadic);
    EXPECT_EQ(alloc->place.path, "types/cuda_driver.h");
    EXPECT_EQ(alloc->place.line, 31u);
    EXPECT_EQ(alloc->place.column, 10u);
    EXPECT_TRUE(table.function("printf")->variadic);
    EXPECT_EQ(table.function("cuMemAlloc"), nullptr);
    EXPECT_EQ(table.functions().size(), 2u);
}

TEST(ReadTypes, Constants) {
    TypeTable table = read_table(kTypes);
    auto unknown = table.constant("CUDA_ERROR_UNKNOWN");
    ASSERT_TRUE(unknown.has_value());
    EXPECT_EQ(unknown->value, 999);
    EXPECT_EQ(static_cast<uint32_t>(unknown->type), 4u);
    EXPECT_EQ(table.constant("CUDA_FAILURE"), std::nullopt);
    EXPECT_EQ(table.constant_names(),
              (std::vector<std::string>{"ALL", "CUDA_ERROR_UNKNOWN", "CUDA_SUCCESS", "MINUS"}));
}

TEST(ReadTypes, APrototypeOfOnesOwnWins) {
    auto with = [](const std::string& second) {
        return read_table(R"({"types":[{"kind":"void"}],"functions":[
            {"name":"f","ret":0,"params":[{"name":"pid","type":0}]},
            {"name":"f","ret":0,"params":[{"name":")" +
                          second + R"(","type":0}]}]})");
    };
    EXPECT_EQ(with("owner").function("f")->params.at(0).name, "owner");
    EXPECT_EQ(with("").function("f")->params.at(0).name, "pid");
}

TEST(ReadTypes, MembersMayBeAbsent) {
    EXPECT_EQ(read_table("{}").functions().size(), 0u);
    EXPECT_EQ(describe_type(read_table(R"({"types":[{"kind":"record"}]})"), 0),
              ": opaque struct of 0");
}

std::string broken(std::string_view json) {
    RuleSet rules;
    Diagnostics diagnostics;
    auto table = read_types(json, rules, diagnostics);
    return table.ok() ? "no error" : table.error().message();
}

TEST(ReadTypes, BrokenJson) {
    const std::string kBroken = "the C types from mlbcc-bcc are broken: ";
    EXPECT_EQ(broken(""), kBroken + "The document is empty. (byte 0)");
    EXPECT_EQ(broken("{\"types\":["), kBroken + "Invalid value. (byte 10)");
    EXPECT_EQ(broken("[]"), kBroken + "what should have `types` is not an object");
    EXPECT_EQ(broken(R"({"types":{}})"), kBroken + "`types` is not an array");
    EXPECT_EQ(broken(R"({"types":[5]})"), kBroken + "what should have `kind` is not an object");
    EXPECT_EQ(broken(R"({"types":[{"kind":"thing"}]})"), kBroken + "`thing` is not a kind of type");
    EXPECT_EQ(broken(R"({"types":[{"kind":5}]})"), kBroken + "`kind` is not a string");
    EXPECT_EQ(broken(R"({"types":[{"kind":"int","size":256}]})"),
              kBroken + "`size` is out of range");
    EXPECT_EQ(broken(R"({"types":[{"kind":"int","size":-1}]})"),
              kBroken + "`size` is out of range");
    EXPECT_EQ(broken(R"({"types":[{"kind":"int","signed":1}]})"),
              kBroken + "`signed` is neither true nor false");
    EXPECT_EQ(broken(R"({"types":[{"kind":"pointer","to":1}]})"), kBroken + "`to` names no type");
    EXPECT_EQ(broken(R"({"types":[{"kind":"pointer"}]})"), kBroken + "`to` names no type");
    EXPECT_EQ(broken(R"({"types":[{"kind":"enum","constants":[["A"]]}]})"),
              kBroken + "a constant of an enum is not a pair of name and value");
    EXPECT_EQ(broken(R"({"functions":[{"name":"f","ret":0}]})"), kBroken + "`ret` names no type");
    EXPECT_EQ(broken(R"({"diagnostics":["x"]})"),
              kBroken + "what should have `severity` is not an object");
    EXPECT_EQ(broken(std::string(100'000, '[')), kBroken + "Invalid value. (byte 100000)");
}

// ---- what libclang complains about

std::string complaints(const std::string& json) {
    Parsed parsed = parse_text("# types\nint f(modle *m);\n");
    auto table = read_types(R"({"diagnostics":[)" + json + "]}", parsed.rules, parsed.diagnostics);
    EXPECT_TRUE(table.ok());
    return parsed.messages();
}

TEST(ReadTypes, AMistakeInARuleFileHasItsPlace) {
    EXPECT_EQ(complaints(R"({"severity":"error","file":"a.rules","line":2,"column":7,
        "message":"unknown type name 'modle'; did you mean 'model'?"},
        {"severity":"note","file":"m.h","line":3,"column":8,"message":"'model' declared here"})"),
              R"(error: unknown type name 'modle'; did you mean 'model'?
 --> a.rules:2:7
  |
2 | int f(modle *m);
  |       ^^^^^
note: 'model' declared here
 --> m.h:3:8
)");
}

TEST(ReadTypes, AMistakeInAHeaderHasItsPlaceToo) {
    EXPECT_EQ(complaints(R"({"severity":"fatal","file":"cuda.h","line":12,"column":1,
        "message":"'crt.h' file not found"},
        {"severity":"warning","file":"cuda.h","line":20,"column":3,"message":"odd"},
        {"severity":"error","message":"too many errors"})"),
              R"(error: 'crt.h' file not found
  --> cuda.h:12:1

warning: odd
  --> cuda.h:20:3

error: too many errors
)");
}

TEST(ReadTypes, PlacesOutsideOfTheFileAreClamped) {
    EXPECT_EQ(
        complaints(R"({"severity":"error","file":"a.rules","line":99,"column":7,"message":"x"})"),
        "error: x\n --> a.rules:3:1\n  |\n3 |\n  | ^\n");
    EXPECT_EQ(
        complaints(R"({"severity":"error","file":"a.rules","line":2,"column":99,"message":"x"})"),
        "error: x\n --> a.rules:2:17\n  |\n2 | int f(modle *m);\n  |                 ^\n");
    EXPECT_EQ(complaints(R"({"severity":"note","file":"a.rules","line":2,"message":"alone"})"), "");
}

TEST(ReadFiles, AreThoseOfTheReply) {
    auto files = read_files(R"({"types":[],"files":["/a/cuda.h","/a/dim3.h"]})");
    ASSERT_TRUE(files);
    EXPECT_EQ(*files, (std::vector<std::string>{"/a/cuda.h", "/a/dim3.h"}));
    EXPECT_EQ(read_files("{}")->size(), 0u);
    EXPECT_EQ(read_files(R"({"files":[1]})").error().message(),
              "the C types from mlbcc-bcc are broken: `files` is not a string");
    EXPECT_FALSE(read_files("{"));
}

TEST(ReadTask, ItsTypesComeBehindThoseThatAreThere) {
    TypeTable types;
    const TypeId first = types.add({"int", IntType{4, true}});
    const auto task = read_task(R"({"types":[
        {"kind":"void","spelling":"void"},
        {"kind":"pointer","spelling":"struct task_struct *","to":2,"const":false},
        {"kind":"record","spelling":"struct task_struct","complete":true,"size":16,
         "fields":[{"name":"real_parent","type":1,"offset":8}]}],
        "functions":[{"name":"mlbcc_task","ret":0,"params":[{"name":"task","type":1}]}]})",
                                types);
    ASSERT_TRUE(task) << task.error().message();
    EXPECT_EQ(types[first].spelling, "int");
    const auto& record =
        std::get<RecordType>(types[std::get<PointerType>(types[*task].kind).to].kind);
    EXPECT_EQ(record.fields[0].type, *task);
    EXPECT_EQ(types.size(), 4u);
}

TEST(ReadTask, AMistakeInTheHeadersIsAnErrorAndChangesNothing) {
    TypeTable types;
    const auto task = read_task(R"({"types":[],"functions":[],"diagnostics":[
        {"severity":"fatal","file":"sched.h","line":12,"column":1,"message":"'a.h' file not found"}]})",
                                types);
    ASSERT_FALSE(task);
    EXPECT_EQ(task.error().what,
              "clang cannot read them: error: 'a.h' file not found\n  --> sched.h:12:1\n");
    EXPECT_EQ(types.size(), 0u);
}

}  // namespace
}  // namespace mlbcc::rules
