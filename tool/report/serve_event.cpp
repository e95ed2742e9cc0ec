#include "report/serve_event.h"

#include <algorithm>
#include <utility>

namespace mlbcc::report {
namespace {

using Kind = ServeEvent::Kind;
constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"accept", Kind::accept},   {"close", Kind::close}, {"exit", Kind::exit}, {"born", Kind::born},
    {"receive", Kind::receive}, {"send", Kind::send},   {"wait", Kind::wait}, {"call", Kind::call},
    {"tls", Kind::tls},         {"begin", Kind::begin}, {"end", Kind::end},   {"mark", Kind::mark},
};

}  // namespace

std::optional<ServeEvent> serve_event(const Happening& one) {
    if (one.type != "serve") return {};
    const auto* found =
        std::ranges::find(kKinds, one.name, &std::pair<std::string_view, Kind>::first);
    if (found == std::end(kKinds)) return {};
    ServeEvent made;
    made.kind = found->second;
    made.begin_ns = one.time_ns;
    made.end_ns = one.time_ns + one.duration_ns;
    made.pid = one.pid;
    made.tid = one.tid;
    made.fd = one.number("fd");
    made.bytes = one.natural("bytes");
    made.queued_ns = std::min(one.natural("queued"), one.duration_ns);
    made.other_tid =
        static_cast<uint32_t>(one.natural(made.kind == Kind::born ? "child" : "waker"));
    made.other_pid = static_cast<uint32_t>(one.natural("waker_process"));
    made.parent_pid = static_cast<uint32_t>(one.natural("parent"));
    made.request = one.natural("request");
    made.timed = one.natural("timed") != 0;
    switch (made.kind) {
    case Kind::wait:
        made.text = one.text("reason");
        made.stack.assign(one.stack.begin(), one.stack.end());
        break;
    case Kind::call: made.text = one.text("call"); break;
    case Kind::begin: made.text = one.text("part"); break;
    default:
        made.text = one.text("head");
        if (made.text.size() > made.bytes) made.text.resize(made.bytes);
    }
    return made;
}

void EndOrder::add(ServeEvent one) {
    while (!waiting_.empty() && waiting_.top().end_ns <= one.begin_ns) {
        take_(waiting_.top());
        waiting_.pop();
    }
    waiting_.push(std::move(one));
}

void EndOrder::finish() {
    for (; !waiting_.empty(); waiting_.pop()) take_(waiting_.top());
}

}  // namespace mlbcc::report
