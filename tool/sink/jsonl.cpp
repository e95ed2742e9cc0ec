// The JSONL sink: one JSON object a line, in the form that docs/events.md shows. The line of an
// event is put together from prepared parts and numbers, without an allocation.
#include <array>

#include "sink/clause_text.h"
#include "sink/json.h"
#include "sink/jsonl_records.h"
#include "sink/output_file.h"
#include "sink/sink.h"

namespace mlbcc::sink {
namespace {

// "pid":70,"tid":70,"comm":"python3","cpu":  of the threads seen last.
class ThreadTexts {
public:
    std::string_view text(uint32_t pid, uint32_t tid, std::string_view comm) {
        Entry& entry = entries_[tid % entries_.size()];
        const bool is_that = entry.tid == tid && entry.pid == pid && entry.comm == comm;
        if (!is_that || entry.text.empty()) fill(entry, pid, tid, comm);
        return entry.text;
    }

private:
    struct Entry {
        uint32_t pid = 0, tid = 0;
        std::string comm, text;
    };
    static void fill(Entry& entry, uint32_t pid, uint32_t tid, std::string_view comm) {
        Buffer out(128);
        out.append(R"("pid":)");
        out.number(pid);
        out.append(R"(,"tid":)");
        out.number(tid);
        out.append(R"(,"comm":)");
        write_text(out, comm);
        out.append(R"(,"cpu":)");
        entry = {pid, tid, std::string(comm), std::string(out.view())};
    }
    std::array<Entry, 256> entries_;
};

class Jsonl : public Sink {
public:
    Jsonl(OutputFile file, uint64_t start_ns, const plan::Plan& plan)
        : file_(std::move(file)), start_ns_(start_ns), plan_(&plan), clauses_(clause_texts(plan)) {}

    Result<void> write_meta(const TraceInfo& info) {
        write_meta_line(out_, info);
        return flush();
    }
    void event(const event::Event& event) override;
    void lost(const event::Loss& loss, uint64_t event_id) override;
    void sums(const Sums& gained, uint64_t event_id) override;
    Result<void> flush() override;
    Result<void> finish(const TraceEnd& end, uint64_t event_id) override;
    void reload(const Reload& change, uint64_t event_id) override;

private:
    void begin_line(uint64_t event_id, uint64_t time_ns) {
        out_.append(R"({"event_id":)");
        out_.number(event_id);
        out_.append(R"(,"ts":)");
        write_seconds(out_, time_ns, start_ns_);
    }
    void end_line() {
        out_.append("}\n");
        if (out_.size() >= kWriteAt) write_out();
    }
    void write_duration(uint64_t duration_ns);
    void write_args(const ClauseText& clause, std::span<const event::NamedValue> values);
    void write_stack(std::span<const std::string_view> stack);
    void write_out();

    OutputFile file_;
    uint64_t start_ns_;
    const plan::Plan* plan_;
    std::vector<ClauseText> clauses_;  // by ClauseId
    ThreadTexts threads_;
    Buffer out_{2 * kWriteAt};
    std::optional<Error> untold_;  // of a write
};

void Jsonl::event(const event::Event& event) {
    auto id = static_cast<uint32_t>(event.clause);
    if (id >= clauses_.size()) clauses_ = clause_texts(*plan_);  // it has grown
    const ClauseText& clause = clauses_[id];
    begin_line(event.id, event.time_ns);
    out_.append(clause.head);
    out_.append(threads_.text(event.pid, event.tid, event.comm));
    out_.number(event.cpu);
    if (event.parent) {
        out_.append(R"(,"parent":)");
        out_.number(*event.parent);
    }
    if (event.begin) {
        out_.append(R"(,"begin":)");
        out_.number(*event.begin);
    }
    bool has_end = event.phase == event::Phase::end || event.phase == event::Phase::complete;
    if (has_end && event.has_duration) write_duration(event.duration_ns);
    if (has_end && !event.has_duration) out_.append(R"(,"duration_us":null)");
    if (event.goes_on) out_.append(R"(,"goes_on":true)");
    if (event.ret) {
        out_.append(R"(,"ret":)");
        write_value(out_, *event.ret);
    }
    if (!event.values.empty()) write_args(clause, event.values);
    if (!event.stack.empty()) write_stack(event.stack);
    end_line();
}

void Jsonl::write_duration(uint64_t duration_ns) {
    out_.append(R"(,"duration_us":)");
    out_.number(duration_ns / 1000);
    out_.append('.');
    out_.fraction(duration_ns % 1000, 3);
}

void Jsonl::write_args(const ClauseText& clause, std::span<const event::NamedValue> values) {
    std::string_view before = R"(,"args":{)";
    for (const event::NamedValue& one : values) {
        out_.append(before);
        out_.append(clause.names[one.field]);
        write_value(out_, one.value);
        before = ",";
    }
    out_.append('}');
}

void Jsonl::write_stack(std::span<const std::string_view> stack) {
    out_.append(R"(,"stack":)");
    write_array(out_, stack, write_text);
}

// {"event_id":6,"ts":0.009000000,"type":"lost","cpu":1,"count":17,"rules":["cuda.rules:12"]}
void Jsonl::lost(const event::Loss& loss, uint64_t event_id) {
    begin_line(event_id, loss.time_ns);
    out_.append(R"(,"type":"lost","cpu":)");
    out_.number(loss.cpu);
    out_.append(R"(,"count":)");
    write_unsigned(out_, loss.count);
    out_.append(R"(,"rules":)");
    write_array(out_, loss.rules, write_text);
    end_line();
}

void Jsonl::sums(const Sums& gained, uint64_t event_id) {
    begin_line(event_id, gained.time_ns);
    out_.append(R"(,"type":"sums","since":)");
    write_seconds(out_, gained.since_ns, start_ns_);
    write_sums_members(out_, gained);
    end_line();
}

void Jsonl::write_out() {
    if (!file_.failed()) {
        Result<void> written = file_.write(out_.view());
        if (!written) untold_ = written.error();
    }
    out_.clear();
}

Result<void> Jsonl::flush() {
    if (out_.size() > 0) write_out();
    if (!untold_) return {};
    Error error = std::move(*untold_);
    untold_.reset();
    return error;
}

Result<void> Jsonl::finish(const TraceEnd& end, uint64_t event_id) {
    begin_line(event_id, end.time_ns);
    write_summary_members(out_, end, layers_of(*plan_));
    end_line();
    return flush();
}

void Jsonl::reload(const Reload& change, uint64_t event_id) {
    begin_line(event_id, change.time_ns);
    write_reload_members(out_, change, layers_of(*plan_));
    end_line();
    plan_ = change.plan;
    clauses_ = clause_texts(*plan_);
}

}  // namespace

Result<std::unique_ptr<Sink>> open_jsonl(const std::string& path, const TraceInfo& info,
                                         const plan::Plan& plan) {
    Result<OutputFile> file = OutputFile::open(path);
    if (!file) return file.error();
    auto sink = std::make_unique<Jsonl>(std::move(*file), info.start_ns, plan);
    if (Result<void> written = sink->write_meta(info); !written) return written.error();
    return std::unique_ptr<Sink>(std::move(sink));
}

}  // namespace mlbcc::sink
