#include "profile/file_use.h"

#include <fcntl.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include <fmt/format.h>

#include "profile/keyed_sums.h"
#include "text/terminal_text.h"

namespace mlbcc::profile {
namespace {

constexpr size_t kFiles = 12, kMissing = 5;  // that are shown

std::string what_was_done(uint64_t read, uint64_t written, uint64_t mapped) {
    std::string text;
    auto add = [&](uint64_t amount, const char* how) {
        if (amount == 0) return;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", sink::short_bytes(amount), how);
    };
    add(read, "read");
    add(written, "written");
    add(mapped, "mapped");
    return text;
}

std::string how_it_was_read(const FileUse& use) {
    if (use.reads == 0) return "";
    std::string text =
        fmt::format(" ({} in {}, {}", name_of(use.access), sink::plural(use.reads, "read"),
                    sink::short_duration(use.read_ns));
    if (use.times_read() >= 1.5) text += fmt::format(", {:.1f} times its size", use.times_read());
    return text + ")";
}

}  // namespace

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

void FileUses::add(const saved::EventFields& one) {
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
    State& state = states_[phases::FileKey::of(one)];
    if (one.name == "open") add_open(state, one);
    if (one.name == "map") state.use.mapped_bytes += one.natural("bytes");
    if (one.name == "read") add_read(state, one);
}

void FileUses::add_open(State& state, const saved::EventFields& one) {
    FileUse& use = state.use;
    if (use.opens++ == 0) {
        use.path = one.text("path");
        use.group = phases::group_of(use.path);
        use.first_open_ns = one.time_ns;
    }
    use.size = one.natural("size");
    int64_t mode = one.number("flags") & O_ACCMODE;
    use.for_reading = use.for_reading || mode != O_WRONLY;
    use.for_writing = use.for_writing || mode != O_RDONLY;
}

void FileUses::add_read(State& state, const saved::EventFields& one) {
    uint64_t end_ns = one.time_ns + one.duration_ns, position = one.natural("position");
    if (!state.use.first_read_ns) state.use.first_read_ns = one.time_ns;
    state.use.last_read_ns = std::max(state.use.last_read_ns.value_or(0), end_ns);
    // From the beginning again is another reading.
    bool follows = !state.next_position || position == 0 || *state.next_position <= position;
    ++(follows ? state.in_order : state.out_of_order);
    state.next_position = position + one.natural("bytes");
}

void FileUses::take_sums(std::map<phases::FileKey, State>& states,
                         const sink::MetricSnapshot& metrics) {
    auto take = [&](const char* label, auto&& put) {
        for (const auto& [key, sum] : sums_of(metrics, label, phases::FileKey::keys())) {
            put(states[phases::FileKey::of(key)].use, sum);
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
    for (phases::FileGroup group : phases::kFileGroups) report.groups.push_back({group});
    std::map<phases::FileKey, State> states = states_;
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

static void add_members(JsonWriter& json, const FileUse& use) {
    member(json, "path", use.path);
    member(json, "group", name_of(use.group));
    member(json, "size_bytes", use.size);
    member(json, "opens", use.opens);
    member(json, "opened_for_reading", use.for_reading);
    member(json, "opened_for_writing", use.for_writing);
    member(json, "first_open_ns", use.first_open_ns);
    member(json, "first_read_ns", use.first_read_ns);
    member(json, "last_read_ns", use.last_read_ns);
    member(json, "read_bytes", use.read_bytes);
    member(json, "reads", use.reads);
    member(json, "read_time_ns", use.read_ns);
    member(json, "written_bytes", use.written_bytes);
    member(json, "writes", use.writes);
    member(json, "write_time_ns", use.write_ns);
    member(json, "mapped_bytes", use.mapped_bytes);
    member(json, "seeks", use.seeks);
    member(json, "access", name_of(use.access));
    member(json, "times_read", use.times_read());
}

static void add_members(JsonWriter& json, const GroupUse& use) {
    member(json, "group", name_of(use.group));
    member(json, "files", use.files);
    member(json, "read_bytes", use.read_bytes);
    member(json, "written_bytes", use.written_bytes);
    member(json, "mapped_bytes", use.mapped_bytes);
    member(json, "time_ns", use.time_ns);
}

static void add_members(JsonWriter& json, const FileReport::Missing& missing) {
    member(json, "searches", missing.searches);
    member(json, "time_ns", missing.time_ns);
    json.Key("paths");
    json.StartArray();
    for (const auto& [path, searches] : missing.paths) {
        json.StartObject();
        member(json, "path", path);
        member(json, "searches", searches);
        json.EndObject();
    }
    json.EndArray();
}

void add_members(JsonWriter& json, const FileReport& files) {
    member(json, "groups", files.groups);
    member(json, "unnamed_read_bytes", files.unnamed_read_bytes);
    member(json, "unnamed_written_bytes", files.unnamed_written_bytes);
    member(json, "missing", files.missing);
    objects(json, "by_io_uring", files.rings, [&](const FileReport::Ring& one) {
        member(json, "pid", one.pid);
        member(json, "name", one.name);
    });
    member(json, "files", files.files);
}

static void add_used(sink::Rows& rows, const FileReport& files) {
    for (const GroupUse& group : files.groups) {
        if (group.files == 0) continue;
        rows.line(
            fmt::format("  {:<14} {:>5} {} {}", name_of(group.group), sink::grouped(group.files),
                        group.files == 1 ? "file: " : "files:",
                        what_was_done(group.read_bytes, group.written_bytes, group.mapped_bytes)));
    }
    for (size_t i = 0; i < std::min(kFiles, files.files.size()); ++i) {
        const FileUse& use = files.files[i];
        std::string done = what_was_done(use.read_bytes, use.written_bytes, use.mapped_bytes);
        if (!done.empty())
            rows.line(fmt::format("    {}: {}{}", use.path, done, how_it_was_read(use)));
    }
    std::string unnamed = what_was_done(files.unnamed_read_bytes, files.unnamed_written_bytes, 0);
    if (!unnamed.empty())
        rows.line("  pipes, sockets, terminals, files that were open: " + unnamed);
}

static void add_rings(sink::Rows& rows, const std::vector<FileReport::Ring>& rings) {
    if (rings.empty()) return;
    const FileReport::Ring& first = rings.front();
    const size_t others = rings.size() - 1;
    const std::string has =
        others == 0 ? "has" : fmt::format("and {} have", sink::plural(others, "other"));
    rows.line(fmt::format("  note: {} (PID {}) {} an io_uring; what is opened, read and written by "
                          "it is not counted",
                          on_terminal(first.name), first.pid, has));
}

static void add_missing(sink::Rows& rows, const FileReport::Missing& missing) {
    if (missing.searches == 0) return;
    rows.line(fmt::format("  searched for and not found: {}, {}",
                          sink::plural(missing.searches, "time"),
                          sink::short_duration(missing.time_ns)));
    for (size_t i = 0; i < std::min(kMissing, missing.paths.size()); ++i) {
        const auto& [path, searches] = missing.paths[i];
        rows.line(fmt::format("    {}{}", path,
                              searches > 1 ? fmt::format(" ({} times)", searches) : ""));
    }
}

void add_rows(sink::Rows& rows, const FileReport& files) {
    add_used(rows, files);
    add_rings(rows, files.rings);
    add_missing(rows, files.missing);
}

}  // namespace mlbcc::profile
