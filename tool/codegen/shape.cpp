#include "codegen/shape.h"
#include "codegen/values.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace mlbcc::codegen {
namespace {

// Whether it is made of what is known of any call: no argument, no memory, no time.
bool is_of_any_call(const rules::Typed& value) {
    const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value.node);
    bool known = leaf != nullptr ? leaf->which != rules::Builtin::time &&
                                       leaf->which != rules::Builtin::duration
                                 : std::holds_alternative<rules::ConstLeaf>(value.node) ||
                                       std::holds_alternative<rules::TextLeaf>(value.node) ||
                                       std::holds_alternative<rules::UnaryNode>(value.node) ||
                                       std::holds_alternative<rules::BinaryNode>(value.node);
    rules::for_each_operand(
        value, [&](const rules::TypedPtr& part) { known = known && is_of_any_call(*part); });
    return known;
}

// Of what the call was given alone, and memory.
bool is_of_arguments(const rules::Typed& value) {
    bool known = !std::holds_alternative<rules::BuiltinLeaf>(value.node);
    rules::for_each_operand(
        value, [&](const rules::TypedPtr& part) { known = known && is_of_arguments(*part); });
    return known;
}

}  // namespace

bool may_be_held(const plan::ProbePlan& probe) {
    if (probe.kind != plan::ProbeKind::syscall || !probe.has_entry() || probe.acts_at_end())
        return false;
    return (probe.entry && probe.entry->argument_text != 0) ||
           std::ranges::any_of(computed_at_entry(probe), [](const rules::TypedPtr& value) {
               return rules::any_part(*value, is_program_memory);
           });
}

std::string shape_name(plan::ShapeId id) {
    return fmt::format("shape_{}", static_cast<uint32_t>(id));
}

ShapeWriter::ShapeWriter(const plan::Plan& plan, const plan::Shape& shape, AttachMode mode)
    : plan_(plan), shape_(shape), probe_(plan.probes[static_cast<uint32_t>(shape.example)]),
      mode_(mode), name_(shape_name(shape.id)) {}

const char* ShapeWriter::ends_by() const {
    if (is_session()) return "MLBCC_BY_SESSION";
    if (probe_.is_of_go()) return "MLBCC_BY_GO";
    if (!probe_.ends_at_instructions()) return "0";
    return probe_.moves() ? "MLBCC_BY_COROUTINE" : "MLBCC_BY_INSTRUCTION";
}

std::vector<Span> ShapeWriter::heads() const {
    std::set<plan::RuleId> rules;
    for (const plan::ProbePlan& probe : plan_.probes) {
        const auto& shape = is_return() ? probe.return_shape : probe.entry_shape;
        if (shape != shape_.id) continue;
        for (const plan::RulePart& part : probe.parts) rules.insert(part.rule);
    }
    std::vector<Span> heads;
    for (plan::RuleId id : rules) heads.push_back(plan_.rules[static_cast<uint32_t>(id)].head);
    return heads;
}

Source ShapeWriter::body() {
    return is_return() ? leave() : entry();
}

// A system call whose beginning wants memory that is not there yet waits for the kernel to bring it
// in.
void ShapeWriter::hold(CodeWriter& w) {
    // Of calls with the same program some have a text and some have none: each call knows.
    const bool has_text = std::ranges::any_of(plan_.probes, [&](const plan::ProbePlan& probe) {
        return probe.entry_shape == shape_.id && may_be_held(probe) && probe.entry &&
               probe.entry->argument_text != 0;
    });
    if (!has_text && !may_be_held(probe_)) return;
    w.line("u64 missing = 0;");
    w.open_block();
    for (const rules::TypedPtr& value : computed_at_entry(probe_)) w.look_for_memory(*value);
    if (has_text)
        w.line("missing |= mlbcc_is_missing_text(MLBCC_TEXT_ARGUMENT(call, ctx), "
               "MLBCC_TEXT_BYTES);");
    w.close_block();
    w.line("if (MLBCC_HOLD(missing)) return 0;");
}

// What both the record of the beginning and the end want of memory, where all calls have them.
void ShapeWriter::read_ahead(CodeWriter& w) {
    if (!hits_constant() || !probe_.entry || probe_.entry->argument_words || is_syscall() ||
        probe_.entry->emitting() == 0 || !fits_on_stack(plan_, probe_.kind, *probe_.entry))
        return;
    std::vector<rules::TypedPtr> values = stored(*probe_.entry);
    if (framed()) {
        for (const plan::Saved& saved : probe_.saved) values.push_back(saved.value);
    }
    w.read_stack_arguments(values);
    w.read_together(values, room_together(*probe_.entry));
}

// What the end of the call must know is left where the end will find it.
void ShapeWriter::begin_call(CodeWriter& w) {
    w.part(heads(), false);
    uint32_t later = probe_.return_parts();
    if (later == 0) {
        w.line(fmt::format("return {};", skip()));
        return;
    }
    if (!hits_constant()) w.line(fmt::format("if (!(hits & {})) return {};", later, let_go()));
    if (framed()) {
        save(w);
    } else {
        w.line("mlbcc_await_end(&call);");
        w.line("MLBCC_BEGIN(call.now);");
    }
    w.line("return 0;");
}

void ShapeWriter::save(CodeWriter& w) {
    w.line("call.hits = hits;");
    if (!is_session()) w.line("call.at_return = 1;");  // what would be lost
    w.line("if (!mlbcc_push(&call)) return MLBCC_FRAMELESS();");
    if (!has_rest()) return;
    w.line("struct call_frame *frame = call.frame;");
    save_rest(w);
}

// Goes on behind it, whether or not there is an end to come, and a frame for it.
void ShapeWriter::begin_call_apart(CodeWriter& w) {
    const uint32_t later = probe_.return_parts();
    if (later == 0) return;
    MLBCC_CHECK(framed());
    w.open_block(fmt::format("if (hits & {}) {{", later));
    w.line("call.hits = hits;");
    w.line("call.at_return = 1;");
    w.open_block("if (mlbcc_push(&call)) {");
    w.line("struct call_frame *frame = call.frame;");
    save_rest(w);
    w.close_block();
    w.open_block("else {");
    w.line("mlbcc_lose(&call);");
    w.close_block();
    w.close_block();
}

void ShapeWriter::save_rest(CodeWriter& w) {
    if (probe_.saved_words > registers()) {
        save_stack_words(w);
    }
    for (const plan::Saved& saved : probe_.saved) save(w, saved);
    w.part(heads(), false);
}

void ShapeWriter::save_stack_words(CodeWriter& w) {
    const uint32_t count = probe_.saved_words - registers();
    if (w.known_stack_word(count - 1).empty()) {
        w.line(fmt::format("{}(frame->saved + {}, {}, (void *)MLBCC_STACK_ARG(ctx, 0));",
                           w.stack_reader(), registers(), count * 8));
        return;
    }
    for (uint32_t i = 0; i < count; ++i)
        w.line(fmt::format("frame->saved[{}] = {};", registers() + i, w.known_stack_word(i)));
}

void ShapeWriter::save(CodeWriter& w, const plan::Saved& saved) {
    bool text = saved.value->show == rules::Show::text;
    // A frame is used again and again: behind the text stands an older one, and as the key of
    // a group all bytes count.
    if (text && !probe_.aggregates.empty()) {
        w.line(fmt::format("__builtin_memset(&MLBCC_SAVED(u64, {}), 0, {});", saved.offset,
                           saved.size));
    }
    w.store(text ? fmt::format("&MLBCC_SAVED(char, {})", saved.offset)
                 : fmt::format("MLBCC_SAVED(u64, {})", saved.offset),
            saved.size, *saved.value, false);
    if (std::string failed = w.failed(*saved.value); !failed.empty()) {
        w.line(fmt::format("frame->unread |= ({}) << {};", failed, w.unread_bit(saved)));
    }
}

bool ShapeWriter::has_rest() const {
    return probe_.saved_words > plan::argument_registers(plan_.arch) || !probe_.saved.empty();
}

bool ShapeWriter::can_be_halved() const {
    if (is_return() || probe_.return_parts() == 0 || !framed() || !hits_constant()) return false;
    if (probe_.entry && (!probe_.entry->argument_words || probe_.entry->emitting() == 0))
        return false;
    if (std::ranges::any_of(probe_.aggregates, &plan::AggregateUse::at_entry)) return false;
    return std::ranges::all_of(probe_.saved,
                               [](const plan::Saved& one) { return is_of_arguments(*one.value); });
}

bool ShapeWriter::can_end_apart() const {
    return is_return() && framed() && probe_.ret && probe_.ret->emitting() != 0 &&
           probe_.kind == plan::ProbeKind::function && !probe_.ends_at_instructions() &&
           !fits_on_stack(plan_, probe_.kind, *probe_.ret);
}

bool ShapeWriter::can_end_syscall_apart() const {
    if (!is_syscall() || !own_record() || own_record()->emitting() == 0) return false;
    return own_record()->layout.has(rules::StackKind::python) && !own_record()->argument_words;
}

Source ShapeWriter::rest() {
    CodeWriter w(plan_, probe_, rules::Stage::entry);
    w.part(heads(), false);
    save_rest(w);
    return w.take();
}

Source ShapeWriter::entry() {
    CodeWriter w(plan_, probe_, rules::Stage::entry);
    w.part(heads(), false);
    w.line("struct accounts *all = call.all;");
    hold(w);
    decide(w);
    aggregates(w);
    read_ahead(w);
    if (ends_apart_) {  // with the record, whose submission does not come back
        begin_call_apart(w);
        record(w, *probe_.entry);
        w.line("return 0;");
    } else {
        if (probe_.entry) record(w, *probe_.entry);
        begin_call(w);
    }
    return w.take();
}

// Whether anything at the call's end is about who called what.
bool ShapeWriter::needs_caller() const {
    auto grouped = [](const plan::AggregateUse& use) { return !use.by.empty() || use.value; };
    auto asked = [](const plan::RulePart& part) { return !part.return_where.empty(); };
    bool timed = std::all_of(probe_.aggregates.begin(), probe_.aggregates.end(),
                             [&](const plan::AggregateUse& use) {
                                 return !grouped(use) || (use.by.empty() && is_duration(use));
                             });
    return probe_.ret || !timed || std::any_of(probe_.parts.begin(), probe_.parts.end(), asked);
}

// Whether the end of a system call that is only counted asks for none of its registers.
bool ShapeWriter::only_counts() const {
    auto known = [](const rules::TypedPtr& one) { return is_of_any_call(*one); };
    auto counted = [&](const plan::AggregateUse& use) {
        return (!use.value || known(use.value)) && std::ranges::all_of(use.by, known);
    };
    auto decided = [&](const plan::RulePart& part) {
        return std::ranges::all_of(part.entry_where, known) &&
               std::ranges::all_of(part.return_where, known);
    };
    return !probe_.ret && std::ranges::all_of(probe_.aggregates, counted) &&
           std::ranges::all_of(probe_.parts, decided);
}

const char* ShapeWriter::syscall_end() const {
    if (framed()) return "mlbcc_syscall_returns";
    if (probe_.has_entry()) return "mlbcc_syscall_took";
    return only_counts() ? "mlbcc_syscall_counts" : "mlbcc_syscall_completes";
}

void ShapeWriter::find_call(CodeWriter& w) {
    if (probe_.acts_at_end()) return decide_at_end(w);
    if (!framed()) {
        w.line("if (!mlbcc_leave(&call)) return 0;");
        if (needs_caller()) w.line("mlbcc_know_caller(&call);");
        w.line("struct accounts *all = call.all;");
        w.line(fmt::format("u32 hits = {};", probe_.return_parts()));
        return;
    }
    // Of a call without a frame the beginning is not known: all that it may record is lost.
    w.line(fmt::format("call.hits = {};", probe_.ret ? probe_.return_parts() : 0));
    w.line("call.at_return = 1;");
    if (ends_apart_ && !is_syscall()) {
        w.open_block("if (!mlbcc_find_frame(&call)) {");
        if (is_session()) w.line("ends.call(ctx, MLBCC_LOSE_CALL);");
        w.line("return 0;");
        w.close_block();
    } else {
        w.line("if (!mlbcc_leave_frame(&call)) return 0;");
    }
    if (is_syscall()) w.line("mlbcc_time_answer(&call);");
    w.line("struct accounts *all = call.all;");
    w.line("struct call_frame *frame = call.frame;");
    w.line(fmt::format("u32 hits = call.hits & {};", probe_.return_parts()));
}

Source ShapeWriter::leave() {
    CodeWriter w(plan_, probe_, rules::Stage::ret);
    w.part(heads(), false);
    find_call(w);
    if (!probe_.acts_at_end()) decide_by_end(w, "hits");
    aggregates(w);
    if (probe_.ret) record(w, *probe_.ret);
    return w.take();
}

}  // namespace mlbcc::codegen
