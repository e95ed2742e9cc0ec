#include "report/saved_trace.h"

#include <fcntl.h>

#include <fmt/format.h>

#include "base/unique_fd.h"
#include "report/event_tally.h"
#include "report/json_line.h"
#include "report/lines.h"
#include "report/saved_summary.h"

namespace mlbcc::report {
namespace {

constexpr uint64_t kSchema = 1;

bool is_summary(const Json* line) {
    return line != nullptr && text_of(*line, "type") == "summary" && !has(*line, "phase");
}

SavedTrace from_summary(const Json& line) {
    return {saved_end(line), saved_layers(line)};
}

// {"event_id":0,"type":"meta","schema":1, ...
Result<void> check_meta(std::optional<std::string_view> line, LineParser& parser) {
    if (!line) return Error{"the file is empty, not a trace"};
    const Json* meta = parser.parse(*line);
    if (meta == nullptr) return Error{"not a trace: its first line is not a JSON object"};
    if (text_of(*meta, "type") != "meta" || !has(*meta, "schema") || has(*meta, "phase"))
        return Error{"not a trace: its first line is not the `meta` line"};
    if (unsigned_of(*meta, "schema") == kSchema) return {};
    return Error{fmt::format("a trace of another schema than {}", kSchema), 0,
                 "read it with the version of mlbcc that wrote it"};
}

// Line by line, until there is a summary.
Result<SavedTrace> from_lines(Lines& lines, LineParser& parser) {
    EventTally tally;
    uint64_t damaged = 0;
    bool last_damaged = false;
    while (true) {
        Result<std::optional<std::string_view>> text = lines.next();
        if (!text) return text.error();
        if (!*text) break;
        const Json* line = parser.parse(**text);
        if (is_summary(line)) return from_summary(*line);
        damaged += last_damaged ? 1 : 0;
        last_damaged = line == nullptr;
        if (line != nullptr) tally.add(*line);
    }
    return SavedTrace{tally.end(), tally.layers(), false, tally.last_event_id(), damaged};
}

Result<SavedTrace> read_trace_of(int fd) {
    Lines lines(fd);
    LineParser parser;
    Result<std::optional<std::string_view>> first = lines.next();
    if (!first) return first.error();
    if (auto checked = check_meta(*first, parser); !checked) return checked.error();
    // A whole trace ends in its summary: the events need not be read.
    if (std::optional<std::string> last = last_line(fd)) {
        const Json* line = parser.parse(*last);
        if (is_summary(line)) return from_summary(*line);
    }
    return from_lines(lines, parser);
}

}  // namespace

Result<SavedTrace> read_trace(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return system_error(path);
    Result<SavedTrace> trace = read_trace_of(fd.get());
    if (trace) return trace;
    Error error = trace.error();
    error.what = path + ": " + error.what;
    return error;
}

std::string note_on(const SavedTrace& trace, const std::string& path) {
    if (trace.has_summary) return {};
    std::string where = trace.last_event_id ? fmt::format("after event {}", *trace.last_event_id)
                                            : "before its first event";
    std::string note =
        fmt::format("note: {} has no summary: it was cut {}, or is still being written\n", path,
                    where) +
        "   = note: shown is what its events tell; counts, sums and histograms are not known\n";
    if (trace.damaged == 0) return note;
    return note + fmt::format("   = note: {} {} left out: not JSON objects\n", trace.damaged,
                              trace.damaged == 1 ? "line was" : "lines were");
}

}  // namespace mlbcc::report
