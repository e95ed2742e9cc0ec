#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "profile/launchers.h"
#include "profile/profile_sections.h"
#include "sink/cost_text.h"
#include "sink/format.h"
#include "text/terminal_text.h"

namespace mlbcc::profile {

namespace {

constexpr size_t kFiles = 12, kMissing = 5, kProcesses = 40, kCommand = 72;

std::string command_line(const std::vector<std::string>& arguments) {
    std::string line;
    for (const std::string& argument : arguments) line += (line.empty() ? "" : " ") + argument;
    return sink::shortened(on_terminal(line), kCommand);
}

std::string how_it_ended(const ProcessLife& life) {
    if (!life.ended) return "runs on";
    if (life.signal != 0) return fmt::format("ended by signal {}", life.signal);
    return fmt::format("exit status {}", life.exit_status);
}

std::string title_of(const ProcessLife& life) {
    if (life.programs.empty()) return life.name;
    const ProgramRun& last = life.programs.back();
    return last.arguments.empty() ? last.path : command_line(last.arguments);
}

class Tree {
public:
    // Without `launchers`.
    Tree(const std::vector<ProcessLife>& lives, const Launchers& launchers) {
        std::map<uint32_t, const ProcessLife*> known;
        auto is_shown = [&](const ProcessLife& life) { return !launchers.pids.contains(life.pid); };
        for (const ProcessLife& life : lives) {
            if (is_shown(life)) known[life.pid] = &life;
        }
        for (const ProcessLife& life : lives) {
            if (!is_shown(life)) continue;
            children_[known.contains(life.parent) ? life.parent : 0].push_back(&life);
        }
    }
    void add_to(sink::Rows& rows, uint32_t parent = 0, size_t depth = 1) {
        auto found = children_.find(parent);
        if (found == children_.end()) return;
        for (const ProcessLife* life : found->second) {
            if (++shown_ > kProcesses) continue;
            add(rows, *life, 2 * depth);
            add_to(rows, life->pid, depth + 1);
        }
    }
    size_t hidden() const { return shown_ > kProcesses ? shown_ - kProcesses : 0; }

private:
    static void add(sink::Rows& rows, const ProcessLife& life, size_t indent) {
        rows.line(fmt::format("{:{}}{} {}", "", indent, life.pid, title_of(life)));
        std::string peak = life.peak_resident ? fmt::format(", peak memory {}",
                                                            sink::short_bytes(*life.peak_resident))
                                              : "";
        rows.line(
            fmt::format("{:{}}{}, {} of CPU time, {}{}, {}", "", indent + 4,
                        sink::short_duration(life.duration_ns()), sink::short_duration(life.cpu_ns),
                        sink::plural(life.threads.size(), "thread"), peak, how_it_ended(life)));
    }

    std::map<uint32_t, std::vector<const ProcessLife*>> children_;
    size_t shown_ = 0;
};

std::string section(const char* title, const sink::Rows& rows) {
    return rows.empty() ? "" : fmt::format("\n{}\n{}", title, rows.text());
}

template <class Add>
std::string section_of(const char* title, const Profile& profile, size_t width, Add&& add) {
    sink::Rows rows(width);
    add(rows, profile);
    return section(title, rows);
}

std::string processes_text(const Profile& profile, size_t width) {
    sink::Rows rows(width);
    const Launchers launchers = launchers_of(profile.processes);
    Tree tree(profile.processes, launchers);
    tree.add_to(rows);
    if (tree.hidden() > 0) rows.line(fmt::format("  and {} more", tree.hidden()));
    if (!launchers.pids.empty()) {
        rows.line(fmt::format("  started by {}: {}, {} of CPU time",
                              command_line(launchers.arguments),
                              sink::plural(launchers.pids.size(), "process"),
                              sink::short_duration(launchers.cpu_ns)));
    }
    return section("PROCESSES", rows);
}

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

std::string what_was_done(uint64_t read, uint64_t written, uint64_t mapped) {
    std::string text;
    auto add = [&](uint64_t amount, const char* how) {
        if (amount == 0) return;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", sink::short_bytes(amount), how);
    };
    add(read, "read");
    add(written, "written");
    add(mapped, "mapped");
    return text;
}

std::string how_it_was_read(const FileUse& use) {
    if (use.reads == 0) return "";
    std::string text =
        fmt::format(" ({} in {}, {}", name_of(use.access), sink::plural(use.reads, "read"),
                    sink::short_duration(use.read_ns));
    if (use.times_read() >= 1.5) text += fmt::format(", {:.1f} times its size", use.times_read());
    return text + ")";
}

void add_files(sink::Rows& rows, const FileReport& files) {
    for (const GroupUse& group : files.groups) {
        if (group.files == 0) continue;
        rows.line(
            fmt::format("  {:<14} {:>5} {} {}", name_of(group.group), sink::grouped(group.files),
                        group.files == 1 ? "file: " : "files:",
                        what_was_done(group.read_bytes, group.written_bytes, group.mapped_bytes)));
    }
    for (size_t i = 0; i < std::min(kFiles, files.files.size()); ++i) {
        const FileUse& use = files.files[i];
        std::string done = what_was_done(use.read_bytes, use.written_bytes, use.mapped_bytes);
        if (!done.empty())
            rows.line(fmt::format("    {}: {}{}", use.path, done, how_it_was_read(use)));
    }
    std::string unnamed = what_was_done(files.unnamed_read_bytes, files.unnamed_written_bytes, 0);
    if (!unnamed.empty())
        rows.line("  pipes, sockets, terminals, files that were open: " + unnamed);
    if (files.rings.empty()) return;
    const FileReport::Ring& first = files.rings.front();
    const size_t others = files.rings.size() - 1;
    const std::string has =
        others == 0 ? "has" : fmt::format("and {} have", sink::plural(others, "other"));
    rows.line(fmt::format("  note: {} (PID {}) {} an io_uring; what is opened, read and written by "
                          "it is not counted",
                          on_terminal(first.name), first.pid, has));
}

std::string files_text(const Profile& profile, size_t width) {
    sink::Rows rows(width);
    add_files(rows, profile.files);
    const FileReport::Missing& missing = profile.files.missing;
    if (missing.searches > 0) {
        rows.line(fmt::format("  searched for and not found: {}, {}",
                              sink::plural(missing.searches, "time"),
                              sink::short_duration(missing.time_ns)));
        for (size_t i = 0; i < std::min(kMissing, missing.paths.size()); ++i) {
            const auto& [path, searches] = missing.paths[i];
            rows.line(fmt::format("    {}{}", path,
                                  searches > 1 ? fmt::format(" ({} times)", searches) : ""));
        }
    }
    return section("FILES", rows);
}

void add_cost(sink::Rows& rows, const Profile& profile) {
    if (profile.cost) sink::add_cost(rows, *profile.cost);
}

}  // namespace

std::string profile_text(const Profile& profile, size_t width) {
    std::string command = profile.command.empty() ? "" : command_line(profile.command) + ": ";
    std::string text = fmt::format(
        "=== PROFILE ===  {}{}, {}, {} lost\n", command, sink::short_duration(profile.duration_ns),
        sink::plural(profile.processes.size(), "process"), sink::grouped(profile.lost));
    text += processes_text(profile, width);
    text += environment_text(profile, width);
    text += section_of("PHASES", profile, width, add_phases);
    text += files_text(profile, width);
    text += section_of("SECURITY", profile, width, add_findings);
    text += section_of("MEMORY", profile, width, add_memory);
    text += section_of("GPU", profile, width, add_gpu);
    text += section_of("SYSTEM CALLS", profile, width, add_calls);
    text += section_of("OFF THE CPU", profile, width, add_off_cpu);
    text += section_of("WHERE THE TIME WENT", profile, width, add_time);
    text += section_of("TRACING COST", profile, width, add_cost);
    return lines_on_terminal(text);
}

}  // namespace mlbcc::profile
