#include "doctor/text.h"

#include <algorithm>

#include <fmt/format.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

namespace mlbcc::doctor {
namespace {

constexpr int kSchema = 1;
constexpr size_t kTitleWidth = 22;

struct Shown {
    const char* word;
    const char* color;
};

Shown shown(State state) {
    switch (state) {
    case State::ok: return {"ok", "\033[32m"};
    case State::note: return {"note", "\033[33m"};
    case State::fault: return {"fault", "\033[1;31m"};
    }
    return {"", ""};
}

std::string row_text(const Row& row, bool color) {
    const Verdict& verdict = row.verdict;
    const auto [word, code] = shown(verdict.state);
    const std::string state = fmt::format("{:<6}", word);
    std::string text =
        fmt::format("{} {:<{}} {}\n", color ? fmt::format("{}{}\033[0m", code, state) : state,
                    row.title, kTitleWidth, verdict.found);
    const std::string margin(7 + kTitleWidth + 1, ' ');
    if (!verdict.why.empty()) text += fmt::format("{}{}\n", margin, verdict.why);
    if (!verdict.repair.empty()) text += fmt::format("{}repair: {}\n", margin, verdict.repair);
    return text;
}

// What the rules lack, and nothing else does: "libcuda.so.1 was not found".
std::string missing_of_rules(const Facts& found) {
    std::vector<std::string> missing;
    for (const LibraryFinding& one : found.libraries) {
        if (one.needed && one.files.empty()) missing.push_back(one.name);
    }
    if (missing.empty()) return found.rules.error.message();
    return fmt::format("{} {} not found", fmt::join(missing, ", "),
                       missing.size() == 1 ? "was" : "were");
}

std::string closing(const Facts& found, const std::vector<Row>& rows) {
    const std::string names = fmt::format("{}", fmt::join(found.rules.names, " "));
    const auto is_fault = [](const Row& row) { return row.verdict.state == State::fault; };
    const auto is_of_machine = [&](const Row& row) {
        return is_fault(row) && row.id != "library" && row.id != "rules";
    };
    const auto faults = std::ranges::count_if(rows, is_fault);
    if (faults == 0 && found.rules.works) return fmt::format("a trace with {} works here\n", names);
    if (faults == 0)
        return fmt::format("tracing works here; for {}, {}\n", names, missing_of_rules(found));
    if (std::ranges::none_of(rows, is_of_machine))
        return fmt::format("tracing works here, but not with {}: {}\n", names,
                           missing_of_rules(found));
    return fmt::format("a trace with {} would not work here: {} fault{}\n", names, faults,
                       faults == 1 ? "" : "s");
}

using Writer = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void write(Writer& writer, const char* name, std::string_view text) {
    writer.Key(name);
    writer.String(text.empty() ? "" : text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void write_row(Writer& writer, const Row& row) {
    writer.StartObject();
    write(writer, "id", row.id);
    write(writer, "title", row.title);
    write(writer, "state", shown(row.verdict.state).word);
    write(writer, "found", row.verdict.found);
    write(writer, "why", row.verdict.why);
    write(writer, "repair", row.verdict.repair);
    writer.EndObject();
}

}  // namespace

std::string doctor_text(const Facts& found, const std::vector<Row>& rows, bool color) {
    std::string text;
    for (const Row& row : rows) text += row_text(row, color);
    return text + "\n" + closing(found, rows);
}

std::string doctor_json(const Facts& found, const std::vector<Row>& rows) {
    rapidjson::StringBuffer buffer;
    Writer writer(buffer);
    writer.SetIndent(' ', 1);
    writer.StartObject();
    writer.Key("schema");
    writer.Int(kSchema);
    write(writer, "tool", "mlbcc " MLBCC_VERSION);
    writer.Key("rules");
    writer.StartArray();
    for (const std::string& name : found.rules.names) writer.String(name.c_str());
    writer.EndArray();
    writer.Key("works");
    writer.Bool(would_work(rows));
    writer.Key("event_ns");
    if (found.cost) {
        writer.Int64(static_cast<int64_t>(found.cost->event_ns));
    } else {
        writer.Null();
    }
    writer.Key("checks");
    writer.StartArray();
    for (const Row& row : rows) write_row(writer, row);
    writer.EndArray();
    writer.EndObject();
    return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace mlbcc::doctor
