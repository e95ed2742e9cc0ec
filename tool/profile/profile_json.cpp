#include <string>
#include <string_view>

#include "profile/profile.h"
#include "profile/profile_json.h"

namespace mlbcc::profile {
namespace {

constexpr int kVersion = 1;  // of the form; docs/profile.md

}  // namespace

static void add_members(JsonWriter& json, const ProgramRun& run) {
    member(json, "time_ns", run.time_ns);
    member(json, "path", run.path);
    member(json, "arguments", run.arguments);
}

static void add_members(JsonWriter& json, const ThreadLife& thread) {
    member(json, "tid", thread.tid);
    member(json, "name", thread.name);
    member(json, "begin_ns", thread.begin_ns);
    member(json, "end_ns", thread.end_ns);
    member(json, "cpu_ns", thread.cpu_ns);
}

static void add_members(JsonWriter& json, const ProcessLife& life) {
    member(json, "pid", life.pid);
    member(json, "parent", life.parent);
    member(json, "name", life.name);
    member(json, "begin_ns", life.begin_ns);
    member(json, "end_ns", life.end_ns);
    member(json, "duration_ns", life.duration_ns());
    member(json, "ended", life.ended);
    member(json, "exit_status", life.exit_status);
    member(json, "signal", life.signal);
    member(json, "cpu_ns", life.cpu_ns);
    member(json, "peak_resident_bytes", life.peak_resident);
    member(json, "programs", life.programs);
    member(json, "threads", life.threads);
}

static void add_members(JsonWriter& json, const FileUse& use) {
    member(json, "path", use.path);
    member(json, "group", name_of(use.group));
    member(json, "size_bytes", use.size);
    member(json, "opens", use.opens);
    member(json, "opened_for_reading", use.for_reading);
    member(json, "opened_for_writing", use.for_writing);
    member(json, "first_open_ns", use.first_open_ns);
    member(json, "first_read_ns", use.first_read_ns);
    member(json, "last_read_ns", use.last_read_ns);
    member(json, "read_bytes", use.read_bytes);
    member(json, "reads", use.reads);
    member(json, "read_time_ns", use.read_ns);
    member(json, "written_bytes", use.written_bytes);
    member(json, "writes", use.writes);
    member(json, "write_time_ns", use.write_ns);
    member(json, "mapped_bytes", use.mapped_bytes);
    member(json, "seeks", use.seeks);
    member(json, "access", name_of(use.access));
    member(json, "times_read", use.times_read());
}

static void add_members(JsonWriter& json, const GroupUse& use) {
    member(json, "group", name_of(use.group));
    member(json, "files", use.files);
    member(json, "read_bytes", use.read_bytes);
    member(json, "written_bytes", use.written_bytes);
    member(json, "mapped_bytes", use.mapped_bytes);
    member(json, "time_ns", use.time_ns);
}

static void add_members(JsonWriter& json, const FileReport::Missing& missing) {
    member(json, "searches", missing.searches);
    member(json, "time_ns", missing.time_ns);
    json.Key("paths");
    json.StartArray();
    for (const auto& [path, searches] : missing.paths) {
        json.StartObject();
        member(json, "path", path);
        member(json, "searches", searches);
        json.EndObject();
    }
    json.EndArray();
}

static void add_members(JsonWriter& json, const FileReport& files) {
    member(json, "groups", files.groups);
    member(json, "unnamed_read_bytes", files.unnamed_read_bytes);
    member(json, "unnamed_written_bytes", files.unnamed_written_bytes);
    member(json, "missing", files.missing);
    objects(json, "by_io_uring", files.rings, [&](const FileReport::Ring& one) {
        member(json, "pid", one.pid);
        member(json, "name", one.name);
    });
    member(json, "files", files.files);
}

static void write_cost(JsonWriter& json, const char* name,
                       const std::optional<sink::TracingCost>& cost) {
    json.Key(name);
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
    write_times(json, profile);
    write_gpu(json, profile);
    write_phases(json, profile);
    write_findings(json, profile);
    write_cost(json, "tracing_cost", profile.cost);
    json.EndObject();
    return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace mlbcc::profile
