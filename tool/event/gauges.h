// What `gauge` keeps: (gauge, process, part, key) -> value and the stack it was set from. A gauge's
// value is the sum of what is remembered; setting a key to 0 forgets it, and so does the end of its
// owner. What a process held when it ended stays, as the leak report; a program that takes its
// place by exec begins with nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "event/bag.h"
#include "event/event.h"
#include "event/kept_types.h"
#include "symbols/stacks.h"

namespace mlbcc::event {

class Gauges {
public:
    static constexpr size_t kMaxEntries = 1 << 20;  // over all gauges and processes
    static constexpr size_t kMaxStates = 1 << 16;   // (gauge, process, part)
    static constexpr size_t kMaxShown = 1000;       // held entries of one state

    explicit Gauges(const plan::Plan& plan, size_t max_entries = kMaxEntries);

    // Other rules, which go on with the gauges that they have, too: by name. What of the values is
    // the old plan's goes to `types`.
    void change_plan(const plan::Plan& plan, KeptTypes& types);

    uint32_t gauge(std::string_view name) const;  // a name of the plan's

    struct Change {
        uint32_t gauge = 0;
        rules::GaugeOp op{};
        uint32_t pid = 0;
        uint64_t time_ns = 0;
        std::optional<Value> key;
        Value value;
        symbols::Stack* stack = nullptr;  // retained while it is held, or the peak's
        std::optional<Value> group, owner;
        const plan::ProbePlan* probe = nullptr;
        uint32_t tid = 0;
    };
    void apply(const Change& change);
    // The sum of a process's parts, or one of them.
    int64_t now(uint32_t gauge, uint32_t pid, const std::optional<Value>& group) const;

    void process_ended(uint32_t pid);  // or exec'ed, or its id is another's now
    // Ordered by name, then pid, then time. What they point at lives until the next change.
    std::vector<GaugeState> states() const;
    uint64_t refused() const { return refused_; }  // changes that found no room

private:
    struct Held {
        const plan::ValueType* key_type = nullptr;
        int64_t value = 0;
        symbols::Stack* stack = nullptr;
        std::optional<uint64_t> owner;
        std::string name;  // learnt for the key when it was set
    };
    struct Peak {
        int64_t value = 0;
        uint64_t time_ns = 0;
        const plan::ProbePlan* probe = nullptr;
        uint32_t tid = 0;
        symbols::Stack* stack = nullptr;
        std::string function;  // the probe's, where that was of an earlier plan
    };
    struct State {
        uint32_t gauge = 0, pid = 0;
        std::optional<OwnedValue> group;
        int64_t value = 0;
        Peak peak;
        uint64_t forgotten = 0;                   // held at the end, too many to show
        std::unordered_map<uint64_t, Held> held;  // by key
    };
    struct Live {  // of one gauge and process: its parts
        std::vector<State*> states;
    };
    struct Info {
        std::string name, group_name;
        plan::RuleId rule{};
        rules::Unit unit{};
    };

    void add_gauges(const plan::Plan& plan);
    void add_gauges(const plan::RecordPlan& record);
    void release_stacks(State& state);
    static void keep_types(State& state, KeptTypes& types);
    State* state_of(Live& live, const Change& change);
    void set_key(Live& live, State& state, const Change& change);
    void forget_key(Live& live, const Change& change);
    int64_t take_key(State& state, uint64_t key);
    void release(Live& live, const Change& change);
    static void move_to(State& state, int64_t value, const Change& change);
    static std::vector<std::pair<uint64_t, const Held*>> largest(const State& state);
    void keep_largest(State& state);
    GaugeState describe(const State& state) const;

    std::vector<Info> infos_;
    std::deque<State> states_;
    std::unordered_map<uint64_t, Live> live_;  // by gauge and pid
    size_t max_entries_, entries_ = 0;
    uint64_t refused_ = 0;
};

}  // namespace mlbcc::event
