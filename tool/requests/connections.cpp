#include "requests/connections.h"

#include <algorithm>

#include <fmt/format.h>

namespace mlbcc::requests {
namespace {

using Kind = ServeEvent::Kind;

// What of the event's bytes from `at` on is known.
std::string_view known_from(const ServeEvent& one, uint64_t at) {
    return at < one.text.size() ? std::string_view(one.text).substr(at) : std::string_view();
}

// A long path may be cut.
bool is_request(FirstLine line, const HttpHead& head) {
    return line == FirstLine::whole || (line == FirstLine::cut && !head.path.empty());
}

// It waited for what another writes.
bool is_read(const ServeEvent& wait) {
    return wait.text == "pipe" || wait.text == "network" || wait.text == "poll";
}

bool all_answered(const std::deque<std::unique_ptr<Request>>& requests) {
    return std::ranges::all_of(requests, [](const auto& one) { return one->answered; });
}

}  // namespace

void Connections::add(const ServeEvent& one) {
    switch (one.kind) {
    case Kind::accept: return accept(one);
    case Kind::close: return close({one.pid, one.fd});
    case Kind::exit: return exit(one);
    case Kind::born: return born(one);
    case Kind::receive: return receive(one);
    case Kind::send: return send(one);
    case Kind::wait: return wait(one);
    case Kind::call: return call(one);
    case Kind::begin:
    case Kind::end: return begin_or_end(one);
    case Kind::mark: return mark(one);
    case Kind::tls: tls_.insert(one.pid); return;
    }
}

void Connections::finish(uint64_t now_ns) {
    for (auto& [place, on] : connections_) {
        while (!on.requests.empty() && on.requests.front()->answered) end_first(on);
    }
    for (auto& [tid, thread] : threads_) thread.finish(now_ns);
    take_open(now_ns);
}

void Connections::take_open(uint64_t now_ns) {
    for (const auto& [place, on] : connections_) {
        for (const auto& request : on.requests) {
            if (request->answered || now_ns <= request->begin_ns) continue;
            Request one = *request;
            one.end_ns = now_ns;
            take_.request(one, RequestEnd::open);
        }
    }
}

OpenRequests Connections::open(uint64_t now_ns, uint64_t limit_ns) const {
    OpenRequests open;
    for (const auto& [place, on] : connections_) {
        for (const auto& request : on.requests) {
            if (request->answered) continue;
            bool is_overdue = now_ns > request->begin_ns + limit_ns;
            ++(is_overdue ? open.overdue : open.waiting);
        }
    }
    return open;
}

void Connections::accept(const ServeEvent& one) {
    close({one.pid, one.fd});  // its end was not seen
    Connection& on = connections_[{one.pid, one.fd}];
    on.by_turns = !reads_http_;
    on.label = "(all)";
}

void Connections::close(const Place& place) {
    auto found = connections_.find(place);
    if (found == connections_.end()) return;
    while (!found->second.requests.empty()) end_first(found->second);
    connections_.erase(found);
}

void Connections::exit(const ServeEvent& one) {
    if (one.pid == one.tid) {
        auto at = connections_.lower_bound({one.pid, INT64_MIN});
        while (at != connections_.end() && at->first.first == one.pid) close((at++)->first);
        tls_.erase(one.pid);
        parents_.erase(one.pid);
    }
    stop_working(one);
    auto thread = threads_.find(one.tid);
    if (thread == threads_.end()) return;
    thread->second.finish();
    if (!thread->second.is_idle()) return;  // another one may answer
    std::erase_if(callers_, [&](const auto& of) { return of.second.tid == one.tid; });
    threads_.erase(thread);
}

void Connections::stop_working(const ServeEvent& one) {
    ThreadTime* caller = caller_of(one.tid, one.pid);
    if (caller) caller->worker_exits(one.tid, one.end_ns);
    callers_.erase(one.tid);
}

// Null where it is not known to work for another.
ThreadTime* Connections::caller_of(uint32_t tid, uint32_t pid) {
    auto caller = callers_.find(tid);
    if (caller == callers_.end() || caller->second.worker_pid != pid) return nullptr;
    auto thread = threads_.find(caller->second.tid);
    bool is_it = thread != threads_.end() && thread->second.pid() == caller->second.pid;
    return is_it ? &thread->second : nullptr;
}

void Connections::born(const ServeEvent& one) {
    auto thread = threads_.find(one.tid);
    if (thread == threads_.end()) return;
    thread->second.has_made(one.other_tid, one.end_ns);
    callers_[one.other_tid] = {one.tid, one.pid, one.pid};
}

void Connections::wait(const ServeEvent& one) {
    if (one.parent_pid != 0) parents_[one.pid] = one.parent_pid;
    const bool is_for_answer = give_back(one);
    auto thread = threads_.find(one.tid);
    if (thread == threads_.end()) return wait_of_other(one, is_for_answer);
    thread->second.wait(one, parts_.index(one.text));
}

// Whose work it takes who waited so; threads_.end(): nobody's. Within a process, a thread that
// waits for work has no time limit; that it came tells who has woken it. A process of a pool reads
// what a thread of the server has written, most often not the one that has the requests.
Connections::Threads::iterator Connections::called_by(const ServeEvent& wait) {
    auto waker = threads_.find(wait.other_tid);
    const bool is_known = waker != threads_.end();
    if (is_known && waker->second.pid() == wait.pid)
        return wait.text == "lock" && !wait.timed ? waker : threads_.end();
    if (!is_read(wait) || !is_descendant(wait.pid, wait.other_pid)) return threads_.end();
    if (is_known && waker->second.pid() == wait.other_pid) return waker;
    auto has_requests = [&](const auto& of) {
        return of.second.pid() == wait.other_pid && !of.second.is_idle();
    };
    auto only = std::ranges::find_if(threads_, has_requests);
    bool are_more = only != threads_.end() &&
                    std::find_if(std::next(only), threads_.end(), has_requests) != threads_.end();
    return are_more ? threads_.end() : only;
}

bool Connections::is_descendant(uint32_t pid, uint32_t of) const {
    constexpr int kMostLevels = 4;
    for (int level = 0; level < kMostLevels; ++level) {
        auto parent = parents_.find(pid);
        if (parent == parents_.end()) return false;
        pid = parent->second;
        if (pid == of) return true;
    }
    return false;
}

// A process of a pool answers any thread of its parent. Whether it is that which was waited for.
bool Connections::give_back(const ServeEvent& wait) {
    if (!is_read(wait) || wait.other_pid == wait.pid) return false;
    ThreadTime* caller = caller_of(wait.other_tid, wait.other_pid);
    if (!caller || caller->pid() != wait.pid) return false;
    caller->worker_gave_back(wait);
    return true;
}

void Connections::wait_of_other(const ServeEvent& one, bool is_for_answer) {
    auto by = called_by(one);
    ThreadTime* caller = caller_of(one.tid, one.pid);
    bool is_call =
        by != threads_.end() && (!caller || (caller == &by->second && !caller->is_marked(one.tid)));
    if (is_call) {
        callers_[one.tid] = {by->first, by->second.pid(), one.pid};
        by->second.has_called(one);
    } else if (caller) {
        caller->worker_waits(one, is_for_answer ? ThreadLine::kIdle : parts_.index(one.text));
    }
}

void Connections::call(const ServeEvent& one) {
    auto thread = threads_.find(one.tid);
    ThreadTime* caller = thread == threads_.end() ? caller_of(one.tid, one.pid) : nullptr;
    if (thread == threads_.end() && !caller) return;
    if (caller ? caller->worker_call(one) : thread->second.call(one)) return;
    requests::add(shared_calls_, {{one.text, {1, one.end_ns - one.begin_ns}}});
}

// A part of the rules' own.
void Connections::begin_or_end(const ServeEvent& one) {
    auto thread = threads_.find(one.tid);
    ThreadTime* caller = thread == threads_.end() ? caller_of(one.tid, one.pid) : nullptr;
    if (thread == threads_.end() && !caller) return;
    std::optional<size_t> part;
    if (one.kind == Kind::begin) part = parts_.index(one.text);
    caller ? caller->worker_part(one.tid, one.end_ns, part) : thread->second.part(one.end_ns, part);
}

// A thread that is not known to work for another does so if that has the same number.
void Connections::mark(const ServeEvent& one) {
    auto thread = threads_.find(one.tid);
    if (thread != threads_.end()) return thread->second.mark(one.end_ns, one.request);
    ThreadTime* caller = caller_of(one.tid, one.pid);
    if (!caller || (one.request != 0 && !caller->knows_mark(one.request))) {
        auto knows = std::ranges::find_if(threads_, [&](const auto& of) {
            return of.second.pid() == one.pid && of.second.knows_mark(one.request);
        });
        if (knows == threads_.end()) return;
        stop_working(one);
        callers_[one.tid] = {knows->first, one.pid, one.pid};
        caller = &knows->second;
    }
    caller->worker_mark(one.tid, one.end_ns, one.request);
}

void Connections::receive(const ServeEvent& one) {
    auto found = connections_.find({one.pid, one.fd});
    if (found == connections_.end()) {
        // It was accepted before the trace began, or by another process: known by what it says.
        HttpHead head;
        if (!reads_http_ || !is_request(read_request(one.text, head), head)) return;
        found = connections_.try_emplace({one.pid, one.fd}).first;
    }
    Connection& on = found->second;
    if (one.bytes == 0 || on.is_seen_inside) return;
    on.by_turns ? receive_turn(on, one) : receive_http(on, one);
}

void Connections::receive_turn(Connection& on, const ServeEvent& one) {
    if (all_answered(on.requests)) begin(on, one, one.end_ns).endpoint = on.label;
    on.requests.back()->bytes_in += one.bytes;
}

void Connections::receive_http(Connection& on, const ServeEvent& one) {
    uint64_t at = 0;
    while (at < one.bytes) {
        if (on.body_left > 0) {
            uint64_t body = std::min(on.body_left, one.bytes - at);
            on.body_left -= body;
            at += body;
            continue;
        }
        if (on.by_turns || !receive_head(on, one, at)) break;
    }
    if (!on.requests.empty()) on.requests.back()->bytes_in += one.bytes;
}

// Whether more of `one` may be looked at, from `at` on.
bool Connections::receive_head(Connection& on, const ServeEvent& one, uint64_t& at) {
    std::string_view known = known_from(one, at), text = known;
    std::string joined;
    if (!on.begun.empty()) text = joined = on.begun + std::string(known);
    HttpHead head;
    FirstLine line = read_request(text, head);
    bool is_cut_here = known.size() < one.bytes - at;  // more was received than is known
    if (line == FirstLine::cut && !is_cut_here) {
        if (on.begun.empty()) on.begun_ns = one.end_ns;
        on.begun = text;
        return false;
    }
    if (!is_request(line, head)) {
        if (!all_answered(on.requests)) return false;  // the rest of a request
        std::string_view protocol = protocol_of(text);
        on.is_seen_inside = protocol == "TLS" && tls_.contains(one.pid);
        if (on.is_seen_inside) return false;
        on.by_turns = true;
        on.label = fmt::format("({})", protocol);
        receive_turn(on, one);
        return false;
    }
    Request& request = begin(on, one, on.begun.empty() ? one.end_ns : on.begun_ns);
    request.endpoint = head.method + " " + head.path;
    request.is_head = head.method == "HEAD";
    size_t before = on.begun.size();
    on.begun.clear();
    if (!head.size) return false;
    at += *head.size - before;
    on.body_left = head.content_length.value_or(0);
    return true;
}

Request& Connections::begin(Connection& on, const ServeEvent& one, uint64_t begin_ns) {
    while (!on.requests.empty() && on.requests.front()->answered) end_first(on);
    auto request = std::make_unique<Request>();
    request->pid = one.pid;
    request->tid = one.tid;
    request->begin_ns = request->end_ns = begin_ns;
    stop_working(one);  // it has requests of its own
    thread(*request, one.end_ns).begin(*request, one.end_ns);
    request->parts[Parts::other] += one.end_ns - begin_ns;  // between the parts of its first line
    on.requests.push_back(std::move(request));
    return *on.requests.back();
}

// Of the one that received it.
ThreadTime& Connections::thread(const Request& request, uint64_t now_ns) {
    return threads_.try_emplace(request.tid, request.pid, now_ns, take_).first->second;
}

void Connections::send(const ServeEvent& one) {
    auto found = connections_.find({one.pid, one.fd});
    if (found == connections_.end()) {
        ThreadTime* caller = caller_of(one.tid, one.pid);
        if (caller) caller->worker_sent(one.tid, one.end_ns);
        return;
    }
    if (found->second.requests.empty()) return;
    Connection& on = found->second;
    on.by_turns ? sent(on, one) : send_http(on, one);
}

// Counts as its answer's last until there is another.
void Connections::sent(Connection& on, const ServeEvent& one) {
    Request& request = *on.requests.front();
    // Of a thread that did not send it, it is not known what it did meanwhile.
    if (one.tid == request.tid) thread(request, one.end_ns).sent(request, one);
    request.answered = true;
    request.handed_over |= one.tid != request.tid;
    request.end_ns = one.end_ns;
}

void Connections::send_http(Connection& on, const ServeEvent& one) {
    uint64_t at = 0;
    while (at < one.bytes && !on.requests.empty()) {
        if (on.answer_left > 0) {
            uint64_t body = std::min(on.answer_left, one.bytes - at);
            on.answer_left -= body;
            at += body;
            on.requests.front()->bytes_out += body;
            sent(on, one);
            if (on.answer_left == 0) end_first(on);
            continue;
        }
        if (!send_head(on, one, at)) break;
    }
}

// Whether more of `one` may be looked at, from `at` on.
bool Connections::send_head(Connection& on, const ServeEvent& one, uint64_t& at) {
    HttpHead head;
    FirstLine line = read_answer(known_from(one, at), head);
    if (line == FirstLine::whole && head.status < 200 && head.status != 101) {
        if (head.size) at += *head.size;  // `100 Continue` is no answer
        return head.size.has_value();
    }
    if (line == FirstLine::whole && on.requests.front()->answered && on.requests.size() > 1) {
        end_first(on);
    }
    Request& request = *on.requests.front();
    bool is_first = !request.answered;
    sent(on, one);
    if (line != FirstLine::whole || !is_first) {
        request.bytes_out += one.bytes - at;
        return false;
    }
    request.status = head.status;
    bool has_body =
        !request.is_head && head.status != 204 && head.status != 304 && head.status != 101;
    if (!head.size || (has_body && !head.content_length)) {
        request.bytes_out += one.bytes - at;
        return false;  // how long it is, is not known
    }
    at += *head.size;
    request.bytes_out += *head.size;
    on.answer_left = has_body ? *head.content_length : 0;
    if (head.status == 101) {
        on.by_turns = true;
        on.label = request.endpoint + " (upgraded)";
    }
    if (on.answer_left == 0) end_first(on);
    return !on.by_turns;
}

void Connections::end_first(Connection& on) {
    std::unique_ptr<Request> request = std::move(on.requests.front());
    on.requests.pop_front();
    on.answer_left = 0;
    RequestEnd how = request->answered ? RequestEnd::answered : RequestEnd::closed;
    ThreadTime& its = thread(*request, request->end_ns);
    its.end(std::move(request), how);
}

}  // namespace mlbcc::requests
