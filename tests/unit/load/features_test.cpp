// Which functions of the kernel programs may call, by how its BTF declares them.
#include <gtest/gtest.h>

#include "files/scratch.h"
#include "kernel/kernel_btf.h"
#include "kernel/made_btf.h"
#include "load/features.h"

namespace mlbcc::load {
namespace {

class CallableTest : public testing::Test {
protected:
    uint32_t callable(const std::string& name) {
        scratch_.write("vmlinux", btf_.bytes());
        auto kernel = kernel::KernelBtf::open(scratch_.path());
        EXPECT_TRUE(kernel) << kernel.error().message();
        return kernel ? callable_with_context(*kernel, name.c_str()) : 0;
    }
    kernel::MadeBtf btf_;
    uint32_t number_ = btf_.integer("int", 4), context_ = btf_.pointer(0);

private:
    files::Scratch scratch_;
};

TEST_F(CallableTest, WithoutAParameterAsUpToLinux6) {
    const uint32_t id = btf_.function("bpf_session_cookie", btf_.prototype(context_, {}));
    EXPECT_EQ(callable("bpf_session_cookie"), id);
}

TEST_F(CallableTest, WithTheContextAsOnLinux7) {
    const uint32_t id =
        btf_.function("bpf_session_cookie", btf_.prototype(context_, {{"ctx", context_}}));
    EXPECT_EQ(callable("bpf_session_cookie"), id);
}

TEST_F(CallableTest, NotWithWhatNobodyKnows) {
    btf_.function("takes_a_number", btf_.prototype(number_, {{"flags", number_}}));
    btf_.function("takes_two", btf_.prototype(number_, {{"ctx", context_}, {"flags", number_}}));
    EXPECT_EQ(callable("takes_a_number"), 0u);
    EXPECT_EQ(callable("takes_two"), 0u);
    EXPECT_EQ(callable("is_not_there"), 0u);
}

}  // namespace
}  // namespace mlbcc::load
