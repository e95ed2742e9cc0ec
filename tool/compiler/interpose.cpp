#include "compiler/interpose.h"

#include <bcc/bcc_proc.h>
#include <bcc/libbpf.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Transforms/IPO.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/PassManagerBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar.h>
#include <llvm/Transforms/Utils.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <initializer_list>

namespace mlbcc::compiler {

namespace {

constexpr off_t kMaxHeader = 32 << 20;  // bytes; clang takes half a minute for a gigabyte

// The functions below have no argument of ours, so this has to be static.
struct Current {
    const MapSource* source = nullptr;
    LineKeeper* lines = nullptr;
    bool plain_files = false;
};
Current& current() {
    static Current value;
    return value;
}

// By a system call: open() of the C library is what is replaced.
int open_plain(const char* path, int flags, mode_t mode) {
    if (!current().plain_files)
        return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
    const int fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0));
    struct stat status {};
    if (fd >= 0) (void)::fstat(fd, &status);
    if (fd >= 0) ::close(fd);
    const bool is_plain = S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
    if (fd >= 0 && (!is_plain || status.st_size > kMaxHeader)) {
        errno = is_plain ? EFBIG : ENXIO;
        return -1;
    }
    return static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, path, flags | O_NONBLOCK | O_NOCTTY, mode));
}

}  // namespace

PlainFiles::PlainFiles() {
    current().plain_files = true;
}
PlainFiles::~PlainFiles() {
    current().plain_files = false;
}

MapSource::MapSource(const std::map<std::string, UniqueFd>& existing, bool pretend)
    : existing_(existing), pretend_(pretend) {
    current().source = this;
}
MapSource::~MapSource() {
    current().source = nullptr;
}

LineKeeper::LineKeeper() {
    current().lines = this;
}
LineKeeper::~LineKeeper() {
    current().lines = nullptr;
}

int MapSource::descriptor(const char* name) const {
    if (pretend_) return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    auto found = existing_.find(name);
    return found == existing_.end() ? -1 : ::fcntl(found->second.get(), F_DUPFD_CLOEXEC, 4);
}

}  // namespace mlbcc::compiler

extern "C" int open(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const auto mode = static_cast<mode_t>(va_arg(rest, int));
    va_end(rest);
    return mlbcc::compiler::open_plain(path, flags, mode);
}
extern "C" int open64(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const auto mode = static_cast<mode_t>(va_arg(rest, int));
    va_end(rest);
    return mlbcc::compiler::open_plain(path, flags | O_LARGEFILE, mode);
}

extern "C" int bcc_procutils_each_ksym(bcc_procutils_ksymcb callback, void* payload) {
    uint64_t address = 1;  // only asked whether it is there
    for (const char* name : {"bpf_probe_read_kernel", "bpf_probe_read_user"}) {
        callback(name, "kernel", address++, payload);
    }
    return 0;
}

extern "C" int bcc_create_map_xattr(bcc_create_map_attr* attributes, bool allow_rlimit) {
    if (const auto* source = mlbcc::compiler::current().source) {
        int existing = source->descriptor(attributes->name);
        if (existing >= 0) return existing;
    }
    using Function = int (*)(bcc_create_map_attr*, bool);
    auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "bcc_create_map_xattr"));
    if (real != nullptr) return real(attributes, allow_rlimit);
    errno = ENOSYS;
    return -1;
}

// As libbcc's src/cc/bcc_btf.h (0.26) declares it.
namespace ebpf {
class BTF {
public:
    int load(uint8_t* btf, uintptr_t size, uint8_t* ext, uintptr_t ext_size,
             std::map<std::string, std::string>& sources);
};
// libbcc takes a failure for a kernel without BTF, and goes on.
int BTF::load(uint8_t* btf, uintptr_t size, uint8_t* ext, uintptr_t ext_size,
              std::map<std::string, std::string>& /*sources*/) {
    if (auto* keeper = mlbcc::compiler::current().lines)
        keeper->lines = mlbcc::compiler::LineTable({btf, size}, {ext, ext_size});
    return -1;
}
}  // namespace ebpf

void llvm::PassManagerBuilder::populateModulePassManager(legacy::PassManagerBase& passes) {
    passes.add(createGlobalOptimizerPass());  // numbers of helpers are in variables
    passes.add(createAlwaysInlinerLegacyPass());
    passes.add(createSROAPass());
    passes.add(createEarlyCSEPass(true));
    passes.add(createCFGSimplificationPass());
    passes.add(createInstructionCombiningPass());
    passes.add(createLoopRotatePass());
    passes.add(createSimpleLoopUnrollPass(2));  // where `#pragma unroll` asks for it
    passes.add(createEarlyCSEPass(true));
    passes.add(createDeadStoreEliminationPass());
    passes.add(createCFGSimplificationPass());
}
