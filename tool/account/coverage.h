// Which functions of each traced library were called. It is known from what is kept anyway: events,
// and counts whose groups have the function's name. Of a library of which some call may have left
// no trace (a condition, a sample, a loss) nothing is said. Functions that rules only learn from do
// not count.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "event/event.h"
#include "plan/plan.h"
#include "sink/sink.h"

namespace mlbcc::account {

class Coverage : public event::EventConsumer {
public:
    // `plan` must outlive it, and may grow.
    explicit Coverage(const plan::Plan& plan) : plan_(plan) {}

    void event(const event::Event& event) override { called(event.probe->id); }
    void called(plan::ProbeId probe);
    // The groups of a count: by the place in its key where the function is, if there is one.
    void called(const plan::Aggregate& aggregate, std::span<const std::byte> key);

    // `refused` could not be probed; `losses` are by rule, as Metrics has them.
    std::vector<sink::LibraryCoverage> libraries(const std::vector<plan::ProbeId>& refused,
                                                 const std::vector<sink::RuleLoss>& losses) const;

private:
    bool is_called(plan::ProbeId probe) const;

    const plan::Plan& plan_;
    std::vector<bool> called_;  // by ProbeId, as far as needed
};

}  // namespace mlbcc::account
