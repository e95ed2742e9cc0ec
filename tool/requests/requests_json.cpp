#include "requests/requests.h"
#include "sink/json_writer.h"

namespace mlbcc::requests {

using sink::member;
using sink::objects;
using sink::write;
namespace {

void write_latency(sink::JsonWriter& json, const char* name, const Latency& latency) {
    json.Key(name);
    json.StartObject();
    member(json, "p50", latency.quantile(0.5));
    member(json, "p90", latency.quantile(0.9));
    member(json, "p99", latency.quantile(0.99));
    member(json, "p99.9", latency.quantile(0.999));
    member(json, "max", latency.max());
    json.EndObject();
}

void write_calls(sink::JsonWriter& json, const SyscallUses& calls) {
    json.Key("system_calls");
    json.StartObject();
    for (const auto& [name, use] : calls) {
        json.Key(name.c_str());
        json.StartObject();
        member(json, "calls", use.calls);
        member(json, "time_ns", use.time_ns);
        json.EndObject();
    }
    json.EndObject();
}

void write_parts(sink::JsonWriter& json, const PartTimes& times, const Parts& parts) {
    json.Key("parts_ns");
    json.StartObject();
    for (size_t i = 0; i < parts.names().size(); ++i) {
        if (times[i] > 0) member(json, parts.names()[i].c_str(), times[i]);
    }
    json.EndObject();
}

// The longest time first.
void write_places(sink::JsonWriter& json, const WaitPlaces& places, const Parts& parts) {
    if (places.empty()) return;
    json.Key("waits");
    json.StartArray();
    for (const auto* one : longest(places)) {
        json.StartObject();
        member(json, "part", parts.names()[one->first.part]);
        member(json, "waits", one->second.waits);
        member(json, "time_ns", one->second.time_ns);
        member(json, "stack", one->first.stack);
        json.EndObject();
    }
    json.EndArray();
}

void write_requests(sink::JsonWriter& json, const char* name, const std::vector<SlowRequest>& all,
                    const Parts& parts) {
    json.Key(name);
    json.StartArray();
    for (const SlowRequest& one : all) {
        json.StartObject();
        member(json, "begin_ns", one.begin_ns);
        member(json, "duration_ns", one.duration_ns);
        member(json, "pid", uint64_t{one.pid});
        member(json, "tid", uint64_t{one.tid});
        member(json, "status", uint64_t{one.status});
        write_parts(json, one.parts, parts);
        write_places(json, one.places, parts);
        json.EndObject();
    }
    json.EndArray();
}

void write_endpoint(sink::JsonWriter& json, const EndpointUse& use, const Parts& parts) {
    json.StartObject();
    member(json, "endpoint", use.name);
    member(json, "requests", use.requests);
    member(json, "client_errors", use.client_errors);
    member(json, "server_errors", use.server_errors);
    member(json, "unanswered", use.unanswered);
    member(json, "bytes_in", use.bytes_in);
    member(json, "bytes_out", use.bytes_out);
    member(json, "total_time_ns", use.time_ns);
    write_latency(json, "latency_ns", use.latency);
    if (use.work.count() > 0) write_latency(json, "work_latency_ns", use.work);
    write_parts(json, use.parts, parts);
    write_calls(json, use.calls);
    write_requests(json, "slowest", use.slowest, parts);
    if (use.open > 0) {
        member(json, "open", use.open);
        write_requests(json, "longest_open", use.longest_open, parts);
    }
    write_places(json, use.places, parts);
    if (use.waits_elsewhere > 0) member(json, "waits_elsewhere", use.waits_elsewhere);
    if (use.requests > 0) {
        member(json, "most", parts.names()[use.most()]);
        member(json, "hotspot", parts.names()[use.hotspot()]);
    }
    json.EndObject();
}

}  // namespace

std::string Requests::json(uint64_t time_ns, uint64_t lost) const {
    rapidjson::StringBuffer buffer;
    sink::JsonWriter json(buffer);
    OpenRequests open = connections_.open(time_ns, options_.overdue_ns);
    json.StartObject();
    member(json, "schema", std::string("mlbcc-serve"));
    member(json, "version", uint64_t{1});
    member(json, "duration_ns", time_ns);
    member(json, "lost", lost);
    member(json, "overdue", open.overdue);
    member(json, "waiting", open.waiting);
    member(json, "shorter", endpoints_.shorter());
    json.Key("endpoints");
    json.StartArray();
    for (const EndpointUse* use : endpoints_.all())
        write_endpoint(json, *use, connections_.parts());
    json.EndArray();
    write_calls(json, connections_.shared_calls());  // of no endpoint that is known
    json.EndObject();
    return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace mlbcc::requests
