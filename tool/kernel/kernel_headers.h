// What describes the running kernel's structures on this machine: its BTF, and the C headers that
// lie around, with the version that they are of. Headers of another version compile, and read wrong
// bytes.
//
//   /lib/modules/6.1.0-9-amd64/build  ->  /usr/src/linux-headers-6.1.0-9-amd64 and ...-common,
//                                         of 6.1.0-9-amd64
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mlbcc::kernel {

enum class HeaderKind {
    btf,      // /sys/kernel/btf/vmlinux
    build,    // /lib/modules/RELEASE/build
    archive,  // /sys/kernel/kheaders.tar.xz
    folder,   // any other place
};
const char* kind_name(HeaderKind kind);  // "btf", "build", "archive", "folder"

struct KernelHeaders {
    HeaderKind kind{};
    std::string path;
    std::vector<std::string> roots;  // of a tree: Debian has two. The first has the configuration
    std::string version;             // "6.1.0-9-amd64", "" where it does not say
    std::string problem;             // "" where it can be used: "it is not there"
    bool is_there = false;
    bool matches = false;  // the running kernel
    bool is_usable() const { return is_there && problem.empty(); }
};

// Where to look; other than the machine's own in tests only.
struct HeaderPlaces {
    std::string root;     // "" is /
    std::string release;  // uname -r
    static HeaderPlaces current();
};

// In the order in which they are preferred; BTF, build and archive also where they are not there.
std::vector<KernelHeaders> find_kernel_headers(const HeaderPlaces& places);
// A folder of headers that the user names.
KernelHeaders headers_in(const std::string& folder, const HeaderPlaces& places);

struct HeaderChoice {
    KernelHeaders headers;
    std::string why;  // "it is what the running kernel says of itself"
};
// `wanted`: auto, btf, or a folder. Never headers of another kernel, unless it is their folder.
// Error: there are none, with what is missing and how to get it.
Result<HeaderChoice> choose_headers(const std::string& wanted, const HeaderPlaces& places);

// Folders for `#include <linux/sched.h>` of a tree, as a kernel's own build has them, in order.
std::vector<std::string> include_folders(const KernelHeaders& headers);

// A folder below /tmp with what was in an archive; it goes with this.
class UnpackedHeaders {
public:
    // By `tar` and `xz`. Error: they are not installed, or fail.
    static Result<UnpackedHeaders> unpack(const std::string& archive);
    UnpackedHeaders(UnpackedHeaders&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    UnpackedHeaders& operator=(UnpackedHeaders&& other) noexcept {
        std::swap(path_, other.path_);
        return *this;
    }
    ~UnpackedHeaders();
    const std::string& path() const { return path_; }

private:
    explicit UnpackedHeaders(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

// Makes /lib/modules/RELEASE/build a link to the folder, or says what is in the way. Text: what was
// done.
Result<std::string> link_headers(const std::string& folder, const HeaderPlaces& places);

}  // namespace mlbcc::kernel
