#include "kernel/kernel_headers.h"

#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/read_file.h"

namespace mlbcc::kernel {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxText = size_t{1} << 20;
constexpr const char* kAnotherKernel = "it is of another kernel";

#if defined(__aarch64__)
constexpr const char* kArch = "arm64";
#else
constexpr const char* kArch = "x86";
#endif

bool exists(const std::string& path) {
    std::error_code code;
    return fs::exists(path, code);
}

bool has_kconfig(const std::string& root) {
    return exists(root + "/include/linux/kconfig.h");
}

// Behind `mark`, up to the end of the line or of the quotes.
std::string behind(const std::string& text, const std::string& mark) {
    const size_t at = text.find(mark);
    if (at == std::string::npos) return {};
    const size_t begin = at + mark.size();
    return text.substr(begin, text.find_first_of("\"\n", begin) - begin);
}

std::string text_of(const std::string& path) {
    const Result<std::string> text = read_file(path, kMaxText);
    return text ? *text : "";
}

// #define UTS_RELEASE "6.1.0-9-amd64"
std::string version_of(const std::vector<std::string>& roots) {
    for (const std::string& root : roots) {
        const std::string generated = text_of(root + "/include/generated/utsrelease.h");
        if (auto found = behind(generated, "UTS_RELEASE \""); !found.empty()) return found;
        const std::string release = text_of(root + "/include/config/kernel.release");
        if (auto found = behind(release, ""); !found.empty()) return found;
    }
    return {};
}

// Debian's headers of an architecture have their sources in a second folder: beside `build` in
// /lib/modules, in the Makefile ("include /usr/src/linux-headers-6.1.0-9-common/Makefile"), or,
// where they were only unpacked, beside the first.
std::vector<std::string> roots_of(const std::string& folder, const std::string& named) {
    if (has_kconfig(folder)) return {folder};
    std::vector<std::string> others{folder + "/source"};
    if (named.ends_with("/build")) others.push_back(named.substr(0, named.size() - 5) + "source");
    const std::string makefile = behind(text_of(folder + "/Makefile"), "include ");
    others.push_back(fs::path(makefile).parent_path().string());
    others.push_back(folder.substr(0, folder.rfind('-')) + "-common");
    for (const std::string& other : others) {
        if (!other.empty() && has_kconfig(other)) return {folder, other};
    }
    return {};
}

KernelHeaders tree_at(HeaderKind kind, const std::string& named, const HeaderPlaces& places) {
    KernelHeaders tree{kind, named, {}, {}, {}, false, false};
    std::error_code code;
    if (fs::is_symlink(named, code) && !fs::exists(named, code)) {
        tree.problem =
            "it is a link to " + fs::read_symlink(named, code).string() + ", which is not there";
        return tree;
    }
    if (!fs::exists(named, code)) {
        tree.problem = "it is not there";
        return tree;
    }
    tree.is_there = true;
    tree.roots = roots_of(fs::canonical(named, code).string(), named);
    if (tree.roots.empty()) {
        tree.problem = "it is not a tree of kernel headers: include/linux/kconfig.h is missing";
        return tree;
    }
    tree.version = version_of(tree.roots);
    tree.matches = tree.version == places.release;
    if (!tree.matches && kind != HeaderKind::folder) tree.problem = kAnotherKernel;
    return tree;
}

KernelHeaders btf_at(const HeaderPlaces& places) {
    KernelHeaders btf{
        HeaderKind::btf, places.root + "/sys/kernel/btf/vmlinux", {}, {}, {}, false, false};
    std::error_code code;
    btf.is_there = fs::is_regular_file(btf.path, code) && fs::file_size(btf.path, code) > 0;
    btf.matches = btf.is_there;
    if (!btf.is_there) {
        btf.problem = "it is not there: the kernel was built without CONFIG_DEBUG_INFO_BTF";
    } else if (::access(btf.path.c_str(), R_OK) != 0) {
        btf.problem = "it cannot be read";
    }
    if (btf.matches) btf.version = places.release;
    return btf;
}

// The kernel's own: it cannot be of another one.
KernelHeaders archive_at(const HeaderPlaces& places) {
    KernelHeaders archive{
        HeaderKind::archive, places.root + "/sys/kernel/kheaders.tar.xz", {}, {}, {}, false, false};
    archive.is_there = exists(archive.path);
    archive.matches = archive.is_there;
    if (archive.is_there) archive.version = places.release;
    if (!archive.is_there) {
        archive.problem = "it is not there: the kernel was built without CONFIG_IKHEADERS, or the "
                          "module kheaders is not loaded";
    }
    return archive;
}

// Distributions' places of headers of any kernel.
std::vector<std::string> other_folders(const HeaderPlaces& places) {
    std::vector<std::string> found;
    std::error_code code;
    for (const auto& [folder, start] :
         {std::pair{"/usr/src", "linux-headers-"}, std::pair{"/usr/src/kernels", ""}}) {
        for (const auto& one : fs::directory_iterator(places.root + folder, code)) {
            const std::string name = one.path().filename().string();
            if (!one.is_directory(code) || !name.starts_with(start)) continue;
            if (name.ends_with("-common") || name.ends_with("-common-rt")) continue;
            found.push_back(one.path().string());
        }
    }
    std::ranges::sort(found);
    return found;
}

Error no_headers(const std::vector<KernelHeaders>& found, const HeaderPlaces& places) {
    std::string what = "nothing on this machine describes the running kernel's structures: ";
    for (size_t i = 0; i < found.size(); ++i) {
        what += fmt::format("{}{}: {}", i == 0 ? "" : "; ", found[i].path, found[i].problem);
    }
    return Error{
        what, 0,
        fmt::format("install the headers of {0} (Debian: apt-get install linux-headers-{0}; "
                    "in a container, mount the host's /lib/modules and /usr/src), or boot a "
                    "kernel that has CONFIG_DEBUG_INFO_BTF",
                    places.release)};
}

}  // namespace

const char* kind_name(HeaderKind kind) {
    switch (kind) {
    case HeaderKind::btf: return "btf";
    case HeaderKind::build: return "build";
    case HeaderKind::archive: return "archive";
    case HeaderKind::folder: return "folder";
    }
    return "";
}

HeaderPlaces HeaderPlaces::current() {
    utsname names{};
    return {"", ::uname(&names) == 0 ? names.release : ""};
}

KernelHeaders headers_in(const std::string& folder, const HeaderPlaces& places) {
    KernelHeaders tree = tree_at(HeaderKind::folder, folder, places);
    if (tree.is_usable() && tree.version.empty()) {
        tree.problem = "it does not say which kernel's it is: include/generated/utsrelease.h is "
                       "missing";
    }
    return tree;
}

std::vector<KernelHeaders> find_kernel_headers(const HeaderPlaces& places) {
    const std::string build = places.root + "/lib/modules/" + places.release + "/build";
    std::vector<KernelHeaders> found{btf_at(places), tree_at(HeaderKind::build, build, places),
                                     archive_at(places)};
    const std::vector<std::string> linked = found[1].roots;
    for (const std::string& folder : other_folders(places)) {
        if (std::ranges::find(linked, folder) != linked.end()) continue;
        found.push_back(headers_in(folder, places));
    }
    return found;
}

Result<HeaderChoice> choose_headers(const std::string& wanted, const HeaderPlaces& places) {
    if (wanted != "auto" && wanted != "btf") {
        KernelHeaders given = headers_in(wanted, places);
        if (given.is_usable()) return HeaderChoice{std::move(given), "--headers names it"};
        return Error{fmt::format("--headers {}: {}", wanted, given.problem), 0,
                     "leave --headers out: BTF or matching headers are found without it"};
    }
    std::vector<KernelHeaders> found = find_kernel_headers(places);
    found.resize(3);
    if (found[0].is_usable()) {
        return HeaderChoice{std::move(found[0]), "it is what the running kernel says of itself"};
    }
    if (wanted == "btf") {
        return Error{fmt::format("--headers btf: {}: {}", found[0].path, found[0].problem), 0,
                     "leave --headers out: matching headers are found without it"};
    }
    for (KernelHeaders& one : found) {
        if (!one.is_usable()) continue;
        return HeaderChoice{std::move(one), "there is no BTF, and it is of the running kernel"};
    }
    return no_headers(found, places);
}

std::vector<std::string> include_folders(const KernelHeaders& headers) {
    std::vector<std::string> folders;
    for (const std::string& part :
         {fmt::format("arch/{}/include", kArch), fmt::format("arch/{}/include/generated", kArch),
          std::string("include"), fmt::format("arch/{}/include/uapi", kArch),
          fmt::format("arch/{}/include/generated/uapi", kArch), std::string("include/uapi"),
          std::string("include/generated/uapi")}) {
        for (const std::string& root : headers.roots) {
            const std::string folder = fmt::format("{}/{}", root, part);
            if (exists(folder)) folders.push_back(folder);
        }
    }
    return folders;
}

Result<UnpackedHeaders> UnpackedHeaders::unpack(const std::string& archive) {
    std::string path = "/tmp/mlbcc-headers-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return system_error("cannot make a folder in /tmp");
    UnpackedHeaders made(path);
    const char* arguments[] = {"tar", "-xJf", archive.c_str(), "-C", path.c_str(), nullptr};
    pid_t child = -1;
    const int failed = ::posix_spawnp(&child, "tar", nullptr, nullptr,
                                      const_cast<char* const*>(arguments), environ);
    int status = 0;
    const bool ran = failed == 0 && ::waitpid(child, &status, 0) == child;
    if (ran && WIFEXITED(status) && WEXITSTATUS(status) == 0) return made;
    return Error{"cannot unpack " + archive, failed, "install tar and xz-utils"};
}

UnpackedHeaders::~UnpackedHeaders() {
    std::error_code code;
    if (!path_.empty()) fs::remove_all(path_, code);
}

Result<std::string> link_headers(const std::string& folder, const HeaderPlaces& places) {
    const std::string modules = places.root + "/lib/modules/" + places.release;
    const std::string link = modules + "/build";
    std::error_code code;
    const std::string target = fs::absolute(folder, code).string();
    const bool is_link = fs::is_symlink(link, code);
    if (is_link && fs::read_symlink(link, code) == target) return link + " leads there already";
    if (!is_link && fs::exists(link, code)) {
        return Error{link + " is a real folder, not a link: it is left as it is", 0,
                     "move it away if you want the link"};
    }
    fs::create_directories(modules, code);
    if (is_link) fs::remove(link, code);
    if (!code) fs::create_directory_symlink(target, link, code);
    if (!code) return fmt::format("made the link {} -> {}", link, target);
    return Error{"cannot make the link " + link, code.value(), "run as root"};
}

}  // namespace mlbcc::kernel
