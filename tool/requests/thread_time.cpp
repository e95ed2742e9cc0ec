#include "requests/thread_time.h"

#include <algorithm>

namespace mlbcc::requests {
namespace {

constexpr size_t kMostPieces = 512;  // that are kept while no request ends
constexpr size_t kMostMarks = 4096;
constexpr size_t kMostPlaces = 20;  // of a request
// For how long it is waited for an answer that tells which request a number is.
constexpr uint64_t kPatienceForMarks = 10'000'000'000;

bool goes_on_after(const Request& one, uint64_t time_ns) {
    return !one.answered || time_ns < one.end_ns;
}

}  // namespace

size_t Parts::index(std::string_view name) {
    auto found = std::ranges::find(names_, name);
    if (found != names_.end()) return static_cast<size_t>(found - names_.begin());
    if (names_.size() == kMost) return other;
    names_.emplace_back(name);
    return names_.size() - 1;
}

void add(SyscallUses& all, const SyscallUses& more) {
    for (const auto& [name, use] : more) {
        all[name].calls += use.calls;
        all[name].time_ns += use.time_ns;
    }
}

void ThreadTime::begin(Request& request, uint64_t now_ns) {
    line_.pass(now_ns, Parts::cpu);
    if (open_.empty()) line_.end_all();  // ends may have been lost
    request.opened_ns = now_ns;
    request.id = ++requests_;
    open_.push_back(&request);
    catch_up(now_ns);
}

void ThreadTime::sent(Request& request, const ServeEvent& send) {
    line_.pass(send.begin_ns, Parts::cpu);
    line_.pass(send.end_ns, Parts::sending);
    if (line_.marked() != 0 && line_.marked() != request.mark) bind(line_.marked(), request);
    for (size_t i = 0; i < Parts::kMost; ++i) request.parts[i] += request.unsure[i];
    request.unsure = {};
    add(request.calls, request.unsure_calls);
    request.unsure_calls.clear();
}

void ThreadTime::end(std::unique_ptr<Request> request, RequestEnd how) {
    if (how == RequestEnd::answered && !request->handed_over) {
        uint64_t now = std::max(line_.known_ns(), request->end_ns);
        ended_.push_back(std::move(request));
        return catch_up(now);
    }
    std::erase(open_, request.get());
    if (request->handed_over) {
        request->parts = {};
        request->parts[Parts::handed_over] = request->duration_ns();
    }
    take_.request(*request, how);
}

void ThreadTime::wait(const ServeEvent& wait, size_t part) {
    line_.pass(wait.begin_ns, Parts::cpu);
    line_.pass(wait.end_ns - wait.queued_ns, part);
    line_.pass(wait.end_ns, Parts::run_queue);
    if (part != Parts::poll) place(wait, part, wait.begin_ns, marked(line_.marked()));
    auto waker = workers_.find(wait.other_tid);
    if (waker != workers_.end() && part == Parts::poll) {
        waker->second.gave_back_to_caller(wait.end_ns - wait.queued_ns);
    }
    catch_up(wait.end_ns);
}

void ThreadTime::part(uint64_t now_ns, std::optional<size_t> part) {
    line_.pass(now_ns, Parts::cpu);
    part ? line_.begin(*part) : line_.end();
}

void ThreadTime::worker_part(uint32_t worker, uint64_t now_ns, std::optional<size_t> part) {
    workers_.at(worker).part(now_ns, part);
}

void ThreadTime::mark(uint64_t now_ns, uint64_t request) {
    line_.pass(now_ns, Parts::cpu);
    line_.mark(request);
    note_mark(request, now_ns);
}

void ThreadTime::worker_mark(uint32_t worker, uint64_t now_ns, uint64_t request) {
    workers_.try_emplace(worker, now_ns).first->second.mark(now_ns, request);
    note_mark(request, now_ns);
}

// Where one request is open that has no number, a new one is its. Otherwise the answer will tell.
void ThreadTime::note_mark(uint64_t mark, uint64_t now_ns) {
    if (mark == 0 || marks_.contains(mark)) return;
    if (marks_.size() == kMostMarks) marks_.erase(marks_.begin());
    marks_[mark].first_ns = now_ns;
    std::vector<Request*> without;
    for (Request* one : open_) {
        if (one->mark == 0 && !has_ended(*one)) without.push_back(one);
    }
    if (without.size() == 1) bind(mark, *without[0]);
}

void ThreadTime::bind(uint64_t mark, Request& request) {
    for (Request* one : open_) {
        if (one->mark == mark) one->mark = one->marked_ns = 0;  // it was taken for its
    }
    Marked& its = marks_[mark];
    its.request = request.id;
    request.mark = mark;
    request.marked_ns = its.first_ns;
}

// The request that has this number; 0: not known.
uint64_t ThreadTime::marked(uint64_t mark) const {
    auto found = marks_.find(mark);
    return mark == 0 || found == marks_.end() ? 0 : found->second.request;
}

void ThreadTime::has_made(uint32_t worker, uint64_t now_ns) {
    workers_.insert_or_assign(worker, Worker(now_ns));
}

void ThreadTime::has_called(const ServeEvent& wait) {
    auto [worker, is_new] = workers_.try_emplace(wait.tid, wait.end_ns - wait.queued_ns);
    worker->second.called(wait);
    if (wait.pid != pid_) worker->second.is_of_pool();
    if (auto asker = workers_.find(wait.other_tid); asker != workers_.end())
        asker->second.has_asked();
    catch_up(wait.end_ns);
}

void ThreadTime::worker_waits(const ServeEvent& wait, size_t part) {
    Worker& worker = workers_.at(wait.tid);
    if (worker.wait(wait, part) && worker.is_known())
        place(wait, part, worker.since_ns(), request_of(worker));
    catch_up(wait.end_ns);
}

void ThreadTime::worker_sent(uint32_t worker, uint64_t now_ns) {
    workers_.at(worker).gave_back(now_ns);
}

void ThreadTime::worker_gave_back(const ServeEvent& wait) {
    workers_.at(wait.other_tid).gave_back_to_caller(wait.end_ns - wait.queued_ns);
    catch_up(wait.end_ns);
}

bool ThreadTime::worker_call(const ServeEvent& call) {
    const Worker& worker = workers_.at(call.tid);
    return worker.is_known() && give(call, worker.since_ns(), request_of(worker));
}

// What it works for now; 0: that is not known.
uint64_t ThreadTime::request_of(const Worker& worker) const {
    uint64_t request = marked(worker.marked());
    return request != 0 ? request : worker.request(worker.since_ns());
}

// Of what was done at `time_ns`, for one of the requests that were there at `since_ns`: for the
// one with this id, unless it is 0. Of several requests of one endpoint it is the first.
ThreadTime::Owner ThreadTime::owner(uint64_t time_ns, uint64_t since_ns, uint64_t request) const {
    std::vector<Request*> open, unsure;
    for (Request* one : open_) {
        if (one->opened_ns > since_ns || (request != 0 && one->id != request)) continue;
        if (goes_on_after(*one, time_ns)) {
            open.push_back(one);
        } else if (!has_ended(*one)) {
            unsure.push_back(one);
        }
    }
    const std::vector<Request*>& its = open.empty() ? unsure : open;
    auto is_alike = [&](const Request* one) { return one->endpoint == its.front()->endpoint; };
    if (its.empty() || !std::ranges::all_of(its, is_alike)) return {};
    if (open.empty() && unsure.size() > 1) return {};
    return {its.front(), !open.empty()};
}

bool ThreadTime::give(const ServeEvent& call, uint64_t since_ns, uint64_t request) {
    Owner its = owner(call.begin_ns, since_ns, request);
    if (!its.request) return false;
    SyscallUses& calls = its.is_sure ? its.request->calls : its.request->unsure_calls;
    add(calls, {{call.text, {1, call.end_ns - call.begin_ns}}});
    return true;
}

void ThreadTime::place(const ServeEvent& wait, size_t part, uint64_t since_ns, uint64_t request) {
    if (wait.stack.empty()) return;
    Owner its = owner(wait.begin_ns, since_ns, request);
    if (!its.is_sure) return;
    WaitPlaces one{{{part, wait.stack}, {1, wait.end_ns - wait.begin_ns}}};
    add(its.request->places, one, kMostPlaces);
}

bool ThreadTime::has_ended(const Request& one) const {
    return std::ranges::any_of(ended_, [&](const auto& ended) { return ended.get() == &one; });
}

void ThreadTime::worker_exits(uint32_t worker, uint64_t now_ns) {
    workers_.at(worker).exit(now_ns);
    catch_up(now_ns);
    std::erase_if(workers_, [&](const auto& of) {
        return of.second.has_ended() && (open_.empty() || of.second.known_ns() <= swept_ns_);
    });
}

void ThreadTime::finish(uint64_t now_ns) {
    uint64_t end = std::max(swept_ns_, now_ns);
    for (const auto& one : ended_) end = std::max(end, one->end_ns);
    line_.pass(now_ns, Parts::cpu);  // all waits are told by then
    sweep(end);
    drop_ended();
}

void ThreadTime::catch_up(uint64_t now_ns) {
    if (ended_.empty() && line_.size() < kMostPieces) return;
    sweep(settled_ns(now_ns));
    drop_ended();
}

uint64_t ThreadTime::settled_ns(uint64_t now_ns) const {
    uint64_t settled = line_.known_ns();
    auto waits_for_answer = [this](uint64_t mark) {
        auto found = marks_.find(mark);
        return found != marks_.end() && found->second.request == 0;
    };
    std::optional<uint64_t> first;
    if (!marks_.empty()) first = line_.first_marked(waits_for_answer);
    if (first && now_ns <= *first + kPatienceForMarks) settled = std::min(settled, *first);
    for (const auto& [tid, worker] : workers_) {
        bool works_for_one = !open_.empty() && open_.front()->opened_ns <= worker.since_ns();
        if (!works_for_one) continue;
        settled = std::min(settled, worker.settled_ns(now_ns));
        if (!marks_.empty() && worker.may_mark(now_ns))
            settled = std::min(settled, worker.since_ns());
    }
    return settled;
}

void ThreadTime::sweep(uint64_t until_ns) {
    if (open_.empty()) swept_ns_ = std::max(swept_ns_, until_ns);
    while (swept_ns_ < until_ns) swept_ns_ = sweep_piece(until_ns);
    line_.at(swept_ns_);
}

// From swept_ns_ to where something changes, which is returned.
uint64_t ThreadTime::sweep_piece(uint64_t until_ns) {
    uint64_t from = swept_ns_, to = until_ns;
    auto changes_at = [&](uint64_t time_ns) {
        if (time_ns > from) to = std::min(to, time_ns);
    };
    std::vector<Request*> open, unsure;
    for (Request* one : open_) {
        changes_at(one->opened_ns);
        if (one->answered) changes_at(one->end_ns);
        if (one->opened_ns <= from) (goes_on_after(*one, from) ? open : unsure).push_back(one);
    }
    std::optional<ThreadLine::Piece> own = line_.at(from);
    if (own) changes_at(own->until_ns);
    size_t own_part = own ? own->part : size_t{Parts::other};
    OwnWork its{own_part, own ? marked(own->mark) : 0, !marks_.empty()};
    for (auto& [tid, worker] : workers_) changes_at(worker.at(from).until_ns);
    split(to - from, its, open);
    bool is_theirs = own_part == Parts::poll || open.empty();
    for (Request* one : unsure)
        one->unsure[is_theirs ? own_part : size_t{Parts::shared}] += to - from;
    return to;
}

// What is done at swept_ns_ goes on for so long.
void ThreadTime::split(uint64_t duration_ns, const OwnWork& own,
                       const std::vector<Request*>& open) {
    std::vector<WorkerNow> now;
    for (auto& [tid, worker] : workers_) {
        ThreadLine::Piece piece = worker.at(swept_ns_);
        if (piece.part == ThreadLine::kIdle) continue;
        auto came_later = std::ranges::upper_bound(open, piece.since_ns, {}, &Request::opened_ns);
        auto candidates = static_cast<size_t>(came_later - open.begin());
        uint64_t known = marked(piece.mark);
        if (known == 0) known = worker.request(piece.since_ns);
        if (candidates > 0) now.push_back({candidates, piece.part, known, piece.since_ns, &worker});
    }
    split_time(duration_ns, own, open, now);
    for (const WorkerNow& one : now) one.worker->found(one.since_ns, one.request);
}

void ThreadTime::drop_ended() {
    std::erase_if(ended_, [&](const std::unique_ptr<Request>& one) {
        if (one->end_ns > swept_ns_) return false;
        std::erase(open_, one.get());
        take_.request(*one, RequestEnd::answered);
        return true;
    });
}

}  // namespace mlbcc::requests
