#include "profile/finding_text.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "text/glob.h"

namespace mlbcc::profile {
namespace {

std::string field_text(std::string_view field, const saved::EventFields& one) {
    bool is_hexadecimal = field.ends_with(":x");
    std::string_view name = is_hexadecimal ? field.substr(0, field.size() - 2) : field;
    auto found = std::ranges::find(one.arguments, name, &saved::EventFields::Argument::name);
    if (found == one.arguments.end() || found->value.is_null()) return fmt::format("{{{}}}", field);
    return is_hexadecimal ? fmt::format("{:x}", one.number(name)) : value_text(found->value);
}

bool is_below(std::string_view path, std::string_view folder) {
    while (folder.ends_with('/')) folder.remove_suffix(1);
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// "~/.cache" and "." with what they stand for; "" where that is not known.
std::string resolved(std::string_view entry, std::string_view folder, std::string_view home) {
    if (entry == "." || entry.starts_with("./")) {
        return folder.empty() ? "" : std::string(folder) + std::string(entry.substr(1));
    }
    if (entry == "~" || entry.starts_with("~/")) {
        return home.empty() ? "" : std::string(home) + std::string(entry.substr(1));
    }
    return std::string(entry);
}

}  // namespace

std::string value_text(const saved::FieldValue& value) {
    struct Text {
        std::string operator()(std::monostate) const { return "null"; }
        std::string operator()(bool truth) const { return truth ? "1" : "0"; }
        std::string operator()(int64_t number) const { return std::to_string(number); }
        std::string operator()(uint64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const { return fmt::format("{}", number); }
        std::string operator()(std::string_view text) const { return std::string(text); }
        std::string operator()(const saved::FieldValues& list) const {
            std::string text;
            for (const saved::FieldValue& one : list)
                text += (text.empty() ? "" : ", ") + value_text(one);
            return "[" + text + "]";
        }
    };
    return std::visit(Text{}, value);
}

std::string filled(std::string_view sentence, const saved::EventFields& one) {
    std::string text;
    while (!sentence.empty()) {
        size_t open = sentence.find('{');
        size_t close = open == std::string_view::npos ? open : sentence.find('}', open);
        if (close == std::string_view::npos) break;
        text += sentence.substr(0, open);
        text += field_text(sentence.substr(open + 1, close - open - 1), one);
        sentence.remove_prefix(close + 1);
    }
    return text.append(sentence);
}

std::string absolute(std::string_view path, std::string_view folder) {
    if (!path.starts_with('/') && folder.empty()) return "";
    std::string made = (std::filesystem::path(folder) / path).lexically_normal().string();
    if (made.size() > 1 && made.ends_with('/')) made.pop_back();
    return made;
}

bool matches_one(std::string_view text, std::string_view patterns) {
    while (!patterns.empty()) {
        size_t end = std::min(patterns.find(':'), patterns.size());
        if (glob_match(patterns.substr(0, end), text)) return true;
        patterns.remove_prefix(std::min(end + 1, patterns.size()));
    }
    return false;
}

bool lies_in(std::string_view path, std::string_view list, std::string_view folder,
             std::string_view home) {
    while (!list.empty()) {
        size_t end = std::min(list.find(':'), list.size());
        std::string entry = resolved(list.substr(0, end), folder, home);
        list.remove_prefix(std::min(end + 1, list.size()));
        if (entry.empty()) continue;
        if (is_below(path, entry) || glob_match(entry, path)) return true;
    }
    return false;
}

}  // namespace mlbcc::profile
