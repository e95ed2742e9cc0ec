#include <fmt/format.h>

#include "profile/profile.h"
#include "profile/profile_json.h"

namespace mlbcc::profile {

static void add_members(JsonWriter& json, const CategoryUse& use) {
    member(json, "category", use.category);
    member(json, "calls", use.calls);
    member(json, "total_time_ns", use.time_ns);
    member(json, "errors", use.errors);
}

static void add_members(JsonWriter& json, const CallUse& use) {
    member(json, "name", use.name);
    member(json, "category", use.category);
    member(json, "calls", use.calls);
    member(json, "total_time_ns", use.time_ns);
    member(json, "errors", use.errors);
}

static void add_members(JsonWriter& json, const CallReport& calls) {
    member(json, "calls", calls.calls);
    member(json, "total_time_ns", calls.time_ns);
    member(json, "errors", calls.errors);
    member(json, "categories", calls.categories);
    member(json, "by_name", calls.all);
}

static void add_members(JsonWriter& json, const OffCpuTime& time) {
    member(json, "total_time_ns", time.total_ns);
    member(json, "total_events", time.events);
    member(json, "avg_time_ns", time.average_ns());
    member(json, "max_time_ns", time.max_ns);
    member(json, "min_time_ns", time.min_ns);
}

static void add_members(JsonWriter& json, const ThreadOffCpu& thread) {
    add_members(json, thread.time);
    member(json, "reasons_ns", thread.reasons_ns);
}

static void add_longest(JsonWriter& json, const OffCpuReport& off) {
    json.Key("top_blocking_threads");
    json.StartArray();
    for (const ThreadId& id : off.longest) {
        uint64_t ns = off.threads.at(id).time.total_ns;
        json.StartObject();
        member(json, "pid", id.first);
        member(json, "tid", id.second);
        member(json, "time_ms", static_cast<double>(ns) / 1e6);
        member(json, "percentage",
               100 * static_cast<double>(ns) / static_cast<double>(off.working.total_ns));
        json.EndObject();
    }
    json.EndArray();
}

static void add_members(JsonWriter& json, const LongWait& wait) {
    member(json, "waits", wait.waits);
    member(json, "total_time_ns", wait.total_ns);
    member(json, "max_time_ns", wait.max_ns);
    member(json, "longest_end_ns", wait.longest_ns);
    member(json, "pid", wait.pid);
    member(json, "tid", wait.tid);
    member(json, "threads", uint64_t{wait.threads.size()});
    member(json, "stack", wait.stack);
}

static void write_off_cpu(JsonWriter& json, const Profile& profile) {
    const OffCpuReport& off = profile.off_cpu;
    json.Key("off_cpu");
    json.StartObject();
    add_members(json, off.time);
    member(json, "reasons_ns", off.reasons_ns);
    add_longest(json, off);
    json.Key("thread_stats");
    json.StartObject();
    for (const auto& [id, thread] : off.threads) {
        member(json, fmt::format("{}:{}", id.first, id.second).c_str(), thread);
    }
    json.EndObject();
    member(json, "long_waits", profile.long_waits.waits);
    member(json, "long_waits_left_out", profile.long_waits.left_out);
    json.EndObject();
}

static void add_members(JsonWriter& json, const TimeShares& shares) {
    member(json, "threads", shares.threads);
    member(json, "thread_time_ns", shares.thread_ns);
    member(json, "on_cpu_ns", shares.on_cpu_ns);
    member(json, "off_cpu_ns", shares.off_cpu_ns);
}

static void add_members(JsonWriter& json, const TimeReport& time) {
    member(json, "classification", name_of(time.classification.bound));
    member(json, "evidence", time.classification.evidence);
    member(json, "whole", time.whole);
    member(json, "idle", time.idle);
    member(json, "shared_numbers", time.shared_numbers);
    json.Key("processes");
    json.StartObject();
    for (const auto& [pid, shares] : time.processes)
        member(json, std::to_string(pid).c_str(), shares);
    json.EndObject();
}

static void add_members(JsonWriter& json, const MemorySample& sample) {
    member(json, "time_ns", sample.time_ns);
    member(json, "pid", sample.pid);
    member(json, "resident_bytes", sample.resident);
    member(json, "anonymous_bytes", sample.anonymous);
    member(json, "file_mapped_bytes", sample.file_mapped);
}

static void add_members(JsonWriter& json, const MemoryReport& memory) {
    member(json, "peak_resident_bytes", memory.peak_resident);
    member(json, "peak_ns", memory.peak_ns);
    member(json, "minor_faults", memory.minor_faults);
    member(json, "major_faults", memory.major_faults);
    member(json, "every", memory.every);
    member(json, "samples", memory.samples);
}

void write_calls(JsonWriter& json, const char* name, const CallReport* calls) {
    json.Key(name);
    if (calls == nullptr) return void(json.Null());
    json.StartObject();
    member(json, "calls", calls->calls);
    member(json, "total_time_ns", calls->time_ns);
    member(json, "errors", calls->errors);
    member(json, "categories", calls->categories);
    json.EndObject();
}

void write_gpu_calls(JsonWriter& json, const CategoryUse* calls) {
    json.Key("gpu_calls");
    if (calls == nullptr) return void(json.Null());
    json.StartObject();
    member(json, "calls", calls->calls);
    member(json, "total_time_ns", calls->time_ns);
    member(json, "errors", calls->errors);
    json.EndObject();
}

void write_shares(JsonWriter& json, const char* name, const TimeShares* shares) {
    shares == nullptr ? (json.Key(name), void(json.Null())) : member(json, name, *shares);
}

void write_times(JsonWriter& json, const Profile& profile) {
    member(json, "system_calls", profile.calls);
    write_off_cpu(json, profile);
    member(json, "time", profile.time);
    member(json, "memory", profile.memory);
}

}  // namespace mlbcc::profile
