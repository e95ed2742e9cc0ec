// What calls did with their time. For each thread the calls and waits inside its outermost call are
// kept until that call ends; then each moment of it belongs to the innermost of them.
//
//   cuMemcpyHtoD |-----------------------------------|   1.0 ms
//   ioctl             |-----------------|                0.5 ms, of which 0.2 ms off the CPU
//   sched.off_cpu          |------|                      0.2 ms
//   ->  nvidia 0.3 ms, sched.off_cpu 0.2 ms, itself 0.5 ms
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "sink/layers.h"
#include "sink/sink.h"

namespace mlbcc::sink {
namespace {

// Inside one call; of a call with more nothing is told.
constexpr size_t kMaxInside = 1 << 16;

struct Inside {
    uint64_t start_ns = 0, end_ns = 0;
    uint32_t layer = 0;
    const plan::ProbePlan* probe = nullptr;
};

struct Outermost {
    uint64_t id = 0;  // of its B
    std::vector<Inside> calls;
    bool too_many = false;
};

struct Account {
    uint64_t calls = 0, total_ns = 0;
    std::vector<uint64_t> layers;  // by number
};

// The outer of two before the inner.
bool begins_before(const Inside& a, const Inside& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
}

bool same_call(const Inside& a, const Inside& b) {
    return a.probe == b.probe && a.start_ns == b.start_ns && a.end_ns == b.end_ns;
}

// Adds the time of `all`, sorted, whose first is around all others, to the account of their layers.
void share_out(const std::vector<Inside>& all, std::vector<uint64_t>& layers) {
    struct Open {
        uint64_t end_ns;
        uint32_t layer;
    };
    std::vector<Open> open;
    uint64_t now = all.front().start_ns;
    auto until = [&](uint64_t time_ns) {
        layers[open.back().layer] += time_ns - now;
        now = time_ns;
    };
    for (const Inside& one : all) {
        while (open.size() > 1 && open.back().end_ns <= one.start_ns) {
            until(open.back().end_ns);
            open.pop_back();
        }
        uint64_t end = open.empty() ? one.end_ns : std::min(one.end_ns, open.back().end_ns);
        if (end <= now && !open.empty()) continue;
        if (!open.empty() && one.start_ns > now) until(one.start_ns);
        open.push_back({end, one.layer});
    }
    for (; !open.empty(); open.pop_back()) until(open.back().end_ns);
}

class Times : public NestedTimes {
public:
    explicit Times(const plan::Plan& plan) {
        std::set<std::string> layers;
        bool spans = false;
        for (const event::EmitClause& clause : event::clauses(plan)) {
            layers.insert(layer_of(*clause.emit));
            spans |= std::holds_alternative<plan::SpanEmit>(clause.emit->what);
        }
        enabled_ = spans && layers.size() > 1;
    }

    void event(const event::Event& one) override {
        if (!enabled_) return;
        switch (one.phase) {
        case event::Phase::begin:
            if (!one.parent) begin(one);
            break;
        case event::Phase::end: return end(one);
        case event::Phase::complete:
            if (one.parent) add(one, one.time_ns);
            break;
        case event::Phase::instant: break;
        }
    }
    std::vector<NestedTime> times() const override;

private:
    static std::string layer_of(const plan::Emit& emit) {
        if (const auto* span = std::get_if<plan::SpanEmit>(&emit.what)) return span->type;
        const auto* event = std::get_if<plan::EventEmit>(&emit.what);
        if (event == nullptr) return {};
        return event->name.empty() ? event->type : event->type + "." + event->name;
    }
    uint32_t layer(const plan::Emit& emit) {
        auto known = by_emit_.find(&emit);
        if (known != by_emit_.end()) return known->second;
        std::string name = layer_of(emit);
        auto found = std::ranges::find(names_, name);
        auto number = static_cast<uint32_t>(found - names_.begin());
        if (found == names_.end()) names_.push_back(std::move(name));
        return by_emit_[&emit] = number;
    }

    void begin(const event::Event& one) {
        Outermost& call = threads_[one.tid];
        call.id = one.id;
        call.calls.clear();
        call.too_many = false;
    }
    void add(const event::Event& one, uint64_t start_ns) {
        auto thread = threads_.find(one.tid);
        if (thread == threads_.end()) return;
        Outermost& call = thread->second;
        call.too_many |= call.calls.size() >= kMaxInside;
        if (call.too_many) return;
        call.calls.push_back({start_ns, start_ns + one.duration_ns, layer(*one.emit), one.probe});
    }
    void end(const event::Event& one) {
        if (!one.begin) return;
        auto thread = threads_.find(one.tid);
        if (thread == threads_.end()) return;
        uint64_t start = one.time_ns - one.duration_ns;
        if (thread->second.id != *one.begin) return add(one, start);
        Inside root{start, one.time_ns, layer(*one.emit), one.probe};
        if (!thread->second.too_many) account(one, root, thread->second.calls);
        threads_.erase(thread);
    }
    void account(const event::Event& one, const Inside& root, std::vector<Inside>& calls) {
        Account& account = accounts_[{one.probe, root.layer}];
        ++account.calls;
        account.total_ns += one.duration_ns;
        // An event of the same call is no call in it.
        std::erase_if(calls, [&](const Inside& inside) {
            return (inside.probe == root.probe && inside.start_ns == root.start_ns) ||
                   inside.start_ns < root.start_ns;
        });
        std::ranges::stable_sort(calls, begins_before);
        calls.erase(std::unique(calls.begin(), calls.end(), same_call), calls.end());
        calls.insert(calls.begin(), root);
        account.layers.resize(names_.size());
        share_out(calls, account.layers);
    }

    bool enabled_ = false;
    std::unordered_map<uint32_t, Outermost> threads_;  // by thread id
    std::vector<std::string> names_;                   // of layers, by number
    std::unordered_map<const plan::Emit*, uint32_t> by_emit_;
    std::map<std::pair<const plan::ProbePlan*, uint32_t>, Account> accounts_;
};

std::vector<NestedTime> Times::times() const {
    std::map<std::tuple<std::string, std::string, std::string>, NestedTime> joined;
    for (const auto& [key, account] : accounts_) {
        const auto& [probe, own] = key;
        NestedTime made{probe->function, library_of(*probe), names_[own]};
        NestedTime& all =
            joined.try_emplace({made.function, made.library, made.layer}, made).first->second;
        all.calls += account.calls;
        all.total_ns += account.total_ns;
        for (uint32_t i = 0; i < account.layers.size(); ++i) {
            if (i == own) all.itself_ns += account.layers[i];
            if (i == own || account.layers[i] == 0) continue;
            auto at =
                std::ranges::find(all.inside, names_[i], &std::pair<std::string, uint64_t>::first);
            if (at == all.inside.end()) at = all.inside.insert(at, {names_[i], 0});
            at->second += account.layers[i];
        }
    }
    std::vector<NestedTime> out;
    for (auto& [key, time] : joined) {
        if (time.inside.empty()) continue;
        std::ranges::sort(time.inside, [](const auto& a, const auto& b) {
            return std::tie(b.second, a.first) < std::tie(a.second, b.first);
        });
        out.push_back(std::move(time));
    }
    std::ranges::stable_sort(out, std::greater{}, &NestedTime::total_ns);
    return out;
}

}  // namespace

std::unique_ptr<NestedTimes> make_nested_times(const plan::Plan& plan) {
    return std::make_unique<Times>(plan);
}

}  // namespace mlbcc::sink
