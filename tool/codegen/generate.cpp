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
    return std::any_of(plan.shapes.begin(), plan.shapes.end(), [&](const plan::Shape& shape) {
        const auto& probe = plan.probes[static_cast<uint32_t>(shape.example)];
        auto large = [](const std::optional<plan::RecordPlan>& record) {
            return record && (record->layout.stack || record->layout.size > kMaxStackRecord);
        };
        bool framed = mode != AttachMode::session || shape.needs_frame;
        return (framed && shape.has_return) || large(probe.entry) || large(probe.ret);
    });
}

std::string sizes(const plan::Plan& plan) {
    uint32_t saved = std::max(8u, plan.frame_save_bytes);
    uint32_t frame = 24 + saved, frames = kMaxFrames;
    while (frames > 8 && frames * frame > kThreadBytes) frames /= 2;
    return fmt::format("#define MLBCC_SAVED_BYTES {}\n#define MLBCC_FRAMES {}\n"
                       "#define MLBCC_SCRATCH_BYTES {}\n",
                       saved, frames, (std::max(8u, plan.record_bytes) + 7) / 8 * 8);
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

constexpr const char* kSessionHelpers =
    "static u64 *(*mlbcc_session_cookie)(void) = (void *)0x7fff0001;\n"
    "static bool (*mlbcc_session_is_return)(void) = (void *)0x7fff0002;\n";

std::string dispatcher(const char* name, const char* table, size_t shapes) {
    return fmt::format(
        "BPF_PROG_ARRAY({1}, {2});\nint {0}(struct pt_regs *ctx) {{\n"
        "    {1}.call(ctx, (u32)(bpf_get_attach_cookie(ctx) >> 32));\n    return 1;\n}}\n",
        name, table, shapes);
}

class Generator {
public:
    Generator(const plan::Plan& plan, const Options& options) : plan_(plan), options_(options) {}

    Result<Program> run() {
        bool frames = uses_frames(plan_, options_.mode);
        add("record.h");
        add(plan_.arch == plan::Arch::x86_64 ? "args_x86_64.h" : "args_arm64.h");
        text("#line 1 \"settings\"\n" + settings(plan_, options_, frames));
        add("runtime.bpf.c", {{"rules", std::to_string(std::max<size_t>(1, plan_.rules.size()))}});
        if (frames) add("frames.bpf.c");
        maps();
        for (const plan::Shape& one : plan_.shapes) shape(one);
        dispatchers();
        add("follow.bpf.c");
        for (const char* point :
             {"task__task_newtask", "sched__sched_process_exec", "sched__sched_process_exit"}) {
            std::string path = point;
            path.replace(path.find("__"), 2, ":");
            program_.functions.push_back(
                {fmt::format("tracepoint__{}", point), ProgramKind::follow, {}, path, false});
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
        for (const plan::Aggregate& one : plan_.aggregates) text(aggregate_map(one));
        if (options_.mode == AttachMode::session) text(kSessionHelpers);
    }

    void shape(const plan::Shape& one) {
        ShapeWriter writer(plan_, one, options_.mode);
        std::string name = shape_name(one.id), entry = writer.entry(), leave = writer.leave();
        text(fmt::format("#line 1 \"{}\"\n{}", name, writer.declarations()));
        add("shape.bpf.c", {{"name", name}, {"entry", entry}, {"return", leave}});
        bool session = options_.mode == AttachMode::session;
        add(session ? "session.bpf.c" : "pair.bpf.c", {{"name", name}});
        if (session) {
            program_.functions.push_back({name, ProgramKind::probe, one.id, {}, false});
            return;
        }
        program_.functions.push_back({name + "_entry", ProgramKind::entry, one.id, {}, false});
        program_.functions.push_back({name + "_return", ProgramKind::ret, one.id, {}, false});
    }

    // One link serves a whole library only if it has one program: with several shapes that is one
    // which looks at the cookie and calls the shape's.
    void dispatchers() {
        if (plan_.shapes.size() < 2 || options_.mode == AttachMode::perf) return;
        bool session = options_.mode == AttachMode::session;
        text("#line 1 \"dispatch\"\n");
        text(dispatcher("dispatch_entry", maps::kEntryShapes, plan_.shapes.size()));
        program_.functions.push_back(
            {"dispatch_entry", session ? ProgramKind::probe : ProgramKind::entry, {}, {}, true});
        if (session) return;
        text(dispatcher("dispatch_return", maps::kReturnShapes, plan_.shapes.size()));
        program_.functions.push_back({"dispatch_return", ProgramKind::ret, {}, {}, true});
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
