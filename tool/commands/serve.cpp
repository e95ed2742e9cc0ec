#include <fmt/format.h>

#include "commands/commands.h"

namespace mlbcc::commands {
namespace {

// A rule for each of the calls, which says which it was; or those that say what each is for.
void add_syscalls(const std::vector<std::string>& calls, load::RuleOptions& rules) {
    if (calls.front() == session::ServeOptions::kCategories) {
        rules.rules.insert(rules.rules.begin(), "serve_calls");
        return;
    }
    const std::string name = "--syscalls";
    std::string& text = rules.given[name];
    for (const std::string& one : calls)
        text += fmt::format("on syscall:{0} {{ event serve.call(call = \"{0}\") }}\n", one);
    rules.rules.insert(rules.rules.begin(), name);
}

void add_marker(const session::ServeOptions::Marker& marker, load::RuleOptions& rules) {
    const std::string name = "--marker";
    rules.given[name] = fmt::format("void {0}(unsigned long request);\n"
                                    "on entry \"{1}\":{0} {{ event serve.mark(request) }}\n",
                                    marker.function, marker.library);
    rules.rules.insert(rules.rules.begin(), name);
}

}  // namespace

int run_serve(session::TraceOptions options, const session::ServeOptions& serve) {
    auto& rules = options.rules.rules;
    if (!serve.syscalls.empty()) add_syscalls(serve.syscalls, options.rules);
    if (!serve.marker.function.empty()) add_marker(serve.marker, options.rules);
    if (serve.stacks) rules.insert(rules.begin(), "serve_stacks");
    if (serve.requests.http) rules.insert(rules.begin(), "serve_http");
    rules.insert(rules.begin(), "serve");
    options.purpose = serve;
    return run_trace(options);
}

}  // namespace mlbcc::commands
