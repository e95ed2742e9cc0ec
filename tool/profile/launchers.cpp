#include "profile/launchers.h"

#include <algorithm>
#include <map>

namespace mlbcc::profile {
namespace {

constexpr size_t kLeastBefore = 3;
constexpr uint64_t kLeastJobNs = 500'000'000;
constexpr uint64_t kShareOfJob = 10;  // launchers use less than a tenth

class Family {
public:
    explicit Family(const std::vector<ProcessLife>& lives) {
        for (const ProcessLife& life : lives) by_pid_[life.pid] = &life;
        for (const ProcessLife& life : lives) {
            if (by_pid_.contains(life.parent)) children_[life.parent].push_back(&life);
        }
    }
    const ProcessLife* parent_of(const ProcessLife& life) const {
        const auto found = by_pid_.find(life.parent);
        return found == by_pid_.end() || found->second == &life ? nullptr : found->second;
    }
    const std::vector<const ProcessLife*>& children_of(const ProcessLife& life) const {
        static const std::vector<const ProcessLife*> kNone;
        const auto found = children_.find(life.pid);
        return found == children_.end() ? kNone : found->second;
    }
    // The process and all that it started, but for `without`. A pid may have had two lives.
    std::vector<const ProcessLife*> tree(const ProcessLife& life,
                                         const ProcessLife* without = nullptr) const {
        std::vector<const ProcessLife*> all{&life};
        for (size_t i = 0; i < all.size() && all.size() <= by_pid_.size(); ++i) {
            for (const ProcessLife* child : children_of(*all[i])) {
                if (child != without) all.push_back(child);
            }
        }
        return all;
    }

private:
    std::map<uint32_t, const ProcessLife*> by_pid_;
    std::map<uint32_t, std::vector<const ProcessLife*>> children_;
};

void take(Launchers& found, const std::vector<const ProcessLife*>& lives) {
    for (const ProcessLife* life : lives) {
        if (found.pids.insert(life->pid).second) found.cpu_ns += life->cpu_ns;
    }
}

uint64_t cpu_of(const std::vector<const ProcessLife*>& lives) {
    uint64_t sum = 0;
    for (const ProcessLife* life : lives) sum += life->cpu_ns;
    return sum;
}

// Those that only wait for the job, from it upward.
void take_parents(Launchers& found, const Family& family, const ProcessLife& job) {
    const ProcessLife* below = &job;
    while (const ProcessLife* above = family.parent_of(*below)) {
        const std::vector<const ProcessLife*> others = family.tree(*above, below);
        if (cpu_of(others) >= job.cpu_ns / kShareOfJob) return;
        if (found.pids.contains(above->pid))
            return;  // numbers that were used again lead in a circle
        take(found, others);
        if (!above->programs.empty()) found.arguments = above->programs.front().arguments;
        below = above;
    }
}

void take_before(Launchers& found, const Family& family, const ProcessLife& life) {
    if (life.programs.size() < 2) return;
    std::vector<const ProcessLife*> before;
    for (const ProcessLife* child : family.children_of(life)) {
        if (!child->ended || child->end_ns > life.programs.back().time_ns) continue;
        std::ranges::copy(family.tree(*child), std::back_inserter(before));
    }
    if (before.size() < kLeastBefore) return;
    take(found, before);
    found.arguments = {life.programs.front().path};
}

}  // namespace

Launchers launchers_of(const std::vector<ProcessLife>& lives) {
    Launchers found;
    if (lives.empty()) return found;
    const Family family(lives);
    for (const ProcessLife& life : lives) take_before(found, family, life);
    const ProcessLife& job = *std::ranges::max_element(lives, {}, &ProcessLife::cpu_ns);
    if (job.cpu_ns >= kLeastJobNs) take_parents(found, family, job);
    return found;
}

}  // namespace mlbcc::profile
