#include "view/series.h"

#include <fmt/format.h>

#include "sink/json.h"

namespace mlbcc::view {

void Series::add_point(Line& line, uint64_t time_ns, double value) {
    if (line.seen++ % line.every != 0) return;
    if (line.values.size() == kPoints) {
        for (size_t i = 0; 2 * i < kPoints; ++i) {
            line.times_ns[i] = line.times_ns[2 * i];
            line.values[i] = line.values[2 * i];
        }
        line.times_ns.resize(kPoints / 2);
        line.values.resize(kPoints / 2);
        line.every *= 2;
    }
    line.times_ns.push_back(time_ns);
    line.values.push_back(value);
}

void Series::add(const DrawnEvent& counter) {
    for (const DrawnEvent::Argument& one : counter.arguments) {
        const auto* is_signed = std::get_if<int64_t>(&one.value);
        const auto* is_unsigned = std::get_if<uint64_t>(&one.value);
        if (is_signed == nullptr && is_unsigned == nullptr) continue;
        double value = is_signed != nullptr ? static_cast<double>(*is_signed)
                                            : static_cast<double>(*is_unsigned);
        std::pair key(counter.pid, fmt::format("{}.{}", counter.name, one.name));
        if (lines_.size() >= kSeries && !lines_.contains(key)) continue;
        add_point(lines_[key], counter.time_ns, value);
    }
}

void Series::write(sink::Buffer& out) const {
    out.append('[');
    bool is_first = true;
    for (const auto& [key, line] : lines_) {
        out.append(is_first ? "{\"pid\":" : ",{\"pid\":");
        is_first = false;
        out.number(key.first);
        out.append(",\"name\":");
        sink::write_text(out, key.second);
        out.append(fmt::format(",\"times\":[{}],\"values\":[{}]}}", fmt::join(line.times_ns, ","),
                               fmt::join(line.values, ",")));
    }
    out.append(']');
}

}  // namespace mlbcc::view
