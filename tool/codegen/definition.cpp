#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "codegen/codegen.h"

namespace mlbcc::codegen {
namespace {

constexpr std::string_view kMark = "//= ";

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (true) {
        size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) return words;
        line.remove_prefix(begin);
        size_t length = std::min(line.find_first_of(" \t\r"), line.size());
        words.push_back(line.substr(0, length));
        line.remove_prefix(length);
    }
}

bool is_name(std::string_view text) {
    auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !text.empty() && (text[0] < '0' || text[0] > '9') && std::ranges::all_of(text, fits);
}

class DefinitionReader {
public:
    DefinitionReader(const std::string& file, std::string_view text) : rest_(text) {
        made_.file = file;
    }

    Result<rules::ProbeDefinition> run() {
        std::string* section = nullptr;
        while (!rest_.empty() && error_.empty()) {
            std::string_view line = next_line();
            if (line.starts_with(kMark)) {
                section = directive(words_of(line.substr(kMark.size())));
            } else if (section != nullptr) {
                section->append(line).append("\n");
            }
        }
        if (error_.empty()) check();
        if (error_.empty()) return std::move(made_);
        return Error{fmt::format("{}:{}: {}", made_.file, line_, error_), 0, {}};
    }

private:
    std::string_view next_line() {
        std::string_view line = rest_.substr(0, rest_.find('\n'));
        rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
        ++line_;
        return line;
    }

    // Where the lines behind it go; null: nowhere.
    std::string* directive(const std::vector<std::string_view>& words) {
        std::string_view what = words.empty() ? "" : words[0];
        if (what == "fields") {
            made_.line = line_ + 1;
            return &made_.fields;
        }
        if (what == "programs") {
            made_.programs_line = line_ + 1;
            return &made_.programs_text;
        }
        if (what == "probe" && words.size() == 3) {
            probe(words[1], words[2]);
        } else if ((what == "raw_tracepoint" || what == "tracepoint" ||
                    what == "task_tracepoint") &&
                   words.size() == 3) {
            made_.programs.push_back({fmt::format("{}:{}", what, words[1]), std::string(words[2])});
        } else if (what == "goes_on" && words.size() == 3) {
            made_.goes_on.table = words[1];
            made_.goes_on.tells = words[2];
        } else if (what == "found_waiting" && words.size() == 2) {
            made_.goes_on.finds = words[1];
        } else if (what == "offset" && words.size() == 2) {
            made_.offsets.emplace_back(words[1]);
        } else {
            error_ =
                fmt::format("`{}` is not a line of a probe's definition", fmt::join(words, " "));
        }
        return nullptr;
    }

    void probe(std::string_view name, std::string_view ends) {
        size_t colon = name.find(':');
        if (colon != std::string_view::npos) {
            made_.group = name.substr(0, colon);
            made_.name = name.substr(colon + 1);
        }
        made_.completes = ends == "completion";
        if (!is_name(made_.group) || !is_name(made_.name)) {
            error_ = fmt::format("`{}` is not GROUP:NAME", name);
        } else if (!made_.completes && ends != "moment") {
            error_ = fmt::format("`{}` is neither `moment` nor `completion`", ends);
        }
    }

    void check() {
        if (made_.group.empty()) {
            error_ = "there is no line `//= probe GROUP:NAME completion`";
        } else if (made_.fields.find("struct " + made_.structure()) == std::string::npos) {
            error_ = fmt::format("its fields are not a `struct {}`", made_.structure());
        } else if (made_.programs.empty()) {
            error_ = "it has no program";
        } else if (!made_.goes_on.finds.empty() && made_.goes_on.table.empty()) {
            error_ = "`//= found_waiting` needs `//= goes_on TABLE PROGRAM`";
        } else if (!made_.goes_on.table.empty() && !made_.completes) {
            error_ = "a moment does not go on";
        }
        for (const std::string& one : {made_.goes_on.tells, made_.goes_on.finds}) add_own(one);
    }

    // A program that the tracer runs itself; it may be at a tracepoint, too.
    void add_own(const std::string& function) {
        if (function.empty()) return;
        if (std::ranges::find(made_.programs, function,
                              &rules::ProbeDefinition::Program::function) == made_.programs.end()) {
            made_.programs.push_back({"raw_tracepoint:", function});
        }
    }

    std::string_view rest_;
    uint32_t line_ = 0;
    rules::ProbeDefinition made_;
    std::string error_;
};

}  // namespace

Result<rules::ProbeDefinition> read_definition(const std::string& file, std::string_view text) {
    return DefinitionReader(file, text).run();
}

}  // namespace mlbcc::codegen
