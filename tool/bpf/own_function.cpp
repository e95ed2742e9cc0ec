#include "bpf/own_function.h"

#include <link.h>

// Its first instruction is one that the kernel emulates, whatever the compiler's options.
#if defined(__x86_64__)
asm(".text\n"
    ".balign 16\n"
    ".type mlbcc_probed, @function\n"
    "mlbcc_probed:\n"
    "  push %rbp\n"
    "  mov %rsp, %rbp\n"
    "  pop %rbp\n"
    "  ret\n"
    ".size mlbcc_probed, . - mlbcc_probed\n");
static constexpr uint64_t kReturn = 1 + 3 + 1;  // bytes before `ret`
#elif defined(__aarch64__)
static constexpr uint64_t kReturn = 4;
asm(".text\n"
    ".balign 16\n"
    ".type mlbcc_probed, @function\n"
    "mlbcc_probed:\n"
    "  nop\n"
    "  ret\n"
    ".size mlbcc_probed, . - mlbcc_probed\n");
#endif

extern "C" void mlbcc_probed();

namespace mlbcc::bpf {
namespace {

struct Search {
    uint64_t address, offset;
};

int look_at_program(dl_phdr_info* info, size_t /*size*/, void* context) {
    auto& search = *static_cast<Search*>(context);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        const uint64_t begin = info->dlpi_addr + part.p_vaddr;
        if (part.p_type != PT_LOAD || search.address < begin) continue;
        if (search.address - begin < part.p_filesz)
            search.offset = part.p_offset + (search.address - begin);
    }
    return 1;  // the first one is the program itself
}

}  // namespace

void call_own_function() {
    mlbcc_probed();
}

uint64_t own_function_return() {
    return kReturn;
}

uint64_t own_function_offset() {
    Search search{reinterpret_cast<uint64_t>(&mlbcc_probed), 0};
    ::dl_iterate_phdr(look_at_program, &search);
    return search.offset;
}

}  // namespace mlbcc::bpf
