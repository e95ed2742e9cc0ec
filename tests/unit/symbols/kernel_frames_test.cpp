#include "symbols/kernel_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mlbcc::symbols {
namespace {

using testing::ElementsAre;
using Addresses = std::vector<uint64_t>;

constexpr uint64_t kKernel = 0xffffffff80000000;

// A kernel whose functions have 0x100 bytes each.
class Kernel {
public:
    Kernel(std::initializer_list<std::pair<std::string, std::string>> functions)
        : functions_(functions) {}
    KernelNames names() {
        return [this](uint64_t address) -> std::optional<KernelName> {
            ++asked;
            uint64_t index = (address - kKernel) / 0x100;
            if (index >= functions_.size()) return std::nullopt;
            const auto& [function, module] = functions_[index];
            return KernelName{function, module, (address - kKernel) % 0x100};
        };
    }
    int asked = 0;

private:
    std::vector<std::pair<std::string, std::string>> functions_;
};

std::vector<std::string> frames(KernelFrames& kernel, const Addresses& addresses,
                                const plan::ProbePlan* probe = nullptr) {
    std::vector<std::string> out{"before"};
    kernel.add({addresses, probe}, out);
    EXPECT_EQ(out.front(), "before");
    out.erase(out.begin());
    return out;
}

TEST(KernelFrames, HaveTheirModuleAndTheirPlace) {
    Kernel kernel{{"schedule", ""}, {"nvidia_ioctl", "nvidia"}};
    KernelFrames all(kernel.names());
    EXPECT_THAT(frames(all, {kKernel + 0x2a, kKernel + 0x110, 0xffffffffc0000000}),
                ElementsAre("[kernel]:schedule+0x2a", "[kernel:nvidia]:nvidia_ioctl+0x10",
                            "[kernel]+0xffffffffc0000000"));
}

TEST(KernelFrames, AnAddressIsLookedUpOnce) {
    Kernel kernel{{"schedule", ""}};
    KernelFrames all(kernel.names());
    frames(all, {kKernel + 0x2a, kKernel + 0x30});
    frames(all, {kKernel + 0x2a, kKernel + 0x30});
    EXPECT_EQ(kernel.asked, 2);
}

TEST(KernelFrames, ACallThatDoesNotReturnIsOfItsOwnFunction) {
    Kernel kernel{{"do_exit", ""}, {"next", ""}};
    KernelFrames all(kernel.names());
    EXPECT_THAT(frames(all, {kKernel + 0x100, kKernel + 0x100}),
                ElementsAre("[kernel]:next+0x0", "[kernel]:do_exit+0x100"));
}

TEST(KernelFrames, WhatBelongsToTheProbeIsLeftOut) {
    Kernel kernel({{"__traceiter_sched_switch", ""},
                   {"bpf_trace_run4", ""},
                   {"__schedule", ""},
                   {"bpf_map_lookup", ""}});
    KernelFrames all(kernel.names());
    const uint64_t program = 0xffffffffc0001234;
    EXPECT_THAT(
        frames(all, {program, kKernel + 0x110, kKernel + 0x10, kKernel + 0x210, kKernel + 0x310}),
        ElementsAre("[kernel]:__schedule+0x10", "[kernel]:bpf_map_lookup+0x10"));
    EXPECT_THAT(frames(all, {program, kKernel + 0x210}),
                ElementsAre("[kernel]+0xffffffffc0001234", "[kernel]:__schedule+0x10"));
}

TEST(KernelFrames, AFunctionsStackIsThatOfItsCaller) {
    Kernel kernel{{"vfs_read", ""}, {"ksys_read", ""}};
    KernelFrames all(kernel.names());
    plan::ProbePlan probe;
    probe.kind = plan::ProbeKind::kernel;
    probe.symbol = "vfs_read";
    EXPECT_THAT(frames(all, {kKernel, kKernel + 0x110}, &probe),
                ElementsAre("[kernel]:ksys_read+0x10"));
    EXPECT_THAT(frames(all, {kKernel + 0x110}, &probe), ElementsAre("[kernel]:ksys_read+0x10"));
}

TEST(KernelFrames, WithoutNamesThereAreAddresses) {
    KernelFrames all({});
    EXPECT_THAT(frames(all, {kKernel + 0x2a}), ElementsAre("[kernel]+0xffffffff8000002a"));
    EXPECT_THAT(frames(all, {}), ElementsAre());
}

TEST(KernelFrames, AStackThatIsFullMayGoOn) {
    Kernel kernel{{"recursive", ""}};
    KernelFrames all(kernel.names());
    auto shown = frames(all, Addresses(plan::kMaxKernelFrames, kKernel + 8));
    EXPECT_EQ(shown.size(), plan::kMaxKernelFrames + 1);
    EXPECT_EQ(shown.back(), "...");
}

}  // namespace
}  // namespace mlbcc::symbols
