#include "bpf/own_function.h"

#include <link.h>

// Its first instruction is one that the kernel emulates, whatever the compiler's options.
#if defined(__x86_64__)
asm(".text\n"
    ".type mlbcc_probed, @function\n"
    "mlbcc_probed:\n"
    "  push %rbp\n"
    "  mov %rsp, %rbp\n"
    "  pop %rbp\n"
    "mlbcc_probed_return:\n"
    "  ret\n"
    ".size mlbcc_probed, . - mlbcc_probed\n");
#elif defined(__aarch64__)
asm(".text\n"
    ".type mlbcc_probed, @function\n"
    "mlbcc_probed:\n"
    "  nop\n"
    "mlbcc_probed_return:\n"
    "  ret\n"
    ".size mlbcc_probed, . - mlbcc_probed\n");
#endif

extern "C" void mlbcc_probed();
extern "C" void mlbcc_probed_return();  // not called: its place

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
    return reinterpret_cast<uint64_t>(&mlbcc_probed_return) -
           reinterpret_cast<uint64_t>(&mlbcc_probed);
}

uint64_t own_function_offset() {
    Search search{reinterpret_cast<uint64_t>(&mlbcc_probed), 0};
    ::dl_iterate_phdr(look_at_program, &search);
    return search.offset;
}

}  // namespace mlbcc::bpf
