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

// Gives `take` the JSON objects of all lines, until it returns false. Returns how many lines are
// none; the last one may have been cut.
template <class Take> Result<uint64_t> each_object(Lines& lines, LineParser& parser, Take&& take) {
    uint64_t damaged = 0;
    bool last_damaged = false;
    while (true) {
        Result<std::optional<std::string_view>> text = lines.next();
        if (!text) return text.error();
        if (!*text) return damaged;
        const Json* line = parser.parse(**text);
        damaged += last_damaged ? 1 : 0;
        last_damaged = line == nullptr;
        if (line != nullptr && !take(*line)) return damaged;
    }
}

// Line by line, until there is a summary.
Result<SavedTrace> from_lines(Lines& lines, LineParser& parser) {
    EventTally tally;
    std::optional<SavedTrace> whole;
    Result<uint64_t> damaged = each_object(lines, parser, [&](const Json& line) {
        if (is_summary(line)) {
            whole = from_summary(line);
        } else {
            tally.add(line);
        }
        return !whole;
    });
    if (!damaged) return damaged.error();
    if (whole) return std::move(*whole);
    return SavedTrace{tally.end(), tally.layers(), false, tally.last_event_id(), *damaged};
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
        if (line != nullptr && is_summary(*line)) return from_summary(*line);
    }
    return from_lines(lines, parser);
}

// An event as a line tells it; it points into the line.
class LineEvent {
public:
    // Null where the line is no event.
    const event::Event* of(const Json& line) {
        event_ = {};
        if (!read_phase(text_of(line, "phase"))) return nullptr;
        event_.id = unsigned_of(line, "event_id");
        event_.time_ns = nanoseconds_of(line, "ts", 1e9);
        event_.duration_ns = nanoseconds_of(line, "duration_us", 1e3);
        if (has(line, "begin")) event_.begin = unsigned_of(line, "begin");
        if (has(line, "parent")) event_.parent = unsigned_of(line, "parent");
        event_.pid = static_cast<uint32_t>(unsigned_of(line, "pid"));
        event_.tid = static_cast<uint32_t>(unsigned_of(line, "tid"));
        event_.cpu = static_cast<uint32_t>(unsigned_of(line, "cpu"));
        event_.comm = text_of(line, "comm");
        read_names(line);
        read_stack(line);
        return &event_;
    }

private:
    bool read_phase(std::string_view phase) {
        size_t at = std::string_view("BEXi").find(phase);
        event_.phase = static_cast<event::Phase>(at);
        return phase.size() == 1 && at != std::string_view::npos;
    }
    // A span is named after its function; `symbol` stands only where it is another name.
    void read_names(const Json& line) {
        probe_.function = text_of(line, has(line, "function") ? "function" : "name");
        probe_.symbol = has(line, "symbol") ? text_of(line, "symbol") : probe_.function;
        event_.probe = &probe_;
    }
    void read_stack(const Json& line) {
        stack_.clear();
        if (const Json* frames = list_of(line, "stack")) {
            for (const Json& frame : frames->GetArray()) stack_.push_back(as_text(frame));
        }
        event_.stack = stack_;
    }

    plan::ProbePlan probe_;
    std::vector<std::string_view> stack_;
    event::Event event_;
};

Result<uint64_t> replay_of(int fd, event::EventConsumer& consumer) {
    Lines lines(fd);
    LineParser parser;
    Result<std::optional<std::string_view>> first = lines.next();
    if (!first) return first.error();
    if (auto checked = check_meta(*first, parser); !checked) return checked.error();
    LineEvent event;
    return each_object(lines, parser, [&](const Json& line) {
        if (const event::Event* read = event.of(line)) consumer.event(*read);
        return true;
    });
}

Result<uint64_t> each_line_of(int fd, const std::function<bool(const Json&)>& take) {
    Lines lines(fd);
    LineParser parser;
    Result<std::optional<std::string_view>> first = lines.next();
    if (!first) return first.error();
    if (auto checked = check_meta(*first, parser); !checked) return checked.error();
    if (!take(*parser.parse(**first))) return uint64_t{0};
    return each_object(lines, parser, take);
}

template <class Read> auto read_file_of(const std::string& path, Read&& read) -> decltype(read(0)) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return system_error(path);
    auto result = read(fd.get());
    if (result) return result;
    Error error = result.error();
    error.what = path + ": " + error.what;
    return error;
}

}  // namespace

Result<SavedTrace> read_trace(const std::string& path) {
    return read_file_of(path, read_trace_of);
}

Result<uint64_t> replay(const std::string& path, event::EventConsumer& consumer) {
    return read_file_of(path, [&](int fd) { return replay_of(fd, consumer); });
}

Result<uint64_t> each_line(const std::string& path, const std::function<bool(const Json&)>& take) {
    return read_file_of(path, [&](int fd) { return each_line_of(fd, take); });
}

bool is_summary(const Json& line) {
    return text_of(line, "type") == "summary" && !has(line, "phase");
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
