// Text to rules, without a disk: a map of names to texts is all the files there are.
#pragma once

#include <map>
#include <string>

#include "rules/rules.h"

namespace mlbcc::rules {

using Files = std::map<std::string, std::string>;

inline LoadFile from(const Files& files) {
    return [&files](std::string_view name, std::string_view directory) -> Result<LoadedFile> {
        std::string path = directory.empty() ? std::string(name)
                                             : std::string(directory) + "/" + std::string(name);
        auto file = files.find(path);
        if (file == files.end()) return Error{"cannot open " + path, ENOENT};
        size_t slash = path.rfind('/');
        return LoadedFile{path, path, slash == std::string::npos ? "" : path.substr(0, slash),
                          file->second};
    };
}

struct Parsed {
    RuleSet rules;
    Diagnostics diagnostics;
    std::string messages() const { return diagnostics.render({false, true}); }
};

inline Parsed parse_files(const Files& files, const std::vector<std::string>& names) {
    Parsed out;
    out.rules = parse(names, from(files), out.diagnostics);
    return out;
}

inline Parsed parse_text(std::string text) {
    return parse_files({{"a.rules", std::move(text)}}, {"a.rules"});
}

// With libraries `cuda` and `c` to name, in a file of their own so that line numbers begin at 1.
inline Parsed parse_rules(std::string text) {
    return parse_files({{"a.rules", std::move(text)},
                        {"libraries.rules", "library cuda = \"libcuda.so.1\" variants _v2\n"
                                            "library c = \"libc.so.6\"\n"}},
                       {"libraries.rules", "a.rules"});
}

// What is said of these rules.
inline std::string messages(std::string text) {
    return parse_rules(std::move(text)).messages();
}

}  // namespace mlbcc::rules
