// BPF C becomes maps and loaded programs; mistakes come back as text.
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fcntl.h>
#include <linux/bpf.h>

#include <filesystem>
#include <map>

#include "bpf/program_fixture.h"

namespace mlbcc::bpf {
namespace {

constexpr uint32_t kUprobeSession = 57;  // BPF_TRACE_UPROBE_SESSION
constexpr uint32_t kCookieCall = 0x7fff0001, kIsReturnCall = 0x7fff0002;

constexpr const char* kProgram = R"(
#include <uapi/linux/ptrace.h>
static u64 *(*session_cookie)(void *ctx) = (void *)0x7fff0001;
static bool (*session_is_return)(void *ctx) = (void *)0x7fff0002;
struct record { u64 start, end, argument; int result; char comm[16]; };
BPF_PERF_OUTPUT(events);
BPF_F_TABLE("percpu_hash", u32, u64, calls, 512, BPF_F_NO_PREALLOC);
BPF_PERCPU_ARRAY(lost, u64, 4);
BPF_ARRAY(control, u64, 1);
BPF_HASH(traced, u32, u32, 256);
int on_call(struct pt_regs *ctx) {
    u64 *start = session_cookie(ctx);
    if (!session_is_return(ctx)) {
        *start = bpf_ktime_get_ns();
        return 0;
    }
    struct record r = {.start = *start, .end = bpf_ktime_get_ns()};
    r.argument = PT_REGS_PARM1(ctx);
    r.result = PT_REGS_RC(ctx);
    bpf_get_current_comm(&r.comm, sizeof r.comm);
    u32 key = bpf_get_attach_cookie(ctx);
    calls.increment(key);
    int zero = 0;
    if (events.perf_submit(ctx, &r, sizeof r)) lost.increment(zero);
    return 0;
}
int on_exec(struct bpf_raw_tracepoint_args *ctx) {
    u32 pid = bpf_get_current_pid_tgid() >> 32;
    traced.delete(&pid);
    return 0;
}
)";

// number in the C text -> BTF id in the running kernel; empty where the kernel lacks one
std::map<uint32_t, uint32_t> session_functions() {
    btf* kernel = btf__load_vmlinux_btf();
    if (kernel == nullptr) return {};
    int cookie = btf__find_by_name_kind(kernel, "bpf_session_cookie", BTF_KIND_FUNC);
    int is_return = btf__find_by_name_kind(kernel, "bpf_session_is_return", BTF_KIND_FUNC);
    btf__free(kernel);
    if (cookie < 0 || is_return < 0) return {};
    return {{kCookieCall, static_cast<uint32_t>(cookie)},
            {kIsReturnCall, static_cast<uint32_t>(is_return)}};
}

TEST_F(ProgramTest, SharedFunctionsAreLinkedToTheProgramsThatCallThem) {
    NEEDS_BPF();
    CompileRequest compile = request(kSharing);
    compile.programs = {{"first", ProgramType::raw_tracepoint, std::nullopt},
                        {"second", ProgramType::raw_tracepoint, std::nullopt}};
    compile.commons = {{0x7fff0100, "common_inner"}, {0x7fff0101, "common_outer"}};
    Compiled compiled = good(compile);
    EXPECT_EQ(compiled.programs.at(1).instructions, 2u) << "it calls none";
    uint64_t arguments[2] = {};
    LIBBPF_OPTS(bpf_test_run_opts, options);
    options.ctx_in = arguments;
    options.ctx_size_in = sizeof arguments;
    ASSERT_EQ(bpf_prog_test_run_opts(compiled.programs.at(0).fd.get(), &options), 0);
    EXPECT_EQ(options.retval, 42u);
}

TEST_F(ProgramTest, ACallOfNoSharedFunctionIsRefusedByTheKernel) {
    NEEDS_BPF();
    CompileRequest compile = request(kSharing);
    compile.programs = {{"first", ProgramType::raw_tracepoint, std::nullopt}};
    compile.commons = {{0x7fff0100, "common_inner"}, {0x7fff0101, "common_missing"}};
    CompileError error = bad(compile);
    EXPECT_EQ(error.stage, CompileError::Stage::load);
    EXPECT_NE(error.log.find("invalid func"), std::string::npos) << error.log;
}

TEST_F(ProgramTest, IsLoadedWithItsMaps) {
    NEEDS_BPF();
    CompileRequest compile = request(kProgram);
    compile.programs = {{"on_call", ProgramType::kprobe, kUprobeSession},
                        {"on_exec", ProgramType::raw_tracepoint, std::nullopt}};
    compile.kfuncs = session_functions();
    if (compile.kfuncs.empty()) GTEST_SKIP() << "this kernel has no uprobe sessions";
    Compiled compiled = good(compile);
    EXPECT_EQ(compiled.warnings, "");
    EXPECT_GT(compiled.compile_ms, 0);

    ASSERT_EQ(compiled.programs.size(), 2u);
    EXPECT_EQ(compiled.programs[0].name, "on_call");
    EXPECT_GT(compiled.programs[0].instructions, 20u);
    bpf_prog_info info{};
    uint32_t size = sizeof info;
    ASSERT_EQ(bpf_obj_get_info_by_fd(compiled.programs[0].fd.get(), &info, &size), 0);
    EXPECT_STREQ(info.name, "on_call");
    EXPECT_EQ(info.type, static_cast<uint32_t>(BPF_PROG_TYPE_KPROBE));

    struct Expected {
        uint32_t type, key_size, value_size, max_entries;
    };
    const std::map<std::string, Expected> expected = {
        {"calls", {BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 512}},
        {"control", {BPF_MAP_TYPE_ARRAY, 4, 8, 1}},
        {"lost", {BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 4}},
        {"traced", {BPF_MAP_TYPE_HASH, 4, 4, 256}},
    };
    ASSERT_EQ(compiled.maps.size(), 5u);
    for (const CompiledMap& map : compiled.maps) {
        EXPECT_TRUE(map.fd) << map.name;
        EXPECT_NE(map.id, 0u);
        if (map.name == "events") {
            EXPECT_EQ(map.type, static_cast<uint32_t>(BPF_MAP_TYPE_PERF_EVENT_ARRAY));
            continue;
        }
        ASSERT_TRUE(expected.contains(map.name)) << map.name;
        const Expected& e = expected.at(map.name);
        EXPECT_EQ(map.type, e.type) << map.name;
        EXPECT_EQ(map.key_size, e.key_size) << map.name;
        EXPECT_EQ(map.value_size, e.value_size) << map.name;
        EXPECT_EQ(map.max_entries, e.max_entries) << map.name;
    }
}

TEST_F(ProgramTest, MapsOutliveTheHelper) {
    NEEDS_BPF();
    auto own = CompilerProcess::start(kHelper);
    ASSERT_TRUE(own);
    auto result = own->compile(function("BPF_ARRAY(numbers, u64, 4); int f(void *ctx) { int k = 1; "
                                        "u64 v = 7; numbers.update(&k, &v); return 0; }"));
    ASSERT_TRUE(result);
    ASSERT_TRUE(std::holds_alternative<Compiled>(*result)) << std::get<CompileError>(*result).log;
    Compiled compiled = std::move(std::get<Compiled>(*result));
    { CompilerProcess gone = std::move(*own); }
    ASSERT_EQ(compiled.maps.size(), 1u);
    uint32_t key = 2;
    uint64_t value = 42, read = 0;
    EXPECT_EQ(bpf_map_update_elem(compiled.maps[0].fd.get(), &key, &value, 0), 0);
    EXPECT_EQ(bpf_map_lookup_elem(compiled.maps[0].fd.get(), &key, &read), 0);
    EXPECT_EQ(read, 42u);
}

TEST_F(ProgramTest, ProgramsThatCallOneAnother) {
    NEEDS_BPF();
    CompileRequest compile = request("BPF_PROG_ARRAY(shapes, 8);\n"
                                     "int shape(struct pt_regs *ctx) { return 0; }\n"
                                     "int f(struct pt_regs *ctx) {\n"
                                     "    shapes.call(ctx, bpf_get_attach_cookie(ctx));\n"
                                     "    return 0;\n}\n");
    compile.programs = {{"f", ProgramType::kprobe, std::nullopt},
                        {"shape", ProgramType::kprobe, std::nullopt}};
    Compiled compiled = good(compile);
    ASSERT_EQ(compiled.maps.size(), 1u);
    ASSERT_EQ(compiled.programs.size(), 2u);
    int key = 3, program = compiled.programs[1].fd.get();
    EXPECT_EQ(bpf_map_update_elem(compiled.maps[0].fd.get(), &key, &program, 0), 0);
}

TEST_F(ProgramTest, AtomicOperationsOf64Bits) {
    NEEDS_BPF();
    EXPECT_EQ(good(function("BPF_ARRAY(a, u64, 1);\n"
                            "int f(void *ctx) {\n"
                            "    int zero = 0;\n"
                            "    u64 *p = a.lookup(&zero);\n"
                            "    if (!p) return 0;\n"
                            "    u64 old = __sync_fetch_and_add(p, 5);\n"
                            "    old += __sync_val_compare_and_swap(p, 1, 2);\n"
                            "    old += __sync_lock_test_and_set(p, 3);\n"
                            "    return old;\n}\n"))
                  .programs.size(),
              1u);
}

TEST_F(ProgramTest, WarningsComeWithIt) {
    NEEDS_BPF();
    Compiled compiled = good(function("int f(void *ctx) { int *p = 5; return p != 0; }"));
    EXPECT_EQ(compiled.warnings.substr(0, 39), "generated.c:1:25: warning: incompatible");
}

TEST_F(ProgramTest, EmitOnlyMakesNothing) {
    CompileRequest compile = request(kProgram);
    compile.programs = {{"on_call", ProgramType::kprobe, kUprobeSession}};
    compile.emit_only = true;
    Compiled compiled = good(compile);
    ASSERT_EQ(compiled.maps.size(), 5u);
    ASSERT_EQ(compiled.programs.size(), 1u);
    EXPECT_FALSE(compiled.programs[0].fd);
    EXPECT_GT(compiled.programs[0].instructions, 20u);
    for (const CompiledMap& map : compiled.maps) {
        EXPECT_FALSE(map.fd);
    }
    EXPECT_EQ(compiled.maps[0].name, "calls");
    EXPECT_EQ(compiled.maps[0].max_entries, 512u);
}

TEST_F(ProgramTest, VariablesOfTheEnvironmentDoNotCount) {
    ::setenv("ARCH", "mips", 1);
    ::setenv("BCC_LINUX_VERSION_CODE", "1", 1);
    auto own = CompilerProcess::start(kHelper);
    ::unsetenv("ARCH");
    ::unsetenv("BCC_LINUX_VERSION_CODE");
    ASSERT_TRUE(own);
    CompileRequest compile = function("#include <uapi/linux/ptrace.h>\n"
                                      "int f(struct pt_regs *ctx) { return PT_REGS_PARM1(ctx); }");
    compile.emit_only = true;
    auto result = own->compile(compile);
    ASSERT_TRUE(result);
    ASSERT_TRUE(std::holds_alternative<Compiled>(*result)) << std::get<CompileError>(*result).log;
    EXPECT_EQ(std::get<Compiled>(*result).warnings, "");
}

TEST_F(ProgramTest, MistakeOfTheSource) {
    CompileError error = bad(function("int f(void *ctx) { return missing; }"));
    EXPECT_EQ(error.stage, CompileError::Stage::compile);
    EXPECT_EQ(error.what, "the program cannot be compiled");
    EXPECT_EQ(error.log, "generated.c:1:27: error: use of undeclared identifier 'missing'\n"
                         "int f(void *ctx) { return missing; }\n"
                         "                          ^\n"
                         "1 error generated.\n");
}

TEST_F(ProgramTest, MistakeAtThePlaceOfTheRule) {
    CompileError error = bad(function("#line 12 \"cuda.rules\"\nint f(void *c) { return x; }"));
    EXPECT_EQ(error.log.substr(0, 53), "cuda.rules:12:25: error: use of undeclared identifier");
}

TEST_F(ProgramTest, UndefinedFunctionIsAnError) {
    CompileError error = bad(function("int f(void *ctx) { return nothing(); }"));
    EXPECT_NE(error.log.find("implicit declaration of function 'nothing'"), std::string::npos)
        << error.log;
}

TEST_F(ProgramTest, RefusedByTheVerifier) {
    NEEDS_BPF();
    CompileError error = bad(
        function("int f(struct pt_regs *ctx) { return *(volatile int *)((char *)ctx + 10000); }"));
    EXPECT_EQ(error.stage, CompileError::Stage::load);
    EXPECT_EQ(error.what, "the kernel refuses the program `f`");
    EXPECT_EQ(error.code, EACCES);
    EXPECT_EQ(error.program, "f");
    EXPECT_NE(error.log.find("invalid bpf_context access off=10000 size=4"), std::string::npos)
        << error.log;
    EXPECT_TRUE(error.listing.empty()) << "nobody asked for it";
}

TEST_F(ProgramTest, KernelFunctionThatIsNotThere) {
    NEEDS_BPF();
    CompileRequest compile = request(kProgram);
    compile.programs = {{"on_call", ProgramType::kprobe, kUprobeSession}};
    CompileError error = bad(compile);
    EXPECT_EQ(error.stage, CompileError::Stage::load);
    EXPECT_EQ(error.program, "on_call");
}

TEST_F(ProgramTest, NoSuchFunction) {
    CompileRequest compile = function("int g(void *ctx) { return 0; }");
    compile.emit_only = true;
    EXPECT_EQ(bad(compile).what, "there is no function `f` in the program");
}

TEST_F(ProgramTest, NoHeaders) {
    CompileRequest compile = function("int f(void *ctx) { return 0; }");
    compile.kernel_dir = "/nowhere";
    CompileError error = bad(compile);
    EXPECT_EQ(error.what, "cannot read /nowhere/include/linux/kconfig.h");
    EXPECT_EQ(error.code, ENOENT);
    compile.kernel_dir = "include";
    EXPECT_EQ(bad(compile).what, "`include` is not an absolute path of a folder of kernel headers");
}

// LLVM ends the process for these; its last words still come.
TEST_F(ProgramTest, LlvmGivesUp) {
    auto own = CompilerProcess::start(kHelper);
    ASSERT_TRUE(own);
    CompileRequest compile = function("int f(void *ctx) { volatile char large[600];\n"
                                      "    for (int i = 0; i < 600; i++) large[i] = i;\n"
                                      "    return large[5]; }");
    compile.emit_only = true;
    auto result = own->compile(compile);
    ASSERT_TRUE(result) << result.error().message();
    ASSERT_TRUE(std::holds_alternative<CompileError>(*result));
    const CompileError& error = std::get<CompileError>(*result);
    EXPECT_EQ(error.what, "the program cannot be compiled");
    EXPECT_NE(error.log.find("BPF stack limit of 512 bytes is exceeded"), std::string::npos)
        << error.log;
    auto again = own->compile(compile);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message(), "the compiler helper ended unexpectedly (exit status 1)");
}

TEST_F(ProgramTest, MistakesDoNotWearTheHelperOut) {
    for (int i = 0; i < 5; ++i) {
        bad(function("int f(void *ctx) { return missing; }"));
        CompileRequest compile = function("int f(void *ctx) { return 0; }");
        compile.emit_only = true;
        EXPECT_EQ(good(compile).programs.size(), 1u);
    }
}

}  // namespace
}  // namespace mlbcc::bpf
