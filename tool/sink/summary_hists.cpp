#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sink/summary_text.h"

namespace mlbcc::sink {
namespace {

constexpr size_t kBar = 30;  // characters of the longest bar
constexpr size_t kBuckets = buckets::kSigned;
constexpr size_t kEmptyShown = 3;  // a longer run of empty buckets is one line

// " values, sum 15.2 ms": behind their number.
std::string whole(const Hist& hist) {
    std::string text = hist.count == 1 ? " value" : " values";
    if (hist.unit != rules::Unit::none)
        text += ", sum " + short_amount(hist.sum, hist.unit, hist.is_signed);
    text += own_text(hist.own, hist.sum);
    return text;
}

// " values, sum 15.2 ms, min 812 ns, avg 18.0 us, max 81.2 ms"
std::string spread(const Hist& hist) {
    if (hist.count == 0) return whole(hist);
    const auto shown = [&](uint64_t bits) { return short_amount(bits, hist.unit, hist.is_signed); };
    return whole(hist) + fmt::format(", min {}, avg {}, max {}", shown(hist.min),
                                     shown(average(hist.sum, hist.count, hist.is_signed)),
                                     shown(hist.max));
}

// Of a group, in place of bars.
std::string percentiles(const Hist& hist) {
    if (hist.count == 0) return whole(hist);
    const auto shown = [&](uint64_t bits) { return short_amount(bits, hist.unit, hist.is_signed); };
    return whole(hist) + fmt::format(", p50 <= {}, p99 <= {}, max {}", shown(bound_of(hist, 0.5)),
                                     shown(bound_of(hist, 0.99)), shown(hist.max));
}

// Those between the first and the last that have values, empty ones too.
std::vector<Hist::Bucket> without_gaps(const Hist& hist) {
    std::vector<Hist::Bucket> out;
    const auto order = [&](uint64_t bits) { return buckets::ordered(bits, hist.is_signed); };
    for (const Hist::Bucket& bucket : hist.buckets) {
        if (bucket.count == 0) continue;
        while (!out.empty() && order(out.back().high) < order(bucket.low) &&
               out.size() < kBuckets) {
            const uint64_t low = out.back().high;
            const size_t next = buckets::bucket_of(low, hist.is_signed);
            out.push_back({low, buckets::bounds_of(next, hist.is_signed).high, 0});
        }
        out.push_back(bucket);
    }
    return out;
}

// Powers of 2 of bytes are whole: "4 KiB", not "4.00 KiB".
std::string bound(uint64_t value, rules::Unit unit, bool is_signed) {
    std::string text = short_amount(value, unit, is_signed);
    if (unit != rules::Unit::bytes) return text;
    for (std::string_view zeros : {".00 ", ".0 "}) {
        size_t at = text.find(zeros);
        if (at != std::string::npos) text.erase(at, zeros.size() - 1);
    }
    return text;
}

size_t bar_length(uint64_t count, uint64_t most) {
    if (count == 0) return 0;
    double share = static_cast<double>(count) / static_cast<double>(most);
    return std::max<size_t>(1, static_cast<size_t>(std::lround(share * kBar)));
}

// How many empty buckets stand from `at` on.
size_t empty_run(const std::vector<Hist::Bucket>& buckets, size_t at) {
    size_t end = at;
    while (end < buckets.size() && buckets[end].count == 0) ++end;
    return end - at;
}

//     512 ns .. 1.02 us     311  ##########
void add_bars(Rows& rows, const Hist& hist) {
    std::vector<Hist::Bucket> buckets = without_gaps(hist);
    uint64_t most = 1;
    size_t bounds = 0, counts = 0;
    for (const Hist::Bucket& bucket : buckets) {
        most = std::max(most, bucket.count);
        for (uint64_t value : {bucket.low, bucket.high})
            bounds = std::max(bounds, width_of(bound(value, hist.unit, hist.is_signed)));
        counts = std::max(counts, width_of(grouped(bucket.count)));
    }
    for (size_t i = 0; i < buckets.size(); ++i) {
        if (size_t run = empty_run(buckets, i); run > kEmptyShown) {
            rows.line(std::string(4 + bounds, ' ') + " ..");
            i += run - 1;
            continue;
        }
        const Hist::Bucket& bucket = buckets[i];
        std::string line =
            fmt::format("    {} .. {}  {}  {}",
                        right_aligned(bound(bucket.low, hist.unit, hist.is_signed), bounds),
                        right_aligned(bound(bucket.high, hist.unit, hist.is_signed), bounds),
                        right_aligned(grouped(bucket.count), counts),
                        std::string(bar_length(bucket.count, most), '#'));
        line.erase(line.find_last_not_of(' ') + 1);
        rows.line(std::move(line));
    }
}

}  // namespace

uint64_t bound_of(const Hist& hist, double share) {
    const auto order = [&](uint64_t bits) { return buckets::ordered(bits, hist.is_signed); };
    uint64_t below = 0;
    for (const Hist::Bucket& bucket : hist.buckets) {
        below += bucket.count;
        if (static_cast<double>(below) >= share * static_cast<double>(hist.count))
            return order(std::min(order(hist.max), order(bucket.high)));
    }
    return hist.max;
}

void add_hist(Rows& rows, const std::vector<const Hist*>& groups, const std::string& behind) {
    const Hist& first = *groups[0];
    if (first.by.empty()) {
        rows.add(2, first.label, {grouped(first.count), ""}, spread(first) + lost_text(first.lost));
        return add_bars(rows, first);
    }
    Hist all = first;
    const auto order = [&](uint64_t bits) { return buckets::ordered(bits, first.is_signed); };
    for (size_t i = 1; i < groups.size(); ++i) {
        all.count += groups[i]->count;
        all.sum += groups[i]->sum;
        add_own(all.own, groups[i]->own);
        all.min = order(std::min(order(all.min), order(groups[i]->min)));
        all.max = order(std::max(order(all.max), order(groups[i]->max)));
    }
    rows.add(2, first.label, {grouped(all.count), ""},
             spread(all) + behind + lost_text(first.lost));
    std::vector<const Hist*> ordered = groups;
    std::ranges::stable_sort(ordered, std::greater{},
                             [&](const Hist* one) { return as_double(one->sum, one->is_signed); });
    for (size_t i = 0; i < std::min(ordered.size(), kShownGroups); ++i)
        add_group(rows, ordered[i]->by, {grouped(ordered[i]->count), ""}, percentiles(*ordered[i]));
    if (ordered.size() > kShownGroups)
        rows.line(fmt::format("    and {} more", grouped(ordered.size() - kShownGroups)));
}

}  // namespace mlbcc::sink
