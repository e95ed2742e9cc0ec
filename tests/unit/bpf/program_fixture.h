// BPF C that is compiled by the helper, for the tests of what comes of it.
#pragma once

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <string>
#include <utility>

#include "bpf/compiler_fixture.h"

namespace mlbcc::bpf {

class ProgramTest : public CompilerTest {
protected:
    CompileRequest request(std::string source) {
        CompileRequest compile;
        compile.source = std::move(source);
        compile.file = "generated.c";
        compile.kernel_dir = kKernelHeaders;
        return compile;
    }
    CompileRequest function(std::string source) {
        CompileRequest compile = request(std::move(source));
        compile.programs = {{"f", ProgramType::kprobe, std::nullopt}};
        return compile;
    }
    Compiled good(const CompileRequest& compile) {
        auto result = helper().compile(compile);
        if (!result) {
            ADD_FAILURE() << result.error().message();
            return {};
        }
        if (auto* error = std::get_if<CompileError>(&*result)) {
            ADD_FAILURE() << error->what << "\n" << error->log;
            return {};
        }
        return std::move(std::get<Compiled>(*result));
    }
    CompileError bad(const CompileRequest& compile) {
        auto result = helper().compile(compile);
        if (!result || !std::holds_alternative<CompileError>(*result)) {
            ADD_FAILURE() << "it compiles";
            return {};
        }
        return std::move(std::get<CompileError>(*result));
    }
};

// A map of our own is the cheapest thing that needs the right to use BPF.
inline bool may_use_bpf() {
    UniqueFd map(bpf_map_create(BPF_MAP_TYPE_ARRAY, "probe", 4, 8, 1, nullptr));
    return static_cast<bool>(map);
}
#define NEEDS_BPF()                                                                                \
    if (!may_use_bpf()) GTEST_SKIP() << "no right to use BPF here"

// `outer` calls `inner`, twice; the program calls `outer` and then `inner` itself.
inline constexpr const char* kSharing = R"(
#include <uapi/linux/ptrace.h>
struct call { struct pt_regs *ctx; u64 sum; };
static u64 (*inner)(struct call *call) = (void *)0x7fff0100;
static u64 (*outer)(struct call *call) = (void *)0x7fff0101;
u64 common_inner(struct call *call) { call->sum += 7; return call->sum; }
u64 common_outer(struct call *call) { return inner(call) + inner(call); }
int first(struct pt_regs *ctx) {
    struct call call = {.ctx = ctx, .sum = 100};
    return outer(&call) == 107 + 114 && inner(&call) == 121 ? 42 : 1;
}
int second(struct pt_regs *ctx) { return 3; }
)";

}  // namespace mlbcc::bpf
