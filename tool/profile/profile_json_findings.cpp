#include "profile/profile.h"
#include "profile/profile_json.h"

namespace mlbcc::profile {

static void add_members(JsonWriter& json, const Finding& finding) {
    member(json, "severity", name_of(finding.severity));
    member(json, "kind", finding.kind);
    member(json, "what", finding.what);
    member(json, "why", finding.why);
    member(json, "time_ns", finding.time_ns);
    member(json, "times", finding.times);
    member(json, "pid", finding.pid);
    member(json, "tid", finding.tid);
    member(json, "thread", finding.thread);
    member(json, "after_weights",
           finding.weights.empty() ? std::optional<std::string>() : finding.weights);
    member(json, "stack", finding.stack);
    json.Key("values");
    json.StartObject();
    for (const auto& [name, value] : finding.values) member(json, name.c_str(), value);
    json.EndObject();
}

static void add_members(JsonWriter& json, const FindingReport& report) {
    std::optional<std::string> worst;
    if (report.worst()) worst = name_of(*report.worst());
    member(json, "worst", worst);
    member(json, "left_out", report.left_out);
    member(json, "findings", report.findings);
}

void write_findings(JsonWriter& json, const Profile& profile) {
    member(json, "security", profile.security);
}

}  // namespace mlbcc::profile
