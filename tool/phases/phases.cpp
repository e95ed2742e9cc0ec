#include "phases/phases.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "phases/file_group.h"
#include "phases/gpu_phases.h"
#include "phases/moves_cut.h"
#include "sink/format.h"

namespace mlbcc::phases {

namespace {

constexpr size_t kMostMoves = 200'000, kMostMarks = 200'000;
constexpr uint64_t kLeastShare = 100;  // smaller files than this part of the largest are no weights
constexpr uint64_t kCleanupPart = 4;   // less than this part of the weights' size is no cleanup
// Formats that are nothing but weights. Others, as archives, are so by their names.
constexpr std::string_view kAmbiguous[] = {"", "zip", "pickle"};

// A first one that takes twice as long as the one in the middle is another work.
bool is_warm_up(const std::vector<TimeRange>& repetitions) {
    if (repetitions.size() < 4) return false;
    const std::span<const TimeRange> others = std::span(repetitions).subspan(1);
    return repetitions.front().length_ns() >= 2 * median_length_ns(others);
}

std::vector<TimeRange> spans_of(const Period& period, const std::vector<MemoryMove>& moves,
                                uint64_t end_ns) {
    std::vector<TimeRange> spans;
    for (size_t i = 0; i < period.count; ++i) {
        uint64_t begin_ns = moves[period.first + i * period.length].time_ns;
        if (!spans.empty()) spans.back().end_ns = begin_ns;
        spans.push_back({begin_ns, end_ns});
    }
    return spans;
}

Repeated repeated_blocks(const Period& period, const std::vector<MemoryMove>& moves,
                         uint64_t end_ns) {
    Repeated repeated{spans_of(period, moves, end_ns), 0,
                      fmt::format("{} of large blocks of memory {} again and again, {} times",
                                  sink::plural(period.length, "change"),
                                  period.length == 1 ? "comes" : "come", period.count),
                      period.first == 0};
    repeated.first = is_warm_up(repeated.spans) ? 1 : 0;
    return repeated;
}

void add_inference(PhaseReport& report, const std::string& evidence,
                   const std::optional<Repeated>& repeated, TimeRange time) {
    if (!repeated) {
        report.repetition_evidence = "no repetition is seen: the program makes no calls that repeat"
                                     " regularly, and no marks";
        return report.begin("inference", time.begin_ns, evidence);
    }
    report.repetitions = repeated->spans;
    report.repetition_evidence = repeated->evidence;
    const uint64_t first_ns = report.repetitions[repeated->first].begin_ns;
    if (first_ns <= time.begin_ns || (repeated->from_beginning && repeated->first == 0))
        return report.begin("inference", time.begin_ns, evidence);
    report.begin("warm_up", time.begin_ns, evidence);
    report.begin("inference", first_ns,
                 repeated->first > 0
                     ? "the first repetition, which took at least twice as long, is over"
                     : "from here on it repeats");
}

bool is_python(std::string_view path) {
    return path.substr(path.rfind('/') + 1).starts_with("python");
}

// Of compiled kernels: NVIDIA's driver, Triton, PyTorch's inductor.
bool is_kernel_cache(std::string_view path) {
    constexpr std::string_view kParts[] = {"/ComputeCache/", "/.triton/", "/torchinductor"};
    return std::ranges::any_of(
        kParts, [&](std::string_view part) { return path.find(part) != std::string_view::npos; });
}

size_t count_in(const std::vector<uint64_t>& times_ns, const TimeRange& time) {
    return static_cast<size_t>(std::ranges::count_if(
        times_ns, [&](uint64_t one) { return time.begin_ns <= one && one < time.end_ns; }));
}

StepReport steps_of(uint32_t pid, const std::vector<TimeRange>& repetitions) {
    return {pid,
            {repetitions.front().begin_ns, repetitions.back().end_ns},
            repetitions.size(),
            times_of(repetitions)};
}

}  // namespace

double StepReport::per_second() const {
    const auto ns = static_cast<double>(std::max<uint64_t>(1, time.length_ns()));
    return static_cast<double>(count) * 1e9 / ns;
}

void PhaseReport::begin(std::string name, uint64_t time_ns, std::string evidence) {
    if (!phases.empty()) {
        phases.back().time.end_ns = time_ns;
        phases.back().end_evidence = evidence;
    }
    Phase phase;
    phase.name = std::move(name);
    phase.time = {time_ns, time_ns};
    phase.begin_evidence = std::move(evidence);
    phases.push_back(std::move(phase));
}

const Phase* PhaseReport::at(uint64_t time_ns) const {
    auto found = std::ranges::find_if(phases, [&](const Phase& phase) {
        return phase.time.begin_ns <= time_ns && time_ns < phase.time.end_ns;
    });
    return found == phases.end() ? nullptr : &*found;
}

bool Phases::File::is_weights() const {
    bool is_format = std::ranges::find(kAmbiguous, format) == std::end(kAmbiguous);
    return is_format || group_of(path) == FileGroup::weights;
}

void Phases::add(const saved::EventFields& one) {
    if (one.type == "file") return add_file(one);
    Process& process = processes_[one.pid];
    if (one.type == "memory") return add_block(process, one);
    if (one.type == "phase" && one.name == "mark") return add_mark(process, one);
    if (GpuCalls::is_one(one)) return process.gpu.add(one);
    if (one.type != "process") return;
    add_program(process, one);
    if (!first_) first_ = one.pid;
    if (one.name == "exec" && !process.begin_ns) process.begin_ns = one.time_ns;
    if (one.name == "memory") process.looks.add(one);
    if (saved::ends_process(one)) process.end_ns = one.time_ns;
}

// The arguments are those of a call that may fail; then the next one's take their place.
void Phases::add_program(Process& process, const saved::EventFields& one) {
    if (one.name == "exec") process.script_ns.reset();
    if (one.name != "command") return;
    process.arguments.clear();
    if (!is_python(one.text("path"))) return;
    for (std::string_view name : {"arg1", "arg2", "arg3", "arg4", "arg5"})
        process.arguments.emplace_back(one.text(name));
}

void Phases::add_open(Process& process, const saved::EventFields& one) {
    std::string_view path = one.text("path");
    if (path.empty()) return;
    if (group_of(path) == FileGroup::python) process.python_files.push_back(one.time_ns);
    if (is_kernel_cache(path)) process.cache_files.push_back(one.time_ns);
    if (!process.script_ns && std::ranges::find(process.arguments, path) != process.arguments.end())
        process.script_ns = one.time_ns;
}

void Phases::add_file(const saved::EventFields& one) {
    if (!one.has("inode")) return;
    const FileKey id = FileKey::of(one);
    if (one.name == "open") {
        File& file = files_[id];
        if (file.path.empty()) file.path = one.text("path");
        file.size = one.natural("size");
    }
    if (one.name == "open") add_open(processes_[one.pid], one);
    auto file = files_.find(id);
    if (file == files_.end()) return;
    if (one.name == "format") file->second.format = one.text("format");
    Reading& reading = processes_[one.pid].readings[id];
    bool reads = one.name == "read", maps = one.name == "map";
    if (one.name == "open" && reading.bytes == 0) reading.open_ns = one.time_ns;
    if (!reads && !maps) return;
    if (reading.bytes == 0) reading.first_ns = one.time_ns;
    reading.bytes += one.natural("bytes");
    reading.is_mapped = reading.is_mapped || maps;
    reading.last_ns = std::max(reading.last_ns, one.time_ns + one.duration_ns);
}

// What was there before the trace cannot be told from code that is unloaded. The memory of devices
// is mapped, too, with another size.
void Phases::add_block(Process& process, const saved::EventFields& one) {
    bool taken = one.name == "map";
    if ((!taken && one.name != "unmap") || !one.has("bytes")) return;
    uint64_t address = one.natural("address");
    if (taken)
        process.blocks[address] = one.number("bytes");
    else if (process.blocks.erase(address) == 0)
        return;
    if (process.moves.size() >= kMostMoves) {
        process.lost_moves = true;
        return;
    }
    process.moves.push_back({one.time_ns, taken ? one.number("bytes") : -one.number("bytes")});
}

// A line, or what was written of it; the buffer behind that is another's.
void Phases::add_mark(Process& process, const saved::EventFields& one) {
    std::string_view text = one.text("text");
    if (one.has("bytes")) text = text.substr(0, one.natural("bytes"));
    text = text.substr(0, text.find('\n'));
    if (text.empty() || process.marks.size() >= kMostMarks) return;
    process.marks.push_back({one.time_ns, std::string(text)});
}

uint64_t Phases::weights_read(const Process& process) const {
    uint64_t sum = 0;
    for (const auto& [id, reading] : process.readings) {
        if (files_.at(id).is_weights()) sum += reading.bytes;
    }
    return sum;
}

std::optional<Phases::Loading> Phases::loading_of(const Process& process) const {
    uint64_t largest = 0;
    for (const auto& [id, reading] : process.readings) {
        if (files_.at(id).is_weights()) largest = std::max(largest, reading.bytes);
    }
    std::optional<Loading> loading;
    for (const auto& [id, reading] : process.readings) {
        const File& file = files_.at(id);
        if (!file.is_weights() || reading.bytes == 0 || reading.bytes < largest / kLeastShare)
            continue;
        if (!loading) loading.emplace(Loading{{UINT64_MAX, 0}, {}, {}});
        uint64_t begin_ns = reading.open_ns == 0 ? reading.first_ns : reading.open_ns;
        if (begin_ns < loading->time.begin_ns) {
            loading->time.begin_ns = begin_ns;
            loading->first = fmt::format(
                "{} ({}{}{}) is opened, and {} from {} on", file.path, sink::short_bytes(file.size),
                file.format.empty() ? "" : ", ", file.format, reading.is_mapped ? "mapped" : "read",
                sink::short_duration(reading.first_ns));
        }
        if (reading.last_ns > loading->time.end_ns) {
            loading->time.end_ns = reading.last_ns;
            loading->last = fmt::format("the last {} of {} is over",
                                        reading.is_mapped ? "mapping or read" : "read", file.path);
        }
    }
    return loading;
}

// Who marks phases, else who reads the most of weights, else who calls the GPU most, else who was
// there first.
std::pair<uint32_t, const Phases::Process*> Phases::whose() const {
    std::pair<uint64_t, size_t> most{0, 0};
    std::pair<uint32_t, const Process*> found{0, nullptr};
    if (first_) found = {*first_, &processes_.at(*first_)};
    for (const auto& [pid, process] : processes_) {
        if (!process.marks.empty()) return {pid, &process};
        std::pair<uint64_t, size_t> work{weights_read(process),
                                         process.gpu.is_work() ? process.gpu.count() : 0};
        if (work <= most) continue;
        most = work;
        found = {pid, &process};
    }
    return found;
}

void Phases::cut_by_marks(const Process& process, TimeRange life, PhaseReport& report) {
    report.begin("start_up", life.begin_ns, "the process begins");
    std::vector<TimeRange> repetitions;
    auto keep = [&] {
        if (repetitions.size() > report.repetitions.size()) report.repetitions = repetitions;
        repetitions.clear();
    };
    for (const Mark& mark : process.marks) {
        if (!repetitions.empty()) repetitions.back().end_ns = mark.time_ns;
        if (report.phases.back().name != mark.name || report.phases.size() == 1) {
            keep();
            report.begin(mark.name, mark.time_ns, "the program marks it");
        }
        repetitions.push_back({mark.time_ns, life.end_ns});
    }
    keep();
    if (report.repetitions.size() < 2) report.repetitions.clear();
    report.repetition_evidence =
        report.repetitions.empty()
            ? "no mark comes twice, one directly after another"
            : fmt::format("the same mark comes {} times", report.repetitions.size());
}

void Phases::cut_by_weights(const Process& process, const Loading& loading, TimeRange life,
                            uint64_t launches_ns, PhaseReport& report) const {
    report.begin("start_up", life.begin_ns, "the process begins");
    report.begin("loading", loading.time.begin_ns, loading.first);
    MovesCut cut = cut_moves(process.moves, loading.time.end_ns);
    if (cut.freed_at_end * kCleanupPart < weights_read(process)) cut.cleanup_ns.reset();
    uint64_t freed = cut.freed_after_loading;
    std::string loaded = loading.last;
    if (freed > 0)
        loaded += fmt::format(", and {} that it needed is freed", sink::short_bytes(freed));
    uint64_t end_ns = cut.cleanup_ns.value_or(life.end_ns);
    if (process.lost_moves) {
        report.begin("inference", cut.loaded_ns, loaded);
        report.repetition_evidence = "not searched for: there are too many large blocks";
        return;
    }
    std::optional<Repeated> repeated = repeated_calls(process.gpu, launches_ns);
    if (!repeated || repeated->spans.front().begin_ns < cut.loaded_ns) {
        std::optional<Period> period = find_period(cut.between);
        repeated.reset();
        if (period) repeated = repeated_blocks(*period, cut.between, end_ns);
    }
    add_inference(report, loaded, repeated, {cut.loaded_ns, end_ns});
    if (!cut.cleanup_ns) return;
    report.begin("cleanup", end_ns,
                 fmt::format("{} in large blocks is freed, and none is taken any more",
                             sink::short_bytes(cut.freed_at_end)));
}

void Phases::cut(const Process& process, TimeRange life, uint64_t launches_ns,
                 PhaseReport& report) const {
    if (!process.marks.empty()) return cut_by_marks(process, life, report);
    std::optional<Loading> loading = loading_of(process);
    if (loading) return cut_by_weights(process, *loading, life, launches_ns, report);
    if (process.gpu.is_work()) {
        return cut_by_gpu(process.gpu,
                          {life.begin_ns, process.begin_ns.has_value(), process.script_ns},
                          launches_ns, report);
    }
    report.repetition_evidence = "not searched for: no weights were read, nothing was "
                                 "asked of a GPU, and nothing was marked";
    report.begin("run", life.begin_ns, "the process begins; no weights are seen");
}

void Phases::add_others(uint64_t launches_ns, PhaseReport& report) const {
    for (const auto& [pid, process] : processes_) {
        if (pid == report.pid) continue;
        std::optional<Repeated> repeated = repeated_calls(process.gpu, launches_ns);
        if (!repeated) continue;
        report.other_steps.push_back(steps_of(pid, repeated->without_first()));
    }
}

PhaseReport Phases::report(uint64_t end_ns, uint64_t launches_ns) const {
    PhaseReport report;
    auto [pid, process] = whose();
    if (process == nullptr) return report;
    report.pid = pid;
    TimeRange life{process->begin_ns.value_or(0), process->end_ns.value_or(end_ns)};
    cut(*process, life, launches_ns, report);
    report.phases.back().time.end_ns = life.end_ns;
    report.phases.back().end_evidence = process->end_ns ? "the process ends" : "the trace ends";
    for (Phase& phase : report.phases) {
        phase.use = process->looks.used(phase.time, process->begin_ns);
        phase.work = {count_in(process->python_files, phase.time),
                      count_in(process->cache_files, phase.time),
                      process->gpu.loads_in(phase.time)};
    }
    if (!report.repetitions.empty()) report.steps = steps_of(pid, report.repetitions);
    add_others(launches_ns, report);
    report.growth = growth_of(report.repetitions, process->looks.anonymous());
    return report;
}

static void add_members(sink::JsonWriter& json, const PhaseWork& work) {
    sink::member(json, "python_files", uint64_t{work.python_files});
    sink::member(json, "kernel_cache_files", uint64_t{work.cache_files});
    sink::member(json, "code_loads", uint64_t{work.loads.count});
    sink::member(json, "code_load_ns", work.loads.time_ns);
}

void add_members(sink::JsonWriter& json, const Phase& phase) {
    sink::member(json, "name", phase.name);
    add_members(json, phase.time);
    sink::member(json, "begin_evidence", phase.begin_evidence);
    sink::member(json, "end_evidence", phase.end_evidence);
    sink::member(json, "work", phase.work);
    sink::member(json, "used", phase.use);
}

void add_members(sink::JsonWriter& json, const StepReport& steps) {
    sink::member(json, "pid", steps.pid);
    add_members(json, steps.time);
    sink::member(json, "count", uint64_t{steps.count});
    sink::member(json, "per_second", steps.per_second());
    sink::member(json, "median_ns", steps.times.median_ns);
    sink::member(json, "longest_ns", steps.times.longest_ns);
    sink::objects(json, "slow", steps.times.slow, [&](const SlowStep& step) {
        sink::member(json, "number", uint64_t{step.number});
        add_members(json, step.time);
    });
}

}  // namespace mlbcc::phases
