// Probes of rules `until_known`, which learn what a process knew before the trace began: as in
// which context a thread works. Programs ask for that all the time, so these probes are taken off
// once they tell nothing new, and come back when something is looked up that they could have told.
//
//   start()  in place, where some process ran before the trace
//   work()   after each sweep
#pragma once

#include <cstdint>
#include <future>
#include <vector>

#include "base/result.h"
#include "event/pipeline.h"
#include "load/frontend.h"
#include "load/loader.h"

namespace mlbcc::load {

class LearningProbes {
public:
    // Both must outlive it.
    LearningProbes(const Frontend& frontend, Loaded& loaded, Steps& steps)
        : frontend_(frontend), loaded_(loaded), steps_(steps) {}

    Result<void> start();
    bool may_attach() const { return started_; }
    void work(uint64_t now_ns, const event::Pipeline::Learning& learnt);
    void stop();  // what is attached is still to be detached

private:
    Result<void> attach();
    void take_off(uint64_t now_ns, const event::Pipeline::Learning& learnt);
    void bring_back(uint64_t now_ns, const event::Pipeline::Learning& learnt);

    const Frontend& frontend_;
    Loaded& loaded_;
    Steps& steps_;
    bool started_ = false, attached_ = false;
    event::Pipeline::Learning before_;          // when they were attached, or taken off
    uint64_t news_ = 0, news_ns_ = 0;           // the last that came
    uint64_t taken_off_ns_ = 0, pause_ns_ = 0;  // at least, before they come back
    std::future<void> leaving_;
};

}  // namespace mlbcc::load
