// Real calls of this processor's compiler against what the plan says of their prototypes: each
// argument's bytes must be in the register or the word of the stack that locate_arguments() names,
// and a floating-point value that it cannot name in a vector register.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>

#include "plan/abi.h"
#include "rules/prototypes.h"

namespace {

constexpr size_t kVector = 16;  // bytes of a vector register that hold arguments

// What a function finds when it begins; stands so in the code below.
struct Registers {
    uint64_t general[8];
    unsigned char vector[8][kVector];
};

using Look = std::function<void(const Registers&, const unsigned char* stack)>;
const Look*& look() {
    static const Look* now = nullptr;
    return now;
}

}  // namespace

extern "C" {
void mlbcc_callee();  // calls mlbcc_look with what it was called with
void mlbcc_look(const Registers* registers, const unsigned char* stack) {
    (*look())(*registers, stack);
}
}

#if defined(__x86_64__)
asm(R"(
    .text
    .type mlbcc_callee, @function
mlbcc_callee:
    push %rbp
    mov %rsp, %rbp
    sub $192, %rsp
    mov %rdi, 0(%rsp)
    mov %rsi, 8(%rsp)
    mov %rdx, 16(%rsp)
    mov %rcx, 24(%rsp)
    mov %r8, 32(%rsp)
    mov %r9, 40(%rsp)
    movups %xmm0, 64(%rsp)
    movups %xmm1, 80(%rsp)
    movups %xmm2, 96(%rsp)
    movups %xmm3, 112(%rsp)
    movups %xmm4, 128(%rsp)
    movups %xmm5, 144(%rsp)
    movups %xmm6, 160(%rsp)
    movups %xmm7, 176(%rsp)
    mov %rsp, %rdi
    lea 16(%rbp), %rsi
    call mlbcc_look@PLT
    mov 0(%rsp), %rax
    leave
    ret
    .size mlbcc_callee, .-mlbcc_callee
)");
#elif defined(__aarch64__)
asm(R"(
    .text
    .type mlbcc_callee, @function
mlbcc_callee:
    stp x29, x30, [sp, #-208]!
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    stp q0, q1, [sp, #80]
    stp q2, q3, [sp, #112]
    stp q4, q5, [sp, #144]
    stp q6, q7, [sp, #176]
    add x0, sp, #16
    add x1, sp, #208
    bl mlbcc_look
    ldp x29, x30, [sp], #208
    ret
    .size mlbcc_callee, .-mlbcc_callee
)");
#endif

namespace mlbcc::test {
namespace {

using plan::ArgSlot;

constexpr plan::Arch kArch =
#if defined(__aarch64__)
    plan::Arch::arm64;
#else
    plan::Arch::x86_64;
#endif

struct Small {
    char c;
    short s;
};
struct Two {
    long long a, b;
};
struct Big {
    long long a, b, c;
};
struct Four {
    long long a, b, c, d;
};
struct Mix {
    double d;
    long long n;
};
struct Xyz {
    unsigned x, y, z;
};
struct Floats3 {
    float x, y, z;
};
struct Doubles4 {
    double v[4];
};
struct Uneven {
    float f;
    double d;
};
struct Wide {
    long double v;
};
struct Wide2 {
    __int128 v;
};
struct [[gnu::packed]] Packed {
    char c;
    long long n;
};
union Number {
    double d;
    long long n;
};

Prototypes prototypes() {
    Prototypes p;
    p.record("struct small", 4, {{"char c", 0}, {"short s", 2}});
    p.record("struct two", 16, {{"long long a", 0}, {"long long b", 8}});
    p.record("struct big", 24, {{"long long a", 0}, {"long long b", 8}, {"long long c", 16}});
    p.record("struct four", 32,
             {{"long long a", 0}, {"long long b", 8}, {"long long c", 16}, {"long long d", 24}});
    p.record("struct mix", 16, {{"double d", 0}, {"long long n", 8}});
    p.record("struct xyz", 12,
             {{"unsigned int x", 0}, {"unsigned int y", 4}, {"unsigned int z", 8}});
    p.record("struct floats3", 12, {{"float x", 0}, {"float y", 4}, {"float z", 8}});
    p.record("struct doubles4", 32, {{"double v", 0, 0, 0, 4}});
    p.record("struct uneven", 16, {{"float f", 0}, {"double d", 8}});
    p.record("struct wide", 16, {{"long double v", 0}});
    p.record("struct wide2", 16, {{"__int128 v", 0}});
    p.record("struct packed", 9, {{"char c", 0}, {"long long n", 1}});
    p.record("union number", 8, {{"double d", 0}, {"long long n", 0}}, true);
    return p;
}

// A scalar within a value, bytes; of a union each member.
struct Leaf {
    uint32_t offset = 0, size = 0;
    bool is_float = false;
};
void add_leaves(const rules::TypeTable& types, rules::TypeId id, uint32_t offset,
                std::vector<Leaf>& leaves) {
    const auto& kind = types[id].kind;
    if (const auto* record = std::get_if<rules::RecordType>(&kind)) {
        for (const auto& field : record->fields) {
            add_leaves(types, field.type, offset + field.offset, leaves);
        }
    } else if (const auto* array = std::get_if<rules::ArrayType>(&kind)) {
        for (uint32_t i = 0; i < array->count; ++i) {
            add_leaves(types, array->of, offset + 8 * i, leaves);  // of doubles
        }
    } else if (const auto* integer = std::get_if<rules::IntType>(&kind)) {
        leaves.push_back({offset, integer->size, false});
    } else if (const auto* real = std::get_if<rules::FloatType>(&kind)) {
        constexpr uint32_t kLong = sizeof(void*) == 8 && kArch == plan::Arch::x86_64 ? 10 : 16;
        leaves.push_back({offset, real->size > 8 ? kLong : real->size, true});
    } else {
        leaves.push_back({offset, 8, false});
    }
}

// A value unlike all others, and no float that a move would change.
template <class T> T value_of(size_t place) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(1.7) * static_cast<T>(place + 1);
    } else {
        T made;
        std::array<unsigned char, sizeof(T)> bytes{};
        for (size_t i = 0; i < sizeof(T); ++i) {
            bytes[i] = static_cast<unsigned char>(16 + (place * 37 + i * 11) % 100);
        }
        std::memcpy(&made, bytes.data(), sizeof made);
        return made;
    }
}
template <> Wide value_of<Wide>(size_t place) {
    return {value_of<long double>(place)};
}

class Call {
public:
    explicit Call(const std::string& prototype) : types_(prototypes()), text_(prototype) {
        types_.add(prototype);
        size_t open = prototype.find('(');
        size_t begin = prototype.find_last_of(" *", open) + 1;
        signature_ = types_.table().function(prototype.substr(begin, open - begin));
    }

    void expect(std::vector<std::vector<unsigned char>> values, const Registers& registers,
                const unsigned char* stack) const {
        const auto slots = plan::locate_arguments(*signature_, types_.table(), kArch);
        ASSERT_EQ(slots.size(), values.size()) << text_;
        for (size_t i = 0; i < values.size(); ++i) {
            std::vector<Leaf> leaves;
            add_leaves(types_.table(), signature_->params[i].type, 0, leaves);
            for (const Leaf& leaf : leaves) {
                expect(leaf, values[i].data(), slots[i], registers, stack);
            }
        }
    }

private:
    // Some lie across two words.
    void expect(const Leaf& leaf, const unsigned char* value, const std::vector<ArgSlot>& slots,
                const Registers& registers, const unsigned char* stack) const {
        ASSERT_LE(leaf.offset + leaf.size, 8 * slots.size()) << text_;
        const ArgSlot first = slots[leaf.offset / 8];
        if (first.kind == ArgSlot::Kind::none) {
            EXPECT_TRUE(leaf.is_float) << text_;
            EXPECT_TRUE(in_vector(value + leaf.offset, leaf.size, registers)) << text_;
            return;
        }
        for (uint32_t at = leaf.offset; at < leaf.offset + leaf.size; ++at) {
            ASSERT_EQ(byte_at(slots[at / 8], at, registers, stack), value[at])
                << text_ << ": byte " << at << " of the value in " << plan::to_text(slots[at / 8]);
        }
    }

    static int byte_at(const ArgSlot& slot, uint32_t at, const Registers& registers,
                       const unsigned char* stack) {
        const auto in_word = [at](const uint64_t& word) {
            return static_cast<int>(word >> 8 * (at % 8) & 0xff);
        };
        switch (slot.kind) {
        case ArgSlot::Kind::none: return -1;
        case ArgSlot::Kind::reg: return in_word(registers.general[slot.index]);
        case ArgSlot::Kind::stack: return stack[size_t{8} * slot.index + at % 8];
        case ArgSlot::Kind::pointer:
            return reinterpret_cast<const unsigned char*>(registers.general[slot.index])[at];
        case ArgSlot::Kind::stack_pointer: {
            const unsigned char* copy = nullptr;
            std::memcpy(&copy, stack + size_t{8} * slot.index, sizeof copy);
            return copy[at];
        }
        }
        return -1;
    }

    static bool in_vector(const unsigned char* value, uint32_t size, const Registers& registers) {
        for (const auto& one : registers.vector) {
            for (size_t at = 0; at + size <= kVector; at += 4) {
                if (std::memcmp(one + at, value, size) == 0) return true;
            }
        }
        return false;
    }

    Prototypes types_;
    std::string text_;
    const rules::Signature* signature_ = nullptr;
};

template <class T> std::vector<unsigned char> bytes_of(const T& value) {
    std::vector<unsigned char> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
}

template <class Result, class... Types, size_t... place>
void call_with_values(std::index_sequence<place...>) {
    void (*volatile callee)() = &mlbcc_callee;  // or a compiler knows that it takes nothing
    reinterpret_cast<Result (*)(Types...)>(callee)(value_of<Types>(place)...);
}

template <class... Types, size_t... place>
std::vector<std::vector<unsigned char>> all_bytes(std::index_sequence<place...>) {
    return {bytes_of(value_of<Types>(place))...};
}

// Calls a function of these types, and expects what the plan says of `prototype`.
template <class Result, class... Types> void expect_call(const std::string& prototype) {
    const Call call(prototype);
    bool called = false;
    const Look compare = [&](const Registers& registers, const unsigned char* stack) {
        called = true;
        call.expect(all_bytes<Types...>(std::index_sequence_for<Types...>()), registers, stack);
    };
    look() = &compare;
    call_with_values<Result, Types...>(std::index_sequence_for<Types...>());
    look() = nullptr;
    EXPECT_TRUE(called) << prototype;
}

TEST(AbiCalls, MoreIntegersAndPointersThanRegisters) {
    expect_call<int, int, void*, short, long long, char, unsigned, bool*, int, char, long long, int,
                short>("int f(int a, void *b, short c, long long d, char e, unsigned int g, "
                       "void *h, int i, char j, long long k, int l, short m)");
}

TEST(AbiCalls, Floats) {
    expect_call<int, int, float, int, double, void*>(
        "int f(int a, float b, int c, double d, void *e)");
    expect_call<int, double, double, double, double, float, double, double, double, double, float,
                int>("int f(double a, double b, double c, double d, float e, double g, double h, "
                     "double i, double j, float k, int l)");
}

TEST(AbiCalls, StructsOfOneToFourWords) {
    expect_call<int, Small, int>("int f(struct small a, int b)");
    expect_call<int, int, Two, int>("int f(int a, struct two b, int c)");
    expect_call<int, Xyz, Xyz, int>("int f(struct xyz a, struct xyz b, int c)");
    expect_call<int, int, Big, int>("int f(int a, struct big b, int c)");
    expect_call<int, int, Four, int, Four>("int f(int a, struct four b, int c, struct four d)");
    expect_call<int, Mix, int>("int f(struct mix a, int b)");
    expect_call<int, Number, int>("int f(union number a, int b)");
    expect_call<int, Packed, int>("int f(struct packed a, int b)");
}

TEST(AbiCalls, StructsWhereRegistersEnd) {
    expect_call<int, int, int, int, int, int, Two, int, int, int>(
        "int f(int a, int b, int c, int d, int e, struct two g, int h, int i, int j)");
    expect_call<int, int, int, int, int, int, int, int, Two, int, int>(
        "int f(int a, int b, int c, int d, int e, int g, int h, struct two i, int j, int k)");
    expect_call<int, int, int, int, int, int, int, int, int, Big, int, Small>(
        "int f(int a, int b, int c, int d, int e, int g, int h, int i, struct big j, int k, "
        "struct small l)");
}

TEST(AbiCalls, StructsOfFloats) {
    expect_call<int, Floats3, int>("int f(struct floats3 a, int b)");
    expect_call<int, Uneven, int>("int f(struct uneven a, int b)");
    expect_call<int, Doubles4, Doubles4, double, int>(
        "int f(struct doubles4 a, struct doubles4 b, double c, int d)");
    expect_call<int, Doubles4, Floats3, Floats3, float, int>(
        "int f(struct doubles4 a, struct floats3 b, struct floats3 c, float d, int e)");
}

// Two words of the stack that begin at an even one.
TEST(AbiCalls, WhatIsAlignedToSixteenBytes) {
    expect_call<int, int, long double, int>("int f(int a, long double b, int c)");
    expect_call<int, double, double, double, double, double, double, double, double, double,
                long double, int>(
        "int f(double a, double b, double c, double d, double e, double g, "
        "double h, double i, double j, long double k, int l)");
    expect_call<int, int, __int128, int>("int f(int a, __int128 b, int c)");
#if !defined(__x86_64__) || !defined(__clang__) || __clang_major__ >= 18
    // Older ones do not align it: gcc and the standard do.
    expect_call<int, int, int, int, int, int, int, int, int, int, __int128, int>(
        "int f(int a, int b, int c, int d, int e, int g, int h, int i, int j, __int128 k, int l)");
#endif
    expect_call<int, int, Wide, int>("int f(int a, struct wide b, int c)");
    expect_call<int, int, Wide2, int>("int f(int a, struct wide2 b, int c)");
    expect_call<int, int, int, int, int, int, int, int, int, int, Wide2, int>(
        "int f(int a, int b, int c, int d, int e, int g, int h, int i, int j, struct wide2 k, int "
        "l)");
}

TEST(AbiCalls, ALargeResult) {
    expect_call<Big, int, long long>("struct big f(int a, long long b)");
    expect_call<Two, int, long long>("struct two f(int a, long long b)");
    expect_call<Wide, int, long long>("struct wide f(int a, long long b)");
}

}  // namespace
}  // namespace mlbcc::test
