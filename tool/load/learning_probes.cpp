#include "load/learning_probes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/threads.h"
#include "load/detach.h"

namespace mlbcc::load {
namespace {

constexpr uint64_t kNewsPatienceNs = 500'000'000;  // without news, before they are taken off
constexpr uint64_t kLeastPauseNs = 1'000'000'000, kMostPauseNs = 64 * kLeastPauseNs;

}  // namespace

Result<void> LearningProbes::start() {
    const bool any = std::ranges::any_of(
        frontend_.plan.probes, [](const plan::ProbePlan& probe) { return probe.until_known; });
    if (!any) return {};
    started_ = true;
    pause_ns_ = kLeastPauseNs;
    return attach();
}

Result<void> LearningProbes::attach() {
    if (leaving_.valid()) leaving_.get();
    Result<Attached> done = loaded_.attach_until_known(frontend_);
    if (!done) return done.error();
    attached_ = true;
    steps_.tell(fmt::format("{} functions until what they tell is known", done->functions));
    return {};
}

void LearningProbes::work(uint64_t now_ns, const event::Pipeline::Learning& learnt) {
    if (!started_) return;
    if (attached_) {
        if (learnt.news != news_ || news_ns_ == 0) {
            news_ = learnt.news;
            news_ns_ = now_ns;
        }
        // What nobody calls costs nothing.
        const bool is_called = learnt.calls != before_.calls;
        if (is_called && now_ns - news_ns_ >= kNewsPatienceNs) take_off(now_ns, learnt);
    } else if (learnt.sought != before_.sought && now_ns - taken_off_ns_ >= pause_ns_) {
        bring_back(now_ns, learnt);
    }
}

// Detaching waits for all CPUs: the rings must be read meanwhile.
void LearningProbes::take_off(uint64_t now_ns, const event::Pipeline::Learning& learnt) {
    const bool was_of_use = learnt.news != before_.news;
    pause_ns_ = was_of_use ? kLeastPauseNs : std::min(2 * pause_ns_, kMostPauseNs);
    steps_.tell(fmt::format("functions that only tell what is known are left alone after {} calls",
                            learnt.calls - before_.calls));
    attached_ = false;
    before_ = learnt;
    taken_off_ns_ = now_ns;
    leaving_ = on_a_thread(
        [gone = std::exchange(loaded_.learning, {})]() mutable { detach(std::move(gone)); });
}

void LearningProbes::bring_back(uint64_t now_ns, const event::Pipeline::Learning& learnt) {
    before_ = learnt;
    news_ = learnt.news;
    news_ns_ = now_ns;
    if (auto done = attach(); !done) {
        steps_.tell("functions are not attached again: " + done.error().message());
        started_ = false;
    }
}

void LearningProbes::stop() {
    if (leaving_.valid()) leaving_.get();
    started_ = attached_ = false;
}

}  // namespace mlbcc::load
