#include "profile/profile.h"

#include <algorithm>
#include <utility>

#include "saved/saved_summary.h"
#include "saved/saved_trace.h"

namespace mlbcc::profile {
namespace {

class LiveProfile : public sink::Sink {
public:
    LiveProfile(const sink::TraceInfo& info, std::unique_ptr<ProfileOutput> output)
        : command_(info.command), environment_(info.environment), start_(info.start),
          start_ns_(info.start_ns), surroundings_{info.folder, info.home},
          output_(std::move(output)) {}

    void event(const event::Event& one) override { maker_.add(reader_.read(one, start_ns_)); }

    void sums(const sink::Sums& gained, uint64_t /*event_id*/) override {
        sink::Sums since_start = gained;
        since_start.time_ns -= std::min(start_ns_, gained.time_ns);
        since_start.since_ns -= std::min(start_ns_, gained.since_ns);
        maker_.add(since_start);
    }

    Result<void> finish(const sink::TraceEnd& end, uint64_t /*event_id*/) override {
        sink::TraceEnd since_start = end;
        since_start.time_ns -= std::min(start_ns_, end.time_ns);
        Profile profile = maker_.make(since_start, surroundings_);
        profile.command = command_;
        profile.environment = environment_;
        profile.start = start_;
        return output_->show(profile);
    }

private:
    std::vector<std::string> command_, environment_;
    std::string start_;
    uint64_t start_ns_;
    Surroundings surroundings_;
    std::unique_ptr<ProfileOutput> output_;
    saved::FieldsReader reader_;
    ProfileMaker maker_;
};

}  // namespace

void ProfileMaker::add(const saved::EventFields& one) {
    last_ns_ = std::max(last_ns_, one.time_ns + one.duration_ns);
    processes_.add(one);
    files_.add(one);
    memory_.add(one);
    gpu_.add(one);
    long_waits_.add(one);
    phases_.add(one);
    findings_.add(one);
}

void ProfileMaker::add(const sink::Sums& gained) {
    last_ns_ = std::max(last_ns_, gained.time_ns);
    sums_.add(gained);
    gpu_.add(gained);
}

// From the beginning of the first to the end of the last.
static uint64_t duration_of(const std::vector<ProcessLife>& lives) {
    uint64_t begin = UINT64_MAX, end = 0;
    for (const ProcessLife& life : lives) {
        begin = std::min(begin, life.begin_ns);
        end = std::max(end, life.end_ns);
    }
    return end - std::min(begin, end);
}

Profile ProfileMaker::make(const sink::TraceEnd& end, const Surroundings& surroundings) const {
    Profile profile;
    const uint64_t end_ns = end.time_ns == 0 ? last_ns_ : end.time_ns;
    profile.events = end.events;
    profile.lost = end.lost;
    profile.end_reason = end.end_reason;
    profile.processes = processes_.lives(end_ns);
    profile.duration_ns = duration_of(profile.processes);
    // A trace that was cut ends with its last look.
    const sink::MetricSnapshot metrics = end.end_reason.empty() ? sums_.whole() : end.metrics;
    profile.files = files_.report(end.metrics);
    profile.memory = memory_.report();
    profile.security = findings_.report(profile.processes, surroundings);
    profile.gpu = gpu_.report(metrics);
    profile.calls = call_report(metrics, CallsOf::system);
    profile.off_cpu = off_cpu_report(metrics);
    profile.off_cpu.long_waits = long_waits_.report();
    bound_cpu_time(profile.processes, profile.off_cpu);
    leave_out(mark_idle(profile.processes, profile.off_cpu), profile.off_cpu);
    profile.time = time_report(profile.processes, profile.off_cpu);
    profile.cost = end.metrics.cost;
    profile.phases = phase_section(phases_.report(end_ns, gpu_.launches_ns()), sums_,
                                   profile.processes, gpu_, profile.gpu);
    return profile;
}

std::unique_ptr<sink::Sink> make_profile(const sink::TraceInfo& info,
                                         std::unique_ptr<ProfileOutput> output) {
    return std::make_unique<LiveProfile>(info, std::move(output));
}

Result<std::optional<SavedProfile>> read_profile(saved::TraceFile& file) {
    std::optional<SavedProfile> saved;
    ProfileMaker maker;
    saved::FieldsReader reader;
    std::vector<std::string> command, environment;
    std::string start;
    Surroundings surroundings;
    sink::TraceEnd end;
    Result<saved::ReadLines> lines = file.each_line([&](const saved::Json& line) {
        if (!saved) {  // the `meta` line
            command = saved::texts_of(line, "command");
            environment = saved::texts_of(line, "environment");
            start = saved::text_of(line, "start");
            surroundings = {std::string(saved::text_of(line, "folder")),
                            std::string(saved::text_of(line, "home"))};
            if (saved::text_of(line, "report") == "profile") saved.emplace();
        } else if (saved::is_summary(line)) {
            end = saved::read_summary(line).end;
            saved->has_summary = true;
        } else if (saved::is_sums(line)) {
            maker.add(saved::saved_sums(line));
        } else if (const saved::EventFields* one = reader.read(line)) {
            maker.add(*one);
        }
        return saved.has_value();
    });
    if (!lines) return lines.error();
    if (!saved) return saved;
    saved->profile = maker.make(end, surroundings);
    saved->profile.command = std::move(command);
    saved->profile.environment = std::move(environment);
    saved->profile.start = std::move(start);
    saved->damaged = lines->damaged;
    return saved;
}

}  // namespace mlbcc::profile
