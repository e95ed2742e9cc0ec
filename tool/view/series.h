// The values of counters over time, thinned so that a series never has more than 4096 points.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sink/buffer.h"
#include "view/drawn_event.h"

namespace mlbcc::view {

class Series {
public:
    void add(const DrawnEvent& counter);
    void write(sink::Buffer& out) const;  // [{"name":...,"pid":...,"times":[...],"values":[...]}]

private:
    static constexpr size_t kPoints = 4096, kSeries = 256;
    struct Line {
        std::vector<uint64_t> times_ns;
        std::vector<double> values;
        uint64_t every = 1, seen = 0;
    };

    static void add_point(Line& line, uint64_t time_ns, double value);

    std::map<std::pair<uint32_t, std::string>, Line> lines_;
};

}  // namespace mlbcc::view
