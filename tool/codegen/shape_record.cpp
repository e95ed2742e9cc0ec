// The part of a shape that puts a record together and accounts for it.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/rooms.h"
#include "codegen/shape.h"

namespace mlbcc::codegen {
namespace {

using rules::StackKind;

// Programs of any other thing may be under way, and so may those of another template.
bool has_own_room(const plan::Plan& plan, const plan::ProbePlan& probe) {
    return probe.kind == plan::ProbeKind::defined && has_large_record(plan, probe);
}

bool is_stored(const plan::RecordSlot& field) {
    return field.type.kind != plan::ValueType::Kind::function &&
           field.type.kind != plan::ValueType::Kind::symbol;
}

}  // namespace

bool is_text(const plan::RecordSlot& field) {
    using Kind = plan::ValueType::Kind;
    bool text = field.type.kind == Kind::text || field.type.kind == Kind::comm;
    return text && field.type.learnt_table.empty();
}

// Of a system call the program's registers are there, too: 168 bytes on x86-64, 288 on arm64.
bool fits_on_stack(const plan::Plan& plan, plan::ProbeKind kind, const plan::RecordPlan& record) {
    uint32_t most = kMaxStackRecord;
    if (kind == plan::ProbeKind::syscall) {
        most = plan.arch == plan::Arch::x86_64 && !record.argument_words ? 72 : 0;
    }
    const plan::RecordLayout& layout = record.layout;
    return !layout.has_stack() && layout.size <= most;
}

bool has_large_record(const plan::Plan& plan, const plan::ProbePlan& probe) {
    const auto large = [&](const std::optional<plan::RecordPlan>& record) {
        return record && !fits_on_stack(plan, probe.kind, *record);
    };
    return large(probe.entry) || large(probe.ret);
}

uint32_t count_taken(const plan::Plan& plan) {
    return static_cast<uint32_t>(std::ranges::count_if(
        plan.probes, [&](const plan::ProbePlan& one) { return has_own_room(plan, one); }));
}

bool needs_room_between(const plan::Plan& plan) {
    return std::ranges::any_of(plan.probes, [&](const plan::ProbePlan& one) {
        return comes_between(one) && has_large_record(plan, one);
    });
}

std::optional<uint32_t> place_taken(const plan::Plan& plan, const plan::ProbePlan& probe) {
    if (!has_own_room(plan, probe)) return std::nullopt;
    auto end = plan.probes.begin() + static_cast<uint32_t>(probe.id);
    return static_cast<uint32_t>(
        std::count_if(plan.probes.begin(), end,
                      [&](const plan::ProbePlan& one) { return has_own_room(plan, one); }));
}

std::string ShapeWriter::declarations() {
    if (!own_record() || own_record()->argument_words) return {};
    const plan::RecordLayout& layout = own_record()->layout;
    std::string out = fmt::format("struct {}_record {{\n    struct record_header header;\n", name_);
    if (is_return()) out += "    u64 start_ns;\n";
    if (layout.unread) out += "    u64 unread;\n";
    if (layout.words) out += fmt::format("    u64 words[{}];\n", registers());
    for (size_t i = 0; i < layout.fields.size(); ++i) {
        const plan::RecordSlot& field = layout.fields[i];
        if (field.placed) continue;
        // Room is taken by what is not stored, too, but it is never read.
        out += is_stored(field) && is_text(field)
                   ? fmt::format("    char f{}[{}];\n", i, field.size)
                   : fmt::format("    u64 f{};\n", i);
    }
    if (layout.has(StackKind::python)) out += "    struct python_stack python;\n";
    if (layout.has(StackKind::kernel)) out += "    struct kernel_stack kernel;\n";
    if (layout.has(StackKind::user)) out += "    struct user_stack stack;\n";
    return out + "};\n" + checks(layout);
}

// Members follow each other without gaps: where the first and the last are right, all are.
std::string ShapeWriter::checks(const plan::RecordLayout& layout) {
    std::string out;
    auto check = [&](size_t i) {
        out += fmt::format("MLBCC_SAME({}_record, f{}, {});\n", name_, i, layout.fields[i].offset);
    };
    std::vector<size_t> own;
    for (size_t i = 0; i < layout.fields.size(); ++i) {
        if (!layout.fields[i].placed) own.push_back(i);
    }
    if (!own.empty()) check(own.front());
    if (own.size() > 1) check(own.back());
    const auto check_stack = [&](StackKind kind, const char* member) {
        if (const auto& at = layout.stack[kind])
            out += fmt::format("MLBCC_SAME({}_record, {}, {});\n", name_, member, *at);
    };
    check_stack(StackKind::python, "python");
    check_stack(StackKind::kernel, "kernel");
    check_stack(StackKind::user, "stack");
    return out;
}

void ShapeWriter::record(CodeWriter& w, const plan::RecordPlan& record) {
    uint32_t mask = record.emitting();
    if (mask == 0) return;
    w.part(record.spans);
    w.open_block(fmt::format("if (hits & {}) {{", mask));
    w.line(fmt::format("call.hits = hits & {};", mask));
    if (!is_return() || !framed())
        w.line(is_return() ? "call.at_return = 1;" : "call.at_return = 0;");
    const bool may_go_on = is_return() && probe_.kind == plan::ProbeKind::defined;
    w.line(fmt::format("call.what = {}{}(hits & {}) << 8;", is_return() ? "1 | " : "",
                       may_go_on ? "call.goes_on << 7 | " : "", mask));
    if (record.argument_words) {
        w.line(is_syscall() ? "mlbcc_submit_syscall(&call);" : "mlbcc_submit_arguments(&call);");
    } else if (!ends_apart_ && fits_on_stack(plan_, probe_.kind, record)) {
        w.line(fmt::format("struct {0}_record on_stack, *record = &on_stack;", name_));
        put_together(w, record);
    } else {
        in_scratch(w, record);
    }
    w.close_block();
}

// A template's probe takes its stack at the beginning, and others use the scratch before its end.
std::string ShapeWriter::room() const {
    auto place = place_taken(plan_, probe_);
    if (place) return fmt::format("taken[{}]", *place);
    return comes_between(probe_) ? "between" : "scratch";
}

// What BPF's stack has no room for is put together in the thread's state.
void ShapeWriter::in_scratch(CodeWriter& w, const plan::RecordPlan& record) {
    w.line(fmt::format("_Static_assert(sizeof(struct {}_record) <= MLBCC_SCRATCH_BYTES, \"\");",
                       name_));
    if (ends_apart_ && !is_syscall()) {
        w.line("struct thread_state *thread = call.thread;");
        w.line("if (!thread) return 0;");  // a room was looked for since it was found
        w.line(fmt::format("struct {0}_record *record = (struct {0}_record *)thread->scratch;",
                           name_));
        w.has_thread(true);
        put_together(w, record);
        return w.has_thread(false);
    }
    bool known = is_return() && framed();
    w.line(fmt::format("struct thread_state *thread = {}call.thread{};",
                       known ? "" : "mlbcc_find_thread(&call) ? ", known ? "" : " : 0"));
    w.open_block("if (thread) {");
    w.line(fmt::format("struct {0}_record *record = (struct {0}_record *)thread->{1};", name_,
                       room()));
    w.has_thread(true);
    put_together(w, record);
    w.has_thread(false);
    w.close_block();
    w.open_block("else {");
    w.line("mlbcc_lose(&call);");
    w.close_block();
}

// A template's probe has taken it before, and not all of what lies deep.
bool ShapeWriter::may_be_deep(const plan::RecordPlan& record) const {
    return record.layout.has(StackKind::user) && probe_.kind != plan::ProbeKind::defined;
}

void ShapeWriter::put_together(CodeWriter& w, const plan::RecordPlan& record) {
    if (!ends_apart_) w.line("call.record = &record->header;");
    fill(w, record);
    if (!ends_apart_)
        return w.line(may_be_deep(record) ? "mlbcc_submit_stack(&call);" : "mlbcc_submit(&call);");
    w.line("mlbcc_leave_behind(&call);");
    if (plan_.takes(StackKind::user))
        w.line(fmt::format("mlbcc_leave_stack(&call, {});",
                           may_be_deep(record) ? *record.layout.stack[StackKind::user] : 0));
    w.line(is_syscall() ? "syscall_shapes.call(at, MLBCC_END_SYSCALL);"
                        : "ends.call(ctx, MLBCC_END_CALL);");
}

std::vector<rules::TypedPtr> ShapeWriter::stored(const plan::RecordPlan& record) {
    std::vector<rules::TypedPtr> values;
    for (const plan::Capture& capture : record.captures) {
        const plan::RecordSlot& field = record.layout.fields[capture.field];
        if (is_stored(field) && !field.placed) values.push_back(capture.value);
    }
    return values;
}

// Beside a record on BPF's stack there is not much; none beside the registers of a system call.
uint32_t ShapeWriter::room_together(const plan::RecordPlan& record) const {
    if (is_syscall()) return 0;
    if (ends_apart_ || !fits_on_stack(plan_, probe_.kind, record)) return kMaxTogether;
    return std::min(kMaxTogether, kMaxOnStack - record.layout.size);
}

void ShapeWriter::fill(CodeWriter& w, const plan::RecordPlan& record) {
    if (is_return()) w.line("record->start_ns = call.start;");
    if (record.layout.unread) w.line("record->unread = 0;");
    for (size_t i = 0; i < record.layout.fields.size(); ++i) {
        const plan::RecordSlot& field = record.layout.fields[i];
        // The verifier wants all bytes written that are submitted.
        if (!is_stored(field) && !field.placed) w.line(fmt::format("record->f{} = 0;", i));
    }
    for (uint32_t i = 0; record.layout.words && i < registers(); ++i) {
        w.line(fmt::format("record->words[{}] = MLBCC_SAVED(u64, {});", i, 8 * i));
    }
    w.read_stack_arguments(stored(record));
    w.read_together(stored(record), room_together(record));
    for (const plan::Capture& capture : record.captures) {
        const plan::RecordSlot& field = record.layout.fields[capture.field];
        if (!is_stored(field) || field.placed) continue;
        w.store(fmt::format("record->f{}", capture.field), field.size, *capture.value, true);
        if (std::string failed = w.failed(*capture.value); !failed.empty()) {
            w.line(fmt::format("record->unread |= ({}) << {};", failed, capture.field & 63));
        }
    }
    w.part(record.spans, false);
    if (record.ret_field && !is_text(record.layout.fields[*record.ret_field])) {
        w.line(fmt::format("record->f{} = {};", *record.ret_field, w.return_value()));
    }
    if (record.layout.has(StackKind::python)) python(w, record);
    if (record.layout.has(StackKind::kernel)) kernel_stack(w, record);
    if (!record.layout.has(StackKind::user))
        w.line(fmt::format("call.size = {};", record.layout.size));
    else
        stack(w, record);
}

void ShapeWriter::stack(CodeWriter& w, const plan::RecordPlan& record) {
    w.line(fmt::format("u64 size = {};", record.layout.size));
    if (may_be_deep(record)) {
        w.line("call.stack = &record->stack;");
        w.line("record->stack.more = 0;");
    }
    w.open_block(fmt::format("if (hits & {}) {{", record.taking(StackKind::user)));
    if (probe_.kind == plan::ProbeKind::defined) {
        w.line("u64 taken = call.taken;");
        w.line("MLBCC_SEEN(taken);");
        w.open_block("if (taken <= sizeof(struct user_stack)) {");
        // Before Linux 6.11 the bound does not hold for a sum that clang made ahead of it.
        w.line("MLBCC_SEEN(taken);");
        w.line("size += taken;");
        w.close_block();
    } else {
        w.line("size += mlbcc_copy_stack(&call);");
    }
    w.close_block();
    w.line("call.size = size;");
}

// A template's probe has taken it before.
void ShapeWriter::python(CodeWriter& w, const plan::RecordPlan& record) {
    if (probe_.kind == plan::ProbeKind::defined) return;
    const uint32_t mask = record.taking(StackKind::python);
    if (ends_apart_)
        return w.line(fmt::format("mlbcc_leave_python(&call, {}, hits & {});",
                                  *record.layout.stack[StackKind::python], mask));
    w.line("call.python = &record->python;");
    w.line(fmt::format("mlbcc_take_python(&call, hits & {});", mask));
}

void ShapeWriter::kernel_stack(CodeWriter& w, const plan::RecordPlan& record) {
    if (probe_.kind == plan::ProbeKind::defined) {
        w.line("if (!call.taken) record->kernel.bytes = 0;");
        return;
    }
    // Of a system call ctx has the program's registers.
    const char* context = probe_.kind == plan::ProbeKind::syscall ? "at" : "ctx";
    bool begins = probe_.kind == plan::ProbeKind::kernel && shape_.end == rules::Stage::entry;
    w.line(fmt::format("{}({}, &record->kernel, hits & {});",
                       begins ? "mlbcc_take_callers" : "mlbcc_take_kernel_stack", context,
                       record.taking(StackKind::kernel)));
}

Source ShapeWriter::take_stack() {
    if (!own_record()) return {};
    const plan::RecordLayout& layout = own_record()->layout;
    if (!layout.has_stack()) return {};
    CodeWriter w(plan_, probe_, shape_.end);
    w.line("struct thread_state *thread = mlbcc_find_thread(&call) ? call.thread : 0;");
    w.open_block("if (thread) {");
    w.line(fmt::format("struct {0}_record *record = (struct {0}_record *)thread->{1};", name_,
                       room()));
    if (layout.has(StackKind::python)) {
        w.line("call.python = &record->python;");
        w.line("mlbcc_take_python(&call, 1);");
    }
    if (layout.has(StackKind::kernel)) w.line("mlbcc_take_kernel_stack(ctx, &record->kernel, 1);");
    if (layout.has(StackKind::user)) {
        w.line("call.stack = &record->stack;");
        w.line("return mlbcc_copy_stack(&call);");
    } else {
        w.line("return 1;");
    }
    w.close_block();
    return w.take();
}

size_t record_rules_words(const plan::Plan& plan) {
    return 1 + (most_rules(plan) + 3) / 4;
}

static std::vector<plan::RuleId> rules_of(const plan::RecordPlan& record) {
    std::vector<plan::RuleId> rules;
    const uint32_t mask = record.emitting();
    for (size_t i = 0; i < record.rules.size(); ++i) {
        if ((mask >> i & 1) != 0) rules.push_back(record.rules[i]);
    }
    return rules;
}

std::vector<AccountedRules> rule_sets(const plan::Plan& plan) {
    std::vector<AccountedRules> sets;
    const auto first = static_cast<uint32_t>(plan.rules.size() + 2);
    for (const plan::ProbePlan& probe : plan.probes) {
        for (const std::optional<plan::RecordPlan>* record : {&probe.entry, &probe.ret}) {
            if (!*record || sets.size() == kRuleSets) continue;
            std::vector<plan::RuleId> rules = rules_of(**record);
            if (rules.size() < kLeastRulesOfSet ||
                std::ranges::find(sets, rules, &AccountedRules::rules) != sets.end())
                continue;
            sets.push_back({std::move(rules), first + static_cast<uint32_t>(sets.size())});
        }
    }
    return sets;
}

std::vector<uint64_t> record_rules(const plan::RecordPlan& record, size_t count,
                                   const std::vector<AccountedRules>& sets) {
    std::vector<uint64_t> words(count);
    words[0] = record.emitting();
    const auto set = std::ranges::find(sets, rules_of(record), &AccountedRules::rules);
    if (set != sets.end()) words[0] |= uint64_t{set->account} << 32;
    for (size_t i = 0; i < record.rules.size(); ++i) {
        words[1 + i / 4] |= static_cast<uint64_t>(record.rules[i]) << (16 * (i % 4));
    }
    return words;
}

uint32_t most_rules(const plan::Plan& plan) {
    size_t most = 1;
    for (const plan::ProbePlan& probe : plan.probes) most = std::max(most, probe.parts.size());
    return static_cast<uint32_t>(most);
}

}  // namespace mlbcc::codegen
