#include "profile/file_use.h"

#include <fcntl.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "profile/keyed_sums.h"

namespace mlbcc::profile {

std::string_view name_of(Access access) {
    switch (access) {
    case Access::none: return "none";
    case Access::sequential: return "sequential";
    case Access::random: return "random";
    }
    return "";
}

double FileUse::times_read() const {
    return size == 0 ? 0 : static_cast<double>(read_bytes) / static_cast<double>(size);
}

void FileUses::add(const saved::Happening& one) {
    if (one.type != "file") return;
    if (one.name == "missing") {
        std::string path(one.text("path"));
        ++missing_[path];
        ++searches_;
        search_ns_ += one.duration_ns;
        return;
    }
    if (one.name == "ring") rings_.emplace(one.pid, one.comm);
    if (!one.has("inode")) return;
    State& state = states_[FileId::of(one)];
    if (one.name == "open") add_open(state, one);
    if (one.name == "map") state.use.mapped_bytes += one.natural("bytes");
    if (one.name == "read") add_read(state, one);
}

void FileUses::add_open(State& state, const saved::Happening& one) {
    FileUse& use = state.use;
    if (use.opens++ == 0) {
        use.path = one.text("path");
        use.group = group_of(use.path);
        use.first_open_ns = one.time_ns;
    }
    use.size = one.natural("size");
    int64_t mode = one.number("flags") & O_ACCMODE;
    use.for_reading = use.for_reading || mode != O_WRONLY;
    use.for_writing = use.for_writing || mode != O_RDONLY;
}

void FileUses::add_read(State& state, const saved::Happening& one) {
    uint64_t end_ns = one.time_ns + one.duration_ns, position = one.natural("position");
    if (!state.use.first_read_ns) state.use.first_read_ns = one.time_ns;
    state.use.last_read_ns = std::max(state.use.last_read_ns.value_or(0), end_ns);
    // From the beginning again is another reading.
    bool follows = !state.next_position || position == 0 || *state.next_position <= position;
    ++(follows ? state.in_order : state.out_of_order);
    state.next_position = position + one.natural("bytes");
}

void FileUses::take_sums(std::map<FileId, State>& states, const sink::MetricSnapshot& metrics) {
    auto take = [&](const char* label, auto&& put) {
        for (const auto& [key, sum] : sums_of(metrics, label, FileId::keys())) {
            put(states[FileId::of(key)].use, sum);
        }
    };
    take("read from file", [](FileUse& use, const KeyedSum& sum) {
        use.read_bytes = sum.value;
        use.reads = sum.calls;
    });
    take("written to file", [](FileUse& use, const KeyedSum& sum) {
        use.written_bytes = sum.value;
        use.writes = sum.calls;
    });
    take("time reading file", [](FileUse& use, const KeyedSum& sum) { use.read_ns = sum.value; });
    take("time writing file", [](FileUse& use, const KeyedSum& sum) { use.write_ns = sum.value; });
    take("seeks in file", [](FileUse& use, const KeyedSum& sum) { use.seeks = sum.value; });
}

// Large reads say where they were. Of small ones only the seeks between them are known.
Access FileUses::access_of(const State& state) {
    if (state.use.reads == 0) return Access::none;
    bool has_large = state.in_order + state.out_of_order > 1;
    bool jumps = has_large ? state.out_of_order * 10 > state.in_order
                           : state.use.seeks * 4 > state.use.reads + 4;
    return jumps ? Access::random : Access::sequential;
}

void FileUses::add_missing(FileReport& report) const {
    constexpr size_t kShown = 50;
    auto& missing = report.missing;
    missing.searches = searches_;
    missing.time_ns = search_ns_;
    missing.paths.assign(missing_.begin(), missing_.end());
    std::ranges::stable_sort(missing.paths, std::greater{},
                             &std::pair<std::string, uint64_t>::second);
    if (missing.paths.size() > kShown) missing.paths.resize(kShown);
}

FileReport FileUses::report(const sink::MetricSnapshot& metrics) const {
    FileReport report;
    for (FileGroup group : kFileGroups) report.groups.push_back({group});
    std::map<FileId, State> states = states_;
    take_sums(states, metrics);
    for (auto& [id, state] : states) {
        FileUse& use = state.use;
        if (use.path.empty()) {
            report.unnamed_read_bytes += use.read_bytes;
            report.unnamed_written_bytes += use.written_bytes;
            continue;
        }
        use.access = access_of(state);
        GroupUse& group = report.groups[static_cast<size_t>(use.group)];
        ++group.files;
        group.read_bytes += use.read_bytes;
        group.written_bytes += use.written_bytes;
        group.mapped_bytes += use.mapped_bytes;
        group.time_ns += use.read_ns + use.write_ns;
        report.files.push_back(use);
    }
    std::ranges::stable_sort(report.files, [](const FileUse& a, const FileUse& b) {
        uint64_t moved_a = a.read_bytes + a.written_bytes, moved_b = b.read_bytes + b.written_bytes;
        return std::tuple(moved_b, b.mapped_bytes, a.path) <
               std::tuple(moved_a, a.mapped_bytes, b.path);
    });
    add_missing(report);
    for (const auto& [pid, name] : rings_) report.rings.push_back({pid, name});
    return report;
}

}  // namespace mlbcc::profile
