#include "view/record.h"

#include <fmt/format.h>

namespace mlbcc::view {
namespace {

using saved::Json;

constexpr int kDeepest = 16;  // lists in lists: an array has 16 elements in all its dimensions

Value value_of(const Json& value, int depth = 0) {
    if (value.IsBool()) return value.GetBool();
    if (value.IsInt64()) return int64_t{value.GetInt64()};
    if (value.IsUint64()) return uint64_t{value.GetUint64()};
    if (value.IsString()) return saved::as_text(value);
    if (value.IsDouble()) return value.GetDouble();
    if (!value.IsArray() || depth == kDeepest) return std::monostate{};
    List list;
    for (const Json& one : value.GetArray()) list.push_back(value_of(one, depth + 1));
    return list;
}

void read_texts(const Json& line, const char* name, std::vector<std::string_view>& out) {
    out.clear();
    if (const Json* list = saved::list_of(line, name)) {
        for (const Json& one : list->GetArray()) out.push_back(saved::as_text(one));
    }
}

}  // namespace

bool RecordReader::read_phase(std::string_view phase) {
    size_t at = std::string_view("BEXi").find(phase);
    record_.phase = static_cast<event::Phase>(at);
    return phase.size() == 1 && at != std::string_view::npos;
}

void RecordReader::read_names(const Json& line) {
    record_.comm = saved::text_of(line, "comm");
    record_.type = saved::text_of(line, "type");
    record_.name = saved::text_of(line, "name");
    record_.added = 0;
    record_.function = saved::text_of(line, "function");
    if (record_.function == record_.name) record_.function = {};
    record_.symbol = saved::text_of(line, "symbol");
    const uint64_t sample = saved::unsigned_of(line, "sample");
    if (sample <= 1) return;
    name_ = fmt::format("{} (1 in {})", record_.name, sample);
    record_.added = name_.size() - record_.name.size();
    record_.name = name_;
}

void RecordReader::read_values(const Json& line) {
    record_.arguments.clear();
    record_.ret.reset();
    auto ret = line.FindMember("ret");
    if (ret != line.MemberEnd()) record_.ret = value_of(ret->value);
    auto values = line.FindMember("args");
    if (values == line.MemberEnd() || !values->value.IsObject()) return;
    for (const auto& one : values->value.GetObject()) {
        record_.arguments.push_back({saved::as_text(one.name), value_of(one.value)});
    }
}

Record* RecordReader::read(const Json& line) {
    auto natural = [&](const char* name) -> std::optional<uint64_t> {
        if (!saved::has(line, name)) return std::nullopt;
        return saved::unsigned_of(line, name);
    };
    auto small = [&](const char* name) {
        return static_cast<uint32_t>(saved::unsigned_of(line, name));
    };
    if (!read_phase(saved::text_of(line, "phase"))) return nullptr;
    record_.id = saved::unsigned_of(line, "event_id");
    record_.begin = natural("begin");
    record_.parent = natural("parent");
    record_.time_ns = saved::nanoseconds_of(line, "ts", 1e9);
    record_.duration_ns = saved::nanoseconds_of(line, "duration_us", 1e3);
    const auto duration = line.FindMember("duration_us");
    record_.has_duration = duration == line.MemberEnd() || !duration->value.IsNull();
    record_.goes_on = saved::is_true(line, "goes_on");
    record_.pid = small("pid");
    record_.tid = small("tid");
    record_.cpu = small("cpu");
    read_names(line);
    read_values(line);
    read_texts(line, "stack", record_.stack);
    return &record_;
}

// {"event_id":6,"ts":0.009000000,"type":"lost","cpu":1,"count":17,"rules":["cuda.rules:12"]}
std::optional<Lost> read_lost(const Json& line) {
    if (saved::text_of(line, "type") != "lost" || saved::has(line, "phase")) return std::nullopt;
    Lost lost;
    lost.time_ns = saved::nanoseconds_of(line, "ts", 1e9);
    lost.count = saved::unsigned_of(line, "count");
    lost.cpu = static_cast<uint32_t>(saved::unsigned_of(line, "cpu"));
    read_texts(line, "rules", lost.rules);
    return lost;
}

// ---- KeptRecord

namespace {

size_t bytes_of_value(const Value& value) {
    if (const auto* text = std::get_if<std::string_view>(&value)) return text->size();
    size_t bytes = 0;
    if (const auto* list = std::get_if<List>(&value)) {
        for (const Value& one : *list) bytes += bytes_of_value(one);
    }
    return bytes;
}

}  // namespace

size_t KeptRecord::bytes_of(const Record& record) const {
    size_t bytes = record.comm.size() + record.type.size() + record.name.size() +
                   record.function.size() + record.symbol.size();
    for (const Record::Argument& one : record.arguments) {
        bytes += one.name.size() + bytes_of_value(one.value);
    }
    if (record.ret) bytes += bytes_of_value(*record.ret);
    for (std::string_view frame : record.stack) bytes += frame.size();
    return bytes;
}

// There is room for it: nothing moves.
std::string_view KeptRecord::take(std::string_view text) {
    size_t at = texts_.size();
    texts_.insert(texts_.end(), text.begin(), text.end());
    return {texts_.data() + at, text.size()};
}

Value KeptRecord::take(const Value& value) {
    if (const auto* text = std::get_if<std::string_view>(&value)) return take(*text);
    const auto* list = std::get_if<List>(&value);
    if (list == nullptr) return value;
    List taken;
    for (const Value& one : *list) taken.push_back(take(one));
    return taken;
}

void KeptRecord::keep(const Record& record) {
    texts_.clear();
    texts_.reserve(bytes_of(record));
    record_ = record;
    for (std::string_view* text :
         {&record_.comm, &record_.type, &record_.name, &record_.function, &record_.symbol}) {
        *text = take(*text);
    }
    for (Record::Argument& one : record_.arguments) {
        one.name = take(one.name);
        one.value = take(one.value);
    }
    if (record_.ret) record_.ret = take(*record_.ret);
    for (std::string_view& frame : record_.stack) frame = take(frame);
}

}  // namespace mlbcc::view
