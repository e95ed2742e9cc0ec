#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "cli/options.h"
#include "cli/values.h"

namespace mlbcc {
namespace {

std::string is_syscall_name(const std::string& name) {
    const bool is_name = !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
    return is_name ? "" : "`" + name + "` is not the name of a system call";
}

bool is_function_name(const std::string& text) {
    auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::ranges::all_of(text, fits);
}

// "./libapp.so:app_works_for"
session::ServeOptions::Marker marker_of(const std::string& text) {
    size_t colon = text.rfind(':');
    std::string library = text.substr(0, colon);
    bool is_whole = colon != std::string::npos && !library.empty() &&
                    library.find_first_of("\"\\\n") == std::string::npos;
    if (!is_whole || !is_function_name(text.substr(colon + 1)))
        refuse(fmt::format("`{}` does not name a function of a library", text),
               "write LIB:FUNCTION, as ./libapp.so:app_works_for");
    return {library, text.substr(colon + 1)};
}

// "1/10": 10
uint64_t sample_of(const std::string& text) {
    uint64_t one_in = 0;
    const char* end = text.data() + text.size();
    const bool is_fraction = text.starts_with("1/");
    const auto read = std::from_chars(text.data() + (is_fraction ? 2 : 0), end, one_in);
    if (!is_fraction || read.ec != std::errc() || read.ptr != end || one_in == 0)
        refuse(fmt::format("invalid --sample `{}`", text),
               "write a fraction: 1/10 is one of ten requests");
    return one_in;
}

void check_syscalls(const std::vector<std::string>& names) {
    if (names.size() > 1 &&
        std::ranges::find(names, session::ServeOptions::kCategories) != names.end())
        refuse("`categories` cannot be combined with system call names",
               "give it alone: it counts every system call");
}

void add_requests(CLI::App& serve, requests::RequestOptions& requests) {
    serve.add_flag_callback(
        "--no-http", [&requests] { requests.http = false; },
        "Do not parse HTTP: a request is what a connection receives before it answers");
    add_duration(serve, "--min-duration", requests.least_ns, "Leave shorter requests out")
        ->type_name("1ms");
    add_duration(serve, "--timeout", requests.overdue_ns,
                 "Count requests without an answer for this long as never answered; default 30s")
        ->type_name("30s");
}

void add_marker(CLI::App& serve, session::ServeOptions& options) {
    serve
        .add_option_function<std::string>(
            "--marker", [&options](const std::string& text) { options.marker = marker_of(text); },
            "Function the server calls with the id of the request that its thread now "
            "works on (0: none)")
        ->type_name("LIB:FUNCTION");
}

}  // namespace

void add_serve(CLI::App& serve, CommandLine& line) {
    session::ServeOptions& options = line.serve;
    serve.add_option("--json", line.options.output.report.json, "Write the numbers to this file")
        ->type_name("FILE");
    add_duration(serve, "--interval", options.interval_ns, "Also show the table this often")
        ->type_name("5s");
    add_requests(serve, options.requests);
    serve
        .add_option_function<std::string>(
            "--sample", [&options](const std::string& text) { options.one_in = sample_of(text); },
            "Send this fraction of the requests to the --otlp collector")
        ->type_name("1/10");
    serve
        .add_option("--syscalls", options.syscalls,
                    "Tell how often each request makes these system calls, and how long they take; "
                    "`categories`: all, by what they are for")
        ->type_name("read,write")
        ->delimiter(',')
        ->check(is_syscall_name);
    serve.add_flag("--stacks", options.stacks,
                   "Tell in which functions each endpoint's requests waited 1 ms or longer");
    add_marker(serve, options);
    serve.add_option("--top", options.requests.top, "Show at most this many endpoints; default 20")
        ->type_name("N")
        ->check(unsaid(CLI::PositiveNumber));
    serve.callback([&options] { check_syscalls(options.syscalls); });
}

}  // namespace mlbcc
