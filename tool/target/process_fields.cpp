#include "target/process_fields.h"

#include <fmt/format.h>

namespace mlbcc::target {

std::string_view source_text(ProcessSource source) {
    switch (source) {
    case ProcessSource::looks: return "";
    case ProcessSource::stat: return "/proc/PID/stat";
    case ProcessSource::status: return "/proc/PID/status";
    case ProcessSource::io: return "/proc/PID/io";
    case ProcessSource::descriptors: return "/proc/PID/fd";
    case ProcessSource::clock: return "the CPU-time clock";
    case ProcessSource::tasks: return "/proc/PID/task/TID/status of each thread";
    case ProcessSource::counters: return "the CPU's counters";
    }
    return "";
}

std::string period_text(uint64_t ns) {
    struct Unit {
        const char* name;
        uint64_t ns;
    };
    for (const Unit& unit : {Unit{"s", 1'000'000'000}, Unit{"ms", 1'000'000}, Unit{"us", 1'000}}) {
        if (ns % unit.ns == 0) return fmt::format("{}{}", ns / unit.ns, unit.name);
    }
    return fmt::format("{}ns", ns);
}

// All are signed, so that a difference of two can be less than nothing.
rules::Signature interval_signature(std::string name, rules::TypeTable& types) {
    rules::CType number{"long", rules::IntType{8, true, false}};
    rules::CType bytes = number, time = number;
    bytes.spelling = "ssize_t";
    bytes.is_byte_count = true;
    time.is_nanoseconds = true;
    const rules::TypeId number_id = types.add(number), bytes_id = types.add(bytes),
                        time_id = types.add(time);
    auto type_of = [&](ProcessUnit unit) {
        switch (unit) {
        case ProcessUnit::one: return number_id;
        case ProcessUnit::bytes:
        case ProcessUnit::pages:
        case ProcessUnit::kibibytes: return bytes_id;
        case ProcessUnit::ticks:
        case ProcessUnit::nanoseconds: return time_id;
        }
        return number_id;
    };
    rules::Signature made;
    made.name = std::move(name);
    made.ret = types.add({"void", rules::VoidType{}});
    for (uint32_t value = 0; value < kProcessValueCount; ++value) {
        const ProcessField& field = kProcessFields.at(field_of(value));
        std::string named(field.name);
        if (value >= kProcessFieldCount) named += "_change";
        made.params.push_back({std::move(named), type_of(field.unit)});
    }
    return made;
}

}  // namespace mlbcc::target
