#include "requests/serve_event.h"

#include <algorithm>
#include <utility>

namespace mlbcc::requests {
namespace {

using Kind = ServeEvent::Kind;
constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"accept", Kind::accept},   {"close", Kind::close}, {"exit", Kind::exit}, {"born", Kind::born},
    {"receive", Kind::receive}, {"send", Kind::send},   {"wait", Kind::wait}, {"call", Kind::call},
    {"tls", Kind::tls},         {"begin", Kind::begin}, {"end", Kind::end},   {"mark", Kind::mark},
};

uint32_t id(const saved::EventFields& one, std::string_view argument) {
    return static_cast<uint32_t>(one.natural(argument));
}

void read_wait(const saved::EventFields& one, ServeEvent& made) {
    made.queued_ns = std::min(one.natural("queued"), one.duration_ns);
    made.other_tid = id(one, "waker");
    made.other_pid = id(one, "waker_process");
    made.parent_pid = id(one, "parent");
    made.timed = one.natural("timed") != 0;
    made.text = one.text("reason");
    made.stack.assign(one.stack.begin(), one.stack.end());
}

}  // namespace

std::optional<ServeEvent> serve_event(const saved::EventFields& one) {
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
    switch (made.kind) {
    case Kind::wait: read_wait(one, made); break;
    case Kind::born: made.other_tid = id(one, "child"); break;
    case Kind::call: made.text = one.text("call"); break;
    case Kind::begin: made.text = one.text("part"); break;
    case Kind::mark: made.request = one.natural("request"); break;
    case Kind::accept:
    case Kind::close: made.fd = one.number("fd"); break;
    case Kind::receive:
    case Kind::send:
        made.fd = one.number("fd");
        made.bytes = one.natural("bytes");
        made.text = one.text("head").substr(0, made.bytes);
        break;
    case Kind::exit:
    case Kind::tls:
    case Kind::end: break;
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

}  // namespace mlbcc::requests
