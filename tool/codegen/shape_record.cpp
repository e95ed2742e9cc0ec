// The part of a shape that puts a record together and accounts for it.
#include <fmt/format.h>

#include "codegen/shape.h"

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

}  // namespace

bool is_text(const plan::Field& field) {
    using Kind = plan::ValueType::Kind;
    bool text = field.type.kind == Kind::text || field.type.kind == Kind::comm;
    return text && field.type.learnt_table.empty();
}

bool fits_on_stack(const plan::RecordPlan& record) {
    return !record.layout.stack && record.layout.size <= kMaxStackRecord;
}

std::string ShapeWriter::declarations() {
    if (!own_record() || own_record()->argument_words) return {};
    const plan::RecordLayout& layout = own_record()->layout;
    std::string out = fmt::format("struct {}_record {{\n    struct record_header header;\n", name_);
    std::string checks;
    if (is_return()) out += "    u64 start_ns;\n";
    if (layout.unread) out += "    u64 unread;\n";
    for (size_t i = 0; i < layout.fields.size(); ++i) {
        const plan::Field& field = layout.fields[i];
        if (!is_stored(field)) {
            out += fmt::format("    u64 f{};\n", i);  // takes its room, is never read
            continue;
        }
        out += is_text(field) ? fmt::format("    char f{}[{}];\n", i, field.size)
                              : fmt::format("    u64 f{};\n", i);
        checks += fmt::format("MLBCC_SAME({}_record, f{}, {});\n", name_, i, field.offset);
    }
    if (layout.stack) {
        out += "    struct user_stack stack;\n";
        checks += fmt::format("MLBCC_SAME({}_record, stack, {});\n", name_, layout.size);
    }
    return out + "};\n" + checks;
}

// A thread's state holds its frames, and room for a record that BPF's stack has not.
void ShapeWriter::need_thread(Writer& w, const char* otherwise) {
    w.line("struct thread_state *thread = mlbcc_thread(&id);");
    w.open_block("if (!thread) {");
    if (own_record()) lose(w, *own_record());
    w.line(otherwise);
    w.close_block();
}

void ShapeWriter::record(Writer& w, const plan::RecordPlan& record) {
    uint32_t mask = emitting(record);
    if (mask == 0) return;
    w.open_block(fmt::format("if (hits & {}) {{", mask));
    std::string type =
        record.argument_words ? "struct arguments_record" : fmt::format("struct {}_record", name_);
    if (fits_on_stack(record)) {
        w.line(fmt::format("{} on_stack = {{}};", type));
        w.line(fmt::format("{} *record = &on_stack;", type));
    } else {
        w.line(
            fmt::format("_Static_assert(sizeof({}) <= MLBCC_SCRATCH_BYTES, \"scratch\");", type));
        w.line(fmt::format("{0} *record = ({0} *)thread->scratch;", type));
    }
    w.line(fmt::format("mlbcc_header(&record->header, &id, now, probe, {} | (hits & {}) << 8);",
                       is_return() ? "1" : "mlbcc_tail_call(ctx)", mask));
    w.line(fmt::format("record->header.sp = MLBCC_{}_SP(ctx);", is_return() ? "RETURN" : "ENTRY"));
    fill(w, record);
    submit(w, record, "events.perf_submit(ctx, record, size) != 0");
    w.close_block();
}

void ShapeWriter::fill(Writer& w, const plan::RecordPlan& record) {
    if (record.argument_words) {
        w.line("u64 size = mlbcc_take_arguments(ctx, record, MLBCC_WORDS(cookie));");
        return;
    }
    if (is_return()) w.line("record->start_ns = start;");
    if (record.layout.unread) w.line("record->unread = 0;");
    for (const plan::Capture& capture : record.captures) {
        const plan::Field& field = record.layout.fields[capture.field];
        if (!is_stored(field)) continue;
        w.store(fmt::format("record->f{}", capture.field), field.size, *capture.value, true);
        for (const std::string& failed : w.failures(*capture.value)) {
            w.line(fmt::format("if ({}) record->unread |= {}ULL;", failed,
                               1ull << (capture.field & 63)));
        }
    }
    if (record.ret_field && !is_text(record.layout.fields[*record.ret_field])) {
        w.line(fmt::format("record->f{} = MLBCC_RETURN_VALUE(ctx);", *record.ret_field));
    }
    w.line(fmt::format("u64 size = {};", record.layout.size));
    if (record.layout.stack) stack(w, record);
}

void ShapeWriter::stack(Writer& w, const plan::RecordPlan& record) {
    uint32_t mask = 0;
    for (const plan::Emit& emit : record.emits) mask |= emit.stack ? emit.mask : 0;
    w.open_block(fmt::format("if (hits & {}) {{", mask));
    w.line(
        fmt::format("MLBCC_CALLER_AT_{}(ctx, &record->stack);", is_return() ? "RETURN" : "ENTRY"));
    w.line("size += mlbcc_copy_stack(&record->stack);");
    w.close_block();
}

// `failed` is C that is not 0 where the record found no room.
void ShapeWriter::submit(Writer& w, const plan::RecordPlan& record, const char* failed) {
    uint32_t mask = emitting(record);
    w.line(fmt::format("int lost = {};", failed));
    w.line("mlbcc_account(&all->rules[MLBCC_ALL_RULES], lost);");
    for (size_t i = 0; i < record.rules.size(); ++i) {
        if ((mask & 1u << i) == 0) continue;
        w.line(fmt::format("if (hits & {}) mlbcc_account(&all->rules[{}], lost);", 1u << i,
                           static_cast<uint32_t>(record.rules[i])));
    }
}

// A record that cannot even be put together is accounted for as one that found no room.
void ShapeWriter::lose(Writer& w, const plan::RecordPlan& record) {
    uint32_t mask = emitting(record);
    if (mask == 0) return;
    w.open_block(fmt::format("if (hits & {}) {{", mask));
    submit(w, record, "1");
    w.close_block();
}

}  // namespace mlbcc::codegen
