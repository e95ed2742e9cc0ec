// A helper process for the tests of tool/bpf/compiler.h, one for all tests of a suite.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "bpf/compiler.h"

namespace mlbcc::bpf {

inline const std::string kHelper = MLBCC_BINARY_DIR "/mlbcc-bcc";
inline const std::string kLibcHeaders = MLBCC_SOURCE_DIR "/probe_templates/include/libc";
inline const std::string kKernelHeaders = MLBCC_SOURCE_DIR "/probe_templates/include/kernel";

class CompilerTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        auto started = CompilerProcess::start(kHelper);
        ASSERT_TRUE(started) << started.error().message();
        helper_ = std::make_unique<CompilerProcess>(std::move(*started));
    }
    static void TearDownTestSuite() { helper_.reset(); }
    void SetUp() override { ASSERT_NE(helper_, nullptr); }

    CompilerProcess& helper() { return *helper_; }

private:
    inline static std::unique_ptr<CompilerProcess> helper_;
};

}  // namespace mlbcc::bpf
