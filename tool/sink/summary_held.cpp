#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "sink/frames.h"
#include "sink/summary_text.h"

namespace mlbcc::sink {
namespace {

constexpr size_t kPlaces = 6;  // shown, the largest
// Of each of one place, two, three and more: all of them take at most 20 lines.
constexpr size_t kFrames[] = {8, 5, 2};

// All that was set from one place and never forgotten.
struct Place {
    uint32_t pid = 0;
    const std::vector<std::string>* stack = nullptr;
    std::string key;  // of its largest entry
    int64_t value = 0;
    uint64_t entries = 0;
};

std::vector<Place> places_of(const std::vector<const Gauge*>& gauges) {
    std::vector<Place> places;
    for (const Gauge* gauge : gauges) {
        for (const Gauge::Held& held : gauge->held) {
            auto found = std::ranges::find_if(places, [&](const Place& place) {
                return place.pid == gauge->pid && !held.stack.empty() && *place.stack == held.stack;
            });
            if (found == places.end()) {
                found = places.insert(
                    found, Place{gauge->pid, &held.stack, group_label({{"", held.key}})});
            }
            found->value += held.value;
            ++found->entries;
        }
    }
    std::ranges::stable_sort(places, std::greater{}, &Place::value);
    return places;
}

void add_place(Rows& rows, const Place& place, rules::Unit unit, bool name_process, size_t frames) {
    std::string what = place.entries == 1 ? place.key
                                          : fmt::format("in {} entries, the largest {}",
                                                        grouped(place.entries), place.key);
    if (name_process) what += fmt::format(" (pid {})", place.pid);
    rows.line(fmt::format("    {}  {}", right_aligned(amount(place.value, unit).text(), 12), what));
    add_frames(rows, *place.stack, frames, 18);
}

}  // namespace

//     peak 500 MiB at 1.204 s in cuMemAlloc (device 0)
//     4.00 KiB  0x7f0000001000
//               libffi.so.8:ffi_call+0x123
void add_held(Rows& rows, const std::vector<const Gauge*>& gauges) {
    for (size_t i = 0; i < std::min(gauges.size(), kPlaces); ++i) {
        const Gauge& gauge = *gauges[i];
        if (gauge.at_peak.function.empty()) continue;
        std::string part = gauge.by.empty()
                               ? ""
                               : fmt::format(" ({} {})", gauge.by[0].first, group_label(gauge.by));
        rows.line(fmt::format(
            "    peak {} at {:.3f} s in {}{}", short_amount(gauge.peak, gauge.unit),
            static_cast<double>(gauge.at_peak.time_ns) / 1e9, gauge.at_peak.function, part));
    }
    std::vector<Place> places = places_of(gauges);
    const size_t frames = kFrames[std::clamp<size_t>(places.size(), 1, std::size(kFrames)) - 1];
    for (size_t i = 0; i < std::min(places.size(), kPlaces); ++i) {
        add_place(rows, places[i], gauges[0]->unit, gauges.size() > 1, frames);
    }
    if (places.size() > kPlaces)
        rows.line(fmt::format("    and {} more", grouped(places.size() - kPlaces)));
}

}  // namespace mlbcc::sink
