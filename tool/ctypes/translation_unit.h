// C text, parsed by libclang for its declarations: bodies of functions are skipped, and a header
// that is missing does not end it.
#pragma once

#include <clang-c/Index.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace mlbcc::ctypes {

struct Headers {
    std::vector<std::string> headers;       // absolute paths, included in this order
    std::string text;                       // declarations that follow them
    std::vector<std::string> include_dirs;  // -I
    std::vector<std::string> system_dirs;   // in place of the C library's own
    bool of_kernel = false;                 // one header, which includes the kernel's
};

class TranslationUnit {
public:
    static Result<TranslationUnit> parse(const Headers& headers);
    CXTranslationUnit get() const { return unit_.get(); }

private:
    struct DisposeIndex {
        void operator()(void* index) const { clang_disposeIndex(index); }
    };
    struct DisposeUnit {
        void operator()(CXTranslationUnit unit) const { clang_disposeTranslationUnit(unit); }
    };
    using Unit = std::remove_pointer_t<CXTranslationUnit>;
    std::unique_ptr<void, DisposeIndex> index_;
    std::unique_ptr<Unit, DisposeUnit> unit_;
};

// A place as `#line` has it. `file` is empty for what this program itself adds.
struct CodePlace {
    std::string file;
    unsigned line = 0, column = 0;
};
CodePlace place_of(CXSourceLocation location);

}  // namespace mlbcc::ctypes
