#include <bpf/btf.h>

#include <cstdarg>
#include <cstdio>
#include <memory>

#include "bpf/kernel.h"

namespace mlbcc::bpf {
namespace {

constexpr size_t kPiece = 4096;  // bytes, of one piece of text at most

void append_piece(void* to, const char* format, va_list values) {
    char piece[kPiece];
    std::vsnprintf(piece, sizeof piece, format, values);
    static_cast<std::string*>(to)->append(piece);
}

Error no_btf(int code) {
    return Error{"the kernel's types cannot be read", code < 0 ? -code : code,
                 "the kernel has to be built with CONFIG_DEBUG_INFO_BTF"};
}

}  // namespace

Result<std::string> kernel_types_text() {
    std::unique_ptr<btf, decltype(&btf__free)> types(btf__load_vmlinux_btf(), btf__free);
    if (!types) return no_btf(errno);
    std::string text;
    std::unique_ptr<btf_dump, decltype(&btf_dump__free)> dump(
        btf_dump__new(types.get(), append_piece, &text, nullptr), btf_dump__free);
    if (!dump) return no_btf(errno);
    for (uint32_t id = 1; id < btf__type_cnt(types.get()); ++id) {
        if (const int failed = btf_dump__dump_type(dump.get(), id); failed < 0) {
            return no_btf(failed);
        }
    }
    return text;
}

}  // namespace mlbcc::bpf
