#include "saved/saved_trace.h"

#include <fmt/format.h>

#include "saved/event_fields.h"
#include "saved/event_tally.h"
#include "saved/lines.h"
#include "saved/saved_summary.h"

namespace mlbcc::saved {
namespace {

constexpr uint64_t kSchema = 1;

SavedTrace from_summary(const Json& line) {
    SavedSummary summary = read_summary(line);
    return {std::move(summary.end), std::move(summary.layers)};
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

// Gives `take` the JSON objects of all lines, until it returns false. The last line may have been
// cut.
template <class Take> Result<ReadLines> each_object(Lines& lines, LineParser& parser, Take&& take) {
    ReadLines read;
    while (true) {
        Result<std::optional<std::string_view>> text = lines.next();
        if (!text) return text.error();
        if (!*text) return read;
        const Json* line = parser.parse(**text);
        read.damaged += read.cut ? 1 : 0;
        read.cut = line == nullptr;
        if (line != nullptr && !take(*line)) return read;
    }
}

// Line by line, until there is a summary.
Result<SavedTrace> from_lines(Lines& lines, LineParser& parser) {
    EventTally tally;
    std::optional<SavedTrace> whole;
    Result<ReadLines> read = each_object(lines, parser, [&](const Json& line) {
        if (is_summary(line)) {
            whole = from_summary(line);
        } else {
            tally.add(line);
        }
        return !whole;
    });
    if (!read) return read.error();
    if (whole) return std::move(*whole);
    return SavedTrace{tally.end(), tally.layers(), false, tally.last_event_id(), read->damaged};
}

// An event as a line tells it; it points into the line.
class LineEvent {
public:
    // Null where the line is no event.
    const event::Event* of(const Json& line) {
        if (!read_event(line, fields_)) return nullptr;
        // A span is named after its function; `symbol` stands only where it is another name.
        probe_.function = fields_.function.empty() ? fields_.name : fields_.function;
        probe_.symbol = fields_.symbol.empty() ? probe_.function : fields_.symbol;
        event_ = {.id = fields_.id,
                  .phase = fields_.phase,
                  .probe = &probe_,
                  .time_ns = fields_.time_ns,
                  .duration_ns = fields_.duration_ns,
                  .begin = fields_.begin,
                  .parent = fields_.parent,
                  .pid = fields_.pid,
                  .tid = fields_.tid,
                  .cpu = fields_.cpu,
                  .comm = fields_.comm,
                  .stack = fields_.stack};
        return &event_;
    }

private:
    EventFields fields_;
    plan::ProbePlan probe_;
    event::Event event_;
};

}  // namespace

struct TraceFile::Opened {
    std::string name;
    Input input;
    Lines lines{input};
    LineParser parser;
    std::string meta;

    Opened(std::string called, Input from) : name(std::move(called)), input(std::move(from)) {}
    Result<void> begin() {
        Result<std::optional<std::string_view>> first = lines.next();
        if (!first) return first.error();
        if (*first) meta = **first;
        return check_meta(*first, parser);
    }
    Error told(Error error) const {
        error.what = name + ": " + error.what;
        return error;
    }
};

TraceFile::TraceFile(std::unique_ptr<Opened> opened) : opened_(std::move(opened)) {}
TraceFile::TraceFile(TraceFile&&) noexcept = default;
TraceFile::~TraceFile() = default;

Result<TraceFile> TraceFile::open(const std::string& path, ReadProgress progress) {
    Result<Input> input = Input::open(path, std::move(progress));
    if (!input) return input.error();
    auto opened =
        std::make_unique<Opened>(path == "-" ? "standard input" : path, std::move(*input));
    if (auto begun = opened->begin(); !begun) return opened->told(begun.error());
    return TraceFile(std::move(opened));
}

Result<ReadLines> TraceFile::each_line(const TakeLine& take) {
    if (!take(*opened_->parser.parse(opened_->meta))) return ReadLines{};
    Result<ReadLines> read = each_object(opened_->lines, opened_->parser, take);
    if (!read) return opened_->told(read.error());
    return read;
}

Result<SavedTrace> TraceFile::summary() {
    // A whole trace ends in its summary: the events need not be read.
    if (std::optional<std::string> last = last_line(opened_->input.file())) {
        const Json* line = opened_->parser.parse(*last);
        if (line != nullptr && is_summary(*line)) return from_summary(*line);
    }
    Result<SavedTrace> read = from_lines(opened_->lines, opened_->parser);
    if (!read) return opened_->told(read.error());
    return read;
}

Result<ReadLines> TraceFile::replay(event::EventConsumer& consumer, sink::TraceEnd& end) {
    LineEvent event;
    return each_line([&](const Json& line) {
        if (const event::Event* read = event.of(line)) {
            consumer.event(*read);
        } else if (is_summary(line)) {
            end = read_summary(line).end;
        }
        return true;
    });
}

bool is_summary(const Json& line) {
    return text_of(line, "type") == "summary" && !has(line, "phase");
}

bool is_sums(const Json& line) {
    return text_of(line, "type") == "sums" && !has(line, "phase");
}

std::string note_on(const SavedTrace& trace, const std::string& path) {
    if (trace.has_summary) return {};
    std::string where = trace.last_event_id ? fmt::format("after event {}", *trace.last_event_id)
                                            : "before its first event";
    std::string note =
        fmt::format("note: {} has no summary: it was cut {}, or is still being written\n", path,
                    where) +
        "   = note: only its events are shown; counts, sums and histograms are missing\n";
    if (trace.damaged == 0) return note;
    return note + fmt::format("   = note: {} {} left out: not JSON objects\n", trace.damaged,
                              trace.damaged == 1 ? "line was" : "lines were");
}

}  // namespace mlbcc::saved
