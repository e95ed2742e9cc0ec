#include "kernel/kernel_headers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "files/scratch.h"

namespace mlbcc::kernel {
namespace {

// A machine with a running kernel 6.9-a, in a folder.
class KernelHeadersTest : public testing::Test {
protected:
    HeaderPlaces places() const { return {scratch_.path(), "6.9-a"}; }

    void tree(const std::string& at, const std::string& version) const {
        scratch_.write(at + "/include/linux/kconfig.h", "");
        scratch_.write(at + "/include/generated/utsrelease.h",
                       fmt::format("#define UTS_RELEASE \"{}\"\n", version));
    }
    void btf() const { scratch_.write("sys/kernel/btf/vmlinux", "x"); }
    std::string short_path(std::string text) const {
        for (size_t at; (at = text.find(scratch_.path())) != text.npos;)
            text.replace(at, scratch_.path().size(), "");
        return text;
    }
    // "build /lib/modules/6.9-a/build", or "error: ..."
    std::string chosen(const std::string& wanted) const {
        const auto choice = choose_headers(wanted, places());
        if (!choice) return short_path("error: " + choice.error().message());
        return short_path(
            fmt::format("{} {}", kind_name(choice->headers.kind), choice->headers.path));
    }
    std::string linked(const std::string& folder) const {
        const auto done = link_headers(folder, places());
        return short_path(done ? *done : "error: " + done.error().message());
    }

    files::Scratch scratch_;
    const std::string build_ = "lib/modules/6.9-a/build";
};

TEST_F(KernelHeadersTest, BtfComesBeforeMatchingHeaders) {
    tree(build_, "6.9-a");
    EXPECT_EQ(chosen("auto"), "build /lib/modules/6.9-a/build");
    btf();
    EXPECT_EQ(chosen("auto"), "btf /sys/kernel/btf/vmlinux");
    EXPECT_EQ(chosen("btf"), "btf /sys/kernel/btf/vmlinux");
}

TEST_F(KernelHeadersTest, HeadersOfAnotherKernelAreNeverTakenUnasked) {
    tree(build_, "6.1-b");
    scratch_.write("sys/kernel/kheaders.tar.xz", "x");
    EXPECT_EQ(chosen("auto"), "archive /sys/kernel/kheaders.tar.xz");
    const auto found = find_kernel_headers(places());
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[1].version, "6.1-b");
    EXPECT_FALSE(found[1].matches);
    EXPECT_EQ(found[1].problem, "it is of another kernel");
    EXPECT_EQ(chosen(scratch_.path(build_)), "folder /lib/modules/6.9-a/build")
        << "who asks for it";
}

TEST_F(KernelHeadersTest, WithoutAnyAllThatIsMissingIsSaid) {
    scratch_.link("/usr/src/gone", build_);
    EXPECT_EQ(
        chosen("auto"),
        "error: nothing on this machine describes the running kernel's structures: "
        "/sys/kernel/btf/vmlinux: it is not there: the kernel was built without "
        "CONFIG_DEBUG_INFO_BTF; /lib/modules/6.9-a/build: it is a link to /usr/src/gone, which "
        "is not there; /sys/kernel/kheaders.tar.xz: it is not there: the kernel was built "
        "without CONFIG_IKHEADERS, or the module kheaders is not loaded");
    EXPECT_EQ(choose_headers("auto", places()).error().help,
              "install the headers of 6.9-a (Debian: apt-get install linux-headers-6.9-a; in a "
              "container, mount the host's /lib/modules and /usr/src), or boot a kernel that has "
              "CONFIG_DEBUG_INFO_BTF");
    EXPECT_EQ(
        chosen("btf"),
        "error: --headers btf: /sys/kernel/btf/vmlinux: it is not there: the kernel was built "
        "without CONFIG_DEBUG_INFO_BTF");
}

TEST_F(KernelHeadersTest, AFolderMustBeATreeOfKernelHeadersThatSaysWhoseItIs) {
    EXPECT_EQ(chosen(scratch_.path("none")), "error: --headers /none: it is not there");
    scratch_.write("some/file", "");
    EXPECT_EQ(chosen(scratch_.path("some")), "error: --headers /some: it is not a tree of kernel "
                                             "headers: include/linux/kconfig.h is missing");
    scratch_.write("nameless/include/linux/kconfig.h", "");
    EXPECT_EQ(chosen(scratch_.path("nameless")),
              "error: --headers /nameless: it does not say which kernel's it is: "
              "include/generated/utsrelease.h is missing");
}

// As in Debian: the sources are in a folder of their own.
TEST_F(KernelHeadersTest, ATreeMayBeInTwoFolders) {
    scratch_.write("usr/src/linux-headers-6.9-a/include/generated/utsrelease.h",
                   "#define UTS_RELEASE \"6.9-a\"\n");
    scratch_.write("usr/src/linux-headers-6.9-a/arch/x86/include/generated/asm/x.h", "");
    scratch_.write("usr/src/linux-headers-6.9-common/include/linux/kconfig.h", "");
    const KernelHeaders tree = headers_in(scratch_.path("usr/src/linux-headers-6.9-a"), places());
    EXPECT_TRUE(tree.matches) << tree.problem;
    ASSERT_EQ(tree.roots.size(), 2u);
    EXPECT_EQ(short_path(tree.roots[1]), "/usr/src/linux-headers-6.9-common");
    const auto found = find_kernel_headers(places());
    ASSERT_EQ(found.size(), 4u) << "the common part is no tree of its own";
    EXPECT_EQ(short_path(found[3].path), "/usr/src/linux-headers-6.9-a");
}

TEST_F(KernelHeadersTest, AnArchiveIsUnpackedAsLongAsItIsNeeded) {
    tree("packed", "6.9-a");
    const std::string archive = scratch_.path("kheaders.tar.xz");
    const std::string command =
        fmt::format("tar -C {} -cJf {} include", scratch_.path("packed"), archive);
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::string path;
    {
        const auto unpacked = UnpackedHeaders::unpack(archive);
        ASSERT_TRUE(unpacked) << unpacked.error().message();
        path = unpacked->path();
        EXPECT_EQ(headers_in(path, places()).version, "6.9-a");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(UnpackedHeaders::unpack(scratch_.write("no.tar.xz", "x")).error().what,
              "cannot unpack " + scratch_.path("no.tar.xz"));
}

TEST_F(KernelHeadersTest, LinksAreMadeAndFoldersStay) {
    tree("mine", "6.9-a");
    EXPECT_EQ(linked(scratch_.path("mine")), "made the link /lib/modules/6.9-a/build -> /mine");
    EXPECT_EQ(linked(scratch_.path("mine")), "/lib/modules/6.9-a/build leads there already");
    EXPECT_EQ(chosen("auto"), "build /lib/modules/6.9-a/build");
    tree("other", "6.9-a");
    EXPECT_EQ(linked(scratch_.path("other")), "made the link /lib/modules/6.9-a/build -> /other");
    std::filesystem::remove(scratch_.path(build_));
    tree(build_, "6.1-b");
    EXPECT_EQ(linked(scratch_.path("mine")),
              "error: /lib/modules/6.9-a/build is a real folder, not a link: it is left as it is");
}

}  // namespace
}  // namespace mlbcc::kernel
