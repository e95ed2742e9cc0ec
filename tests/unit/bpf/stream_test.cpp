// Records that programs write reach the reader, and what does not fit is refused.
#include <bpf/bpf.h>

#include <algorithm>
#include <cstring>

#include "bpf/compiler_fixture.h"
#include "bpf/kernel.h"

namespace mlbcc::bpf {
namespace {

class StreamTest : public CompilerTest {};

TEST_F(StreamTest, ReadsWhatProgramsWriteToTheTablesRings) {
    auto table = make_ring_table();
    if (!table) GTEST_SKIP() << "no right to use BPF here";
    std::vector<uint64_t> seen;
    auto stream = Stream::open(*table, 1, [&](uint32_t, std::span<const std::byte> record) {
        ASSERT_EQ(record.size(), 8u);
        std::memcpy(&seen.emplace_back(), record.data(), 8);
    });
    ASSERT_TRUE(stream) << stream.error().message();
    CompileRequest compile;
    compile.source = R"(
BPF_RINGBUF_OUTPUT(ring, 16);
BPF_ARRAY_OF_MAPS(rings, "ring", 1);
BPF_ARRAY(turns, u64, 1);
int f(struct bpf_raw_tracepoint_args *ctx) {
    int cpu = bpf_get_smp_processor_id(), zero = 0;
    void *to = rings.lookup(&cpu);
    u64 *turn = turns.lookup(&zero);
    if (!to || !turn) return 7;
    *turn += 1;
    return bpf_ringbuf_output(to, turn, 8, BPF_RB_NO_WAKEUP) != 0;
})";
    compile.kernel_dir = kKernelHeaders;
    compile.programs = {{"f", ProgramType::raw_tracepoint, std::nullopt}};
    compile.maps = {{"rings", table->fd()}};
    auto result = helper().compile(compile);
    ASSERT_TRUE(result) << result.error().message();
    ASSERT_TRUE(std::holds_alternative<Compiled>(*result)) << std::get<CompileError>(*result).log;
    Compiled& compiled = std::get<Compiled>(*result);
    uint64_t arguments[2] = {};
    LIBBPF_OPTS(bpf_test_run_opts, options);
    options.ctx_in = arguments;
    options.ctx_size_in = sizeof arguments;
    uint64_t written = 0, refused = 0;
    for (int turn = 0; turn < 2000; ++turn) {  // more than a page has room for on both CPUs
        ASSERT_EQ(bpf_prog_test_run_opts(compiled.programs.at(0).fd.get(), &options), 0);
        ASSERT_LE(options.retval, 1u);
        ++(options.retval == 0 ? written : refused);
    }
    EXPECT_GT(refused, 0u);
    stream->sweep();
    EXPECT_EQ(seen.size(), written);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1u), 1);
    ASSERT_EQ(bpf_prog_test_run_opts(compiled.programs.at(0).fd.get(), &options), 0);
    EXPECT_EQ(options.retval, 0u) << "there is room again";
    stream->sweep();
    EXPECT_EQ(seen.back(), 2001u);
}

}  // namespace
}  // namespace mlbcc::bpf
