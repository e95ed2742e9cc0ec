#include <algorithm>

#include <fmt/format.h>

#include "sink/summary_text.h"

namespace mlbcc::sink {
namespace {

constexpr size_t kGroups = 10;   // shown of one clause, those with the most values
constexpr size_t kBar = 30;      // characters of the longest bar
constexpr size_t kBuckets = 64;

// "    15.234 ms   min 812 ns, avg 18.0 us, max 81.2 ms"
std::string spread(const Hist& hist) {
    if (hist.count == 0) return {};
    std::string total = hist.unit == rules::Unit::none ? "" : amount(hist.sum, hist.unit).text();
    return fmt::format("  {:>12}   min {}, avg {}, max {}", total, short_amount(hist.min, hist.unit),
                       short_amount(hist.sum / hist.count, hist.unit), short_amount(hist.max, hist.unit));
}

// Those between the first and the last that have values, empty ones too.
std::vector<Hist::Bucket> without_gaps(const Hist& hist) {
    std::vector<Hist::Bucket> out;
    for (const Hist::Bucket& bucket : hist.buckets) {
        if (bucket.count == 0) continue;
        while (!out.empty() && out.back().high < bucket.low && out.size() < kBuckets) {
            uint64_t low = out.back().high;
            out.push_back({low, std::min(low < UINT64_MAX / 2 ? std::max(low * 2, low + 1) : UINT64_MAX, bucket.low), 0});
        }
        out.push_back(bucket);
    }
    return out;
}

// Powers of 2 of bytes are whole: "4 KiB", not "4.00 KiB".
std::string bound(uint64_t value, rules::Unit unit) {
    std::string text = short_amount(value, unit);
    size_t zeros = text.find(".00 ");
    if (unit == rules::Unit::bytes && zeros != std::string::npos) text.erase(zeros, 3);
    return text;
}

//     512 ns .. 1.02 us     311  ##########
void add_bars(Rows& rows, const Hist& hist) {
    std::vector<Hist::Bucket> buckets = without_gaps(hist);
    uint64_t most = 1;
    size_t bounds = 0, counts = 0;
    for (const Hist::Bucket& bucket : buckets) {
        most = std::max(most, bucket.count);
        bounds = std::max(bounds, width_of(bound(bucket.high, hist.unit)));
        counts = std::max(counts, width_of(grouped(bucket.count)));
    }
    for (const Hist::Bucket& bucket : buckets) {
        auto length = static_cast<size_t>(static_cast<double>(bucket.count) / static_cast<double>(most) * kBar + 0.5);
        if (bucket.count > 0) length = std::max<size_t>(length, 1);
        std::string line = fmt::format("    {} .. {}  {}  {}", right_aligned(bound(bucket.low, hist.unit), bounds),
                                       right_aligned(bound(bucket.high, hist.unit), bounds),
                                       right_aligned(grouped(bucket.count), counts), std::string(length, '#'));
        line.erase(line.find_last_not_of(' ') + 1);
        rows.line(std::move(line));
    }
}

}  // namespace

void add_hist(Rows& rows, const std::vector<const Hist*>& groups) {
    const Hist& first = *groups[0];
    if (first.by.empty()) {
        rows.add(2, first.label, {grouped(first.count), ""}, spread(first));
        return add_bars(rows, first);
    }
    Hist all = first;
    for (size_t i = 1; i < groups.size(); ++i) {
        all.count += groups[i]->count;
        all.sum += groups[i]->sum;
        all.min = std::min(all.min, groups[i]->min);
        all.max = std::max(all.max, groups[i]->max);
    }
    rows.add(2, first.label, {grouped(all.count), ""}, spread(all));
    std::vector<const Hist*> ordered = groups;
    std::ranges::stable_sort(ordered, std::greater{}, &Hist::count);
    for (size_t i = 0; i < std::min(ordered.size(), kGroups); ++i) {
        rows.add(4, group_label(ordered[i]->by), {grouped(ordered[i]->count), ""}, spread(*ordered[i]));
    }
    if (ordered.size() > kGroups) rows.line(fmt::format("    and {} more", grouped(ordered.size() - kGroups)));
}

}  // namespace mlbcc::sink
