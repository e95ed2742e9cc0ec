#include <fmt/format.h>

#include "cli/options.h"
#include "cli/values.h"

namespace mlbcc {
namespace {

using session::ViewFormat;

Choices<ViewFormat> forms() {
    Choices<ViewFormat> all;
    for (const session::ViewForm& one : session::kViewForms) all.emplace_back(one.name, one.format);
    return all;
}

std::string form_names() {
    std::string names;
    for (const auto& [name, format] : forms()) names += (names.empty() ? "" : ", ") + name;
    return names;
}

void add_moment(CLI::App& sub, const char* name, uint64_t& ns, const char* description,
                const char* example) {
    sub.add_option_function<std::string>(
           name, [&ns](const std::string& text) { ns = moment_of(text); }, description)
        ->type_name(example);
}

void check_window(const view::CallSelection& calls) {
    if (calls.from_ns >= calls.to_ns)
        refuse("--from is not before --to", "nothing lies between them");
}

void add_selection(CLI::App& sub, view::CallSelection& calls) {
    sub.add_option("--type", calls.types, "Show the calls of these types: memory,file")
        ->type_name("GLOB,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    sub.add_option("--name", calls.name, "Show the calls of this name: cuMem*")->type_name("GLOB");
}

void check_report(const CLI::App& report, CommandLine& line) {
    for (const char* option : {"--top", "--type", "--name", "--from", "--to"})
        line.shows_calls |= report.count(option) > 0;
    if (!line.shows_calls) return;
    check_window(line.calls);
    if (!line.options.output.folded.file.empty())
        refuse("--folded has all calls", "leave --top, --type, --name, --from and --to out");
}

void check_max_size(const commands::ConvertOptions& convert, const std::string& text) {
    if (convert.to != ViewFormat::perfetto) refuse("--max-size is for `--to perfetto`");
    if (*convert.max_size < commands::kLeastMaxSize)
        refuse(fmt::format("`{}` is too small a file", text), "write 64KiB or more");
}

}  // namespace

void add_report_options(CLI::App& report, CommandLine& line) {
    report.add_option("file", line.file, "Trace file; - is standard input")->required();
    report
        .add_option("--top", line.calls.top,
                    "Show the calls: this many names, and this many of the longest; default 10")
        ->type_name("N")
        ->check(unsaid(CLI::PositiveNumber));
    add_selection(report, line.calls);
    add_moment(report, "--from", line.calls.from_ns, "Show the calls that began then or later",
               "1.5s");
    add_moment(report, "--to", line.calls.to_ns, "Show the calls that began before", "2s");
    report.callback([&report, &line] { check_report(report, line); });
}

void add_formats(CLI::App& app, CommandLine& line) {
    add_choice(app, "--format", line.options.output.formats, forms(),
               "At the end, also write the trace in these formats: " + form_names())
        ->type_name("FORM,...")
        ->delimiter(',')
        ->allow_extra_args(false);
}

void add_convert(CLI::App& convert, CommandLine& line) {
    convert.add_option("file", line.file, "Trace file; - is standard input")->required();
    add_choice(convert, "--to", line.convert.to, forms(),
               "Format: " + form_names() + " (a self-contained page)")
        ->required()
        ->type_name("FORM");
    convert
        .add_option_function<std::string>(
            "--max-size",
            [&line](const std::string& text) {
                line.convert.max_size = size_of(text);
                check_max_size(line.convert, text);
            },
            "perfetto only: keep the latest events that fit in a file of this size")
        ->type_name("SIZE");
}

void add_timeline(CLI::App& sub, CommandLine& line) {
    commands::TimelineOptions& timeline = line.timeline;
    timeline.calls.top = 30;
    sub.add_option("file", line.file, "Trace file; - is standard input")->required();
    add_moment(sub, "--from", timeline.calls.from_ns, "Draw from this moment on", "1.5s");
    add_moment(sub, "--to", timeline.calls.to_ns, "Draw up to this moment", "2s");
    add_selection(sub, timeline.calls);
    sub.add_option("--top", timeline.calls.top,
                   "Draw at most this many threads, those with the most calls; default 30")
        ->type_name("N")
        ->check(unsaid(CLI::PositiveNumber));
    sub.add_option("--width", timeline.width,
                   "Line width, 60 to 1000 characters; default: the terminal's")
        ->type_name("N")
        ->check(unsaid(CLI::Range(60, 1000)));
    sub.add_flag("--ascii", timeline.ascii, "Draw with ASCII characters only");
    sub.callback([&timeline] { check_window(timeline.calls); });
}

}  // namespace mlbcc
