#include "kernel/tracepoints.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/read_file.h"
#include "files/mounts.h"

namespace mlbcc::kernel {
namespace {

constexpr size_t kMaxFormat = size_t{1} << 20, kMaxEvents = size_t{4} << 20;

// The text between `before` and the next `;`.
std::string_view part(std::string_view line, std::string_view before) {
    size_t at = line.find(before);
    if (at == std::string_view::npos) return {};
    line.remove_prefix(at + before.size());
    return line.substr(0, line.find(';'));
}

uint32_t unsigned_number(std::string_view text) {
    uint32_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// "const char * name", "char comm[16]", "unsigned long args[6]", "__data_loc char[] name"
std::optional<target::TraceField> parse_field(std::string_view line) {
    std::string_view declared = part(line, "field:");
    size_t space = declared.find_last_of(" *");
    if (space == std::string_view::npos || space + 1 == declared.size()) return std::nullopt;
    std::string_view name = declared.substr(space + 1), type = declared.substr(0, space + 1);
    while (type.ends_with(' ')) type.remove_suffix(1);
    target::TraceField field;
    size_t bracket = name.find('[');
    field.name = name.substr(0, bracket);
    field.type = type;
    if (bracket != std::string_view::npos) field.type += name.substr(bracket);
    field.offset = unsigned_number(part(line, "offset:"));
    field.size = unsigned_number(part(line, "size:"));
    field.is_signed = unsigned_number(part(line, "signed:")) != 0;
    return field;
}

}  // namespace

target::TracepointFormat parse_format(std::string_view text) {
    target::TracepointFormat format;
    bool is_common = true;  // the fields of all tracepoints, up to an empty line
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.starts_with("ID: ")) format.id = unsigned_number(line.substr(4));
        if (line.empty() && format.id != 0) is_common = false;
        if (is_common || !line.starts_with("\tfield:")) continue;
        if (auto field = parse_field(line)) format.fields.push_back(std::move(*field));
    }
    return format;
}

Result<target::TracepointFormat>
read_tracepoint(const std::string& tracefs, const std::string& category, const std::string& name) {
    Result<std::string> text =
        read_file(fmt::format("{}/events/{}/{}/format", tracefs, category, name), kMaxFormat);
    if (!text) return text.error();
    return parse_format(*text);
}

Result<std::vector<std::string>> list_tracepoints(const std::string& tracefs) {
    Result<std::string> text = read_file(tracefs + "/available_events", kMaxEvents);
    if (!text) return text.error();
    std::vector<std::string> names;
    std::string_view rest = *text;
    while (!rest.empty()) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.find(':') != std::string_view::npos) names.emplace_back(line);
    }
    std::ranges::sort(names);
    return names;
}

}  // namespace mlbcc::kernel
