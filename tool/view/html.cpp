// A page that needs nothing but itself: page/ with the trace in it. Texts of the trace stand in
// JSON in which `<` is escaped, so that none of them can end the element that holds it.
#include <fmt/format.h>

#include "sink/folded.h"
#include "sink/json.h"
#include "view/call_table.h"
#include "view/counters.h"
#include "view/marks.h"
#include "view/output.h"
#include "view/series.h"
#include "view/values.h"
#include "view/view.h"

// page/page.S
#define MLBCC_PART(name) extern "C" const char mlbcc_page_##name[], mlbcc_page_##name##_end[]
MLBCC_PART(html);
MLBCC_PART(css);
MLBCC_PART(uplot_css);
MLBCC_PART(uplot_js);
MLBCC_PART(data_js);
MLBCC_PART(format_js);
MLBCC_PART(lanes_js);
MLBCC_PART(timeline_js);
MLBCC_PART(gestures_js);
MLBCC_PART(table_js);
MLBCC_PART(charts_js);
MLBCC_PART(flame_js);
MLBCC_PART(profile_js);
MLBCC_PART(requests_js);
MLBCC_PART(main_js);
#undef MLBCC_PART

namespace mlbcc::view {
namespace {

#define MLBCC_PART(name)                                                                           \
    std::string_view(mlbcc_page_##name,                                                            \
                     static_cast<size_t>(mlbcc_page_##name##_end - mlbcc_page_##name))
const std::string_view kPage = MLBCC_PART(html);
const std::string_view kStyles[] = {MLBCC_PART(uplot_css), MLBCC_PART(css)};
const std::string_view kScripts[] = {
    MLBCC_PART(data_js),     MLBCC_PART(format_js),   MLBCC_PART(lanes_js),
    MLBCC_PART(timeline_js), MLBCC_PART(gestures_js), MLBCC_PART(table_js),
    MLBCC_PART(charts_js),   MLBCC_PART(flame_js),    MLBCC_PART(profile_js),
    MLBCC_PART(requests_js), MLBCC_PART(main_js)};
const std::string_view kLibrary = MLBCC_PART(uplot_js);
#undef MLBCC_PART

constexpr size_t kStackBytes = 16 << 20;

class Html : public ViewWriter {
public:
    Html(sink::OutputFile file, const TraceOrigin& origin, Reports reports)
        : output_(std::move(file)), origin_(origin), reports_(std::move(reports)) {}

    void slice(const Slice& slice) override;
    void instant(const DrawnEvent& record) override;
    void lost(const saved::LostEvents& lost) override { marks_.lost(lost.time_ns, lost.count); }
    bool failed() const override { return false; }  // nothing is written before the end
    Result<void> finish(const Ending& ending) override;

private:
    void add(const Slice& slice, uint32_t kind, uint32_t call);
    void part(std::string_view marker);
    void write_data(const Ending& ending);
    void write_about(const Ending& ending);
    void write_calls();
    void write_stacks();
    void put_json();

    Output output_;
    sink::Buffer& text_ = output_.text();
    sink::Buffer json_{64 << 10};
    TraceOrigin origin_;
    Reports reports_;
    CallTable table_;
    Marks marks_;
    Counters counters_;
    Series series_;
    sink::FoldedStacks stacks_{kStackBytes};
    uint64_t calls_ = 0, instants_ = 0;
    std::string_view page_ = kPage;
};

void Html::add(const Slice& slice, uint32_t kind, uint32_t call) {
    table_.count(call);
    if (has_mark(*slice.call)) marks_.add(slice, kind, call);
    const std::vector<std::string_view>& stack = stack_of(slice);
    if (stack.empty()) return;
    if (auto id = stacks_.id_of(slice.call->comm, stack, slice.call->name)) stacks_.add(*id, 1);
}

void Html::slice(const Slice& slice) {
    if (slice.call->same == nullptr) ++calls_;
    uint32_t call = table_.id_of(slice.call->type, slice.call->name);
    const bool is_timed =
        slice.missing == Missing::nothing || slice.missing == Missing::begin || slice.call->goes_on;
    if (is_timed) table_.time(call, slice.end_ns - slice.begin_ns);
    add(slice, static_cast<uint32_t>(slice.missing), call);
}

void Html::instant(const DrawnEvent& record) {
    if (record.same == nullptr) ++instants_;
    if (const DrawnEvent* one = counters_.of(record)) return series_.add(*one);
    add(moment_of(record), Marks::kInstant, table_.id_of(record.type, record.name));
}

// What stands in page_ before the marker; it goes on behind it.
void Html::part(std::string_view marker) {
    size_t at = page_.find(marker);
    text_.append(page_.substr(0, at));
    page_.remove_prefix(at + marker.size());
    output_.whole();
}

void Html::put_json() {
    for (char c : json_.view()) c == '<' ? text_.append("\\u003c") : text_.append(c);
    json_.clear();
    output_.whole();
}

void Html::write_about(const Ending& ending) {
    auto member = [&](const char* name, std::string_view text) {
        json_.append(fmt::format("\"{}\":", name));
        sink::write_text(json_, text);
        json_.append(',');
    };
    member("tool", origin_.tool);
    member("start", origin_.start);
    member("kernel", origin_.kernel);
    member("arch", origin_.arch);
    std::vector<std::string_view> command(origin_.command.begin(), origin_.command.end());
    json_.append("\"command\":");
    write_list(json_, command);
    json_.append(fmt::format(
        ",\"duration_ns\":{},\"events\":{},\"lost\":{},\"complete\":{},\"processes\":{},"
        "\"calls_seen\":{},\"instants\":{},",
        ending.time_ns, ending.events, ending.lost, ending.has_summary, ending.processes, calls_,
        instants_));
}

// [type, name, count, timed, total, min, p50, p99, max, [[bucket's begin, end, count], ...]]
void Html::write_calls() {
    json_.append(",\"calls\":[");
    bool is_first = true;
    for (const CallTable::Row& row : table_.rows()) {
        json_.append(is_first ? "[" : ",[");
        is_first = false;
        sink::write_text(json_, row.type);
        json_.append(',');
        sink::write_text(json_, row.name);
        json_.append(fmt::format(",{},{},{},{},{},{},{},[", row.count, row.timed, row.total_ns,
                                 row.timed == 0 ? 0 : row.min_ns, CallTable::quantile(row, 0.5),
                                 CallTable::quantile(row, 0.99), row.max_ns));
        std::string_view before;
        for (auto [bucket, count] : row.buckets) {
            json_.append(fmt::format("{}[{},{},{}]", before, CallTable::begin_of(bucket),
                                     CallTable::begin_of(bucket + 1), count));
            before = ",";
        }
        json_.append("]]");
        put_json();
    }
    json_.append(']');
}

void Html::write_stacks() {
    json_.append(",\"stacks\":[");
    bool is_first = true;
    stacks_.each_line([&](std::string_view stack, uint64_t weight) {
        json_.append(is_first ? "[" : ",[");
        is_first = false;
        sink::write_text(json_, stack);
        json_.append(',');
        json_.number(weight);
        json_.append(']');
        put_json();
    });
    json_.append(']');
}

void Html::write_data(const Ending& ending) {
    text_.append("<script type=\"application/json\" id=\"trace\">");
    json_.append('{');
    write_about(ending);
    marks_.write_members(json_);
    put_json();
    write_calls();
    write_stacks();
    json_.append(",\"series\":");
    series_.write(json_);
    for (const auto& [name, report] :
         {std::pair("profile", &reports_.profile), std::pair("requests", &reports_.requests)}) {
        json_.append(fmt::format(",\"{}\":", name));
        json_.append(report->empty() ? "null" : *report);
    }
    json_.append('}');
    put_json();
    text_.append("</script>\n");
    marks_.put_columns([&](std::string_view name, Packed& packed) {
        text_.append(fmt::format("<data hidden id=\"column-{}\" value=\"", name));
        packed.finish(text_);
        text_.append("\"></data>\n");
        output_.whole();
    });
}

Result<void> Html::finish(const Ending& ending) {
    part("/*STYLE*/");
    for (std::string_view style : kStyles) text_.append(style);
    part("<!--DATA-->");
    write_data(ending);
    part("/*LIBRARY*/");
    text_.append(kLibrary);
    part("/*SCRIPT*/");
    for (std::string_view script : kScripts) text_.append(script);
    text_.append(page_);
    return output_.finish();
}

}  // namespace

Opened open_html(const std::string& path, const TraceOrigin& origin, Reports reports) {
    Result<sink::OutputFile> file = sink::OutputFile::open(path);
    if (!file) return file.error();
    return std::unique_ptr<ViewWriter>(
        std::make_unique<Html>(std::move(*file), origin, std::move(reports)));
}

}  // namespace mlbcc::view
