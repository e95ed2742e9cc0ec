#include <algorithm>
#include <unordered_set>

#include "view/view.h"

namespace mlbcc::view {
namespace {

using saved::Json;

TraceOrigin origin_of(const Json& meta) {
    TraceOrigin origin;
    origin.tool = saved::text_of(meta, "tool");
    origin.start = saved::text_of(meta, "start");
    origin.command = saved::texts_of(meta, "command");
    auto host = meta.FindMember("host");
    if (host == meta.MemberEnd() || !host->value.IsObject()) return origin;
    origin.kernel = saved::text_of(host->value, "kernel");
    origin.arch = saved::text_of(host->value, "arch");
    return origin;
}

// The lines of a trace to a writer.
class Converter {
public:
    explicit Converter(ViewWriter& writer) : writer_(writer) {}

    // False when nothing more can be written.
    bool take(const Json& line) {
        if (DrawnEvent* record = reader_.read(line)) {
            record->same = spans_.same_call(*record);
            uint64_t end_ns = record->time_ns;
            if (record->phase == event::Phase::complete) end_ns += record->duration_ns;
            ending_.time_ns = std::max(ending_.time_ns, end_ns);
            ++ending_.events;
            if (processes_.insert(record->pid).second && !ending_.has_summary) ++ending_.processes;
            record->phase == event::Phase::instant ? writer_.instant(*record) : spans_.add(*record);
        } else if (std::optional<saved::LostEvents> lost = saved::read_lost(line)) {
            ending_.time_ns = std::max(ending_.time_ns, lost->time_ns);
            ending_.lost += lost->count;
            writer_.lost(*lost);
        } else if (saved::is_summary(line)) {
            ending_.time_ns = std::max(ending_.time_ns, saved::nanoseconds_of(line, "ts", 1e9));
            ending_.lost = std::max(ending_.lost, saved::unsigned_of(line, "lost"));
            ending_.events = saved::unsigned_of(line, "events");
            ending_.processes = saved::unsigned_of(line, "processes");
            ending_.has_summary = true;
            ending_.summary = saved::json_text(line);
        }
        return !writer_.failed();
    }

    Result<void> finish() {
        spans_.finish(ending_.time_ns);
        return writer_.finish(ending_);
    }

private:
    ViewWriter& writer_;
    EventReader reader_;
    Spans spans_{[this](const Slice& slice) { writer_.slice(slice); }};
    Ending ending_;
    std::unordered_set<uint32_t> processes_;
};

}  // namespace

bool is_counter(const DrawnEvent& record) {
    return record.type == "counter";
}

Result<saved::ReadLines> convert(saved::TraceFile& trace, const OpenWriter& open) {
    std::unique_ptr<ViewWriter> writer;
    std::optional<Converter> converter;
    std::optional<Error> failure;
    Result<saved::ReadLines> read = trace.each_line([&](const Json& line) {
        if (converter) return converter->take(line);
        Opened opened = open(origin_of(line));  // the `meta` line
        if (!opened) {
            failure = opened.error();
            return false;
        }
        writer = std::move(*opened);
        converter.emplace(*writer);
        return true;
    });
    if (failure) return *failure;
    if (auto done = converter->finish(); !done) return done.error();
    return read;
}

Result<saved::ReadLines> convert(saved::TraceFile& trace, ViewWriter& writer) {
    Converter converter(writer);
    Result<saved::ReadLines> read =
        trace.each_line([&](const Json& line) { return converter.take(line); });
    if (auto done = converter.finish(); !done) return done.error();
    return read;
}

}  // namespace mlbcc::view
