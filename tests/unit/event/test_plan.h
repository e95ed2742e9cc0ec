// Plans and records made by hand, and events as lines of text:
//
//   TestPlan t;
//   plan::ProbeId init = t.probe("cuInit");
//   t.span(init, "userspace", {{"Flags", t.number(init, End::entry, kU32)}});
//   Wire::entry(init, 10).number(0)   ->  "1 B cuInit @10 Flags=0"
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "event/pipeline.h"
#include "plan/plan.h"

namespace mlbcc::test {

enum class End { entry, ret };
using Kind = plan::ValueType::Kind;
inline const plan::ValueType kU32{Kind::unsigned_int, 4};
inline const plan::ValueType kU64{Kind::unsigned_int, 8};
inline const plan::ValueType kI32{Kind::signed_int, 4};
inline const plan::ValueType kHex{Kind::hex, 8};
inline const plan::ValueType kText{Kind::text, 8};
inline const plan::ValueType kBytes{Kind::unsigned_int, 8, {}, {}, rules::Unit::bytes};
inline plan::ValueType learnt(std::string table) {
    return {Kind::hex, 8, {}, std::move(table)};
}

struct Named {
    std::string name;
    uint32_t field = 0;
    uint32_t mask = ~0u;
};

// Rule 0 is there from the start ("cuda.rules:1"); bit i of `hits` is rule i.
class TestPlan {
public:
    TestPlan() {
        plan.types = &types;
        rule("cuda.rules:1");
    }
    plan::RuleId rule(std::string place, uint32_t sample = 1) {
        plan.rules.push_back({std::move(place), sample});
        return static_cast<plan::RuleId>(plan.rules.size() - 1);
    }
    plan::ProbeId probe(std::string function, std::string symbol = {},
                        std::string soname = "libcuda.so.1") {
        plan::ProbePlan probe;
        probe.id = static_cast<plan::ProbeId>(plan.probes.size());
        probe.symbol = symbol.empty() ? function : symbol;
        target::UserFunction at{};
        at.soname = std::move(soname);
        at.base = function;
        at.symbol = probe.symbol;
        probe.function = std::move(function);
        targets_.push_back(target::Probe{at, nullptr, {}});
        probe.probe = &targets_.back();
        plan.probes.push_back(std::move(probe));
        return plan.probes.back().id;
    }

    plan::RecordPlan& record(plan::ProbeId id, End end) {
        plan::ProbePlan& probe = plan.probes[static_cast<uint32_t>(id)];
        std::optional<plan::RecordPlan>& record = end == End::entry ? probe.entry : probe.ret;
        if (record) return *record;
        record.emplace();
        record->layout.size = sizeof(plan::RecordHeader);
        if (end == End::ret) record->layout.size += sizeof(plan::ReturnHeader);
        for (uint32_t i = 0; i < plan.rules.size(); ++i) {
            record->rules.push_back(static_cast<plan::RuleId>(i));
            if (probe.parts.size() <= i) probe.parts.push_back({static_cast<plan::RuleId>(i)});
        }
        return *record;
    }
    // A field of the record: its index.
    uint32_t number(plan::ProbeId id, End end, plan::ValueType type, uint32_t size = 8) {
        plan::RecordLayout& layout = record(id, end).layout;
        layout.fields.push_back({std::move(type), layout.size, size});
        layout.size += size;
        return static_cast<uint32_t>(layout.fields.size() - 1);
    }
    uint32_t text(plan::ProbeId id, End end, uint32_t size) { return number(id, end, kText, size); }
    void returns(plan::ProbeId id, plan::ValueType type) {
        uint32_t field = number(id, End::ret, type);
        record(id, End::ret).ret_field = field;
    }

    // All fields of records must be there before what uses them.
    void span(plan::ProbeId id, std::string type, std::vector<Named> at_entry = {},
              std::vector<Named> at_return = {}, uint32_t mask = 1, plan::RuleId rule = {}) {
        record(id, End::entry)
            .emits.push_back({mask, rule, {}, plan::SpanEmit{type, fields(at_entry)}});
        record(id, End::ret)
            .emits.push_back({mask, rule, {}, plan::SpanEmit{type, fields(at_return)}});
    }
    void event(plan::ProbeId id, End end, std::string type, std::string name,
               std::vector<Named> wanted = {}, uint32_t mask = 1, plan::RuleId rule = {}) {
        plan::EventEmit emit{std::move(type), std::move(name), fields(wanted)};
        record(id, end).emits.push_back({mask, rule, {}, std::move(emit)});
    }
    void gauge(plan::ProbeId id, End end, std::string name, rules::GaugeOp op,
               std::optional<uint32_t> key, uint32_t value, uint32_t mask = 1,
               plan::RuleId rule = {}) {
        record(id, end).emits.push_back(
            {mask,
             rule,
             {},
             plan::GaugeEmit{std::move(name), op, key ? late(id, end, *key) : nullptr,
                             late(id, end, value), nullptr, "", nullptr}});
    }
    void learn(plan::ProbeId id, End end, std::string table, uint32_t key, uint32_t value,
               uint32_t mask = 1) {
        record(id, end).emits.push_back(
            {mask,
             {},
             {},
             plan::LearnEmit{std::move(table), rules::LearnOp::set, late(id, end, key), nullptr,
                             late(id, end, value)}});
    }
    // Any other meaning of a record.
    void emit(plan::ProbeId id, End end, decltype(plan::Emit::what) what, uint32_t mask = 1) {
        record(id, end).emits.push_back({mask, {}, {}, std::move(what)});
    }
    plan::LatePtr late(plan::ProbeId id, End end, uint32_t field) {
        return late(plan::LateField{field}, record(id, end).layout.fields[field].type);
    }
    static plan::LatePtr late(decltype(plan::Late::node) node, plan::ValueType type) {
        return std::make_shared<const plan::Late>(plan::Late{std::move(node), std::move(type)});
    }
    void stack(plan::ProbeId id, End end) {
        plan::RecordPlan& plan_of = record(id, end);
        plan_of.layout.stack[rules::StackKind::user] = plan_of.layout.size;
        for (plan::Emit& emit : plan_of.emits) emit.stack.add(rules::StackKind::user);
    }
    plan::ValueType enumeration(std::vector<std::pair<std::string, int64_t>> constants,
                                bool is_signed = false) {
        rules::TypeId type = types.add({"", rules::EnumType{4, is_signed, std::move(constants)}});
        return {Kind::enumeration, 4, type};
    }

    plan::Plan plan;
    rules::TypeTable types;

private:
    static std::vector<plan::NamedField> fields(const std::vector<Named>& wanted) {
        std::vector<plan::NamedField> out;
        for (const Named& one : wanted) out.push_back({one.name, one.field, one.mask});
        return out;
    }
    std::deque<target::Probe> targets_;
};

// The bytes of a record, as the ring carries it. Unless told otherwise a call that begins later
// stands further down the stack.
class Wire {
public:
    static Wire entry(plan::ProbeId probe, uint64_t time, uint32_t hits = 1) {
        return Wire(time, static_cast<uint32_t>(probe), plan::RecordKind::entry, hits);
    }
    static Wire ret(plan::ProbeId probe, uint64_t start, uint64_t time, uint32_t hits = 1) {
        Wire wire(time, static_cast<uint32_t>(probe), plan::RecordKind::ret, hits);
        return wire.sp(kStackTop - start).number(start);
    }
    static Wire process(plan::ProcessChange change, uint64_t time, uint32_t other = 0,
                        bool is_thread = false) {
        Wire wire(time, static_cast<uint32_t>(change), plan::RecordKind::process, 0);
        return wire.append(plan::ProcessRecord{other, is_thread ? 1u : 0u});
    }
    Wire& thread(uint32_t pid, uint32_t tid, const std::string& comm = "python3") {
        std::memcpy(bytes_.data() + 16, &pid, 4);
        std::memcpy(bytes_.data() + 20, &tid, 4);
        std::memset(bytes_.data() + 24, 0, 16);
        std::memcpy(bytes_.data() + 24, comm.data(), std::min<size_t>(comm.size(), 16));
        return *this;
    }
    Wire& sp(uint64_t value) {
        std::memcpy(bytes_.data() + offsetof(plan::RecordHeader, sp), &value, sizeof value);
        return *this;
    }
    Wire& goes_on() { return tail_call(); }  // of a return record; it is the same bit
    Wire& tail_call() {
        bytes_[offsetof(plan::RecordHeader, what)] |= std::byte{plan::kTailCall};
        return *this;
    }
    Wire& number(uint64_t value) { return append(value); }
    Wire& text(std::string value, size_t size) {
        value.resize(size);
        return raw(value);
    }
    Wire& raw(std::string_view value) {
        auto bytes = std::as_bytes(std::span(value));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    template <class T> Wire& append(const T& value) {
        return raw({reinterpret_cast<const char*>(&value), sizeof value});
    }
    operator std::span<const std::byte>() const { return bytes_; }
    std::vector<std::byte>& bytes() { return bytes_; }

    static constexpr uint64_t kStackTop = 0x7fff'0000'0000;

private:
    Wire(uint64_t time, uint32_t probe, plan::RecordKind kind, uint32_t hits) {
        plan::RecordHeader header{time, probe, static_cast<uint32_t>(kind) | hits << 8, 70, 70,
                                  {},   0};
        append(header).thread(70, 70).sp(kStackTop - time);
    }
    std::vector<std::byte> bytes_;
};

inline std::string value_text(const event::Value& value) {
    if (value.unread) return "null";
    if (value.learnt || !value.text.empty()) return std::string(value.text);
    if (value.type->kind == Kind::hex) return fmt::format("{:#x}", value.bits);
    if (value.type->kind == Kind::text) return "";
    return std::to_string(static_cast<int64_t>(value.bits));
}

class Lines : public event::EventConsumer {
public:
    void event(const event::Event& event) override {
        constexpr const char* kPhases[] = {"B", "E", "X", "i"};
        std::string name = event.probe->function;
        if (const auto* own = std::get_if<plan::EventEmit>(&event.emit->what))
            name = own->type + "." + own->name;
        std::string line = fmt::format("{} {} {} @{}", event.id,
                                       kPhases[static_cast<int>(event.phase)], name, event.time_ns);
        if (event.parent) line += fmt::format(" parent={}", *event.parent);
        if (event.begin) line += fmt::format(" begin={}", *event.begin);
        if (event.duration_ns > 0) line += fmt::format(" took={}", event.duration_ns);
        if (event.ret) line += " ret=" + value_text(*event.ret);
        for (const event::NamedValue& one : event.values) {
            line += fmt::format(" {}={}", one.name, value_text(one.value));
        }
        for (std::string_view frame : event.stack) line += fmt::format(" <{}", frame);
        lines.push_back(std::move(line));
    }
    void reached(uint64_t time_ns) override { lines.push_back(fmt::format("reached {}", time_ns)); }
    void lost(const event::Loss& loss, uint64_t id) override {
        lines.push_back(fmt::format("{} lost {} @{}", id, loss.count, loss.time_ns));
    }
    std::vector<std::string> lines;
};

}  // namespace mlbcc::test
