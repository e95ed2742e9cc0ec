#include "codegen/shape.h"

#include <algorithm>

#include <fmt/format.h>

namespace mlbcc::codegen {

std::string shape_name(plan::ShapeId id) {
    return fmt::format("shape_{}", static_cast<uint32_t>(id));
}

ShapeWriter::ShapeWriter(const plan::Plan& plan, const plan::Shape& shape, AttachMode mode)
    : plan_(plan), shape_(shape), probe_(plan.probes[static_cast<uint32_t>(shape.example)]),
      mode_(mode), name_(shape_name(shape.id)) {}

std::string ShapeWriter::body() {
    return is_return() ? leave() : entry();
}

bool ShapeWriter::hits_constant() const {
    return std::none_of(probe_.parts.begin(), probe_.parts.end(),
                        [](const plan::RulePart& part) { return part.conditional(); });
}

// Which rules apply to this call, as far as that is known at its beginning.
void ShapeWriter::decide(Writer& w) {
    if (hits_constant()) {
        w.line(fmt::format("const u32 hits = {};", (1u << probe_.parts.size()) - 1));
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
    w.line("if (!hits) return MLBCC_SKIP;");
}

void ShapeWriter::sample(Writer& w, const plan::RulePart& part) {
    w.open_block("if (wanted) {");
    w.line(fmt::format("u32 slot = {};", static_cast<uint32_t>(part.rule)));
    w.line("u64 *seen = samples.lookup(&slot);");
    w.line(fmt::format("wanted = seen && (*seen)++ % {} == 0;", part.sample));
    w.close_block();
}

// What the end of the call must know is left where the end will find it.
void ShapeWriter::begin_call(Writer& w) {
    uint32_t later = probe_.return_parts();
    if (later == 0) {
        w.line("return MLBCC_SKIP;");
        return;
    }
    w.line(fmt::format("if (!(hits & {})) return MLBCC_SKIP;", later));
    if (framed()) {
        save(w);
    } else {
        w.line("MLBCC_BEGIN(now);");
    }
    w.line("return 0;");
}

void ShapeWriter::save(Writer& w) {
    w.line("u64 index = MLBCC_NO_FRAME;");
    w.line("struct call_frame *frame = mlbcc_push(thread, MLBCC_ENTRY_SP(ctx), &index);");
    w.line("MLBCC_BEGIN(index);");
    w.line("if (!frame) return MLBCC_FRAMELESS();");
    w.line("frame->sp = MLBCC_ENTRY_SP(ctx);");
    w.line("frame->start = now;");
    w.line("frame->probe = probe;");
    w.line("frame->hits = hits;");
    if (probe_.saved_words > 0) w.line("MLBCC_TAKE_REGISTERS(ctx, (u64 *)frame->saved);");
    uint32_t registers = plan::argument_registers(plan_.arch);
    if (probe_.saved_words > registers) {
        w.line(fmt::format(
            "bpf_probe_read_user(frame->saved + {}, {}, (void *)MLBCC_STACK_ARG(ctx, 0));",
            registers * 8, (probe_.saved_words - registers) * 8));
    }
    for (const plan::Saved& saved : probe_.saved) {
        bool text = saved.value->show == rules::Show::text;
        // A frame is used again and again: behind the text stands an older one, and as the key of
        // a group all bytes count.
        if (text && !probe_.aggregates.empty()) {
            w.line(fmt::format("__builtin_memset(&MLBCC_SAVED(char, {}), 0, {});", saved.offset,
                               saved.size));
        }
        w.store(text ? fmt::format("&MLBCC_SAVED(char, {})", saved.offset)
                     : fmt::format("MLBCC_SAVED(u64, {})", saved.offset),
                saved.size, *saved.value, false);
    }
}

std::string ShapeWriter::entry() {
    Writer w(plan_, probe_, rules::Stage::entry);
    decide(w);
    bool scratch = probe_.entry && !fits_on_stack(*probe_.entry);
    if (scratch || (framed() && probe_.has_return())) need_thread(w, "return MLBCC_SKIP;");
    if (probe_.entry) record(w, *probe_.entry);
    aggregates(w);
    begin_call(w);
    return w.take();
}

void ShapeWriter::find_call(Writer& w) {
    if (!framed()) {
        w.line(fmt::format("u32 hits = {};", probe_.return_parts()));
        if (probe_.ret && !fits_on_stack(*probe_.ret)) need_thread(w, "return 0;");
        return;
    }
    w.line("struct thread_state *thread = threads.lookup(&id.thread);");
    w.line("struct call_frame *frame = 0;");
    w.line("if (thread) frame = mlbcc_pop(thread, MLBCC_RETURN_SP(ctx), probe, start);");
    w.open_block("if (!frame) {");
    if (probe_.ret && mode_ == AttachMode::session) {
        w.line(fmt::format("u32 hits = {};", probe_.return_parts()));
        w.open_block("if (start == MLBCC_NO_FRAME) {");
        lose(w, *probe_.ret);
        w.close_block();
    }
    w.line("return 0;");
    w.close_block();
    w.line("start = frame->start;");
    w.line("u32 hits = frame->hits;");
}

std::string ShapeWriter::leave() {
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
    if (probe_.ret) record(w, *probe_.ret);
    aggregates(w);
    return w.take();
}

}  // namespace mlbcc::codegen
