// Names of the kernel's functions, and what is said where it tells none.
#include "session/kernel_names.h"

#include <gtest/gtest.h>

#include "files/scratch.h"

namespace mlbcc::session {
namespace {

TEST(KernelFunctionNames, AreThoseOfTheList) {
    files::Scratch scratch;
    KernelFunctionNames names;
    names.read(Verbosity::normal, scratch.write("kallsyms", "ffffffff81000000 T schedule\n"
                                                            "ffffffffc0a00000 t ioctl [nvidia]\n"));
    auto found = names.find(0xffffffffc0a00028);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->function, "ioctl");
    EXPECT_EQ(found->module, "nvidia");
    EXPECT_EQ(found->offset, 0x28u);
}

TEST(KernelFunctionNames, ThatAreHiddenAreSaidOnce) {
    files::Scratch scratch;
    KernelFunctionNames names;
    testing::internal::CaptureStderr();
    names.read(Verbosity::normal, scratch.write("kallsyms", "0000000000000000 T schedule\n"));
    EXPECT_EQ(
        testing::internal::GetCapturedStderr(),
        "mlbcc: kernel stacks have addresses for names: the kernel hides the addresses of its "
        "functions; run as root or with CAP_SYSLOG, and if root does not see them either: sysctl "
        "-w kernel.kptr_restrict=1\n");
    EXPECT_FALSE(names.find(0xffffffff81000000));
}

}  // namespace
}  // namespace mlbcc::session
