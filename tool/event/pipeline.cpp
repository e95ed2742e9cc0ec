#include "event/pipeline.h"

#include <algorithm>
#include <utility>

namespace mlbcc::event {

struct Pipeline::Current {
    const Merger::Item& item;
    const Record& record;
    const RecordMeaning& meaning;
    Thread& thread;
    Stack* stack;
    uint32_t hits;
    ValueContext context;
};

Pipeline::Pipeline(const plan::Plan& plan, EventConsumer& consumer, PipelineOptions options)
    : consumer_(consumer), options_(std::move(options)), clauses_(clauses(plan)),
      symbolizer_(plan.arch, stacks_, options_.symbols), tables_(plan), gauges_(plan),
      decoder_(plan, tables_, gauges_), tracker_(plan.rules.size()), received_(plan.rules.size()),
      times_(clauses_.size()) {
    for (size_t i = 0; i < clauses_.size(); ++i) times_[i].probe = clauses_[i].probe;
}

// ---- records arrive

void Pipeline::add(uint32_t cpu, std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(plan::RecordHeader) || bytes.size() > RecordArena::kMaxRecord) {
        ++malformed_;
        return;
    }
    Record record(bytes);
    if (record.kind() == plan::RecordKind::process) return add_process(cpu, record);
    const RecordMeaning* meaning = decoder_.meaning(record);
    if (meaning == nullptr) {
        ++malformed_;
        return;
    }
    count_received(record, *meaning);
    Merger::Key keys[2];
    size_t count = 0;
    uint64_t time = record.header.time_ns;
    if ((record.hits() & meaning->at_time_mask) != 0) keys[count++] = {Part::at_time, time};
    if ((record.hits() & meaning->at_start_mask) != 0) {
        keys[count++] = {Part::at_start, std::min(record.start_ns(), time)};
    }
    if (count == 0) return;
    auto tag = reinterpret_cast<uint64_t>(stack_of(record, *meaning));
    merger_.add(cpu, bytes.first(meaning->bytes), std::span(keys, count), tag);
}

void Pipeline::count_received(const Record& record, const RecordMeaning& meaning) {
    const std::vector<plan::RuleId>& rules = meaning.record->rules;
    uint32_t known = rules.size() >= 32 ? ~0u : (1u << rules.size()) - 1;
    for (uint32_t hits = record.hits() & known; hits != 0; hits &= hits - 1) {
        ++received_[static_cast<uint32_t>(rules[static_cast<size_t>(__builtin_ctz(hits))])];
    }
}

Stack* Pipeline::stack_of(const Record& record, const RecordMeaning& meaning) {
    if ((record.hits() & meaning.stack_mask) == 0) return nullptr;
    size_t at = meaning.record->layout.stack->offset;
    if (record.bytes.size() < at + sizeof(plan::UserStack)) return nullptr;
    auto from = read_at<plan::UserStack>(record.bytes, at);
    if (from.ip == 0) return nullptr;
    std::span<const std::byte> memory = record.bytes.subspan(at + sizeof from);
    memory = memory.first(std::min<uint64_t>(from.bytes, memory.size()));
    Stack* stack = symbolizer_.stack(record.header.pid, record.header.time_ns, from, memory);
    if (stack != nullptr) StackTable::retain(stack);
    return stack;
}

void Pipeline::add_process(uint32_t cpu, const Record& record) {
    if (record.bytes.size() < kProcessBytes) {
        ++malformed_;
        return;
    }
    const plan::RecordHeader& header = record.header;
    switch (static_cast<plan::ProcessChange>(header.probe)) {
    case plan::ProcessChange::fork:
        if (record.process().is_thread != 0 || record.process().other == 0) break;
        symbolizer_.forked(header.pid, record.process().other, header.time_ns);
        break;
    case plan::ProcessChange::exec: symbolizer_.executed(header.pid, header.time_ns); break;
    case plan::ProcessChange::exit_thread: break;
    }
    Merger::Key key{Part::process, header.time_ns};
    merger_.add(cpu, record.bytes.first(kProcessBytes), std::span(&key, 1));
}

void Pipeline::add_loss(Loss loss) {
    lost_ += loss.count;
    auto at = std::ranges::upper_bound(losses_, loss.time_ns, {}, &Loss::time_ns);
    losses_.insert(at, std::move(loss));
}

// ---- and leave in order

void Pipeline::advance(uint64_t now_ns) {
    if (now_ns < last_advance_ns_ + options_.window_ns / 8 || now_ns < options_.window_ns) return;
    last_advance_ns_ = now_ns;
    uint64_t until = now_ns - options_.window_ns;
    merger_.drain(until, [this](const Merger::Item& one) { item(one); });
    give_losses(until);
}

void Pipeline::finish() {
    merger_.drain_all([this](const Merger::Item& one) { item(one); });
    give_losses(UINT64_MAX);
    tracker_.finish();
}

void Pipeline::give_losses(uint64_t before_ns) {
    size_t given = 0;
    while (given < losses_.size() && losses_[given].time_ns < before_ns) {
        consumer_.lost(losses_[given++], ++last_id_);
    }
    losses_.erase(losses_.begin(), losses_.begin() + static_cast<ptrdiff_t>(given));
}

void Pipeline::item(const Merger::Item& item) {
    if (!losses_.empty()) give_losses(item.time_ns);
    Record record(item.record);
    if (item.part == Part::process) return process_item(record);
    const plan::RecordHeader& header = record.header;
    const RecordMeaning& meaning = *decoder_.meaning(record);
    Current current{item, record, meaning, tracker_.thread(header.pid, header.tid),
                    reinterpret_cast<Stack*>(item.tag), record.hits(),
                    {item.record, meaning.probe, header.pid, tables_}};
    // The call's own names are known to its own event, though they were learnt at its end.
    if (item.first && !meaning.learns.empty()) learn(current);
    if (item.part == Part::at_start) {
        whole_calls(current);
    } else {
        meaning.is_return ? ends(current) : begins(current);
        if (!meaning.gauges.empty()) change_gauges(current);
    }
    if (item.last && current.stack != nullptr) StackTable::release(current.stack);
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

void Pipeline::learn(const Current& current) {
    for (const LearnMeaning& one : current.meaning.learns) {
        if ((one.mask & current.hits) == 0) continue;
        Value value = one.value.read(current.context);
        tables_.learn(one.table, current.record.header.pid, one.key.read(current.context).bits, value);
    }
}

void Pipeline::change_gauges(const Current& current) {
    for (const GaugeMeaning& one : current.meaning.gauges) {
        if ((one.mask & current.hits) == 0) continue;
        Gauges::Change change{one.gauge, one.op, current.record.header.pid, current.item.time_ns,
                              std::nullopt, one.value.read(current.context),
                              one.stack ? current.stack : nullptr};
        if (one.key) change.key = one.key->read(current.context);
        gauges_.apply(change);
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
    Decoder::values(clause, current.hits, current.context, values_);
    event.values = values_;
    if (clause.emit->stack && current.stack != nullptr) event.stack = current.stack->frames;
    return event;
}

void Pipeline::begins(Current& current) {
    uint64_t time = current.item.time_ns;
    for (const ClauseMeaning& span : current.meaning.spans) {
        if (!span.applies(current.hits)) continue;
        Event event = event_of(current, span, Phase::begin);
        event.parent = current.thread.parent_at(time);
        give(event);
        tracker_.begin(current.thread, {time, current.meaning.probe->id, span.slot, event.id,
                                        span.emit->rule});
    }
    for (const ClauseMeaning& instant : current.meaning.events) {
        if (!instant.applies(current.hits)) continue;
        Event event = event_of(current, instant, Phase::instant);
        event.parent = current.thread.parent_at(time);
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
        event.begin = tracker_.end(current.thread, {start, current.meaning.probe->id, span->slot, 0,
                                                    span->emit->rule});
        add_duration(event, start, current.item.time_ns, current);
        give(event);
    }
}

void Pipeline::whole_calls(Current& current) {
    for (const ClauseMeaning& call : current.meaning.events) {
        if (!call.applies(current.hits)) continue;
        Event event = event_of(current, call, Phase::complete);
        event.parent = current.thread.parent_at(current.item.time_ns);
        add_duration(event, current.item.time_ns, current.record.header.time_ns, current);
        give(event);
    }
}

void Pipeline::add_duration(Event& event, uint64_t start_ns, uint64_t end_ns, const Current& current) {
    event.duration_ns = end_ns > start_ns ? end_ns - start_ns : 0;
    if (current.meaning.ret) event.ret = current.meaning.ret->read(current.context);
    ClauseTime& time = times_[static_cast<uint32_t>(event.clause)];
    ++time.calls;
    time.total_ns += event.duration_ns;
    time.max_ns = std::max(time.max_ns, event.duration_ns);
}

void Pipeline::give(Event& event) {
    event.id = ++last_id_;
    consumer_.event(event);
}

// ---- what is known at the end

Totals Pipeline::totals() const {
    Totals totals;
    totals.events = last_id_;
    totals.lost = lost_;
    totals.late = merger_.late();
    totals.malformed = malformed_;
    totals.processes = tracker_.processes_seen();
    totals.threads = tracker_.threads_seen();
    totals.not_learnt = tables_.refused();
    totals.not_held = gauges_.refused();
    totals.no_stack = stacks_.refused();
    return totals;
}

RuleCounts Pipeline::counts(plan::RuleId rule) const {
    const SpanTracker::Unmatched& unmatched = tracker_.unmatched(rule);
    return {received_[static_cast<uint32_t>(rule)], unmatched.begins, unmatched.ends};
}

// A function with a span and an event has two clauses for the same calls.
std::vector<FunctionTime> Pipeline::function_times() const {
    std::vector<FunctionTime> out;
    for (const ClauseTime& time : times_) {
        if (time.calls == 0) continue;
        FunctionTime one{time.probe, time.calls, time.total_ns, time.max_ns};
        if (out.empty() || out.back().probe != time.probe) {
            out.push_back(one);
        } else if (one.calls > out.back().calls) {
            out.back() = one;
        }
    }
    return out;
}

}  // namespace mlbcc::event
