#include "report/thread_time.h"

#include <algorithm>

namespace mlbcc::report {

size_t Parts::index(std::string_view name) {
    auto found = std::ranges::find(names_, name);
    if (found != names_.end()) return static_cast<size_t>(found - names_.begin());
    if (names_.size() == kMost) return other;
    names_.emplace_back(name);
    return names_.size() - 1;
}

void ThreadTime::pass(uint64_t until_ns, size_t part) {
    if (until_ns <= now_ns_) return;
    uint64_t passed = until_ns - now_ns_;
    now_ns_ = until_ns;
    auto unanswered =
        std::ranges::count_if(open_, [](const Request* one) { return !one->answered; });
    for (Request* one : open_) {
        auto others = unanswered - (one->answered ? 0 : 1);
        size_t of = others > 0 && part != Parts::poll ? size_t{Parts::shared} : part;
        (one->answered ? one->unsure : one->parts)[of] += passed;
    }
}

void ThreadTime::begin(Request& request, uint64_t now_ns) {
    pass(now_ns, Parts::cpu);
    now_ns_ = std::max(now_ns_, now_ns);
    open_.push_back(&request);
}

void ThreadTime::sent(Request& request, uint64_t now_ns) {
    pass(now_ns, Parts::cpu);
    for (size_t i = 0; i < Parts::kMost; ++i) request.parts[i] += request.unsure[i];
    request.unsure = {};
}

void ThreadTime::end(Request& request) {
    std::erase(open_, &request);
}

void ThreadTime::wait(uint64_t begin_ns, uint64_t end_ns, uint64_t queued_ns, size_t part) {
    pass(begin_ns, Parts::cpu);
    pass(end_ns - queued_ns, part);
    pass(end_ns, Parts::run_queue);
}

}  // namespace mlbcc::report
