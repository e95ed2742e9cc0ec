#include "event/values.h"

#include <gtest/gtest.h>

#include "event/decode.h"
#include "event/test_plan.h"

namespace mlbcc::event {
namespace {

using namespace mlbcc::test;

class Values : public testing::Test {
protected:
    // The value of a field of type `type` whose slot holds `bits`.
    Value read(const plan::ValueType& type, uint64_t bits) {
        return read(type, Wire::entry({}, 1).number(bits));
    }
    Value read(const plan::ValueType& type, Wire wire, uint32_t size = 8) {
        field = {type, sizeof(plan::RecordHeader), size};
        bytes = wire.bytes();
        EnumTable enums(&t.types);
        Tables tables(t.plan);
        return ValueReader(field, enums, tables).read({bytes, &probe, 70, tables, names});
    }
    static plan::ValueType type(Kind kind, uint8_t size) { return {kind, size}; }
    TestPlan t;
    plan::ProbePlan probe;
    plan::RecordSlot field;
    CxxNames names;
    std::vector<std::byte> bytes;
};

constexpr uint64_t kDirty = 0xabcdef0180ffull;  // what a register holds above a narrow value

TEST_F(Values, AreExtendedByTheirSize) {
    EXPECT_EQ(read(type(Kind::unsigned_int, 1), kDirty).bits, 0xffu);
    EXPECT_EQ(read(type(Kind::unsigned_int, 2), kDirty).bits, 0x80ffu);
    EXPECT_EQ(read(type(Kind::unsigned_int, 4), kDirty).bits, 0xef0180ffu);
    EXPECT_EQ(read(type(Kind::hex, 8), kDirty).bits, kDirty);
    EXPECT_EQ(static_cast<int64_t>(read(type(Kind::signed_int, 1), kDirty).bits), -1);
    EXPECT_EQ(static_cast<int64_t>(read(type(Kind::signed_int, 2), kDirty).bits), -32513);
    EXPECT_EQ(static_cast<int64_t>(read(type(Kind::signed_int, 4), kDirty).bits), -285114113);
    EXPECT_EQ(read(type(Kind::boolean, 1), 0xff00).bits, 0u);
    EXPECT_EQ(read(type(Kind::character, 4), 0x141).bits, 0x41u);
}

TEST_F(Values, EnumsHaveTheirConstantsName) {
    plan::ValueType result =
        t.enumeration({{"CUDA_SUCCESS", 0}, {"CUDA_ERROR_INVALID_VALUE", 1}, {"ALIAS", 0}});
    EXPECT_EQ(read(result, 0).text, "CUDA_SUCCESS");
    EXPECT_EQ(read(result, 0xdead00000001).text, "CUDA_ERROR_INVALID_VALUE");
    Value unknown = read(result, 7);
    EXPECT_EQ(unknown.text, "");
    EXPECT_EQ(unknown.bits, 7u);
}

TEST_F(Values, SignedEnumsAreFoundByTheirSignedValue) {
    plan::ValueType type = t.enumeration({{"UP", 1}, {"DOWN", -1}}, true);
    EXPECT_EQ(read(type, 0xffffffff).text, "DOWN");
    EXPECT_EQ(static_cast<int64_t>(read(type, 0xfffffffe).bits), -2);
}

TEST_F(Values, TextEndsAtItsZero) {
    EXPECT_EQ(read(kText, Wire::entry({}, 1).text("gemm", 16), 16).text, "gemm");
    EXPECT_EQ(read(kText, Wire::entry({}, 1).text("0123456789abcdef", 16), 16).text,
              "0123456789abcdef");
    EXPECT_EQ(read(kText, Wire::entry({}, 1).text("", 16), 16).text, "");
    EXPECT_FALSE(read(kText, Wire::entry({}, 1).text("", 16), 16).unread);
}

TEST_F(Values, TextThatCouldNotBeReadIsNull) {
    EXPECT_TRUE(read(kText, Wire::entry({}, 1).text("\xff", 16), 16).unread);
    EXPECT_EQ(read(kText, Wire::entry({}, 1).text("\xff\xfe", 16), 16).text, "\xff\xfe");
}

TEST_F(Values, NamesOfCxxAreDemangledWhereTheTypeSaysSo) {
    plan::ValueType demangled = kText;
    demangled.demangle = true;
    auto named = [&](const plan::ValueType& type, const char* text) {
        return std::string(read(type, Wire::entry({}, 1).text(text, 32), 32).text);
    };
    EXPECT_EQ(named(demangled, "_Z6vecAddPKfS0_Pfi"), "vecAdd");
    EXPECT_EQ(named(kText, "_Z6vecAddPKfS0_Pfi"), "_Z6vecAddPKfS0_Pfi");
    EXPECT_EQ(named(demangled, "gemm"), "gemm");
    EXPECT_EQ(named(demangled, "_ZN2at6native"), "_ZN2at6native") << "cut off";
}

TEST_F(Values, FunctionAndSymbolAreTheProbes) {
    probe.function = "cuMemAlloc";
    probe.symbol = "cuMemAlloc_v2";
    EXPECT_EQ(read(type(Kind::function, 8), 0).text, "cuMemAlloc");
    EXPECT_EQ(read(type(Kind::symbol, 8), 0).text, "cuMemAlloc_v2");
}

class Keys : public testing::Test {
protected:
    Keys() {
        t.probe("cuInit");
        t.probe("cuLaunchKernel", "cuLaunchKernel_ptsz");
    }
    std::string key(const plan::RecordSlot& field, std::vector<std::byte> bytes) {
        Tables tables(t.plan);
        Gauges gauges(t.plan);
        return value_text(Decoder(t.plan, tables, gauges).key_value(field, bytes));
    }
    static std::vector<std::byte> bytes(uint64_t value) {
        Wire wire = Wire::entry({}, 0).number(value);
        return {wire.bytes().begin() + sizeof(plan::RecordHeader), wire.bytes().end()};
    }
    TestPlan t;
};

TEST_F(Keys, OfAnAggregateAreReadAsRecordsAre) {
    EXPECT_EQ(key({kI32, 0, 8}, bytes(0xffffffff)), "-1");
    EXPECT_EQ(key({{Kind::function, 8}, 0, 8}, bytes(1)), "cuLaunchKernel");
    EXPECT_EQ(key({{Kind::symbol, 8}, 0, 8}, bytes(1)), "cuLaunchKernel_ptsz");
}

TEST_F(Keys, ThatAreBrokenAreNull) {
    EXPECT_EQ(key({{Kind::function, 8}, 0, 8}, bytes(99)), "null");
    EXPECT_EQ(key({kU64, 4, 8}, bytes(1)), "null");
    EXPECT_EQ(key({{Kind::comm, 16}, 0, 16}, bytes(1)), "null");
}

}  // namespace
}  // namespace mlbcc::event
