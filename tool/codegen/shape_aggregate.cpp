// The part of a shape that counts, sums and measures in the kernel.
#include <fmt/format.h>

#include "codegen/rooms.h"
#include "codegen/shape.h"

namespace mlbcc::codegen {

void ShapeWriter::aggregates(CodeWriter& w) {
    for (const plan::AggregateUse& use : probe_.aggregates) {
        if (use.at_entry == is_return()) continue;
        w.part({use.span});
        w.open_block(fmt::format("if (hits & {}) {{", use.hit));
        aggregate(w, use);
        w.close_block();
    }
}

void ShapeWriter::aggregate(CodeWriter& w, const plan::AggregateUse& use) {
    const auto& shared = plan_.aggregates[static_cast<uint32_t>(use.aggregate)];
    if (use.value) {
        w.place(use.value->span);
        w.line(fmt::format("u64 value = {};", w.number(*use.value)));
        w.part({use.span}, false);
    }
    if (shared.is_total()) {
        w.line(fmt::format("__sync_fetch_and_add(&all->totals[{}].count, 1);",
                           static_cast<uint32_t>(shared.id)));
        if (use.value) {
            w.line(fmt::format("__sync_fetch_and_add(&all->totals[{}].sum, value);",
                               static_cast<uint32_t>(shared.id)));
        }
        return;
    }
    const bool is_hist = shared.kind == plan::AggregateKind::hist;
    const bool may_be_unknown = is_hist && is_syscall() && plan::takes_duration(*use.value);
    if (may_be_unknown) w.open_block(fmt::format("if (!({})) {{", w.failed(*use.value)));
    group_key(w, use);
    std::string map = maps::aggregate(shared.id);
    const bool in_room = is_large_key(shared);
    if (in_room)
        w.line(fmt::format("struct {0}_value *group = key ? {0}.lookup(key) : 0;", map));
    else
        w.line(fmt::format("struct {0}_value *group = {0}.lookup(&key);", map));
    if (shared.key_size != 0) new_group(w, map, in_room);
    w.open_block("if (group) {");
    w.line("__sync_fetch_and_add(&group->count, 1);");
    if (use.value) w.line("__sync_fetch_and_add(&group->sum, value);");
    if (use.is_own_known) {
        w.line(fmt::format("__sync_fetch_and_add(&group->own, mlbcc_end_own(&call, {}, value));",
                           *shared.own));
    } else if (shared.own) {
        w.line("__sync_fetch_and_add(&group->own_unknown, 1);");
    }
    if (is_hist) {
        // Not atomic: two threads of one CPU, one preempting the other right here, may lose an
        // extreme.
        const char* order = shared.is_signed ? " ^ (1ULL << 63)" : "";
        w.line(fmt::format("u64 order = value{};", order));
        w.line("if (~order > group->inverse_min) group->inverse_min = ~order;");
        w.line("if (order > group->max) group->max = order;");
        w.line(fmt::format("__sync_fetch_and_add(&group->buckets[mlbcc_{}bucket(value)], 1);",
                           shared.is_signed ? "signed_" : ""));
    }
    w.close_block();
    w.line(fmt::format("else __sync_fetch_and_add(&all->rules[{}].full, 1);",
                       static_cast<uint32_t>(shared.rule)));
    if (may_be_unknown) w.close_block();
}

void ShapeWriter::group_key(CodeWriter& w, const plan::AggregateUse& use) {
    const auto& shared = plan_.aggregates[static_cast<uint32_t>(use.aggregate)];
    if (shared.key_size == 0) {
        w.line("u32 key = 0;");
        return;
    }
    const bool in_room = is_large_key(shared);
    const std::string type = fmt::format("struct {}_key", maps::aggregate(shared.id));
    if (in_room) {
        // A text that is compared for one takes the room first.
        for (const rules::TypedPtr& value : use.by) {
            if (!value->is_text()) (void)w.number(*value);
        }
        w.line(fmt::format("{0} *key = ({0} *){1};", type, w.room()));
        w.open_block("if (key) {");
        w.line("__builtin_memset(key, 0, sizeof(*key));");
    } else {
        w.line(fmt::format("{} key = {{}};", type));
    }
    for (size_t i = 0; i < use.by.size(); ++i) {
        w.store(fmt::format("key{}k{}", in_room ? "->" : ".", i), shared.by[i].field.size,
                *use.by[i], false);
    }
    if (in_room) w.close_block();
    w.part({use.span}, false);
}

void ShapeWriter::new_group(CodeWriter& w, const std::string& map, bool in_room) {
    const char* key = in_room ? "key" : "&key";
    w.open_block(in_room ? "if (key && !group) {" : "if (!group) {");
    w.line("u32 zero = 0;");
    w.line(fmt::format("struct {0}_value *blank = {0}_blank.lookup(&zero);", map));
    w.line(fmt::format("if (blank) {}.insert({}, blank);", map, key));
    w.line(fmt::format("group = {}.lookup({});", map, key));
    w.close_block();
}

}  // namespace mlbcc::codegen
