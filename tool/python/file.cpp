#include "python/file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "elf/elf_image.h"

namespace mlbcc::python {
namespace {

struct Layout {
    unsigned minor;  // of Python 3
    codegen::Python python;
};

constexpr uint8_t kNone = codegen::Python::kNone;

// By offsetof() with the headers of 3.9.18, 3.10.13, 3.11.7, 3.12.1 and 3.13.0; 3.8 does not
// install those of its own structures: the key is from PyGILState_GetThisThreadState's code in
// 3.8.18, the others likewise. _PyRuntimeState: gilstate.autoTSSkey, from 3.12 on autoTSSkey; up to
// 3.11 how far before it gilstate.tstate_current is, and interpreters.head. PyInterpreterState:
// tstate_head or threads.head. PyThreadState: thread_id; frame, cframe or current_frame. _PyCFrame:
// current_frame. Frame: f_back or previous; f_code or f_executable; owner. PyCodeObject:
// co_filename, co_firstlineno. sizeof PyASCIIObject, PyCompactUnicodeObject. FRAME_OWNED_BY_CSTACK.
constexpr std::array kLayouts = {
    Layout{8, {0, 0, 1392, 176, 24, 0, 24, 32, 0, 104, 40, 48, 72, kNone, 0, 24, 32, 8}},
    Layout{9, {0, 0, 584, 176, 24, 0, 24, 32, 0, 104, 40, 48, 72, kNone, 0, 16, 32, 8}},
    Layout{10, {0, 0, 584, 176, 24, 0, 24, 32, 0, 104, 40, 48, 72, kNone, 0, 16, 32, 8}},
    Layout{11, {0, 0, 592, 152, 56, 8, 48, 32, 0, 112, 72, 48, 72, kNone, 1, 16, 40, 16}},
    Layout{12, {0, 0, 1544, 136, 56, 0, 8, 0, 70, 112, 68, 40, 56, 3, 1}},
    Layout{13, {0, 0, 2160, 152, 72, 0, 8, 0, 70, 112, 68, 40, 56, 3, 0}},
};

// Programs that embed Python begin with others than the interpreter does.
constexpr std::array<std::string_view, 6> kStarts = {"Py_BytesMain",    "Py_Main",
                                                     "Py_RunMain",      "Py_Initialize",
                                                     "Py_InitializeEx", "Py_InitializeFromConfig"};

struct Version {
    unsigned major = 0, minor = 0;
    std::string rest;  // "t" of a free-threaded one, ".so.1.0"
};

// "libpython3.11.so.1.0" -> 3.11
std::optional<Version> version_of(std::string_view path) {
    std::string_view name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("lib")) name.remove_prefix(3);
    if (!name.starts_with("python")) return std::nullopt;
    name.remove_prefix(6);
    Version version;
    auto number = [&](unsigned& to) {
        auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), to);
        name.remove_prefix(static_cast<size_t>(end - name.data()));
        return error == std::errc();
    };
    if (!number(version.major) || !name.starts_with('.')) return std::nullopt;
    name.remove_prefix(1);
    if (!number(version.minor)) return std::nullopt;
    version.rest = name.substr(0, name.find('.'));
    if (version.rest == "m") version.rest.clear();                         // of all up to 3.7
    if (version.rest.find('-') != std::string::npos) return std::nullopt;  // python3.11-config
    return version;
}

// Of PyPy, "pypy3.9" or "libpypy3.9-c.so", in which its interpreter may be.
bool may_be_pypy(std::string_view path) {
    std::string_view name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("lib")) name.remove_prefix(3);
    return name.starts_with("pypy");
}
constexpr std::string_view kPypyStart = "rpython_startup_code";

std::map<std::string, Elf64_Sym, std::less<>> symbols_of(const elf::ElfImage& image) {
    std::map<std::string, Elf64_Sym, std::less<>> wanted;
    auto sections = image.sections();
    if (!sections) return wanted;
    for (const Elf64_Shdr& section : *sections) {
        bool has_names = section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB;
        if (!has_names || section.sh_link >= sections->size()) continue;
        std::string text = image.text((*sections)[section.sh_link]);
        for (const Elf64_Sym& symbol : image.symbols(section)) {
            if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= text.size()) continue;
            std::string_view name(text.c_str() + symbol.st_name);
            if (name.starts_with("Py_") || name == "_PyRuntime" || name == kPypyStart)
                wanted.emplace(name, symbol);
        }
    }
    return wanted;
}

Error unsupported(const Version& version, std::string_view why) {
    return Error{fmt::format("Python {}.{}{} {}", version.major, version.minor, version.rest, why)};
}

}  // namespace

bool may_be_python(std::string_view path) {
    return version_of(path).has_value() || may_be_pypy(path);
}

Result<std::optional<PythonFile>> read_python_file(const std::string& path, std::string_view name) {
    std::optional<Version> version = version_of(name);
    if (!version && !may_be_pypy(name)) return std::optional<PythonFile>{};
    auto image = elf::ElfImage::open(path);
    if (!image) return image.error();
    auto symbols = symbols_of(*image);
    if (!version) {
        if (!symbols.contains(kPypyStart)) return std::optional<PythonFile>{};
        return Error{"PyPy is not supported (CPython 3.8 to 3.13 is)"};
    }
    bool is_program = !name.substr(name.rfind('/') + 1).starts_with("lib");
    auto runtime = symbols.find("_PyRuntime");
    // The program is small, and all is in its library.
    if (is_program && runtime == symbols.end() && !symbols.contains("Py_GetVersion")) {
        return std::optional<PythonFile>{};
    }
    auto layout = std::ranges::find(kLayouts, version->minor, &Layout::minor);
    if (version->major != 3 || layout == kLayouts.end()) {
        return unsupported(*version, "is not supported (3.8 to 3.13 are)");
    }
    if (!version->rest.empty()) return unsupported(*version, "is built in an unsupported way");
    if (runtime == symbols.end()) return unsupported(*version, "has no symbol `_PyRuntime`");
    PythonFile file{layout->python, {}};
    file.python.state = runtime->second.st_value;
    file.python.bytes = static_cast<uint32_t>(runtime->second.st_size);
    for (std::string_view start : kStarts) {
        auto found = symbols.find(start);
        if (found == symbols.end()) continue;
        auto offset = image->file_offset(found->second.st_value, PF_X);
        if (offset) file.starts.push_back({found->second.st_value, *offset});
    }
    return std::optional(std::move(file));
}

}  // namespace mlbcc::python
