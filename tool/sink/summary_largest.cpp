#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "sink/json.h"
#include "sink/summary_text.h"

namespace mlbcc::sink {
namespace {

constexpr size_t kWidestText = 28;  // of a column
constexpr size_t kFunctions = 8;    // of a stack

struct Cell {
    std::string text;
    bool is_number = false;
};
using Line = std::vector<Cell>;

template <class Number> std::optional<Number> number_in(std::string_view json) {
    Number value{};
    const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
    if (error != std::errc() || end != json.data() + json.size()) return std::nullopt;
    return value;
}

Cell cell_of(const LargestOnes::Field& field) {
    const std::string text = plain_text(field.json);  // numbers above 2^53 have them
    if (auto value = number_in<int64_t>(text)) return {short_amount(*value, field.unit), true};
    if (auto value = number_in<uint64_t>(text)) return {short_amount(*value, field.unit), true};
    return {shortened_within(text, kWidestText), false};
}

bool is_stack(const LargestOnes::Field& field) {
    return field.json.starts_with('[');
}

// "libc.so.6:nanosleep+0x12" -> "libc.so.6:nanosleep": which call it was says the trace.
std::string function_of(std::string_view frame) {
    size_t offset = frame.rfind("+0x"), colon = frame.find(':');
    bool is_named = offset != std::string_view::npos && colon < offset;
    return std::string(is_named ? frame.substr(0, offset) : frame);
}

// ["libc.so.6:nanosleep+0x12","app:idle+0x5"], as JSON has it
std::vector<std::string> functions_in(const std::string& json) {
    std::vector<std::string> functions;
    rapidjson::Document list;
    list.Parse(json.data(), json.size());
    if (list.HasParseError() || !list.IsArray()) return functions;
    for (const auto& frame : list.GetArray()) {
        if (frame.IsString()) functions.push_back(function_of(frame.GetString()));
    }
    return functions;
}

// Stacks stand below; a column in which nothing stands is left out.
bool is_column(const LargestOnes& list, const std::string& name) {
    bool says_something = false;
    for (const LargestOnes::Entry& entry : list.entries) {
        auto field = std::ranges::find(entry.fields, name, &LargestOnes::Field::name);
        if (field == entry.fields.end()) continue;
        if (is_stack(*field)) return false;
        says_something |= field->json != "\"\"";
    }
    return says_something;
}

// In the order in which they are first met: functions may have different ones.
std::vector<std::string> columns_of(const LargestOnes& list) {
    std::vector<std::string> names;
    for (const LargestOnes::Entry& entry : list.entries) {
        for (const LargestOnes::Field& field : entry.fields) {
            bool is_new = std::ranges::find(names, field.name) == names.end();
            if (is_new && is_column(list, field.name)) names.push_back(field.name);
        }
    }
    return names;
}

Line line_of(const LargestOnes::Entry& entry, const std::vector<std::string>& columns) {
    Line line{cell_of(entry.value)};
    for (const std::string& name : columns) {
        auto field = std::ranges::find(entry.fields, name, &LargestOnes::Field::name);
        line.push_back(field == entry.fields.end() ? Cell{} : cell_of(*field));
    }
    double seconds = static_cast<double>(entry.time_ns) / 1e9;
    line.push_back({fmt::format("{:.3f} s", seconds), true});
    line.push_back({thread_text(entry.comm, entry.pid, entry.tid), false});
    return line;
}

// The heads of columns of numbers stand on the right, too.
std::vector<Line> table_of(const LargestOnes& list) {
    const std::vector<std::string> columns = columns_of(list);
    std::vector<Line> lines(1);
    lines[0].push_back({list.by, true});
    for (const std::string& name : columns) lines[0].push_back({name, true});
    lines[0].push_back({"at", true});
    lines[0].push_back({"thread", false});
    for (const LargestOnes::Entry& entry : list.entries) lines.push_back(line_of(entry, columns));
    for (size_t i = 0; i < lines[0].size(); ++i) {
        lines[0][i].is_number = std::any_of(lines.begin() + 1, lines.end(),
                                            [i](const Line& line) { return line[i].is_number; });
    }
    return lines;
}

std::string text_of(const Line& line, const std::vector<size_t>& widths) {
    std::string text = "  ";
    for (size_t i = 0; i < line.size(); ++i) {
        const Cell& cell = line[i];
        text += "  " + (cell.is_number ? right_aligned(cell.text, widths[i])
                                       : padded(cell.text, widths[i]));
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

// "off_in: libc.so.6:nanosleep < app:idle < ..."
void add_stack(Rows& rows, const std::string& name, const std::vector<std::string>& functions) {
    std::vector<std::string> words{name + ":"};
    for (size_t i = 0; i < std::min(functions.size(), kFunctions); ++i) {
        words.push_back(functions[i] + (i + 1 < functions.size() ? " <" : ""));
    }
    if (functions.size() > kFunctions) words.emplace_back("...");
    rows.wrapped(8, words);
}

void add_stacks(Rows& rows, const LargestOnes::Entry& entry) {
    for (const LargestOnes::Field& field : entry.fields) {
        if (is_stack(field)) add_stack(rows, field.name, functions_in(field.json));
    }
    std::vector<std::string> functions;
    for (const std::string& frame : entry.stack) functions.push_back(function_of(frame));
    if (!functions.empty()) add_stack(rows, "stack", functions);
}

}  // namespace

//   Longest gaps                41
//         gap  io  until            at  thread
//     30.1 ms   0  relu        0.031 s  python3 70
//         off_in: libc.so.6:nanosleep < app:idle
void add_largest(Rows& rows, const LargestOnes& list) {
    rows.add(2, list.title, {grouped(list.calls), ""}, lost_text(list.lost));
    if (list.entries.empty()) return;
    const std::vector<Line> table = table_of(list);
    std::vector<size_t> widths(table[0].size());
    for (const Line& line : table) {
        for (size_t i = 0; i < line.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(line[i].text));
        }
    }
    rows.line(text_of(table[0], widths));
    for (size_t i = 0; i < list.entries.size(); ++i) {
        rows.line(text_of(table[i + 1], widths));
        add_stacks(rows, list.entries[i]);
    }
}

}  // namespace mlbcc::sink
