#include "sink/jsonl_records.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "sink/json_members.h"
#include "sink/summary_members.h"

namespace mlbcc::sink {
namespace {

// Writes what summary_members.h says.
class MemberWriter {
public:
    static constexpr bool kReads = false;

    explicit MemberWriter(Writer& json) : json_(json) {}

    template <class T> void operator()(const char* name, const T& value) {
        json_.Key(name);
        write(value);
    }
    template <class T> void some(const char* name, const T& value) {
        if (is_there(value)) (*this)(name, value);
    }
    template <class T> void list(const char* name, const std::vector<T>& all) {
        json_.Key(name);
        json_.StartArray();
        for (const T& one : all) write_object(one);
        json_.EndArray();
    }
    template <class T> void some_list(const char* name, const std::vector<T>& all) {
        if (!all.empty()) list(name, all);
    }
    template <class T> void object(const char* name, const std::optional<T>& one) {
        if (!one) return;
        json_.Key(name);
        write_object(*one);
    }
    void sign(const char* /*name*/, bool /*is_signed*/) {}
    void number(const char* name, uint64_t bits, bool is_signed) {
        json_.Key(name);
        sink::number(json_, bits, is_signed);
    }
    void json(const char* name, const std::string& value) {
        json_.Key(name);
        raw(json_, value);
    }
    void seconds(const char* name, uint64_t time_ns) {
        Buffer seconds(32);
        write_seconds(seconds, time_ns, 0);
        json_.Key(name);
        raw(json_, seconds.view(), rapidjson::kNumberType);
    }
    void buckets(const char* name, const std::vector<Hist::Bucket>& all, bool is_signed) {
        json_.Key(name);
        json_.StartArray();
        for (const Hist::Bucket& bucket : all) {
            json_.StartArray();
            sink::number(json_, bucket.low, is_signed);
            sink::number(json_, bucket.high, is_signed);
            sink::number(json_, bucket.count);
            json_.EndArray();
        }
        json_.EndArray();
    }
    void fields(const char* name, const std::vector<LargestOnes::Field>& fields) {
        json_.Key(name);
        json_.StartObject();
        for (const LargestOnes::Field& field : fields) {
            raw(json_, quoted(field.name));
            raw(json_, field.json);
        }
        json_.EndObject();
    }
    // Those that have one.
    void units(const char* name, const LargestOnes& list) {
        std::map<std::string, rules::Unit> units;
        for (const LargestOnes::Entry& entry : list.entries) {
            for (const LargestOnes::Field& field : entry.fields) {
                if (field.unit != rules::Unit::none) units[field.name] = field.unit;
            }
        }
        json_.Key(name);
        json_.StartObject();
        for (const auto& [field, unit] : units) {
            raw(json_, quoted(field));
            unit_value(json_, unit);
        }
        json_.EndObject();
    }

private:
    template <class T> static bool is_there(const T& value) {
        if constexpr (requires { value.empty(); })
            return !value.empty();
        else if constexpr (requires { value.has_value(); })
            return value.has_value();
        else
            return value != T{};
    }
    template <class T> void write_object(const T& one) {
        json_.StartObject();
        members(*this, one);
        json_.EndObject();
    }

    void write(const std::string& value) { text(json_, value); }
    void write(uint64_t value) { sink::number(json_, value); }
    void write(uint32_t value) { sink::number(json_, uint64_t{value}); }
    void write(int64_t value) { signed_number(json_, value); }
    void write(bool value) { json_.Bool(value); }
    void write(const std::optional<uint64_t>& value) { write(*value); }
    void write(rules::Unit unit) { unit_value(json_, unit); }
    void write(plan::AggregateKind kind) {
        text(json_, kind == plan::AggregateKind::sum ? "sum" : "count");
    }
    void write(const std::vector<std::string>& values) {
        json_.StartArray();
        for (const std::string& value : values) text(json_, value);
        json_.EndArray();
    }
    void write(const Group& by) {
        json_.StartObject();
        for (const auto& [name, value] : by) {
            raw(json_, quoted(name));
            raw(json_, value);
        }
        json_.EndObject();
    }
    void write(const std::vector<std::pair<std::string, uint64_t>>& values) {
        json_.StartObject();
        for (const auto& [key, value] : values) member(json_, key.c_str(), value);
        json_.EndObject();
    }

    Writer& json_;
};

void append_members(Buffer& out, const rapidjson::StringBuffer& buffer) {
    std::string_view members(buffer.GetString(), buffer.GetSize());
    out.append(',');
    out.append(members.substr(1, members.size() - 2));
}

}  // namespace

void write_meta_line(Buffer& out, const TraceInfo& info) {
    rapidjson::StringBuffer buffer;
    Writer json(buffer);
    json.StartObject();
    member(json, "event_id", uint64_t{0});
    member(json, "type", "meta");
    member(json, "schema", uint64_t{1});
    member(json, "tool", info.tool);
    member(json, "start", info.start);
    json.Key("host");
    json.StartObject();
    member(json, "kernel", info.kernel);
    member(json, "arch", info.arch);
    json.EndObject();
    member(json, "command", info.command);
    member(json, "rules", info.rules);
    if (!info.folder.empty()) member(json, "folder", info.folder);
    if (!info.home.empty()) member(json, "home", info.home);
    if (!info.environment.empty()) member(json, "environment", info.environment);
    if (!info.report.empty()) member(json, "report", info.report);
    json.EndObject();
    out.append({buffer.GetString(), buffer.GetSize()});
    out.append('\n');
}

void write_summary_members(Buffer& out, const TraceEnd& end, const std::vector<Layer>& layers) {
    rapidjson::StringBuffer buffer;
    Writer json(buffer);
    json.StartObject();
    member(json, "type", "summary");
    MemberWriter writer(json);
    members(writer, end, layers);
    json.EndObject();
    append_members(out, buffer);
}

void write_sums_members(Buffer& out, const Sums& gained) {
    rapidjson::StringBuffer buffer;
    Writer json(buffer);
    json.StartObject();
    member(json, "every_us", gained.every_ns / 1000);
    MemberWriter writer(json);
    writer.list("stats", gained.stats);
    writer.list("hists", gained.hists);
    json.EndObject();
    append_members(out, buffer);
}

void write_reload_members(Buffer& out, const Reload& change, const std::vector<Layer>& layers) {
    rapidjson::StringBuffer buffer;
    Writer json(buffer);
    json.StartObject();
    member(json, "type", "reload");
    member(json, "number", change.number);
    member(json, "why", change.why);
    member(json, "rules", change.rules);
    json.Key("before");
    json.StartObject();
    MemberWriter writer(json);
    members(writer, change.before, layers);
    json.EndObject();
    json.EndObject();
    append_members(out, buffer);
}

void write_seconds(Buffer& out, uint64_t time_ns, uint64_t start_ns) {
    constexpr uint64_t kSecond = 1'000'000'000;
    if (time_ns < start_ns) out.append('-');
    uint64_t since = time_ns < start_ns ? start_ns - time_ns : time_ns - start_ns;
    out.number(since / kSecond);
    out.append('.');
    out.fraction(since % kSecond, 9);
}

}  // namespace mlbcc::sink
