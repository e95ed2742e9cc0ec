// The whole of this stage: records in, as the rings give them; events out, in time order, with ids,
// parents, names and stacks.
//
//   add(cpu, bytes) ... advance(now) ...  ->  consumer.event(), consumer.event(), consumer.lost()
//
// A record that was added is written by the first advance() a window after it was made, or by
// finish(). One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "event/decode.h"
#include "event/event.h"
#include "event/gauges.h"
#include "event/largest.h"
#include "event/looks.h"
#include "event/order.h"
#include "event/tables.h"
#include "event/tallies.h"
#include "event/threads.h"
#include "symbols/stacks.h"
#include "symbols/symbolize.h"

namespace mlbcc::event {

struct PipelineOptions {
    // How long records of other CPUs are waited for. Calls that last longer and are written as a
    // whole (X) come `late`.
    uint64_t window_ns = 50'000'000;
    symbols::SymbolRoots roots;
    symbols::PythonNames python_names;
    symbols::KernelNames kernel_names;
};

class Pipeline {
public:
    // `plan` and `consumer` must outlive the pipeline.
    Pipeline(const plan::Plan& plan, EventConsumer& consumer, PipelineOptions options = {});
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    // One record of a ring, at any alignment, perhaps with padding behind it. What the plan does
    // not know is counted as malformed.
    void add(uint32_t cpu, std::span<const std::byte> record);
    // A look at a process: what rules make of it, among it perhaps a record, which is added.
    void add_look(const Look& look);
    const Looks& looks() const { return rules_->looks; }
    void add_loss(Loss loss);
    // The consumer is told when all before this time has been given.
    void add_moment(uint64_t time_ns) { add_between({time_ns, std::nullopt}); }
    // The plan has more probes. What they gauge and learn was known before.
    void grow();
    // Gives the consumer all that there is of the rules so far; what is open is counted as
    // unmatched. After it come no more of their records.
    void finish_rules();
    // Then: other rules. Gauges and learnt names go on where they have them; what was counted
    // begins anew, ids and the totals of the trace do not.
    void change_plan(const plan::Plan& plan);
    // Only stacks need it.
    void add_mapping(symbols::SeenMapping mapping) { symbolizer_.mapped(std::move(mapping)); }
    void inherit_mappings(uint32_t parent, uint32_t child) { symbolizer_.inherited(parent, child); }
    void found(uint32_t pid) { symbolizer_.found(pid, 0); }  // there when the trace begins

    // Gives the consumer what is older than the window. Cheap to call often: works at most eight
    // times a window. `now_ns` is CLOCK_MONOTONIC.
    void advance(uint64_t now_ns);
    // Gives the consumer all the rest, and counts what is open as unmatched.
    void finish();

    uint64_t take_event_id() { return ++last_id_; }  // for a line of a sink's own: the summary
    Totals totals() const;
    RuleCounts counts(plan::RuleId rule) const;
    std::vector<GaugeState> gauges() const { return gauges_.states(); }
    // Of probes that are in place `until_known`.
    struct Learning {
        uint64_t calls = 0;   // that were learnt from
        uint64_t news = 0;    // of them, such as told what was not known
        uint64_t sought = 0;  // Tables::sought()
    };
    Learning learning() const { return {learning_.calls, learning_.news, tables_.sought()}; }
    // Of an aggregate that is kept here.
    std::vector<TallyGroup> tallied(plan::AggregateId aggregate) const {
        return rules_->tallies.groups(aggregate);
    }
    const Largest& largest() const { return rules_->largest; }
    // Of functions that were called, in the plan's order.
    std::vector<ProbeTime> function_times() const;
    // A part of an aggregate's key. Its text points into `key` or the plan.
    Value key_value(const plan::RecordSlot& field, std::span<const std::byte> key) const {
        return rules_->decoder.key_value(field, key);
    }

private:
    // What is of one plan.
    struct OfRules {
        OfRules(const plan::Plan& own, const Tables& tables, const Gauges& gauges)
            : plan(own), decoder(own, tables, gauges), tallies(own), largest(own), looks(own),
              received(own.rules.size()), without_stack(own.rules.size()) {}
        const plan::Plan& plan;
        Decoder decoder;
        Tallies tallies;
        Largest largest;
        Looks looks;
        std::vector<ProbeTime> times;                   // by ProbeId
        std::vector<uint64_t> received, without_stack;  // by RuleId
    };
    struct Current;  // the record being turned into events

    void add_process(uint32_t cpu, const Record& record);
    static void count(uint32_t hits, const RecordMeaning& meaning, std::vector<uint64_t>& by_rule);
    symbols::Stack* stack_of(const Record& record, const RecordMeaning& meaning);
    std::optional<symbols::UserStackCopy> user_stack(const Record& record,
                                                     const RecordMeaning& meaning);
    static plan::PythonStack python_stack(const Record& record, const RecordMeaning& meaning);
    static plan::KernelStack kernel_stack(const Record& record, const RecordMeaning& meaning);

    void item(const Merger::Item& item);
    void process_item(const Record& record);
    static void decide(Current& current);
    void learn(const Current& current);
    bool learn(const Current& current, const LearnMeaning& one);
    void change_gauges(const Current& current);
    void tally(const Current& current);
    void tally_each(const TallyMeaning& one, const Current& current);
    void keep_largest(const Current& current);
    void begins(Current& current);
    void ends(Current& current);
    void whole_calls(Current& current);
    Event event_of(const Current& current, const ClauseMeaning& clause, Phase phase);
    void add_duration(Event& event, uint64_t start_ns, uint64_t end_ns, const Current& current);
    void time_call(const Current& current);
    void give(Event& event);
    struct Between {  // what comes between records
        uint64_t time_ns = 0;
        std::optional<Loss> loss;  // else a moment
    };
    void add_between(Between one);
    void give_between(uint64_t before_ns);

    EventConsumer& consumer_;
    PipelineOptions options_;
    symbols::StackTable stacks_;
    symbols::Symbolizer symbolizer_;
    KeptTypes types_;  // of what is known by rules that are no more
    Tables tables_;
    CxxNames names_;
    Gauges gauges_;
    std::optional<OfRules> rules_;  // always there
    SpanTracker tracker_;
    Merger merger_;

    Learning learning_;
    std::vector<Between> between_;  // not given yet, by time
    std::vector<NamedValue> values_;
    std::vector<Value> group_;
    uint64_t last_id_ = 0, lost_ = 0, malformed_ = 0, not_tallied_ = 0, last_advance_ns_ = 0;
};

}  // namespace mlbcc::event
