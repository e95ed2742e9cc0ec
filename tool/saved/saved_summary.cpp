#include "saved/saved_summary.h"

#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sink/summary_members.h"

namespace mlbcc::saved {
namespace {

rules::Unit unit_of(const Json& object, const char* name) {
    const std::string_view unit = text_of(object, name);
    if (unit == "ns") return rules::Unit::nanoseconds;
    return unit == "bytes" ? rules::Unit::bytes : rules::Unit::none;
}

bool as_bits(const Json& value, bool is_signed, uint64_t& out) {
    if (!is_signed) return as_unsigned(value, out);
    int64_t number = 0;
    const bool is_number = as_signed(value, number);
    out = static_cast<uint64_t>(number);
    return is_number;
}

// Reads what sink/summary_members.h says. What is missing or of another type is 0, "" or empty.
class MemberReader {
public:
    static constexpr bool kReads = true;

    explicit MemberReader(const Json& object) : object_(object) {}

    void operator()(const char* name, std::string& out) { out = text_of(object_, name); }
    void operator()(const char* name, uint64_t& out) { out = unsigned_of(object_, name); }
    void operator()(const char* name, uint32_t& out) {
        out = static_cast<uint32_t>(unsigned_of(object_, name));
    }
    void operator()(const char* name, int64_t& out) { out = signed_of(object_, name); }
    void operator()(const char* name, bool& out) { out = is_true(object_, name); }
    void operator()(const char* name, std::vector<std::string>& out) {
        out = texts_of(object_, name);
    }
    void operator()(const char* name, rules::Unit& out) { out = unit_of(object_, name); }
    void operator()(const char* name, plan::AggregateKind& out) {
        const bool is_sum = text_of(object_, name) == "sum";
        out = is_sum ? plan::AggregateKind::sum : plan::AggregateKind::count;
    }
    void operator()(const char* name, std::optional<uint64_t>& out) {
        if (object_.HasMember(name)) out = unsigned_of(object_, name);
    }
    void operator()(const char* name, sink::Group& out) {
        for_each(name, [&](std::string_view part, const Json& value) {
            out.emplace_back(part, json_text(value));
        });
    }
    void operator()(const char* name, std::vector<std::pair<std::string, uint64_t>>& out) {
        for_each(name, [&](std::string_view part, const Json& value) {
            uint64_t number = 0;
            if (as_unsigned(value, number)) out.emplace_back(part, number);
        });
    }
    template <class T> void some(const char* name, T& out) { (*this)(name, out); }
    template <class T> void list(const char* name, std::vector<T>& out) {
        const Json* all = list_of(object_, name);
        if (all == nullptr) return;
        for (const Json& one : all->GetArray()) {
            if (one.IsObject()) read_object(one, out.emplace_back());
        }
    }
    template <class T> void some_list(const char* name, std::vector<T>& out) { list(name, out); }
    // None of a trace that was made by a version that did not know.
    template <class T> void object(const char* name, std::optional<T>& out) {
        const Json* found = member(name);
        if (found != nullptr && found->IsObject()) read_object(*found, out.emplace());
    }
    // A line shows signs, not types.
    void sign(const char* name, bool& is_signed) { is_signed = signed_of(object_, name) < 0; }
    void number(const char* name, uint64_t& bits, bool is_signed) {
        bits = is_signed ? static_cast<uint64_t>(signed_of(object_, name))
                         : unsigned_of(object_, name);
    }
    void json(const char* name, std::string& out) {
        const Json* found = member(name);
        out = found == nullptr ? "null" : json_text(*found);
    }
    void seconds(const char* name, uint64_t& time_ns) {
        time_ns = nanoseconds_of(object_, name, 1e9);
    }
    void buckets(const char* name, std::vector<sink::Hist::Bucket>& out, bool is_signed) {
        const Json* all = list_of(object_, name);
        if (all == nullptr) return;
        for (const Json& one : all->GetArray()) {
            sink::Hist::Bucket bucket{};
            bool is_bucket =
                one.IsArray() && one.Size() == 3 && as_bits(one[0], is_signed, bucket.low) &&
                as_bits(one[1], is_signed, bucket.high) && as_unsigned(one[2], bucket.count);
            if (is_bucket) out.push_back(bucket);
        }
    }
    void fields(const char* name, std::vector<sink::LargestOnes::Field>& out) {
        for_each(name, [&](std::string_view field, const Json& value) {
            out.push_back({std::string(field), json_text(value), {}});
        });
    }
    void units(const char* name, sink::LargestOnes& list) {
        const Json* units = member(name);
        const bool has_units = units != nullptr && units->IsObject();
        for (sink::LargestOnes::Entry& entry : list.entries) {
            entry.value.name = list.by;
            entry.value.unit = list.unit;
            for (sink::LargestOnes::Field& field : entry.fields) {
                if (has_units) field.unit = unit_of(*units, field.name.c_str());
            }
        }
    }

private:
    const Json* member(const char* name) const {
        const auto found = object_.FindMember(name);
        return found == object_.MemberEnd() ? nullptr : &found->value;
    }
    template <class Take> void for_each(const char* name, Take take) const {
        const Json* found = member(name);
        if (found == nullptr || !found->IsObject()) return;
        for (const auto& one : found->GetObject()) take(as_text(one.name), one.value);
    }
    template <class T> static void read_object(const Json& object, T& out) {
        using sink::members;
        MemberReader reader(object);
        members(reader, out);
    }

    const Json& object_;
};

// A line shows signs, not types: of a clause with one negative group all are signed.
template <class Metric> void spread_signs(std::vector<Metric>& metrics) {
    std::set<std::pair<std::string, std::string>> with_signs;
    for (const Metric& one : metrics) {
        if (one.is_signed) with_signs.emplace(one.rule, one.label);
    }
    for (Metric& one : metrics) one.is_signed = with_signs.contains({one.rule, one.label});
}

}  // namespace

SavedSummary read_summary(const Json& line) {
    SavedSummary summary;
    MemberReader reader(line);
    reader.seconds("ts", summary.end.time_ns);
    sink::members(reader, summary.end, summary.layers);
    spread_signs(summary.end.metrics.stats);
    spread_signs(summary.end.metrics.hists);
    return summary;
}

sink::Sums saved_sums(const Json& line) {
    sink::Sums sums;
    MemberReader reader(line);
    reader.seconds("ts", sums.time_ns);
    reader.seconds("since", sums.since_ns);
    reader("every_us", sums.every_ns);
    sums.every_ns *= 1000;
    reader.list("stats", sums.stats);
    reader.list("hists", sums.hists);
    spread_signs(sums.stats);
    spread_signs(sums.hists);
    return sums;
}

}  // namespace mlbcc::saved
