// A table with a row a call or instant, as RFC 4180 has it (rows end in CR LF, as there).
#include "sink/json.h"
#include "text/terminal_text.h"
#include "view/output.h"
#include "view/values.h"
#include "view/view.h"

namespace mlbcc::view {
namespace {

constexpr std::string_view kColumns =
    "kind,start_s,duration_us,pid,tid,comm,cpu,type,name,function,symbol,returned,args,stack,"
    "incomplete,event_id\r\n";

class Csv : public ViewWriter {
public:
    explicit Csv(sink::OutputFile file) : output_(std::move(file)) { text_.append(kColumns); }

    void slice(const Slice& slice) override {
        row(slice.call->same == nullptr ? "call" : "event", slice);
    }
    void instant(const DrawnEvent& record) override {
        row(is_counter(record) ? "counter" : "instant", moment_of(record));
    }
    void lost(const saved::LostEvents& lost) override;
    bool failed() const override { return output_.failed(); }
    Result<void> finish(const Ending&) override { return output_.finish(); }

private:
    void row(std::string_view kind, const Slice& slice);
    void time(uint64_t ns, uint64_t unit_ns, int digits);
    void thread(const DrawnEvent& record);
    void cell(std::string_view text);
    void text_cell(std::string_view text);
    void arguments(const Slice& slice);
    void json_cell();
    void end() {
        text_.append("\r\n");
        output_.whole();
    }

    Output output_;
    sink::Buffer& text_ = output_.text();
    sink::Buffer json_{4096};
};

// Of a traced program: no spreadsheet may take it for a formula, and no terminal for a control.
void Csv::text_cell(std::string_view text) {
    const bool is_formula = !text.empty() && std::string_view("=+-@").find(text[0]) != text.npos;
    cell((is_formula ? "'" : "") + on_terminal(text));
}

// ,text   with quotes where it needs them
void Csv::cell(std::string_view text) {
    text_.append(',');
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return text_.append(text);
    text_.append('"');
    for (char c : text) {
        if (c == '"') text_.append('"');
        text_.append(c);
    }
    text_.append('"');
}

// JSON has other controls by number already, and takes these forms of what is left.
void Csv::json_cell() {
    std::string text(json_.view());
    for (size_t at = 0; (at = text.find('\x7f', at)) != text.npos;) text.replace(at, 1, "\\u007f");
    cell(on_terminal(text));
    json_.clear();
}

void Csv::time(uint64_t ns, uint64_t unit_ns, int digits) {
    text_.append(',');
    text_.number(ns / unit_ns);
    text_.append('.');
    text_.fraction(ns % unit_ns, digits);
}

void Csv::thread(const DrawnEvent& record) {
    text_.append(',');
    text_.number(record.pid);
    text_.append(',');
    text_.number(record.tid);
    text_cell(record.comm);
    text_.append(',');
    text_.number(record.cpu);
}

void Csv::arguments(const Slice& slice) {
    std::string_view before = "{";
    each_argument(slice, [&](const DrawnEvent::Argument& one) {
        json_.append(before);
        sink::write_text(json_, one.name);
        json_.append(':');
        write_json(json_, one.value);
        before = ",";
    });
    if (json_.size() > 0) json_.append('}');
    json_cell();
}

// Texts stand for themselves, everything else as in JSON.
void Csv::row(std::string_view kind, const Slice& slice) {
    const DrawnEvent& call = *slice.call;
    const DrawnEvent& last = slice.end != nullptr ? *slice.end : call;
    const bool ended = slice.missing != Missing::still_open || last.goes_on;
    const bool has_duration = (kind == "call" || kind == "event") && ended && last.has_duration;
    text_.append(kind);
    time(slice.begin_ns, 1'000'000'000, 9);
    has_duration ? time(slice.end_ns - slice.begin_ns, 1000, 3) : text_.append(',');
    thread(call);
    for (std::string_view text : {call.type, call.name, call.function, call.symbol})
        text_cell(text);
    const std::optional<saved::FieldValue>& ret = return_of(slice);
    const auto* text = ret ? std::get_if<std::string_view>(&*ret) : nullptr;
    if (text != nullptr) {
        text_cell(*text);
    } else {
        if (ret) write_json(json_, *ret);
        json_cell();
    }
    arguments(slice);
    if (!stack_of(slice).empty()) write_list(json_, stack_of(slice));
    json_cell();
    switch (slice.missing) {
    case Missing::nothing: cell(""); break;
    case Missing::begin: cell("begin"); break;
    case Missing::end: cell("end"); break;
    case Missing::still_open: cell("open"); break;
    }
    text_.append(',');
    text_.number(call.id);
    end();
}

// Where there is no thread: the CPU, how many, of which rules.
void Csv::lost(const saved::LostEvents& lost) {
    text_.append("lost");
    time(lost.time_ns, 1'000'000'000, 9);
    text_.append(",,,,,");
    text_.number(lost.cpu);
    text_.append(",,,,,");
    json_.append("{\"count\":");
    json_.number(lost.count);
    json_.append(",\"rules\":");
    write_list(json_, lost.rules);
    json_.append('}');
    json_cell();
    text_.append(",,,");
    end();
}

}  // namespace

Opened open_csv(const std::string& path) {
    Result<sink::OutputFile> file = sink::OutputFile::open(path);
    if (!file) return file.error();
    return std::unique_ptr<ViewWriter>(std::make_unique<Csv>(std::move(*file)));
}

}  // namespace mlbcc::view
