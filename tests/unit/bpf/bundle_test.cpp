// Compiled programs as bytes: loaded again without a compiler, and refused where they are broken.
#include "bpf/bundle.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <variant>

#include "bpf/compiler_fixture.h"

namespace mlbcc::bpf {
namespace {

constexpr const char* kText = R"(
BPF_ARRAY(kept, u64, 4);
BPF_F_TABLE("percpu_hash", u32, u64, calls, 512, BPF_F_NO_PREALLOC);
int first(void *ctx) { u32 key = 1; calls.increment(key); return 0; }
int second(void *ctx) { int one = 1; u64 *at = kept.lookup(&one); return at ? *at : 7; }
)";

class BundleTest : public CompilerTest {
protected:
    Result<Compiled> compile(bool bundle) {
        CompileRequest request;
        request.source = kText;
        request.kernel_dir = kKernelHeaders;
        request.programs = {{"first", ProgramType::kprobe, std::nullopt},
                            {"second", ProgramType::raw_tracepoint, std::nullopt}};
        request.bundle = bundle;
        auto result = helper().compile(request);
        if (!result) return result.error();
        if (auto* failed = std::get_if<CompileError>(&*result)) return Error{failed->what};
        return std::move(std::get<Compiled>(*result));
    }
};

TEST_F(BundleTest, LoadsAsItWasCompiled) {
    if (::geteuid() != 0) GTEST_SKIP() << "not root: programs cannot be loaded";
    Result<Compiled> compiled = compile(true);
    ASSERT_TRUE(compiled) << compiled.error().message();
    Result<Bundle> bundle = Bundle::read(compiled->bundle);
    ASSERT_TRUE(bundle) << bundle.error().message();
    ASSERT_EQ(bundle->programs(), 2u);
    int kept = -1;
    for (const CompiledMap& map : compiled->maps) {
        if (map.name == "kept") kept = map.fd.get();
    }
    ASSERT_TRUE(bundle->make_maps({{"kept", kept}}));
    for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(bundle->load(i)) << i;
    Compiled again = bundle->take();
    ASSERT_EQ(again.maps.size(), compiled->maps.size());
    for (size_t i = 0; i < again.maps.size(); ++i) {
        const CompiledMap &a = again.maps[i], &b = compiled->maps[i];
        EXPECT_EQ(a.name, b.name);
        EXPECT_EQ(std::tuple(a.type, a.key_size, a.value_size, a.max_entries, a.flags),
                  std::tuple(b.type, b.key_size, b.value_size, b.max_entries, b.flags));
        EXPECT_TRUE(a.fd);
    }
    ASSERT_EQ(again.programs.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(again.programs[i].name, compiled->programs[i].name);
        EXPECT_EQ(again.programs[i].instructions, compiled->programs[i].instructions);
        bpf_prog_info before{}, after{};
        uint32_t size = sizeof before;
        ASSERT_EQ(bpf_obj_get_info_by_fd(compiled->programs[i].fd.get(), &before, &size), 0);
        ASSERT_EQ(bpf_obj_get_info_by_fd(again.programs[i].fd.get(), &after, &size), 0);
        EXPECT_EQ(after.type, before.type);
        EXPECT_EQ(after.xlated_prog_len, before.xlated_prog_len);
    }
    // The second reads the map that was there.
    int one = 1;
    uint64_t number = 42;
    ASSERT_EQ(bpf_map_update_elem(kept, &one, &number, BPF_ANY), 0);
    LIBBPF_OPTS(bpf_test_run_opts, run);
    ASSERT_EQ(bpf_prog_test_run_opts(again.programs[1].fd.get(), &run), 0);
    EXPECT_EQ(run.retval, 42u);
}

TEST_F(BundleTest, ComesWhereItIsAskedFor) {
    if (::geteuid() != 0) GTEST_SKIP() << "not root: programs cannot be loaded";
    Result<Compiled> compiled = compile(false);
    ASSERT_TRUE(compiled) << compiled.error().message();
    EXPECT_EQ(compiled->bundle, "");
}

TEST_F(BundleTest, IsRefusedWhereItIsBroken) {
    if (::geteuid() != 0) GTEST_SKIP() << "not root: programs cannot be loaded";
    Result<Compiled> compiled = compile(true);
    ASSERT_TRUE(compiled) << compiled.error().message();
    const std::string& whole = compiled->bundle;
    for (size_t size : {size_t{0}, size_t{7}, size_t{8}, whole.size() / 2, whole.size() - 1}) {
        EXPECT_FALSE(Bundle::read(whole.substr(0, size))) << size;
    }
    EXPECT_FALSE(Bundle::read(whole + "x"));
    std::string head = whole;
    head[8] = 'x';
    EXPECT_FALSE(Bundle::read(head));
    std::string code = whole;
    code[code.size() - 8] = static_cast<char>(0xff);  // no instruction has that code
    Result<Bundle> bundle = Bundle::read(code);
    ASSERT_TRUE(bundle);
    ASSERT_TRUE(bundle->make_maps({}));
    EXPECT_TRUE(bundle->load(0));
    EXPECT_FALSE(bundle->load(1));
}

}  // namespace
}  // namespace mlbcc::bpf
