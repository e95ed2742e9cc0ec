#include "event/pipeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mlbcc::event {
namespace {

constexpr size_t kMostHeldChunks = (size_t{64} << 20) / RecordArena::kChunkBytes;

}  // namespace

Pipeline::Pipeline(const plan::Plan& plan, EventConsumer& consumer, PipelineOptions options)
    : consumer_(consumer), options_(std::move(options)),
      symbolizer_(plan.arch, stacks_, options_.roots, options_.python_names, options_.kernel_names),
      tables_(plan), gauges_(plan), rules_(std::in_place, plan, tables_, gauges_),
      tracker_(plan.rules.size()) {
    tables_.ask_functions_of([this, names = CxxNames()](uint32_t pid, uint64_t address) mutable {
        std::optional<std::string> symbol = symbolizer_.function_at(pid, address);
        return symbol ? std::optional(std::string(names.of(*symbol))) : std::nullopt;
    });
    grow();
}

void Pipeline::grow() {
    rules_->decoder.grow();
    while (rules_->times.size() < rules_->plan.probes.size())
        rules_->times.push_back({&rules_->plan.probes[rules_->times.size()]});
}

void Pipeline::finish_rules() {
    symbolizer_.await_no_names();
    merger_.drain_all([this](const Merger::Item& one) { item(one); });
    give_between(UINT64_MAX);
    tracker_.close_spans();
}

void Pipeline::change_plan(const plan::Plan& plan) {
    tables_.change_plan(plan, types_);
    gauges_.change_plan(plan, types_);
    not_tallied_ += rules_->tallies.refused();
    rules_.emplace(plan, tables_, gauges_);
    tracker_.change_rules(plan.rules.size());
    merger_.begin_anew();  // calls of the old rules may have ended after those of the new began
    grow();
}

// ---- records arrive

void Pipeline::add(uint32_t cpu, std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(plan::RecordHeader) || bytes.size() > RecordArena::kMaxRecord) {
        ++malformed_;
        return;
    }
    Record record(bytes);
    if (record.kind() == plan::RecordKind::process) return add_process(cpu, record);
    const RecordMeaning* meaning = rules_->decoder.meaning(record);
    if (meaning == nullptr) {
        ++malformed_;
        return;
    }
    count(record.hits(), *meaning, rules_->received);
    Merger::Key keys[2];
    size_t count = 0;
    uint64_t time = record.header.time_ns;
    if ((record.hits() & meaning->at_time_mask) != 0) keys[count++] = {Part::at_time, time};
    if ((record.hits() & meaning->at_start_mask) != 0) {
        keys[count++] = {Part::at_start, std::min(record.start_ns(), time)};
    }
    if (count == 0) return;
    merger_.add(cpu, bytes.first(meaning->bytes), std::span(keys, count),
                {stack_of(record, *meaning), record.hits()});
}

void Pipeline::add_look(const Look& look) {
    std::span<const std::byte> record = rules_->looks.take(look);
    if (!record.empty()) add(look.cpu, record);
}

void Pipeline::count(uint32_t hits, const RecordMeaning& meaning, std::vector<uint64_t>& by_rule) {
    const std::vector<plan::RuleId>& rules = meaning.record->rules;
    hits &= rules.size() >= 32 ? ~0u : (1u << rules.size()) - 1;
    for (; hits != 0; hits &= hits - 1) {
        ++by_rule[static_cast<uint32_t>(rules[static_cast<size_t>(__builtin_ctz(hits))])];
    }
}

std::optional<symbols::UserStackCopy> Pipeline::user_stack(const Record& record,
                                                           const RecordMeaning& meaning) {
    if ((record.hits() & meaning.stack_masks[rules::StackKind::user]) == 0) return std::nullopt;
    size_t at = *meaning.record->layout.stack[rules::StackKind::user];
    if (record.bytes.size() < at + sizeof(plan::UserStack)) return std::nullopt;
    auto from = read_at<plan::UserStack>(record.bytes, at);
    if (from.ip == 0 && from.bytes == plan::kNoRoom)
        count(record.hits() & meaning.stack_masks[rules::StackKind::user], meaning,
              rules_->without_stack);
    if (from.ip == 0) return std::nullopt;
    std::span<const std::byte> rest = record.bytes.subspan(at + sizeof from);
    const auto next = [&rest](uint64_t bytes) {
        const auto part = rest.first(std::min<uint64_t>(bytes, rest.size()));
        rest = rest.subspan(part.size());
        return part;
    };
    const auto memory = next(from.bytes);
    const auto returns = next(std::min<uint64_t>(from.returns, plan::kMaxAwaitedReturns) *
                              sizeof(plan::AwaitedReturn));
    return symbols::UserStackCopy{from, memory, returns, next(from.more)};
}

plan::PythonStack Pipeline::python_stack(const Record& record, const RecordMeaning& meaning) {
    if ((record.hits() & meaning.stack_masks[rules::StackKind::python]) == 0) return {};
    auto stack = read_at<plan::PythonStack>(
        record.bytes, *meaning.record->layout.stack[rules::StackKind::python]);
    stack.count = std::min(stack.count, plan::kMaxPythonFrames);
    return stack;
}

plan::KernelStack Pipeline::kernel_stack(const Record& record, const RecordMeaning& meaning) {
    if ((record.hits() & meaning.stack_masks[rules::StackKind::kernel]) == 0) return {};
    auto stack = read_at<plan::KernelStack>(
        record.bytes, *meaning.record->layout.stack[rules::StackKind::kernel]);
    stack.bytes = std::min<uint64_t>(stack.bytes, sizeof stack.frames);
    return stack;
}

symbols::Stack* Pipeline::stack_of(const Record& record, const RecordMeaning& meaning) {
    uint32_t wanted = 0;
    for (uint32_t mask : meaning.stack_masks) wanted |= mask;
    if ((record.hits() & wanted) == 0) return nullptr;
    plan::KernelStack kernel = kernel_stack(record, meaning);
    const bool from_start = (record.hits() & meaning.at_start_mask) != 0;
    symbols::Stack* stack = symbolizer_.stack(
        record.header.pid, record.header.time_ns, user_stack(record, meaning),
        python_stack(record, meaning),
        {std::span(kernel.frames).first(kernel.bytes / sizeof(uint64_t)), meaning.probe},
        from_start ? std::optional(record.start_ns()) : std::nullopt);
    if (stack != nullptr) symbols::StackTable::retain(stack);
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
    case plan::ProcessChange::exec:
        if (rules_->plan.knows_mappings()) symbolizer_.found(header.pid, header.time_ns);
        symbolizer_.executed(header.pid, header.time_ns);
        break;
    case plan::ProcessChange::exit_thread:
        if (record.process().is_thread == 0) symbolizer_.exited(header.pid);
        break;
    }
    Merger::Key key{Part::process, header.time_ns};
    merger_.add(cpu, record.bytes.first(kProcessBytes), std::span(&key, 1));
}

void Pipeline::add_loss(Loss loss) {
    lost_ += loss.count;
    add_between({loss.time_ns, std::move(loss)});
}

void Pipeline::add_between(Between one) {
    auto at = std::ranges::upper_bound(between_, one.time_ns, {}, &Between::time_ns);
    between_.insert(at, std::move(one));
}

// ---- and leave in order

void Pipeline::advance(uint64_t now_ns) {
    if (now_ns < last_advance_ns_ + options_.window_ns / 8 || now_ns < options_.window_ns) return;
    last_advance_ns_ = now_ns;
    if (merger_.arena().chunks() > kMostHeldChunks) symbolizer_.await_no_names();
    const uint64_t until = std::min(now_ns - options_.window_ns,
                                    symbolizer_.awaits_names_from(now_ns).value_or(UINT64_MAX));
    merger_.drain(until, [this](const Merger::Item& one) { item(one); });
    give_between(until);
}

void Pipeline::finish() {
    finish_rules();
    tracker_.finish();
}

void Pipeline::give_between(uint64_t before_ns) {
    size_t given = 0;
    for (; given < between_.size() && between_[given].time_ns < before_ns; ++given) {
        const Between& one = between_[given];
        if (one.loss) {
            consumer_.lost(*one.loss, ++last_id_);
        } else {
            consumer_.reached(one.time_ns);
        }
    }
    between_.erase(between_.begin(), between_.begin() + static_cast<ptrdiff_t>(given));
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
    totals.not_tallied = not_tallied_ + rules_->tallies.refused();
    totals.no_stack = stacks_.refused();
    return totals;
}

RuleCounts Pipeline::counts(plan::RuleId rule) const {
    const SpanTracker::Unmatched& unmatched = tracker_.unmatched(rule);
    const auto index = static_cast<uint32_t>(rule);
    return {rules_->received[index], rules_->without_stack[index], unmatched.begins,
            unmatched.ends};
}

std::vector<ProbeTime> Pipeline::function_times() const {
    std::vector<ProbeTime> out;
    std::ranges::copy_if(rules_->times, std::back_inserter(out),
                         [](const ProbeTime& time) { return time.calls > 0; });
    return out;
}

}  // namespace mlbcc::event
