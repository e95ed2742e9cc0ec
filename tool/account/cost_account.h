// What tracing costs, kept while it goes on: how much CPU time the traced processes use, and what a
// hit costs on this machine, which is measured once and kept with what was compiled.
//
//   begin_to_measure()  while programs are compiled
//   measured()          before rights are given up
//   begin()             whose time it is, before the command runs
//   look()              once a second, and at the end
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "account/tracing_cost.h"
#include "base/result.h"
#include "bpf/hit_cost.h"
#include "bpf/kernel.h"
#include "load/loader.h"
#include "plan/plan.h"
#include "sink/sink.h"

namespace mlbcc::account {

class CostAccount {
public:
    // Both must outlive it; `plan` may grow.
    CostAccount(const plan::Plan& plan, load::Loaded& loaded) : plan_(plan), loaded_(loaded) {}

    // `use_cache`: whether what was measured before may be taken, and what is measured is kept.
    void begin_to_measure(codegen::AttachMode mode, bool use_cache);
    std::string measured();  // what was found out, for -v

    // What these processes used until now does not count. Of a trace of all there is no begin().
    void begin(const std::vector<int>& pids);
    bool is_due(uint64_t now_ns) const { return begun_ && now_ns - looked_ns_ >= kPeriodNs; }
    void look(uint64_t now_ns, const std::vector<int>& processes);
    // All that one of them used, with its children.
    void ended(int pid, uint64_t cpu_ns);

    // None where the cost of a hit could not be measured.
    std::optional<sink::TracingCost> cost() const;
    // Calls that the kernel did not await the end of, for too many were open: by function.
    std::vector<std::pair<std::string, uint64_t>> too_deep() const;
    uint64_t of_32_bit() const;  // system calls of that interface, which are left out
    // For the user, once, where tracing takes much of the threads' time.
    std::optional<std::string> warning();

private:
    struct Root {
        int pid = 0;
        uint64_t before_ns = 0, ns = 0;
    };
    static constexpr uint64_t kPeriodNs = 1'000'000'000;
    std::vector<WorkOf> works() const;

    const plan::Plan& plan_;
    load::Loaded& loaded_;
    std::future<Result<bpf::HitCost>> measuring_;
    std::optional<bpf::HitCost> hit_;
    bool begun_ = false, warned_ = false;
    uint64_t looked_ns_ = 0;
    std::vector<Root> roots_;
    uint64_t others_ns_ = 0;  // of processes that the roots have begun, and that still run
};

}  // namespace mlbcc::account
