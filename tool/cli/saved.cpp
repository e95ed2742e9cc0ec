#include "cli/saved.h"

#include <fmt/format.h>

#include "cli/mistakes.h"
#include "cli/units.h"

namespace mlbcc {
namespace {

const std::vector<std::string> kForms{"chrome", "perfetto", "folded", "csv", "html"};

session::ViewFormat format_of(const std::string& name) {
    if (name == "perfetto") return session::ViewFormat::perfetto;
    if (name == "folded") return session::ViewFormat::folded;
    if (name == "html") return session::ViewFormat::html;
    return name == "csv" ? session::ViewFormat::csv : session::ViewFormat::chrome;
}

int read_max_size(const SavedTexts& texts, commands::ConvertOptions& convert) {
    if (texts.max_size.empty()) return 0;
    if (convert.to != session::ViewFormat::perfetto)
        return usage_error("--max-size is for `--to perfetto`");
    convert.max_size = parse_size(texts.max_size);
    if (!convert.max_size)
        return usage_error(fmt::format("`{}` is not a size", texts.max_size),
                           "write 100MiB or 512KiB; at most 4GiB");
    if (*convert.max_size >= commands::kLeastMaxSize) return 0;
    return usage_error(fmt::format("`{}` is too small a file", texts.max_size),
                       "write 64KiB or more");
}

// Nothing where the text is none: the default stays.
int read_moment(const std::string& text, uint64_t& ns) {
    if (text.empty()) return 0;
    auto read = parse_duration(text);
    if (!read)
        return usage_error(fmt::format("`{}` is not a time since the start of the trace", text),
                           "write 1.5s, 250ms or 2m");
    ns = static_cast<uint64_t>(read->count());
    return 0;
}

int read_window(const SavedTexts& texts, view::CallSelection& calls) {
    if (int status = read_moment(texts.from, calls.from_ns); status != 0) return status;
    if (int status = read_moment(texts.until, calls.to_ns); status != 0) return status;
    if (calls.from_ns < calls.to_ns) return 0;
    return usage_error("--from is not before --to", "nothing lies between them");
}

int read_calls(const SavedTexts& texts, CommandLine& line) {
    bool is_wanted = false;
    for (const char* option : {"--top", "--type", "--name", "--from", "--to"}) {
        is_wanted |= texts.report->count(option) > 0;
    }
    if (!is_wanted) return 0;
    view::CallSelection calls = texts.calls;
    if (int status = read_window(texts, calls); status != 0) return status;
    if (!line.options.output.folded.file.empty())
        return usage_error("--folded has all calls",
                           "leave --top, --type, --name, --from and --to out");
    line.calls = std::move(calls);
    return 0;
}

void add_choice(CLI::App& sub, view::CallSelection& calls) {
    sub.add_option("--type", calls.types, "Show the calls of these types: memory,file")
        ->type_name("GLOB,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    sub.add_option("--name", calls.name, "Show the calls of this name: cuMem*")->type_name("GLOB");
}

}  // namespace

void add_report_options(CLI::App& report, CommandLine& line, SavedTexts& texts) {
    texts.report = &report;
    report.add_option("file", line.file, "Trace file; - is standard input")->required();
    report
        .add_option("--top", texts.calls.top,
                    "Show the calls: this many names, and this many of the longest; default 10")
        ->type_name("N")
        ->check(unsaid(CLI::PositiveNumber));
    add_choice(report, texts.calls);
    report.add_option("--from", texts.from, "Show the calls that began then or later")
        ->type_name("1.5s");
    report.add_option("--to", texts.until, "Show the calls that began before")->type_name("2s");
}

void add_formats(CLI::App& app, SavedTexts& texts) {
    app.add_option(
           "--format", texts.formats,
           "At the end, also write the trace in these formats: chrome, perfetto, folded, csv, html")
        ->type_name("FORM,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(unsaid(CLI::IsMember(kForms)));
}

void add_convert(CLI::App& app, CommandLine& line, SavedTexts& texts) {
    CLI::App* sub = app.add_subcommand("convert", "Convert a saved trace for another program");
    sub->fallthrough();
    sub->callback([&line] { line.command = Command::convert; });
    sub->add_option("file", line.file, "Trace file; - is standard input")->required();
    sub->add_option("--to", texts.to,
                    "Format: chrome, perfetto, folded, csv, or html (a self-contained page)")
        ->required()
        ->type_name("FORM")
        ->check(unsaid(CLI::IsMember(kForms)));
    sub->add_option("--max-size", texts.max_size,
                    "perfetto only: keep the latest events that fit in a file of this size")
        ->type_name("SIZE");
}

void add_timeline(CLI::App& app, CommandLine& line, SavedTexts& texts) {
    commands::TimelineOptions& timeline = line.timeline;
    timeline.calls.top = 30;
    CLI::App* sub = app.add_subcommand("timeline", "Draw a saved trace on the terminal");
    sub->fallthrough();
    sub->callback([&line] { line.command = Command::timeline; });
    sub->add_option("file", line.file, "Trace file; - is standard input")->required();
    sub->add_option("--from", texts.from, "Draw from this moment on")->type_name("1.5s");
    sub->add_option("--to", texts.until, "Draw up to this moment")->type_name("2s");
    add_choice(*sub, timeline.calls);
    sub->add_option("--top", timeline.calls.top,
                    "Draw at most this many threads, those with the most calls; default 30")
        ->type_name("N")
        ->check(unsaid(CLI::PositiveNumber));
    sub->add_option("--width", timeline.width,
                    "Line width, 60 to 1000 characters; default: the terminal's")
        ->type_name("N")
        ->check(unsaid(CLI::Range(60, 1000)));
    sub->add_flag("--ascii", timeline.ascii, "Draw with ASCII characters only");
}

int read_saved(const SavedTexts& texts, CommandLine& line) {
    line.convert.to = format_of(texts.to);
    for (const std::string& form : texts.formats)
        line.options.output.formats.push_back(format_of(form));
    if (line.command == Command::report) return read_calls(texts, line);
    if (line.command == Command::timeline) return read_window(texts, line.timeline.calls);
    return line.command == Command::convert ? read_max_size(texts, line.convert) : 0;
}

}  // namespace mlbcc
