#include "session/generation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/threads.h"
#include "load/detach.h"
#include "load/self_check.h"
#include "process/proc.h"
#include "text/tell.h"

namespace mlbcc::session {
namespace {

load::FrontendUse use_of(const TraceOptions& options) {
    return {fmt::format("{} {}", options.targets.everyone, options.reading.buffer_bytes), true};
}

}  // namespace

Generation::Generation(const TraceOptions& options, const bpf::Map& threads, load::Steps& steps)
    : frontend(options.rules, steps, use_of(options)), loader(frontend, steps),
      keeping(options, frontend, loader), pythons(loaded.kernel, options.verbosity),
      follower(loaded.kernel, options.targets.everyone), metrics(frontend.plan, loaded.kernel),
      sums(frontend.plan, metrics), coverage(frontend.plan), cost(frontend.plan, loaded),
      other_files(frontend, follower, late), learning(frontend, loaded, steps),
      going_on(frontend.plan, loaded.kernel), options_(options), threads_(threads), steps_(steps) {}

Result<void> Generation::begin_to_open_rings() {
    if (rings_) return {};
    Result<bpf::Map> rings = bpf::make_ring_table();
    if (!rings) return rings.error();
    rings_ = std::move(*rings);
    opening_ = on_a_thread([this] {
        return bpf::Stream::open(
            *rings_, options_.reading.buffer_bytes,
            [this](uint32_t cpu, std::span<const std::byte> record) { on_record(cpu, record); });
    });
    return {};
}

Result<void> Generation::foresee() {
    touch_.start();
    if (auto done = begin_to_open_rings(); !done) return done;
    if (auto done = frontend.start_compiler(); !done) return done;
    loader.foresee(*rings_, threads_);
    return {};
}

Result<void> Generation::plan(std::vector<process::ProcessView> views) {
    for (const process::ProcessView& view : views)
        folders_.insert(folders_.end(), view.path.begin(), view.path.end());
    if (auto done = begin_to_open_rings(); !done) return done;
    loader.begin_to_find_features();
    if (auto done = frontend.up_to_plan(std::move(views)); !done) return done;
    if (frontend.diagnostics.has_errors()) return {};
    nested = sink::make_nested_times(frontend.plan);
    looks.emplace(frontend.plan);
    return {};
}

Result<void> Generation::begin_loading() {
    if (auto done = load::check_structures(frontend, steps_); !done) return done;
    if (auto done = frontend.choose_entries(); !done) return done;
    Result<std::optional<load::LateLibraries>> started = load::LateLibraries::start(frontend);
    if (!started) return started.error();
    if (*started) late.emplace(std::move(**started));
    if (auto done = loader.start(options_.loading(), *rings_, &threads_); !done) return done;
    cost.begin_to_measure(loader.mode(), options_.rules.use_cache);
    return {};
}

Result<void> Generation::take_rings() {
    Result<bpf::Stream> opened = opening_.get();
    if (!opened) return opened.error();
    stream.emplace(std::move(*opened));
    if (stream->bytes_per_cpu() < options_.reading.buffer_bytes) {
        tell_note(options_.verbosity, fmt::format("the kernel allows only {} KiB of buffer per CPU",
                                                  stream->bytes_per_cpu() / 1024));
    }
    steps_.done("open rings");
    return {};
}

Result<void> Generation::attach() {
    touch_.enough();
    return loader.attach();
}

Result<void> Generation::finish_loading() {
    if (auto done = take_rings(); !done) return done;
    if (auto done = loader.receive(); !done) return done;
    keeping.keep();
    Result<load::Loaded> all = loader.finish();
    if (!all) return all.error();
    loaded = std::move(*all);
    if (loader.features()->preempts_points && !loaded.points_by_perf) {
        tell_note(options_.verbosity,
                  "without tracefs, system calls, forks and exits are missing where this kernel "
                  "preempts a thread in a probe (mount -t tracefs tracefs /sys/kernel/tracing)");
    }
    if (frontend.plan.traces_addresses()) given.emplace(frontend, loaded);
    if (options_.targets.everyone || !options_.targets.pids.empty()) {
        if (auto done = learning.start(); !done) return done;
    }
    steps_.tell(cost.measured());
    steps_.done("cost of a hit");
    if (!late) frontend.compiler->kill();  // LLVM's memory goes with it
    return {};
}

void Generation::find_pythons(const std::vector<std::string>& command) {
    if (!frontend.plan.knows_pythons()) return;
    const bool has_frames = loaded.kernel.map(codegen::maps::kPythonCodes) != nullptr;
    if (frontend.plan.takes(rules::StackKind::python) && !has_frames)
        tell_note(options_.verbosity, "no Python stacks: they need x86-64 and the kernel's BTF");
    pythons.prepare(command, folders_);
    steps_.done("find Pythons");
}

void Generation::look_for_python(int pid) {
    if (!frontend.plan.knows_pythons()) return;
    pythons.look_at(pid);
    for (int child : process::descendants_of(pid)) pythons.look_at(child);
}

void Generation::look_at(std::span<const std::byte> record) {
    if (given) given->look_at(record);
    if (record.size() < event::kProcessBytes) return;
    const event::Record one(record);
    if (one.kind() != plan::RecordKind::process) return;
    follower.look_at(one);
    other_files.look_at(one);
}

void Generation::mapped(const bpf::MappingStream::Mapped& mapping) {
    pythons.mapped(mapping.pid, mapping.start, mapping.offset, mapping.path);
    other_files.mapped(mapping.pid, mapping.inode, mapping.path, mapping.time_ns);
}

void Generation::tell_other_files(uint64_t read_ns) {
    for (const std::string& note : other_files.notes(read_ns)) tell_note(options_.verbosity, note);
}

void Generation::take_late(const std::function<void()>& grown) {
    while (late) {
        std::optional<load::LateArrival> came = late->next(loaded);
        if (!came && !late->is_alive()) {
            tell_note(options_.verbosity,
                      "mlbcc no longer waits for libraries: its helper process has ended");
            late.reset();
        }
        if (!came) return;
        grown();
        for (const std::string& note : came->notes) tell_note(options_.verbosity, note);
        late->let_go(*came);
    }
}

void Generation::take_given(const std::function<void()>& grown) {
    if (!given || !given->has_new()) return;
    for (const std::string& note : given->probe_new()) tell_note(options_.verbosity, note);
    grown();
}

void Generation::stop_waiting() {
    if (!late) return;
    for (const std::string& title : late->never_came()) {
        tell_note(options_.verbosity, fmt::format("library {} never came", title));
    }
    late.reset();
}

void Generation::disarm() {
    follower.disarm();
    tell_going_on();
}

void Generation::tell_going_on() {
    going_on.tell(follower.armed_ns(),
                  options_.targets.pids.empty() ? std::vector<int>() : follower.processes());
}

void Generation::detach() {
    learning.stop();
    std::vector<bpf::Attachment> all = pythons.take_attachments();
    for (std::vector<bpf::Attachment>* more : {&loaded.attachments, &loaded.learning}) {
        std::ranges::move(std::exchange(*more, {}), std::back_inserter(all));
    }
    load::detach(std::move(all));
}

sink::MetricSnapshot Generation::metrics_of(const event::Pipeline& pipeline) {
    sink::MetricSnapshot made = metrics.snapshot(pipeline, coverage);
    made.nested = nested->times();
    if (given) made.addresses = given->totals();
    std::vector<plan::ProbeId> refused;
    for (const bpf::Refusal& one : loaded.refused) refused.push_back(one.probe);
    made.coverage = coverage.libraries(refused, made.losses);
    made.left_out = frontend.left_out;
    made.going_on = going_on.told();
    made.too_deep = cost.too_deep();
    made.calls_32_bit = cost.of_32_bit();
    made.cost = cost.cost();
    return made;
}

}  // namespace mlbcc::session
