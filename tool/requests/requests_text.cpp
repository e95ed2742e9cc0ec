#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "requests/requests.h"
#include "sink/format.h"
#include "sink/frames.h"
#include "text/terminal_text.h"

namespace mlbcc::requests {

namespace {

std::string first_row(size_t width) {
    return fmt::format("{:<{}} {:>9} {:>9} {:>6} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "endpoint",
                       width, "requests", "per s", "4xx", "5xx", "p50", "p90", "p99", "p99.9",
                       "max");
}

std::string row(const EndpointUse& use, double seconds, size_t width) {
    const Latency& all = use.latency;
    return fmt::format(
        "{:<{}} {:>9} {:>9.1f} {:>6} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9}\n", use.name, width,
        use.requests, seconds > 0 ? static_cast<double>(use.requests) / seconds : 0.0,
        use.client_errors, use.server_errors, sink::short_duration(all.quantile(0.5)),
        sink::short_duration(all.quantile(0.9)), sink::short_duration(all.quantile(0.99)),
        sink::short_duration(all.quantile(0.999)), sink::short_duration(all.max()));
}

// "cpu 62.1 %, disk 30.0 %, run queue 7.9 %"
std::string shares(const PartTimes& times, uint64_t whole_ns, const Parts& parts) {
    std::vector<std::pair<uint64_t, std::string>> named;
    for (size_t i = 0; i < parts.names().size(); ++i)
        named.emplace_back(times[i], parts.names()[i]);
    std::ranges::stable_sort(named, std::greater{}, &std::pair<uint64_t, std::string>::first);
    std::string text;
    for (const auto& [ns, name] : named) {
        double share = 100 * static_cast<double>(ns) / static_cast<double>(whole_ns);
        if (share < 0.05) continue;
        text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name, share);
    }
    return text;
}

std::string where(const EndpointUse& use, const Parts& parts, size_t width) {
    if (use.time_ns == 0) return {};
    std::string hot = parts.names()[use.hotspot()];
    return fmt::format("{:<{}} {}; slow ones: {}\n", use.name, width,
                       shares(use.parts, use.time_ns, parts), hot);
}

// "31.2 ms at 12.304 s by thread 1234: lock 80.1 %, cpu 19.9 %"
std::string slowest(const EndpointUse& use, const Parts& parts, size_t width) {
    if (use.slowest.empty() || use.slowest[0].duration_ns == 0) return {};
    const SlowRequest& one = use.slowest[0];
    return fmt::format("{:<{}} {} at {:.6f} s by thread {}: {}\n", use.name, width,
                       sink::short_duration(one.duration_ns),
                       static_cast<double>(one.begin_ns) / 1e9, one.tid,
                       shares(one.parts, one.duration_ns, parts));
}

// "2, the longest for 2.61 s, since 1.203 s, by thread 1234: lock 99.8 %, cpu 0.2 %"
std::string still_open(const EndpointUse& use, const Parts& parts, size_t width) {
    if (use.longest_open.empty()) return {};
    const SlowRequest& one = use.longest_open[0];
    return fmt::format("{:<{}} {}, the longest for {}, since {:.6f} s, by thread {}: {}\n",
                       use.name, width, use.open, sink::short_duration(one.duration_ns),
                       static_cast<double>(one.begin_ns) / 1e9, one.tid,
                       shares(one.parts, one.duration_ns, parts));
}

// "lock 81.2 %: acquire < app.py:predict < ...": of the time of its requests. Places that look
// alike are one.
std::string places_of(const EndpointUse& use, const Parts& parts, size_t width) {
    constexpr size_t kShown = 3;
    std::map<std::pair<size_t, std::string>, uint64_t> alike;
    for (const auto& [place, of_it] : use.places)
        alike[{place.part, sink::short_stack(place.stack)}] += of_it.time_ns;
    std::vector<std::pair<uint64_t, std::string>> longest;
    for (const auto& [place, ns] : alike) {
        double share = 100 * static_cast<double>(ns) / static_cast<double>(use.time_ns);
        if (share < 0.05) continue;
        longest.emplace_back(
            ns, fmt::format("{} {:.1f} %: {}", parts.names()[place.first], share, place.second));
    }
    std::ranges::stable_sort(longest, std::greater{}, &std::pair<uint64_t, std::string>::first);
    std::string text;
    for (size_t i = 0; i < std::min(longest.size(), kShown); ++i)
        text += fmt::format("{:<{}} {}\n", i == 0 ? use.name : "", width, longest[i].second);
    return text;
}

// "sendto 2.0 in 24.1 us, write 1.0 in 5.20 us": of a request.
std::string calls_of(const EndpointUse& use, size_t width) {
    if (use.calls.empty() || use.requests == 0) return {};
    std::vector<std::pair<uint64_t, std::string>> longest;
    for (const auto& [name, one] : use.calls) {
        const auto share = static_cast<double>(one.calls) / static_cast<double>(use.requests);
        longest.emplace_back(one.time_ns,
                             fmt::format("{} {:.1f} in {}", name, share,
                                         sink::short_duration(one.time_ns / use.requests)));
    }
    std::ranges::stable_sort(longest, std::greater{}, &std::pair<uint64_t, std::string>::first);
    std::string text;
    for (const auto& [ns, one] : longest) text += (text.empty() ? "" : ", ") + one;
    return fmt::format("{:<{}} {}\n", use.name, width, text);
}

}  // namespace

std::string Requests::text(uint64_t time_ns, std::optional<Since> since) const {
    std::vector<const EndpointUse*> all = endpoints_.all();
    double seconds = static_cast<double>(time_ns) / 1e9;
    const uint64_t requests = endpoints_.requests();
    uint64_t unanswered = 0;
    for (const EndpointUse* use : all) unanswered += use->unanswered;
    OpenRequests open = connections_.open(time_ns, options_.overdue_ns);
    std::string text = fmt::format("=== REQUESTS ===  {:.2f} s, {}, {:.1f} per second", seconds,
                                   sink::plural(requests, "request"),
                                   seconds > 0 ? static_cast<double>(requests) / seconds : 0.0);
    if (since && time_ns > since->time_ns) {
        const double last = static_cast<double>(time_ns - since->time_ns) / 1e9;
        text += fmt::format(" ({:.1f} in the last {:.2f} s)",
                            static_cast<double>(requests - since->requests) / last, last);
    }
    if (unanswered + open.overdue > 0)
        text += fmt::format(", {} never answered", unanswered + open.overdue);
    if (open.waiting > 0) text += fmt::format(", {} not answered yet", open.waiting);
    if (endpoints_.shorter() > 0)
        text += fmt::format(", {} shorter ones left out", endpoints_.shorter());
    text += "\n\n";
    if (all.empty())
        return text +
               "no request was seen: is this the server's process, or one of its children?\n";
    const size_t left_out = all.size() - std::min(all.size(), options_.top);
    all.resize(all.size() - left_out);
    size_t width = 8;
    for (const EndpointUse* use : all) width = std::max(width, use->name.size());
    text += first_row(width);
    for (const EndpointUse* use : all) text += row(*use, seconds, width);
    if (left_out > 0)
        text += fmt::format("and {} with fewer (--top)\n", sink::plural(left_out, "endpoint"));
    text += fmt::format("\n{:<{}} {}\n", "", width, "where the time went");
    for (const EndpointUse* use : all) text += where(*use, connections_.parts(), width);
    text += fmt::format("\n{:<{}} the slowest request\n", "", width);
    for (const EndpointUse* use : all) text += slowest(*use, connections_.parts(), width);
    const auto section = [&](std::string_view heading, const auto& line_of) {
        std::string lines;
        for (const EndpointUse* use : all) lines += line_of(*use);
        if (!lines.empty()) text += fmt::format("\n{:<{}} {}\n{}", "", width, heading, lines);
    };
    const Parts& parts = connections_.parts();
    section("not answered when the trace ended",
            [&](const EndpointUse& use) { return still_open(use, parts, width); });
    section("where it waited",
            [&](const EndpointUse& use) { return places_of(use, parts, width); });
    section("system calls of a request",
            [&](const EndpointUse& use) { return calls_of(use, width); });
    return lines_on_terminal(text);  // names of endpoints are the clients'
}

}  // namespace mlbcc::requests
