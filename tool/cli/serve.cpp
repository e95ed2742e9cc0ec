#include "cli/serve.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "cli/mistakes.h"
#include "cli/units.h"

namespace mlbcc {
namespace {

std::string is_syscall_name(const std::string& name) {
    const bool is_name = !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
    return is_name ? "" : "`" + name + "` is not the name of a system call";
}

// Nothing where the text is none: the default stays.
int read_time(const std::string& text, uint64_t& ns) {
    if (text.empty()) return 0;
    auto read = parse_duration(text);
    if (!read) return not_a_duration(text);
    ns = static_cast<uint64_t>(read->count());
    return 0;
}

bool is_function_name(const std::string& text) {
    auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::ranges::all_of(text, fits);
}

// "./libapp.so:app_works_for"
int read_marker(const std::string& text, session::ServeOptions& serve) {
    if (text.empty()) return 0;
    size_t colon = text.rfind(':');
    std::string library = text.substr(0, colon);
    bool is_whole = colon != std::string::npos && !library.empty() &&
                    library.find_first_of("\"\\\n") == std::string::npos;
    if (!is_whole || !is_function_name(text.substr(colon + 1)))
        return usage_error(fmt::format("`{}` does not name a function of a library", text),
                           "write LIB:FUNCTION, as ./libapp.so:app_works_for");
    serve.marker = {library, text.substr(colon + 1)};
    return 0;
}

}  // namespace

void add_serve(CLI::App& app, CommandLine& line, ServeTexts& texts) {
    CLI::App* serve = app.add_subcommand("serve", "Where the time of a server's requests goes");
    serve->fallthrough();
    serve->callback([&line] { line.command = Command::serve; });
    requests::RequestOptions& requests = line.serve.requests;
    serve->add_option("--json", line.options.output.report.json, "Write the numbers to this file")
        ->type_name("FILE");
    serve->add_option("--interval", texts.interval, "Also show the table this often")
        ->type_name("5s");
    serve->add_flag_callback(
        "--no-http", [&requests] { requests.http = false; },
        "Do not parse HTTP: a request is what a connection receives before it answers");
    serve->add_option("--min-duration", texts.min_duration, "Leave shorter requests out")
        ->type_name("1ms");
    serve
        ->add_option(
            "--timeout", texts.timeout,
            "Count requests without an answer for this long as never answered; default 30s")
        ->type_name("30s");
    serve
        ->add_option("--sample", texts.sample,
                     "Send this fraction of the requests to the --otlp collector")
        ->type_name("1/10");
    serve
        ->add_option(
            "--syscalls", line.serve.syscalls,
            "Tell how often each request makes these system calls, and how long they take; "
            "`categories`: all, by what they are for")
        ->type_name("read,write")
        ->delimiter(',')
        ->check(is_syscall_name);
    serve->add_flag("--stacks", line.serve.stacks,
                    "Tell in which functions each endpoint's requests waited 1 ms or longer");
    serve
        ->add_option("--marker", texts.marker,
                     "Function the server calls with the id of the request that its thread now "
                     "works on (0: none)")
        ->type_name("LIB:FUNCTION");
    serve->add_option("--top", requests.top, "Show at most this many endpoints; default 20")
        ->type_name("N")
        ->check(unsaid(CLI::PositiveNumber));
}

int read_serve(const ServeTexts& texts, session::ServeOptions& serve) {
    const bool by_category =
        std::ranges::find(serve.syscalls, serve.kCategories) != serve.syscalls.end();
    if (by_category && serve.syscalls.size() > 1)
        return usage_error("`categories` cannot be combined with system call names",
                           "give it alone: it counts every system call");
    if (int status = read_time(texts.interval, serve.interval_ns); status != 0) return status;
    if (int status = read_time(texts.min_duration, serve.requests.least_ns); status != 0)
        return status;
    if (!texts.sample.empty()) {
        auto one_in = parse_sample(texts.sample);
        if (!one_in)
            return usage_error(fmt::format("invalid --sample `{}`", texts.sample),
                               "write a fraction: 1/10 is one of ten requests");
        serve.one_in = *one_in;
    }
    if (int status = read_marker(texts.marker, serve); status != 0) return status;
    return read_time(texts.timeout, serve.requests.overdue_ns);
}

}  // namespace mlbcc
