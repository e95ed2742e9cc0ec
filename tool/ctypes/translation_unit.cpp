#include "ctypes/translation_unit.h"

#include "ctypes/clang_text.h"

namespace mlbcc::ctypes {

namespace {

constexpr const char* kMainFile = "/mlbcc/declarations.c";  // in memory only
constexpr const char* kPrelude = "<mlbcc>";                 // the place of lines of our own

#if defined(__aarch64__)
constexpr const char* kTarget = "aarch64-linux-gnu";
#else
constexpr const char* kTarget = "x86_64-linux-gnu";
#endif

// What a prototype may use without an include: sizes, fixed-width integers, bool, POSIX types,
// va_list and FILE.
std::string main_text(const Headers& headers) {
    if (headers.of_kernel) return "#include \"" + headers.headers.front() + "\"\n";
    std::string text = "#line 1 \"" + std::string(kPrelude) + "\"\n";
    for (const char* name : {"stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "sys/types.h"}) {
        text += "#include <" + std::string(name) + ">\n";
    }
    text += "typedef struct _IO_FILE FILE;\n";
    for (const std::string& header : headers.headers) text += "#include \"" + header + "\"\n";
    return text + "#line 1 \"<declarations>\"\n" + headers.text + "\n";
}

// Where `#include <x.h>` looks after the folders that the caller gives: beside each header, then
// where the machine has its headers.
std::vector<std::string> last_dirs(const Headers& headers) {
    std::vector<std::string> dirs;
    for (const std::string& header : headers.headers) {
        dirs.push_back(header.substr(0, header.rfind('/')));
    }
    dirs.insert(dirs.end(),
                {"/usr/local/include", "/usr/include/" + std::string(kTarget), "/usr/include"});
    return dirs;
}

std::vector<std::string> arguments(const Headers& headers) {
    std::vector<std::string> list = {"-x",    "c",         "-std=gnu11",       "-target",
                                     kTarget, "-nostdinc", "-ferror-limit=50", "-D_GNU_SOURCE"};
    // A `struct model *` that a prototype is the first to name is no mistake here.
    for (const char* warning :
         {"-Wno-visibility", "-Wno-pragma-once-outside-header", "-Wno-missing-declarations",
          "-Wno-builtin-requires-header", "-Wno-incompatible-library-redeclaration"}) {
        list.emplace_back(warning);
    }
    for (const std::string& dir : headers.include_dirs) list.push_back("-I" + dir);
    for (const std::string& dir : headers.system_dirs) {
        list.insert(list.end(), {"-isystem", dir});
    }
    if (headers.of_kernel) {
        list.emplace_back("-w");
        return list;
    }
    for (std::string& dir : last_dirs(headers)) {
        list.insert(list.end(), {"-idirafter", std::move(dir)});
    }
    return list;
}

const char* reason(CXErrorCode code) {
    switch (code) {
    case CXError_Success: return "no error";
    case CXError_Failure: return "libclang failed";
    case CXError_Crashed: return "libclang crashed";
    case CXError_InvalidArguments: return "libclang refuses its arguments";
    case CXError_ASTReadError: return "libclang cannot read its own data";
    }
    return "unknown";
}

}  // namespace

Result<TranslationUnit> TranslationUnit::parse(const Headers& headers) {
    std::string text = main_text(headers);
    CXUnsavedFile main{kMainFile, text.data(), text.size()};
    std::vector<std::string> list = arguments(headers);
    std::vector<const char*> argv;
    argv.reserve(list.size());
    for (const std::string& argument : list) argv.push_back(argument.c_str());
    unsigned options = CXTranslationUnit_SkipFunctionBodies | CXTranslationUnit_KeepGoing;
    TranslationUnit result;
    result.index_.reset(clang_createIndex(0, 0));
    CXTranslationUnit unit = nullptr;
    CXErrorCode code =
        clang_parseTranslationUnit2(result.index_.get(), kMainFile, argv.data(),
                                    static_cast<int>(argv.size()), &main, 1, options, &unit);
    if (code != CXError_Success) return Error{std::string("cannot parse C: ") + reason(code)};
    result.unit_.reset(unit);
    return result;
}

CodePlace place_of(CXSourceLocation location) {
    CodePlace place;
    CXString file;
    clang_getPresumedLocation(location, &file, &place.line, &place.column);
    place.file = text_of(file);
    return place.file == kPrelude ? CodePlace{} : place;
}

}  // namespace mlbcc::ctypes
