#include <algorithm>

#include <fmt/format.h>

#include "codegen/codegen.h"
#include "codegen/commons.h"
#include "codegen/halves.h"
#include "codegen/own_stack.h"
#include "codegen/settings.h"
#include "codegen/shape.h"
#include "codegen/template.h"

namespace mlbcc::codegen {
namespace {

constexpr std::string_view kGoesOn = "    given->goes_on = given->taken >> 63;\n"
                                     "    given->taken &= ~MLBCC_GOES_ON;\n";

class Generator {
public:
    Generator(const plan::Plan& plan, const Options& options) : plan_(plan), options_(options) {}

    Result<Program> run() {
        bool frames = uses_frames(plan_, options_);
        for (Side side : kSides) program_.direct[side] = is_direct(side);
        ends_apart_ = ends_apart(plan_, options_, program_);
        syscalls_end_apart_ = syscalls_end_apart(plan_, options_);
        add("record.h");
        add(plan_.arch == plan::Arch::x86_64 ? "args_x86_64.h" : "args_arm64.h");
        text("#line 1 \"settings\"\n" + settings(plan_, options_, frames) +
             fmt::format("#define MLBCC_ENDS {}\n#define MLBCC_SYSCALL_ENDS {}\n",
                         ends_apart_ ? 1 : 0, syscalls_end_apart_ ? 1 : 0));
        size_t before_commons = source_.text().size();
        add("runtime.bpf.c", {{"rules", std::to_string(plan_.rules.size())},
                              {"totals", std::to_string(plan_.aggregates.size())}});
        add("call.bpf.c");
        text(own_stack_maps(plan_, options_));
        if (plan_.asks_for_files) files();
        if (looks_for_pythons(plan_, options_)) pythons();
        if (has_moving(plan_)) add("moving.bpf.c");
        if (plan_.takes(rules::StackKind::user)) add("stack.bpf.c");
        if (frames) add("frames.bpf.c");
        if (plan_.takes(rules::StackKind::kernel)) add("kernel_stack.bpf.c");
        walk_python();
        if (has_kind(plan_, plan::ProbeKind::syscall)) add("syscalls.bpf.c");
        maps();
        halves();
        defined_offsets();
        if (has_kind(plan_, plan::ProbeKind::defined)) add("waits.bpf.c");
        for (const plan::Shape& one : plan_.shapes) shape(one);
        for (const FirstHalf& one : halves_) begin(one);
        if (ends_apart_) end_calls();
        if (syscalls_end_apart_) end_syscalls();
        for (Side side : kSides) {
            if (is_both_ends(side)) both_ends(side);
        }
        pass_syscalls_on(rules::Stage::entry);
        pass_syscalls_on(rules::Stage::ret);
        add("follow.bpf.c");
        for (const char* point :
             {"task:task_newtask", "sched:sched_process_exec", "sched:sched_process_exit"}) {
            follower(point);
        }
        if (options_.task_pid_offset) follower("task:task_rename");
        source_.insert(before_commons,
                       declare_commons(source_.text(), before_commons,
                                       plan_.shapes.size() > kInlinedShapes, program_.commons));
        if (!error_.what.empty()) return error_;
        program_.source = source_.text();
        program_.lines = source_.lines();
        return std::move(program_);
    }

private:
    void add(std::string_view name, Slots slots = {}) {
        Result<Source> filled = fill(*options_.templates, name, slots);
        if (filled) {
            source_.append(*filled);
        } else if (error_.what.empty()) {
            error_ = filled.error();
        }
    }
    void pythons() {
        add("pythons.bpf.c", {{"own_stack", own_stack(ProgramKind::python)}});
        program_.functions.push_back({"python_starts", ProgramKind::python, {}, {}});
    }
    void walk_python() {
        if (walks_python(plan_, options_)) {
            add("python.bpf.c");
        } else if (plan_.takes(rules::StackKind::python)) {
            text("static __always_inline void mlbcc_take_python(struct call *call, u32 wanted) "
                 "{\n    call->python->count = call->python->state = 0;\n}\n");
        }
    }

    void follower(const std::string& point) {
        size_t colon = point.find(':');
        bool raw = options_.task_pid_offset && !options_.points_by_perf;
        std::string name = raw ? "raw_tracepoint__" + point.substr(colon + 1)
                               : fmt::format("tracepoint__{}__{}", point.substr(0, colon),
                                             point.substr(colon + 1));
        program_.functions.push_back(
            {name, raw ? ProgramKind::raw_tracepoint : ProgramKind::tracepoint, {}, point});
    }

    void text(std::string_view more) {
        source_.from({}, false);
        source_.append(more);
    }
    // A part of a template, from this line of it on.
    void part_of(const std::string& file, uint32_t line, const std::string& part) {
        source_.from({{}, file, line - 1}, false);
        source_.append(fmt::format("#line {} \"{}\"\n{}", line, file, part));
    }

    void maps() {
        text("#line 1 \"maps\"\n");
        bool sampled = std::any_of(plan_.rules.begin(), plan_.rules.end(),
                                   [](const plan::RuleInfo& rule) { return rule.sample > 1; });
        if (sampled) text(fmt::format("BPF_PERCPU_ARRAY(samples, u64, {});\n", plan_.rules.size()));
        for (const plan::Aggregate& one : plan_.aggregates) {
            if (one.in_kernel && !one.is_total()) text(aggregate_map(plan_, one));
        }
    }

    const plan::ProbePlan& probe_of(const plan::Shape& shape) const {
        return plan_.probes[static_cast<uint32_t>(shape.example)];
    }
    plan::ProbeKind kind_of(const plan::Shape& shape) const { return probe_of(shape).kind; }
    std::vector<const plan::Shape*> shapes_of(plan::ProbeKind kind) const {
        std::vector<const plan::Shape*> all;
        for (const plan::Shape& one : plan_.shapes) {
            if (kind_of(one) == kind) all.push_back(&one);
        }
        return all;
    }
    static auto count(const std::vector<const plan::Shape*>& shapes, rules::Stage end) {
        return std::ranges::count_if(shapes, [&](auto* one) { return one->end == end; });
    }

    // What is traced by address later comes to its shape by another way than what is traced now.
    bool is_direct(Side side) const {
        if (side != Side::kernel && plan_.traces_addresses()) return false;
        // Both ends in one program, and what they call, are more than BPF's stack has room for.
        if (has_both_ends(side) && plan_.shapes.size() > kInlinedShapes) return false;
        return count(function_shapes(plan_, side), rules::Stage::entry) <= 1 &&
               count(function_shapes(plan_, side), rules::Stage::ret) <= 1;
    }

    // A session's one program for functions of one shape an end: libbcc cannot call a program.
    bool is_both_ends(Side side) const { return is_direct(side) && has_both_ends(side); }
    bool has_both_ends(Side side) const {
        return options_.mode_of(side) == AttachMode::session &&
               function_shapes(plan_, side).size() == 2;
    }
    void both_ends(Side side) {
        auto shapes = function_shapes(plan_, side);
        const char* name = side == Side::user ? "on_call" : "on_kernel_call";
        const bool entry_first = shapes.front()->end == rules::Stage::entry;
        const ProgramKind kind = program_kind(side, AttachMode::session, rules::Stage::entry);
        text(fmt::format("#line 1 \"both ends\"\n"
                         "int {}(struct pt_regs *ctx) {{\n{}"
                         "    return mlbcc_session_is_return(ctx) ? {}(ctx) : {}(ctx);\n}}\n",
                         name, own_stack(kind), shape_name(shapes[entry_first ? 1 : 0]->id),
                         shape_name(shapes[entry_first ? 0 : 1]->id)));
        program_.functions.push_back({name, kind, {}, {}});
    }

    void shape(const plan::Shape& one) {
        ShapeWriter writer(plan_, one, options_.mode_of(side_of(probe_of(one))));
        if (is_halved(one)) return rest(one, writer);
        if (ends_apart_ && writer.can_end_apart()) writer.end_apart();
        if (syscalls_end_apart_ && writer.can_end_syscall_apart()) writer.end_apart();
        std::string name = shape_name(one.id);
        Source body = writer.body();
        source_.from({writer.heads(), {}, 0});
        source_.append(fmt::format("#line 1 \"{}\"\n{}", name, writer.declarations()));
        bool at_return = one.end == rules::Stage::ret;
        switch (kind_of(one)) {
        case plan::ProbeKind::function:
        case plan::ProbeKind::kernel: return function_shape(one, writer, name, body);
        case plan::ProbeKind::syscall:
            if (at_return) {
                add("syscall_return.bpf.c",
                    {{"name", name}, {"how", writer.syscall_end()}, {"body", &body}});
            } else if (probe_of(one).acts_at_end()) {
                add("syscall_begin.bpf.c", {{"name", name}});
            } else {
                add("syscall_entry.bpf.c", {{"name", name}, {"body", &body}});
            }
            return syscall_program(one, name);
        case plan::ProbeKind::tracepoint: return tracepoint_shape(one, name, body);
        case plan::ProbeKind::defined: return defined_shape(one, writer, body);
        case plan::ProbeKind::usdt:
            add("usdt.bpf.c",
                {{"name", name}, {"own_stack", own_stack(ProgramKind::usdt)}, {"body", &body}});
            program_.functions.push_back({name, ProgramKind::usdt, one.id, {}});
            return;
        case plan::ProbeKind::interval: break;  // it has no shape
        }
        MLBCC_UNREACHABLE();
    }

    void halves() {
        halves_ = first_halves(plan_, options_, program_);
        for (Side side : kSides) {
            bool any = std::ranges::any_of(halves_, [&](const FirstHalf& half) {
                return half.side == side && half.has_rests;
            });
            if (!any) continue;
            text(fmt::format("BPF_PROG_ARRAY({}, {});\n", maps::rests(side), plan_.shapes.size()));
        }
    }
    bool is_halved(const plan::Shape& one) const {
        return std::ranges::any_of(halves_, [&](const FirstHalf& half) {
            return std::ranges::find(half.shapes, one.id) != half.shapes.end();
        });
    }
    // The second half of a call's beginning.
    void rest(const plan::Shape& one, ShapeWriter& writer) {
        if (!writer.has_rest()) return;
        std::string name = shape_name(one.id);
        Source body = writer.rest();
        source_.from({writer.heads(), {}, 0});
        const ProgramKind kind = function_kind(one);
        add("rest.bpf.c", {{"name", name}, {"own_stack", own_stack(kind)}, {"body", &body}});
        program_.functions.push_back(
            {name, kind, one.id, {}, {index(one.id)}, maps::rests(side_of(kind))});
    }
    void begin(const FirstHalf& half) {
        const plan::Shape& example = plan_.shapes[index(half.shapes.front())];
        const ShapeWriter writer(plan_, example, options_.mode_of(half.side));
        std::string pass =
            fmt::format("    {}.call(ctx, MLBCC_ENTRY_SHAPE(bpf_get_attach_cookie(ctx)));\n",
                        maps::rests(half.side));
        const ProgramKind kind = function_kind(example);
        add("begin.bpf.c", {{"name", half.name()},
                            {"own_stack", own_stack(kind)},
                            {"ends_by", writer.ends_by()},
                            {"in_kernel", half.side == Side::kernel ? "1" : "0"},
                            {"skip", writer.skip()},
                            {"record", half.records ? "    mlbcc_record_beginning(&call);\n" : ""},
                            {"rest", half.has_rests ? std::string_view(pass) : ""}});
        std::vector<uint32_t> slots;
        std::ranges::transform(half.shapes, std::back_inserter(slots), index);
        program_.functions.push_back({half.name(), kind, {}, {}, std::move(slots), {}});
    }

    void end_calls() {
        const bool session = options_.mode_of(Side::user) == AttachMode::session;
        const ProgramKind kind =
            program_kind(Side::user, options_.mode_of(Side::user), rules::Stage::ret);
        add("end.bpf.c",
            {{"own_stack", own_stack(kind)}, {"ends_by", session ? "MLBCC_BY_SESSION" : "0"}});
        program_.functions.push_back({"end_call", kind, {}, {}, {0}, maps::kEnds});
        if (!session) return;
        add("lose.bpf.c", {{"own_stack", own_stack(kind)}});
        program_.functions.push_back({"lose_call", kind, {}, {}, {1}, maps::kEnds});
    }

    void end_syscalls() {
        add("syscall_end.bpf.c");
        program_.functions.push_back({"end_syscall",
                                      ProgramKind::syscall,
                                      {},
                                      {},
                                      {static_cast<uint32_t>(plan_.shapes.size())},
                                      {}});
    }

    void tracepoint_shape(const plan::Shape& one, const std::string& name, const Source& body) {
        const char* admit = probe_of(one).is_for_all() ? "mlbcc_admit_all" : "mlbcc_admit";
        add("tracepoint.bpf.c", {{"name", name}, {"admit", admit}, {"body", &body}});
        program_.functions.push_back({name, ProgramKind::tracepoint, one.id, {}});
    }

    void files() {
        text(file_offsets(options_));
        add("files.bpf.c");
    }

    // What a template's C text must know of this kernel.
    void defined_offsets() {
        for (const plan::ProbePlan& probe : plan_.probes) {
            const auto* at = std::get_if<target::Defined>(&probe.probe->at);
            if (at == nullptr) continue;
            for (size_t i = 0; i < at->offsets.size(); ++i) {
                std::string define = offset_define(at->definition->offsets[i], at->offsets[i]);
                if (source_.text().find(define) == std::string::npos) text(define);
            }
        }
    }

    // The rules' work is a function that the template's own programs call.
    void defined_shape(const plan::Shape& one, ShapeWriter& writer, const Source& body) {
        const plan::ProbePlan& probe = probe_of(one);
        const rules::ProbeDefinition& definition =
            *std::get<target::Defined>(probe.probe->at).definition;
        part_of(definition.file, definition.line, definition.fields);
        Source stack = writer.take_stack();
        add("defined.bpf.c", {{"structure", definition.structure()},
                              {"probe", std::to_string(static_cast<uint32_t>(one.example))},
                              {"goes_on", definition.completes ? kGoesOn : ""},
                              {"take_stack", &stack},
                              {"body", &body}});
        const DefinitionText own = definition_text(definition, options_);
        text(own.structures);
        part_of(definition.file, definition.programs_line, own.programs);
        for (const auto& [point, function] : definition.programs) {
            const std::string what = point.substr(0, point.find(':'));
            const bool raw =
                what == "raw_tracepoint" || (what == "task_tracepoint" && !options_.points_by_perf);
            program_.functions.push_back(
                {function,
                 raw ? ProgramKind::raw_tracepoint : ProgramKind::tracepoint,
                 {},
                 point.substr(what.size() + 1)});
        }
    }

    void function_shape(const plan::Shape& one, const ShapeWriter& writer, const std::string& name,
                        const Source& body) {
        const ProgramKind kind = function_kind(one);
        const Side side = side_of(kind);
        const bool both = is_both_ends(side);
        // Of both ends, and of one that does the `ret`, a program of their own has the stack.
        const bool returns = kind == ProgramKind::moving_ret && options_.return_places;
        const std::string part_name = returns ? name + "_end" : name;
        std::string_view linkage = both || returns ? "static __always_inline " : "";
        std::string_view own = both || returns ? "" : own_stack(kind);
        add(one.end == rules::Stage::ret ? "return.bpf.c" : "entry.bpf.c",
            {{"name", part_name},
             {"linkage", linkage},
             {"own_stack", own},
             {"ends_by", writer.ends_by()},
             {"in_kernel", side == Side::kernel ? "1" : "0"},
             {"skip", writer.skip()},
             {"body", &body}});
        if (returns) add("moving_return.bpf.c", {{"name", name}, {"own_stack", own_stack(kind)}});
        if (both) return;
        program_.functions.push_back({name, kind, one.id, {}, {index(one.id)}, {}});
    }
    static uint32_t index(plan::ShapeId id) { return static_cast<uint32_t>(id); }
    ProgramKind function_kind(const plan::Shape& one) const {
        const Side side = side_of(probe_of(one));
        return program_kind(side, options_.mode_of(side), one.end);
    }

    static const char* syscall_point(rules::Stage end) {
        return end == rules::Stage::ret ? "raw_syscalls:sys_exit" : "raw_syscalls:sys_enter";
    }
    ProgramKind syscall_kind() const {
        return options_.points_by_perf ? ProgramKind::tracepoint : ProgramKind::raw_tracepoint;
    }
    // What a filter answers has its beginning done by the program that passes ends on.
    bool are_direct_syscalls(rules::Stage end) const {
        return !follows_answers(plan_, options_) &&
               count(shapes_of(plan::ProbeKind::syscall), end) < 2;
    }
    void syscall_program(const plan::Shape& one, const std::string& name) {
        if (are_direct_syscalls(one.end)) {
            program_.functions.push_back({name, syscall_kind(), one.id, syscall_point(one.end)});
        } else {
            program_.functions.push_back(
                {name, ProgramKind::syscall, one.id, {}, {index(one.id)}, {}});
        }
    }
    void pass_syscalls_on(rules::Stage end) {
        if (are_direct_syscalls(end)) return;
        const std::string name = end == rules::Stage::ret ? "exit" : "enter";
        add("syscalls_" + name + ".bpf.c");
        program_.functions.push_back({"on_sys_" + name, syscall_kind(), {}, syscall_point(end)});
        if (end == rules::Stage::entry || !holds_execs(plan_, options_)) return;
        add("syscalls_prepare.bpf.c");
        program_.functions.push_back(
            {"on_prepare_exec", syscall_kind(), {}, "sched:sched_prepare_exec"});
    }

    const plan::Plan& plan_;
    const Options& options_;
    Source source_;
    Program program_;
    std::vector<FirstHalf> halves_;
    bool ends_apart_ = false, syscalls_end_apart_ = false;
    Error error_;
};

}  // namespace

Result<Program> generate(const plan::Plan& plan, const Options& options) {
    return Generator(plan, options).run();
}

}  // namespace mlbcc::codegen
