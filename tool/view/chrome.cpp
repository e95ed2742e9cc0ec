// Chrome's trace event format, as chrome://tracing, Perfetto and speedscope read it: one JSON
// object whose `traceEvents` has an entry a line. Times are microseconds, to the nanosecond.
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#include <string>
#include <unordered_map>

#include "sink/json.h"
#include "view/counters.h"
#include "view/flows.h"
#include "view/output.h"
#include "view/values.h"
#include "view/view.h"

namespace mlbcc::view {
namespace {

using sink::Buffer;

class Chrome : public ViewWriter {
public:
    Chrome(sink::OutputFile file, const TraceOrigin& origin)
        : output_(std::move(file)), origin_(origin) {
        // With "ns" chrome://tracing warns that the times are coarse (Catapult's model.html).
        text_.append("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    }

    void slice(const Slice& slice) override;
    void instant(const DrawnEvent& record) override;
    void lost(const saved::LostEvents& lost) override;
    bool failed() const override { return output_.failed(); }
    Result<void> finish(const Ending& ending) override;

private:
    static constexpr size_t kNames = 1 << 16;  // that are remembered

    void begin(const char* phase, uint32_t pid, uint32_t tid);
    void time(const char* name, uint64_t ns);
    void names(const DrawnEvent& record);
    void argument(std::string_view name);
    void arguments(const Slice& slice);
    void shared(const DrawnEvent& record);
    void end() {
        text_.append("}\n");
        output_.whole();
    }
    void end_arguments() {
        text_.append(has_argument_ ? "}" : ",\"args\":{}");
        end();
    }
    void name_thread(const DrawnEvent& record);
    void name(const char* what, uint32_t pid, uint32_t tid, std::string_view name);
    void counter(const DrawnEvent& record);
    void flow(const char* phase, const Flow& flow, uint32_t pid, uint32_t tid, uint64_t time_ns);

    Output output_;
    Buffer& text_ = output_.text();
    TraceOrigin origin_;
    Counters counters_;
    Flows flows_;
    bool has_entry_ = false, has_argument_ = false;
    std::unordered_map<uint64_t, std::string> threads_;    // what they were named last
    std::unordered_map<uint32_t, std::string> processes_;  // likewise
};

// {"ph":"X","pid":70,"tid":70
void Chrome::begin(const char* phase, uint32_t pid, uint32_t tid) {
    text_.append(has_entry_ ? ",{\"ph\":\"" : "{\"ph\":\"");
    has_entry_ = true;
    has_argument_ = false;
    text_.append(phase);
    text_.append("\",\"pid\":");
    text_.number(pid);
    text_.append(",\"tid\":");
    text_.number(tid);
}

void Chrome::time(const char* name, uint64_t ns) {
    text_.append(",\"");
    text_.append(name);
    text_.append("\":");
    text_.number(ns / 1000);
    text_.append('.');
    text_.fraction(ns % 1000, 3);
}

void Chrome::names(const DrawnEvent& record) {
    text_.append(",\"cat\":");
    sink::write_text(text_, record.type);
    text_.append(",\"name\":");
    sink::write_text(text_, record.name);
}

void Chrome::argument(std::string_view name) {
    text_.append(has_argument_ ? "," : ",\"args\":{");
    has_argument_ = true;
    sink::write_text(text_, name);
    text_.append(':');
}

// What each event has; the names cannot be arguments', which are C's.
void Chrome::shared(const DrawnEvent& record) {
    if (!record.function.empty()) {
        argument("[function]");
        sink::write_text(text_, record.function);
    }
    if (!record.symbol.empty()) {
        argument("[symbol]");
        sink::write_text(text_, record.symbol);
    }
    argument("[event]");
    text_.number(record.id);
    argument("[cpu]");
    text_.number(record.cpu);
}

void Chrome::arguments(const Slice& slice) {
    each_argument(slice, [&](const DrawnEvent::Argument& one) {
        argument(one.name);
        write_json(text_, one.value);
    });
    if (const std::optional<saved::FieldValue>& ret = return_of(slice)) {
        argument("[returned]");
        write_json(text_, *ret);
    }
    shared(*slice.call);
    if (!stack_of(slice).empty()) {
        argument("[stack]");
        write_list(text_, stack_of(slice));
    }
}

// A call that had not ended is a begin without an end: viewers draw it so.
void Chrome::slice(const Slice& slice) {
    const DrawnEvent& call = *slice.call;
    name_thread(call);
    begin(slice.missing == Missing::still_open ? "B" : "X", call.pid, call.tid);
    time("ts", slice.begin_ns);
    if (slice.missing != Missing::still_open) time("dur", slice.end_ns - slice.begin_ns);
    names(call);
    if (slice.missing != Missing::nothing) text_.append(",\"cname\":\"terrible\"");
    arguments(slice);
    if (slice.missing != Missing::nothing) {
        argument("[incomplete]");
        sink::write_text(text_, text_of(slice.missing));
    }
    end_arguments();
    (void)flows_.begun_by(slice);
    for (const Flow& one : flows_.ended_by(slice)) {
        flow("s", one, one.pid, one.tid, one.time_ns);
        flow("f", one, call.pid, call.tid, slice.begin_ns);
    }
}

// An arrow from a launch to what waited for it: each end is on the call around its time.
void Chrome::flow(const char* phase, const Flow& flow, uint32_t pid, uint32_t tid,
                  uint64_t time_ns) {
    begin(phase, pid, tid);
    time("ts", time_ns);
    text_.append(R"(,"bp":"e","cat":"launch","name":"waited for","id":)");
    text_.number(flow.id);
    end_arguments();
}

void Chrome::instant(const DrawnEvent& record) {
    name_thread(record);
    if (const DrawnEvent* one = counters_.of(record)) return counter(*one);
    begin("i", record.pid, record.tid);
    time("ts", record.time_ns);
    text_.append(",\"s\":\"t\"");
    names(record);
    arguments(moment_of(record));
    end_arguments();
}

void Chrome::counter(const DrawnEvent& record) {
    begin("C", record.pid, record.tid);
    time("ts", record.time_ns);
    names(record);
    for (const DrawnEvent::Argument& one : record.arguments) {
        bool is_number = std::holds_alternative<int64_t>(one.value) ||
                         std::holds_alternative<uint64_t>(one.value);
        if (!is_number) continue;
        argument(one.name);
        write_json(text_, one.value);
    }
    end_arguments();
}

void Chrome::lost(const saved::LostEvents& lost) {
    begin("i", 0, 0);
    time("ts", lost.time_ns);
    text_.append(R"(,"s":"g","cat":"lost","name":"events were lost")");
    argument("count");
    text_.number(lost.count);
    argument("rules");
    write_list(text_, lost.rules);
    argument("[cpu]");
    text_.number(lost.cpu);
    end_arguments();
}

void Chrome::name(const char* what, uint32_t pid, uint32_t tid, std::string_view name) {
    begin("M", pid, tid);
    text_.append(",\"name\":\"");
    text_.append(what);
    text_.append('"');
    argument("name");
    sink::write_text(text_, name);
    end_arguments();
}

// Again when it changes. A process has its main thread's name; without that, of the first seen.
void Chrome::name_thread(const DrawnEvent& record) {
    std::string& known = threads_[uint64_t{record.pid} << 32 | record.tid];
    auto [process, is_new] = processes_.try_emplace(record.pid);
    bool names_process = is_new || (record.pid == record.tid && process->second != record.comm);
    if (names_process) {
        process->second = record.comm;
        name("process_name", record.pid, record.tid, record.comm);
    }
    if (!known.empty() && known == record.comm) return;
    known = record.comm;
    name("thread_name", record.pid, record.tid, record.comm);
    if (threads_.size() > kNames) threads_.clear();
    if (processes_.size() > kNames) processes_.clear();
}

Result<void> Chrome::finish(const Ending& ending) {
    text_.append("],\"otherData\":{\"tool\":");
    sink::write_text(text_, origin_.tool);
    auto member = [&](const char* name, std::string_view text) {
        text_.append(",\"");
        text_.append(name);
        text_.append("\":");
        sink::write_text(text_, text);
    };
    member("start", origin_.start);
    member("kernel", origin_.kernel);
    member("arch", origin_.arch);
    text_.append(",\"command\":");
    std::vector<std::string_view> command(origin_.command.begin(), origin_.command.end());
    write_list(text_, command);
    text_.append(",\"lost\":");
    text_.number(ending.lost);
    text_.append(",\"complete\":");
    text_.append(ending.has_summary ? "true" : "false");
    text_.append("}}\n");
    return output_.finish();
}

}  // namespace

Opened open_chrome(const std::string& path, const TraceOrigin& origin) {
    Result<sink::OutputFile> file = sink::OutputFile::open(path);
    if (!file) return file.error();
    return std::unique_ptr<ViewWriter>(std::make_unique<Chrome>(std::move(*file), origin));
}

}  // namespace mlbcc::view
