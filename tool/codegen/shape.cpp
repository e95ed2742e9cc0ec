#include "codegen/shape.h"

#include <algorithm>

#include <fmt/format.h>

namespace mlbcc::codegen {
namespace {

uint32_t emitting(const plan::RecordPlan& record) {
    uint32_t mask = 0;
    for (const plan::Emit& emit : record.emits) mask |= emit.mask;
    return mask;
}

bool is_stored(const plan::Field& field) {
    return field.type.kind != plan::ValueType::Kind::function &&
           field.type.kind != plan::ValueType::Kind::symbol;
}

bool is_text(const plan::Field& field) {
    using Kind = plan::ValueType::Kind;
    bool text = field.type.kind == Kind::text || field.type.kind == Kind::comm;
    return text && field.type.learnt_table.empty();
}

bool on_stack(const plan::RecordPlan& record) {
    return !record.layout.stack && record.layout.size <= kMaxStackRecord;
}

uint32_t index(plan::RuleId id) {
    return static_cast<uint32_t>(id);
}

}  // namespace

std::string shape_name(plan::ShapeId id) {
    return fmt::format("shape_{}", static_cast<uint32_t>(id));
}

ShapeWriter::ShapeWriter(const plan::Plan& plan, const plan::Shape& shape, AttachMode mode)
    : plan_(plan), shape_(shape), probe_(plan.probes[static_cast<uint32_t>(shape.example)]),
      mode_(mode), name_(shape_name(shape.id)) {}

bool ShapeWriter::hits_constant() const {
    return std::none_of(probe_.parts.begin(), probe_.parts.end(),
                        [](const plan::RulePart& part) { return part.conditional(); });
}

std::string ShapeWriter::record_struct(const plan::RecordPlan& record, bool is_return) {
    std::string name = fmt::format("{}_{}", name_, is_return ? "return" : "entry");
    std::string out = fmt::format("struct {}_record {{\n    struct record_header header;\n", name);
    std::string checks;
    if (is_return) out += "    u64 start_ns;\n";
    for (size_t i = 0; i < record.layout.fields.size(); ++i) {
        const plan::Field& field = record.layout.fields[i];
        out += is_text(field) ? fmt::format("    char f{}[{}];\n", i, field.size)
                              : fmt::format("    u64 f{};\n", i);
        checks += fmt::format("MLBCC_SAME({}_record, f{}, {});\n", name, i, field.offset);
    }
    if (record.layout.stack) {
        out += "    struct user_stack stack;\n";
        checks += fmt::format("MLBCC_SAME({}_record, stack, {});\n", name, record.layout.size);
    }
    return out + "};\n" + checks;
}

std::string ShapeWriter::declarations() {
    std::string out;
    if (probe_.entry) out += record_struct(*probe_.entry, false);
    if (probe_.ret) out += record_struct(*probe_.ret, true);
    return out;
}

// Which rules apply to this call, as far as that is known at its beginning.
void ShapeWriter::decide(Writer& w) {
    if (hits_constant()) {
        w.line(fmt::format("const u32 hits = {};", all_parts()));
        return;
    }
    w.line("u32 hits = 0;");
    for (size_t i = 0; i < probe_.parts.size(); ++i) {
        const plan::RulePart& part = probe_.parts[i];
        w.open_block();
        std::string all = "1";
        for (const rules::TypedPtr& condition : part.entry_where) {
            w.place(condition->span);
            all += " && " + w.condition(*condition);
        }
        w.line(fmt::format("int wanted = {};", all));
        if (part.sample > 1) sample(w, part);
        w.line(fmt::format("if (wanted) hits |= {};", 1u << i));
        w.close_block();
    }
    w.line("if (!hits) return 0;");
}

void ShapeWriter::sample(Writer& w, const plan::RulePart& part) {
    w.open_block("if (wanted) {");
    w.line(fmt::format("u32 slot = {};", index(part.rule)));
    w.line("u64 *seen = samples.lookup(&slot);");
    w.line(fmt::format("wanted = seen && (*seen)++ % {} == 0;", part.sample));
    w.close_block();
}

void ShapeWriter::record(Writer& w, const plan::RecordPlan& record, bool is_return) {
    uint32_t mask = emitting(record);
    if (mask == 0) return;
    w.open_block(fmt::format("if (hits & {}) {{", mask));
    std::string type = fmt::format("struct {}_{}_record", name_, is_return ? "return" : "entry");
    if (on_stack(record)) {
        w.line(fmt::format("{} on_stack = {{}};", type));
        w.line(fmt::format("{} *record = &on_stack;", type));
    } else {
        w.line(
            fmt::format("_Static_assert(sizeof({}) <= MLBCC_SCRATCH_BYTES, \"scratch\");", type));
        w.line(fmt::format("{0} *record = ({0} *)thread->scratch;", type));
    }
    w.line(fmt::format("mlbcc_header(&record->header, &id, now, probe, {} | hits << 8);",
                       is_return ? 1 : 0));
    if (is_return) w.line("record->start_ns = start;");
    for (const plan::Capture& capture : record.captures) {
        const plan::Field& field = record.layout.fields[capture.field];
        if (!is_stored(field)) continue;
        w.store(fmt::format("record->f{}", capture.field), field.size, *capture.value, true);
    }
    if (record.ret_field) {
        w.line(fmt::format("record->f{} = MLBCC_RETURN_VALUE(ctx);", *record.ret_field));
    }
    w.line(fmt::format("u64 size = {};", record.layout.size));
    if (record.layout.stack) stack(w, record, is_return);
    w.line("int lost = mlbcc_submitted(events.perf_submit(ctx, record, size));");
    accounts(w, record, mask);
    w.close_block();
}

void ShapeWriter::stack(Writer& w, const plan::RecordPlan& record, bool is_return) {
    uint32_t mask = 0;
    for (const plan::Emit& emit : record.emits) mask |= emit.stack ? emit.mask : 0;
    w.open_block(fmt::format("if (hits & {}) {{", mask));
    w.line(fmt::format("MLBCC_CALLER_AT_{}(ctx, &record->stack);", is_return ? "RETURN" : "ENTRY"));
    w.line("size += mlbcc_copy_stack(&record->stack);");
    w.close_block();
}

// A record that cannot even be put together is accounted for as one that found no room.
void ShapeWriter::lose(Writer& w, const plan::RecordPlan& record) {
    uint32_t mask = emitting(record);
    if (mask == 0) return;
    w.open_block(fmt::format("if (hits & {}) {{", mask));
    w.line("int lost = mlbcc_submitted(1);");
    accounts(w, record, mask);
    w.close_block();
}

void ShapeWriter::accounts(Writer& w, const plan::RecordPlan& record, uint32_t mask) {
    for (size_t i = 0; i < record.rules.size(); ++i) {
        if ((mask & 1u << i) == 0) continue;
        w.line(fmt::format("if (hits & {}) mlbcc_account({}, lost);", 1u << i,
                           index(record.rules[i])));
    }
}

void ShapeWriter::aggregates(Writer& w, bool at_entry) {
    for (const plan::AggregateUse& use : probe_.aggregates) {
        const auto& shared = plan_.aggregates[static_cast<uint32_t>(use.aggregate)];
        if (shared.at_entry != at_entry) continue;
        w.open_block(fmt::format("if (hits & {}) {{", use.hit));
        aggregate(w, use);
        w.close_block();
    }
}

void ShapeWriter::aggregate(Writer& w, const plan::AggregateUse& use) {
    const auto& shared = plan_.aggregates[static_cast<uint32_t>(use.aggregate)];
    std::string map = maps::aggregate(shared.id);
    if (shared.key_size == 0) {
        w.line("u32 key = 0;");
    } else {
        w.line(fmt::format("struct {}_key key = {{}};", map));
        for (size_t i = 0; i < use.by.size(); ++i) {
            w.store(fmt::format("key.k{}", i), shared.by[i].field.size, *use.by[i], false);
        }
        if (shared.by.size() > use.by.size()) {
            w.line(fmt::format("key.k{} = id.pid;", use.by.size()));
        }
    }
    if (use.value) {
        w.place(use.value->span);
        w.line(fmt::format("u64 value = {};", w.number(*use.value)));
    }
    w.line(fmt::format("struct {0}_value *group = {0}.lookup(&key);", map));
    if (shared.key_size != 0) {
        w.open_block("if (!group) {");
        w.line(fmt::format("struct {}_value *blank = 0;", map));
        w.line("u32 zero = 0;");
        w.line(fmt::format("blank = {}_blank.lookup(&zero);", map));
        w.line(fmt::format("if (blank) {}.insert(&key, blank);", map));
        w.line(fmt::format("group = {}.lookup(&key);", map));
        w.close_block();
    }
    w.open_block("if (group) {");
    w.line("__sync_fetch_and_add(&group->count, 1);");
    if (use.value) w.line("__sync_fetch_and_add(&group->sum, value);");
    if (shared.kind == plan::AggregateKind::hist) {
        w.line("if (~value > group->inverse_min) group->inverse_min = ~value;");
        w.line("if (value > group->max) group->max = value;");
        w.line("__sync_fetch_and_add(&group->buckets[mlbcc_bucket(value)], 1);");
    }
    w.close_block();
    w.line(fmt::format("else mlbcc_account_full({});", index(shared.rule)));
}

// What the end of the call must know is left where the end will find it.
void ShapeWriter::begin_call(Writer& w) {
    uint32_t later = probe_.return_parts();
    if (later == 0) {
        w.line("return 0;");
        return;
    }
    w.line(fmt::format("if (!(hits & {})) return 0;", later));
    if (!framed()) {
        w.line("*begin = now;");
    } else {
        w.line("struct call_frame *frame = mlbcc_push(thread, MLBCC_ENTRY_SP(ctx), begin);");
        w.open_block("if (!frame) {");
        if (probe_.ret) lose(w, *probe_.ret);
        w.line("return 0;");
        w.close_block();
        w.line("frame->sp = MLBCC_ENTRY_SP(ctx);");
        w.line("frame->start = now;");
        w.line("frame->probe = probe;");
        w.line("frame->hits = hits;");
        for (const plan::Saved& saved : probe_.saved) {
            bool text =
                saved.value->show == rules::Show::text || saved.value->show == rules::Show::comm;
            w.store(text ? fmt::format("&MLBCC_SAVED(char, {})", saved.offset)
                         : fmt::format("MLBCC_SAVED(u64, {})", saved.offset),
                    saved.size, *saved.value, true);
        }
    }
    w.line("return 1;");
}

std::string ShapeWriter::entry() {
    Writer w(plan_, probe_, rules::Stage::entry);
    decide(w);
    bool scratch = probe_.entry && !on_stack(*probe_.entry);
    if (scratch || (framed() && probe_.has_return())) {
        w.line("struct thread_state *thread = mlbcc_thread(&id);");
        w.open_block("if (!thread) {");
        if (probe_.entry) lose(w, *probe_.entry);
        if (probe_.ret) lose(w, *probe_.ret);
        w.line("return 0;");
        w.close_block();
    }
    if (probe_.entry) record(w, *probe_.entry, false);
    aggregates(w, true);
    begin_call(w);
    return w.take();
}

void ShapeWriter::find_call(Writer& w) {
    bool scratch = probe_.ret && !on_stack(*probe_.ret);
    if (framed()) {
        w.line("struct thread_state *thread = threads.lookup(&id.thread);");
        w.line("if (!thread) return;");
        w.line("struct call_frame *frame = mlbcc_pop(thread, MLBCC_RETURN_SP(ctx), probe, start);");
        w.line("if (!frame) return;");
        w.line("start = frame->start;");
        w.line("u32 hits = frame->hits;");
        return;
    }
    w.line(fmt::format("u32 hits = {};", probe_.return_parts()));
    if (scratch) {
        w.line("struct thread_state *thread = mlbcc_thread(&id);");
        w.open_block("if (!thread) {");
        lose(w, *probe_.ret);
        w.line("return;");
        w.close_block();
    }
}

std::string ShapeWriter::leave() {
    if (!probe_.has_return()) return {};
    Writer w(plan_, probe_, rules::Stage::ret);
    find_call(w);
    for (size_t i = 0; i < probe_.parts.size(); ++i) {
        for (const rules::TypedPtr& condition : probe_.parts[i].return_where) {
            w.open_block();
            w.place(condition->span);
            w.line(fmt::format("if (!{}) hits &= ~{}u;", w.condition(*condition), 1u << i));
            w.close_block();
        }
    }
    if (probe_.ret) record(w, *probe_.ret, true);
    aggregates(w, false);
    return w.take();
}

}  // namespace mlbcc::codegen
