// A profile as text and as JSON: its sections, one after another.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "profile/profile.h"
#include "sink/cost_text.h"
#include "text/terminal_text.h"

namespace mlbcc::profile {
namespace {

constexpr int kVersion = 1;  // of the JSON; docs/profile.md

// Names of variables that say how a job computes, where it looks for things and what it loads.
bool is_telling(std::string_view name) {
    constexpr std::string_view kPrefixes[] = {
        "CUDA",        "CUBLAS",  "CUDNN",      "NVIDIA_", "NCCL_",     "HIP_",
        "ROCR_",       "HSA_",    "OMP_",       "GOMP_",   "KMP_",      "MKL_",
        "OPENBLAS_",   "BLIS_",   "NUMEXPR_",   "TORCH",   "PYTORCH_",  "TF_",
        "XLA_",        "JAX_",    "ONNX",       "ORT_",    "HF_",       "TRANSFORMERS_",
        "TOKENIZERS_", "VLLM_",   "PYTHON",     "LD_",     "MALLOC_",   "GLIBC_TUNABLES",
        "TRITON_",     "MASTER_", "WORLD_SIZE", "RANK",    "LOCAL_RANK"};
    return std::ranges::any_of(kPrefixes,
                               [&](std::string_view one) { return name.starts_with(one); });
}

std::string environment_text(const Profile& profile, size_t width) {
    sink::Rows rows(width);
    std::string names;
    size_t others = 0;
    for (const std::string& name : profile.environment) {
        if (is_telling(name))
            names += (names.empty() ? "" : ", ") + command_line({name});
        else
            ++others;
    }
    if (others > 0)
        names += fmt::format("{}{}", names.empty() ? "" : " and ",
                             sink::plural(others, names.empty() ? "variable" : "other"));
    if (!names.empty()) rows.line("  environment: " + names);
    return rows.text();
}

void add_rows(sink::Rows& rows, const std::optional<sink::TracingCost>& cost) {
    if (cost) sink::add_cost(rows, *cost);
}

template <class... Report>
std::string section(const char* title, size_t width, const Report&... report) {
    sink::Rows rows(width);
    add_rows(rows, report...);
    return rows.empty() ? "" : fmt::format("\n{}\n{}", title, rows.text());
}

}  // namespace

std::string profile_text(const Profile& profile, size_t width) {
    std::string command = profile.command.empty() ? "" : command_line(profile.command) + ": ";
    std::string text = fmt::format(
        "=== PROFILE ===  {}{}, {}, {} lost\n", command, sink::short_duration(profile.duration_ns),
        sink::plural(profile.processes.size(), "process"), sink::grouped(profile.lost));
    text += section("PROCESSES", width, profile.processes);
    text += environment_text(profile, width);
    text += section("PHASES", width, profile.phases, profile.memory);
    text += section("FILES", width, profile.files);
    text += section("SECURITY", width, profile.security);
    text += section("MEMORY", width, profile.memory);
    text += section("GPU", width, profile.gpu);
    text += section("SYSTEM CALLS", width, profile.calls);
    text += section("OFF THE CPU", width, profile.off_cpu, profile.processes);
    text += section("WHERE THE TIME WENT", width, profile.time);
    text += section("TRACING COST", width, profile.cost);
    return lines_on_terminal(text);
}

// Of a type of another stage, whose members are not found by its name.
static void add_cost(JsonWriter& json, const std::optional<sink::TracingCost>& cost) {
    json.Key("tracing_cost");
    if (!cost) return void(json.Null());
    json.StartObject();
    member(json, "ns", cost->ns);
    member(json, "cpu_ns", cost->cpu_ns);
    objects(json, "functions", cost->functions, [&](const sink::TracingCost::Function& one) {
        member(json, "function", one.function);
        member(json, "library", one.library);
        member(json, "hits", one.hits);
        member(json, "ns", one.ns);
    });
    json.EndObject();
}

std::string profile_json(const Profile& profile) {
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.SetIndent(' ', 1);
    json.StartObject();
    member(json, "schema", std::string_view("mlbcc-profile"));
    member(json, "version", int64_t{kVersion});
    member(json, "command", profile.command);
    member(json, "environment", profile.environment);
    member(json, "start", profile.start);
    member(json, "duration_ns", profile.duration_ns);
    member(json, "events", profile.events);
    member(json, "lost", profile.lost);
    member(json, "end", profile.end_reason);
    member(json, "processes", profile.processes);
    member(json, "files", profile.files);
    member(json, "system_calls", profile.calls);
    member(json, "off_cpu", profile.off_cpu);
    member(json, "time", profile.time);
    member(json, "memory", profile.memory);
    member(json, "gpu", profile.gpu.empty() ? std::nullopt : std::optional(profile.gpu));
    member(json, "phases", profile.phases);
    const phases::Phase* peak = profile.phases.report.at(profile.memory.peak_ns);
    member(json, "peak_phase", peak == nullptr ? std::nullopt : std::optional(peak->name));
    member(json, "security", profile.security);
    add_cost(json, profile.cost);
    json.EndObject();
    return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace mlbcc::profile
