#include <algorithm>

#include <fmt/format.h>

#include "codegen/codegen.h"
#include "codegen/shape.h"
#include "codegen/template.h"

namespace mlbcc::codegen {
namespace {

constexpr uint32_t kGroups = 10240;       // of one count, sum or hist
constexpr uint32_t kThreadBytes = 16384;  // of frames, at most
constexpr uint32_t kMaxFrames = 64;       // the kernel keeps as many open return probes a thread

bool uses_frames(const plan::Plan& plan, AttachMode mode) {
    return std::any_of(plan.probes.begin(), plan.probes.end(), [&](const plan::ProbePlan& probe) {
        auto large = [](const std::optional<plan::RecordPlan>& record) {
            return record && !fits_on_stack(*record);
        };
        bool framed = mode != AttachMode::session || probe.needs_frame();
        return (framed && probe.has_return()) || large(probe.entry) || large(probe.ret);
    });
}

std::string sizes(const plan::Plan& plan) {
    uint32_t saved = std::max(8u, plan.frame_save_bytes);
    uint32_t frame = 24 + saved, frames = kMaxFrames;
    while (frames > 8 && frames * frame > kThreadBytes) frames /= 2;
    return fmt::format("#define MLBCC_SAVED_BYTES {}\n#define MLBCC_FRAMES {}\n"
                       "#define MLBCC_SCRATCH_BYTES {}\n"
                       "#define MLBCC_ALL_RULES {}\n",
                       saved, frames, (std::max(8u, plan.record_bytes) + 7) / 8 * 8,
                       plan.rules.size());
}

std::string settings(const plan::Plan& plan, const Options& options, bool frames) {
    std::string out = fmt::format("#define MLBCC_EVERYONE {}\n#define MLBCC_USES_FRAMES {}\n",
                                  options.everyone ? 1 : 0, frames ? 1 : 0);
    out += fmt::format("#define MLBCC_SESSION {}\n", options.mode == AttachMode::session ? 1 : 0);
    out += fmt::format("#define MLBCC_NAMESPACE {}\n", options.namespace_ ? 1 : 0);
    if (options.namespace_) {
        out += fmt::format(
            "#define MLBCC_NAMESPACE_DEVICE {}ULL\n#define MLBCC_NAMESPACE_INODE {}ULL\n",
            options.namespace_->device, options.namespace_->inode);
    }
    return out + sizes(plan);
}

std::string aggregate_map(const plan::Aggregate& aggregate) {
    std::string map = maps::aggregate(aggregate.id);
    std::string out = fmt::format("struct {}_value {{\n    u64 count;\n", map);
    if (aggregate.kind != plan::AggregateKind::count) out += "    u64 sum;\n";
    if (aggregate.kind == plan::AggregateKind::hist) {
        out += "    u64 inverse_min, max;\n    u64 buckets[64];\n";
    }
    out += "};\n";
    if (aggregate.key_size == 0) {
        return out + fmt::format("BPF_PERCPU_ARRAY({0}, struct {0}_value, 1);\n", map);
    }
    out += fmt::format("struct {}_key {{\n", map);
    for (size_t i = 0; i < aggregate.by.size(); ++i) {
        const plan::Field& field = aggregate.by[i].field;
        bool text = field.size != 8 || field.type.kind == plan::ValueType::Kind::text;
        out += text && field.type.learnt_table.empty()
                   ? fmt::format("    char k{}[{}];\n", i, field.size)
                   : fmt::format("    u64 k{};\n", i);
    }
    return out +
           fmt::format(
               "}};\nBPF_F_TABLE(\"percpu_hash\", struct {0}_key, struct {0}_value, {0}, {1}, "
               "BPF_F_NO_PREALLOC);\nBPF_ARRAY({0}_blank, struct {0}_value, 1);\n",
               map, kGroups);
}

class Generator {
public:
    Generator(const plan::Plan& plan, const Options& options) : plan_(plan), options_(options) {}

    Result<Program> run() {
        bool frames = uses_frames(plan_, options_.mode);
        add("record.h");
        add(plan_.arch == plan::Arch::x86_64 ? "args_x86_64.h" : "args_arm64.h");
        text("#line 1 \"settings\"\n" + settings(plan_, options_, frames));
        add("runtime.bpf.c", {{"rules", std::to_string(plan_.rules.size())},
                              {"totals", std::to_string(plan_.aggregates.size())}});
        add("call.bpf.c");
        if (frames) add("frames.bpf.c");
        maps();
        for (const plan::Shape& one : plan_.shapes) shape(one);
        if (options_.mode == AttachMode::session) {
            dispatch_session();
        } else if (options_.mode == AttachMode::multi) {
            dispatch(rules::Stage::entry, ProgramKind::entry, "on_entry", "MLBCC_ENTRY_SHAPE");
            dispatch(rules::Stage::ret, ProgramKind::ret, "on_return", "MLBCC_RETURN_SHAPE");
        }
        add("follow.bpf.c");
        for (const char* point :
             {"task:task_newtask", "sched:sched_process_exec", "sched:sched_process_exit"}) {
            std::string name = fmt::format("tracepoint__{}", point);
            name.replace(name.find(':'), 1, "__");
            program_.functions.push_back({name, ProgramKind::follow, {}, point});
        }
        if (!error_.what.empty()) return error_;
        return std::move(program_);
    }

private:
    void add(std::string_view name, Slots slots = {}) {
        Result<std::string> filled = fill(*options_.templates, name, slots);
        if (filled) {
            text(*filled);
        } else if (error_.what.empty()) {
            error_ = filled.error();
        }
    }
    void text(std::string_view more) { program_.source += more; }

    void maps() {
        text("#line 1 \"maps\"\n");
        bool sampled = std::any_of(plan_.rules.begin(), plan_.rules.end(),
                                   [](const plan::RuleInfo& rule) { return rule.sample > 1; });
        if (sampled) text(fmt::format("BPF_PERCPU_ARRAY(samples, u64, {});\n", plan_.rules.size()));
        for (const plan::Aggregate& one : plan_.aggregates) {
            if (!one.is_total()) text(aggregate_map(one));
        }
        if (tail_calls()) text(fmt::format("BPF_PROG_ARRAY(shapes, {});\n", plan_.shapes.size()));
    }

    size_t shapes_of(rules::Stage end) const {
        return static_cast<size_t>(
            std::count_if(plan_.shapes.begin(), plan_.shapes.end(),
                          [&](const plan::Shape& one) { return one.end == end; }));
    }

    // One link serves a whole library only if it has one program. Where that cannot be the shape's
    // own, it passes the call on to the program of the shape, by the probe's cookie.
    bool tail_calls() const {
        if (options_.mode == AttachMode::perf) return false;
        return shapes_of(rules::Stage::entry) > 1 || shapes_of(rules::Stage::ret) > 1;
    }

    void shape(const plan::Shape& one) {
        ShapeWriter writer(plan_, one, options_.mode);
        std::string name = shape_name(one.id), body = writer.body();
        text(fmt::format("#line 1 \"{}\"\n{}", name, writer.declarations()));
        bool at_return = one.end == rules::Stage::ret;
        add(at_return ? "return.bpf.c" : "entry.bpf.c", {{"name", name}, {"body", body}});
        if (!tail_calls() && options_.mode != AttachMode::perf) return;
        text(fmt::format("int {0}(struct pt_regs *ctx) {{ return {0}_run(ctx); }}\n", name));
        ProgramKind kind = options_.mode == AttachMode::session ? ProgramKind::session
                           : at_return                          ? ProgramKind::ret
                                                                : ProgramKind::entry;
        program_.functions.push_back({name, kind, one.id, {}});
    }

    // C that hands the call to the shape of `end`; without tail calls there is at most one.
    std::string hand_over(rules::Stage end, const char* index) const {
        if (tail_calls()) {
            return fmt::format("shapes.call(ctx, {}(bpf_get_attach_cookie(ctx)));", index);
        }
        for (const plan::Shape& one : plan_.shapes) {
            if (one.end == end) return fmt::format("return {}_run(ctx);", shape_name(one.id));
        }
        return "";
    }

    // 1 either way: the verifier wants to see 0 or 1, and at return nobody asks.
    void dispatch_session() {
        if (plan_.shapes.empty()) return;
        text(fmt::format("#line 1 \"dispatch\"\nint on_call(struct pt_regs *ctx) {{\n"
                         "    if (mlbcc_session_is_return()) {{\n        {}\n    }} else {{\n"
                         "        {}\n    }}\n    return 1;\n}}\n",
                         hand_over(rules::Stage::ret, "MLBCC_RETURN_SHAPE"),
                         hand_over(rules::Stage::entry, "MLBCC_ENTRY_SHAPE")));
        program_.functions.push_back({"on_call", ProgramKind::session, {}, {}});
    }

    void dispatch(rules::Stage end, ProgramKind kind, const char* name, const char* index) {
        if (shapes_of(end) == 0) return;
        text(fmt::format(
            "#line 1 \"dispatch\"\nint {}(struct pt_regs *ctx) {{\n    {}\n    return 0;\n}}\n",
            name, hand_over(end, index)));
        program_.functions.push_back({name, kind, {}, {}});
    }

    const plan::Plan& plan_;
    const Options& options_;
    Program program_;
    Error error_;
};

}  // namespace

std::string maps::aggregate(plan::AggregateId id) {
    return fmt::format("aggregate_{}", static_cast<uint32_t>(id));
}

uint64_t cookie(const plan::ProbePlan& probe) {
    uint64_t words = probe.entry ? probe.entry->argument_words.value_or(0) : 0;
    auto entry = static_cast<uint64_t>(probe.entry_shape);
    auto leave = probe.return_shape ? static_cast<uint64_t>(*probe.return_shape) : 0;
    return static_cast<uint64_t>(probe.id) | words << 24 | entry << 32 | leave << 48;
}

size_t aggregate_value_size(plan::AggregateKind kind) {
    switch (kind) {
    case plan::AggregateKind::count: return offsetof(AggregateValue, sum);
    case plan::AggregateKind::sum: return offsetof(AggregateValue, inverse_min);
    case plan::AggregateKind::hist: return sizeof(AggregateValue);
    }
    return 0;
}

Result<Program> generate(const plan::Plan& plan, const Options& options) {
    return Generator(plan, options).run();
}

}  // namespace mlbcc::codegen
