// What the pipeline does with the items that the merger gives it, one by one in time order.
#include "event/pipeline.h"

#include <algorithm>

namespace mlbcc::event {

const plan::ValueType kStackType{plan::ValueType::Kind::text};

struct Pipeline::Current {
    const Merger::Item& item;
    const Record& record;
    const RecordMeaning& meaning;
    Thread& thread;
    symbols::Stack* stack;
    uint32_t hits;
    ValueContext context;
};

void Pipeline::item(const Merger::Item& item) {
    if (!between_.empty()) give_between(item.time_ns);
    Record record(item.record);
    if (item.part == Part::process) return process_item(record);
    const plan::RecordHeader& header = record.header;
    const RecordMeaning& meaning = *rules_->decoder.meaning(record);
    Current current{
        item,
        record,
        meaning,
        tracker_.thread(header.pid, header.tid),
        item.notes->stack,
        item.notes->hits,
        {item.record, meaning.probe, header.pid, tables_, names_, &gauges_, item.notes->stack}};
    if (item.first && !meaning.conditions.empty()) decide(current);
    // The call's own names are known to its own event, though they were learnt at its end.
    if (item.first && !meaning.learns.empty()) learn(current);
    if (item.part == Part::at_start) {
        whole_calls(current);
    } else {
        meaning.is_return ? ends(current) : begins(current);
        if (!meaning.gauges.empty()) change_gauges(current);
    }
    if (item.last && meaning.is_return) time_call(current);
    if (item.last && !meaning.tallies.empty()) tally(current);
    if (item.last && !meaning.largest.empty()) keep_largest(current);
    if (item.last && current.stack != nullptr) symbols::StackTable::release(current.stack);
}

void Pipeline::process_item(const Record& record) {
    const plan::RecordHeader& header = record.header;
    plan::ProcessRecord process = record.process();
    switch (static_cast<plan::ProcessChange>(header.probe)) {
    case plan::ProcessChange::fork:
        tracker_.thread(header.pid, header.tid);
        if (process.other == 0) break;         // of another pid namespace: not known yet
        tracker_.thread_ended(process.other);  // the id was used before
        tracker_.thread(process.is_thread != 0 ? header.pid : process.other, process.other);
        if (process.is_thread != 0) break;
        gauges_.process_ended(process.other);
        tables_.forked(header.pid, process.other);
        break;
    case plan::ProcessChange::exec:
        tracker_.process_replaced(header.pid);
        gauges_.process_ended(header.pid);
        tables_.executed(header.pid);
        symbolizer_.executed_long_ago(header.pid, header.time_ns);
        break;
    case plan::ProcessChange::exit_thread:
        tracker_.thread_ended(header.tid);
        if (process.is_thread != 0) break;
        tracker_.process_ended(header.pid);
        gauges_.process_ended(header.pid);
        tables_.exited(header.pid);
        symbolizer_.exited_long_ago(header.pid, header.time_ns);
        break;
    }
}

// Takes out the hits of rules that do not want this call after all; for the record's other item,
// too, when more may have been learnt.
void Pipeline::decide(Current& current) {
    for (const ConditionMeaning& one : current.meaning.conditions) {
        if ((one.mask & current.hits) == 0) continue;
        if (!one.holds.holds(current.context)) current.hits &= ~one.mask;
    }
    current.item.notes->hits = current.hits;
}

void Pipeline::learn(const Current& current) {
    bool is_news = false;
    for (const LearnMeaning& one : current.meaning.learns) {
        if ((one.mask & current.hits) != 0) is_news |= learn(current, one);
    }
    if (!current.meaning.probe->until_known) return;
    ++learning_.calls;
    learning_.news += is_news ? 1 : 0;
}

bool Pipeline::learn(const Current& current, const LearnMeaning& one) {
    Value key = one.key.read(current.context);
    if (key.unread) return false;
    Tables::Change change{one.table, one.op, current.record.header.pid, key.bits};
    if (one.end) {
        Value end = one.end->read(current.context);
        if (end.unread) return false;
        change.end = end.bits;
    }
    if (one.takes_stack) {
        if (current.stack == nullptr || current.stack->frames.empty()) return false;
        change.value = {&kStackType, 0, current.stack->frames[0], true, false, current.stack};
    } else if (one.value && one.value->is_look_up()) {
        change.from = one.value->entry(current.context);
        change.each = one.value->is_each();
        if (change.from == nullptr) return false;  // nothing is known there, nor here
    } else if (one.value) {
        change.value = one.value->read(current.context);
        if (change.value.unread) return false;
    }
    return tables_.apply(change);
}

void Pipeline::change_gauges(const Current& current) {
    for (const GaugeMeaning& one : current.meaning.gauges) {
        if ((one.mask & current.hits) == 0) continue;
        Gauges::Change change{.gauge = one.gauge, .op = one.op};
        change.pid = current.record.header.pid;
        change.tid = current.record.header.tid;
        change.time_ns = current.item.time_ns;
        change.probe = current.meaning.probe;
        if (one.stack) change.stack = current.stack;
        if (one.key) change.key = one.key->read(current.context);
        if (one.value) change.value = one.value->read(current.context);
        if (one.group) change.group = one.group->read(current.context);
        if (one.owner) change.owner = one.owner->read(current.context);
        if (change.value.unread || (change.key && change.key->unread)) continue;
        gauges_.apply(change);
    }
}

void Pipeline::tally(const Current& current) {
    for (const TallyMeaning& one : current.meaning.tallies) {
        if ((one.mask & current.hits) != 0) tally_each(one, current);
    }
}

// A key that is each of many values is as many groups.
void Pipeline::tally_each(const TallyMeaning& one, const Current& current) {
    group_.clear();
    const Bag* bag = nullptr;
    size_t place = 0;
    for (const LateReader& part : one.by) {
        if (part.is_each()) {
            const LearntEntry* entry = part.entry(current.context);
            if (entry == nullptr || !entry->bag) return;
            bag = entry->bag.get();
            place = group_.size();
        }
        group_.push_back(part.read(current.context));
    }
    Value value, over;
    if (one.value) value = one.value->read(current.context);
    if (one.over) over = one.over->read(current.context);
    if (value.unread || over.unread) return;
    auto add = [&](uint64_t times) {
        if (one.value) {
            rules_->tallies.add(one.aggregate, group_, value.bits, over.bits);
        } else {
            rules_->tallies.count(one.aggregate, group_, times);
        }
    };
    if (bag == nullptr) return add(1);
    for (const auto& [each, times] : bag->values()) {
        group_[place] = each.value();
        add(times);
    }
}

Event Pipeline::event_of(const Current& current, const ClauseMeaning& clause, Phase phase) {
    const plan::RecordHeader& header = current.record.header;
    Event event;
    event.phase = phase;
    event.clause = clause.id;
    event.probe = current.meaning.probe;
    event.emit = clause.emit;
    event.time_ns = current.item.time_ns;
    event.pid = header.pid;
    event.tid = header.tid;
    event.cpu = current.item.cpu;
    event.comm = current.record.comm();
    Decoder::values(clause.fields, current.hits, current.context, values_);
    event.values = values_;
    if (clause.emit->stack.any() && current.stack != nullptr) event.stack = current.stack->frames;
    return event;
}

void Pipeline::keep_largest(const Current& current) {
    for (const LargestMeaning& one : current.meaning.largest) {
        if ((one.mask & current.hits) == 0) continue;
        Value by = one.by.read(current.context);
        if (by.unread || !rules_->largest.wants(one.list, by.bits)) continue;
        const plan::RecordHeader& header = current.record.header;
        Decoder::values(one.fields, current.hits, current.context, values_);
        LargestEntry entry{by.bits, header.time_ns, header.pid, header.tid, current.record.comm()};
        if (current.meaning.is_return) {
            entry.time_ns = std::min(current.record.start_ns(), header.time_ns);
        }
        entry.values = values_;
        rules_->largest.add(one.list, entry, one.stack ? current.stack : nullptr);
    }
}

// A look at a process is in none of its calls, whatever its main thread does.
void Pipeline::begins(Current& current) {
    uint64_t time = current.item.time_ns, sp = current.record.header.sp;
    bool is_in_thread = current.meaning.probe->kind != plan::ProbeKind::interval;
    if (!current.meaning.probe->moves())
        tracker_.reached(current.thread, sp, current.record.is_tail_call());
    for (const ClauseMeaning& span : current.meaning.spans) {
        if (!span.applies(current.hits)) continue;
        Event event = event_of(current, span, Phase::begin);
        event.parent = current.thread.parent_at(time);
        give(event);
        tracker_.begin(current.thread,
                       {time, current.meaning.probe->id, span.slot, event.id, span.emit->rule, sp});
    }
    for (const ClauseMeaning& instant : current.meaning.events) {
        if (!instant.applies(current.hits)) continue;
        Event event = event_of(current, instant, Phase::instant);
        if (is_in_thread) event.parent = current.thread.parent_at(time);
        give(event);
    }
}

// The span that began last ends first.
void Pipeline::ends(Current& current) {
    uint64_t start = current.record.start_ns();
    const std::vector<ClauseMeaning>& spans = current.meaning.spans;
    for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
        if (!span->applies(current.hits)) continue;
        Event event = event_of(current, *span, Phase::end);
        event.begin = tracker_.end(
            current.thread, {start, current.meaning.probe->id, span->slot, 0, span->emit->rule});
        add_duration(event, start, current.item.time_ns, current);
        give(event);
    }
}

void Pipeline::whole_calls(Current& current) {
    if (!current.item.late && !current.meaning.probe->moves())
        tracker_.reached(current.thread, current.record.header.sp, true);
    for (const ClauseMeaning& call : current.meaning.events) {
        if (!call.applies(current.hits)) continue;
        Event event = event_of(current, call, Phase::complete);
        event.parent = current.thread.parent_at(current.item.time_ns);
        add_duration(event, current.item.time_ns, current.record.header.time_ns, current);
        event.goes_on = current.record.goes_on();
        give(event);
    }
}

void Pipeline::add_duration(Event& event, uint64_t start_ns, uint64_t end_ns,
                            const Current& current) {
    event.duration_ns = end_ns > start_ns ? end_ns - start_ns : 0;
    // A filter answered it: the kernel told the end alone.
    event.has_duration =
        end_ns != start_ns || current.meaning.probe->kind != plan::ProbeKind::syscall;
    if (current.meaning.ret) event.ret = current.meaning.ret->read(current.context);
}

// A call is one, whatever clauses tell of it.
void Pipeline::time_call(const Current& current) {
    auto applies = [&](const ClauseMeaning& clause) { return clause.applies(current.hits); };
    if (std::ranges::none_of(current.meaning.spans, applies) &&
        std::ranges::none_of(current.meaning.events, applies))
        return;
    const uint64_t end = current.record.header.time_ns;
    const uint64_t took = end - std::min(end, current.record.start_ns());
    ProbeTime& time = rules_->times[static_cast<uint32_t>(current.meaning.probe->id)];
    ++time.calls;
    time.total_ns += took;
    time.max_ns = std::max(time.max_ns, took);
}

void Pipeline::give(Event& event) {
    event.id = ++last_id_;
    consumer_.event(event);
}

}  // namespace mlbcc::event
