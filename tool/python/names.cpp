// Names of Python functions as text, and of Pythons as files.
#include <algorithm>
#include <filesystem>

#include "python/python.h"

namespace mlbcc::python {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 40;

// UTF-8 of a code point.
void append(std::string& out, uint32_t c) {
    auto byte = [&](uint32_t bits) { out += static_cast<char>(bits); };
    if (c < 0x80) return byte(c);
    if (c < 0x800) {
        byte(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            byte(0xe0 | c >> 12);
        } else {
            byte(0xf0 | (c >> 18 & 7));
            byte(0x80 | (c >> 12 & 63));
        }
        byte(0x80 | (c >> 6 & 63));
    }
    byte(0x80 | (c & 63));
}

bool is_cut(const codegen::PythonText& text) {
    return text.bytes == codegen::PythonText::kMaxBytes;
}

// Python keeps a text in characters of 1 byte (ASCII, or Latin-1), 2 or 4.
std::string utf8(const codegen::PythonText& text) {
    size_t bytes = std::min<size_t>(text.bytes, sizeof text.data);
    if ((text.kind & codegen::PythonText::kAscii) != 0) return {text.data, bytes};
    std::string out;
    if (text.kind != 1 && text.kind != 2 && text.kind != 4) return out;
    for (size_t i = 0; i + text.kind <= bytes; i += text.kind) {
        uint32_t c = 0;
        for (size_t b = 0; b < text.kind; ++b) {
            c |= static_cast<uint32_t>(static_cast<unsigned char>(text.data[i + b])) << 8 * b;
        }
        append(out, c);
    }
    return out;
}

class Finder {
public:
    std::vector<std::string> found;

    void folder(const fs::path& folder) {
        std::error_code code;
        fs::path real = fs::canonical(folder, code);
        if (code || std::ranges::find(seen_, real) != seen_.end()) return;
        seen_.push_back(real);
        entries(real);
        entries(real.parent_path() / "lib");
        entries(real.parent_path() / "lib" / "x86_64-linux-gnu");
        // ~/.pyenv/shims/python3 is a script that starts one of ~/.pyenv/versions
        if (real.filename() != "shims") return;
        for (const fs::directory_entry& one :
             fs::directory_iterator(real.parent_path() / "versions", code)) {
            folder_of_version(one.path());
        }
    }

private:
    void folder_of_version(const fs::path& path) { folder(path / "bin"); }

    void entries(const fs::path& folder) {
        std::error_code code;
        for (const fs::directory_entry& one : fs::directory_iterator(folder, code)) {
            std::string name = one.path().filename().string();
            if (!name.starts_with("python3") && !name.starts_with("libpython3.")) continue;
            fs::path real = fs::canonical(one.path(), code);
            if (code || !may_be_python(real.string())) continue;
            add(real);
        }
    }

    void add(const fs::path& path) {
        if (found.size() == kMaxFiles || std::ranges::find(found, path.string()) != found.end()) {
            return;
        }
        found.push_back(path.string());
        folder(path.parent_path());  // of a virtual environment: where the real one is
    }

    std::vector<fs::path> seen_;
};

}  // namespace

std::vector<std::string> likely_pythons(const std::vector<std::string>& folders) {
    Finder finder;
    for (const std::string& one : folders) finder.folder(one);
    return std::move(finder.found);
}

// The last parts of a path: as many as tell it from those that were named before.
std::string PythonFrames::file(const std::string& path) {
    const std::string_view whole(path);
    size_t slash = whole.rfind('/');
    const bool says_nothing = whole.substr(slash + 1).starts_with("__");  // __init__.py
    if (says_nothing && slash != whole.npos && slash > 0) slash = whole.rfind('/', slash - 1);
    for (;; slash = whole.rfind('/', slash - 1)) {
        std::string label(slash == whole.npos ? whole : whole.substr(slash + 1));
        if (files_.size() >= kMostFiles && !files_.contains(label)) return label;
        const std::string& named = files_.try_emplace(label, path).first->second;
        if (named == path || slash == whole.npos || slash == 0) return label;
    }
}

std::string PythonFrames::name(const codegen::PythonCode& code) {
    std::string path = utf8(code.file), name = utf8(code.name);
    if (is_cut(code.file) && path.find('/') == path.npos) path.insert(0, "...");
    if (is_cut(code.name)) name += "...";
    const std::string file = path.empty() ? "?" : this->file(path);
    return file + ":" + (name.empty() ? "?" : name);
}

}  // namespace mlbcc::python
