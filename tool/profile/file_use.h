// The files of a job: how each was opened, what was read, written and mapped of it, in what order,
// and what was looked for in vain. From the events and sums of rules/profile_files.rules:
//
//   file.open     path, flags, inode, device, generation, size
//   file.map      inode, device, generation, bytes
//   file.read     inode, device, generation, bytes, position (large reads only)
//   file.missing  path
//   file.ring     an io_uring was made
//   "read from file", "time reading file", "written to file", "time writing file", "seeks in file"
//                 by inode, device, generation
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "phases/file_group.h"
#include "phases/file_key.h"
#include "profile/section.h"
#include "saved/event_fields.h"
#include "sink/sink.h"

namespace mlbcc::profile {

enum class Access { none, sequential, random };  // none: it was not read
std::string_view name_of(Access access);

struct FileUse {
    std::string path;  // by which it was first opened, as the program wrote it
    phases::FileGroup group{};
    uint64_t size = 0;  // bytes, the last time that it was opened
    uint64_t opens = 0;
    bool for_reading = false, for_writing = false;
    uint64_t first_open_ns = 0;                           // since the trace began
    std::optional<uint64_t> first_read_ns, last_read_ns;  // of large reads: begin, end
    uint64_t read_bytes = 0, reads = 0, read_ns = 0;
    uint64_t written_bytes = 0, writes = 0, write_ns = 0;
    uint64_t mapped_bytes = 0, seeks = 0;
    Access access{};

    // How often all of it was read; 0 where it was not read, or is of no size.
    double times_read() const;
};

struct GroupUse {
    phases::FileGroup group{};
    uint64_t files = 0, read_bytes = 0, written_bytes = 0, mapped_bytes = 0, time_ns = 0;
};

struct FileReport {
    std::vector<FileUse> files;    // the most bytes first
    std::vector<GroupUse> groups;  // all of them, in the order of FileGroup
    // Of what was opened before the trace began, and of pipes, sockets and terminals.
    uint64_t unnamed_read_bytes = 0, unnamed_written_bytes = 0;
    struct Missing {
        uint64_t searches = 0, time_ns = 0;
        std::vector<std::pair<std::string, uint64_t>> paths;  // the most often searched first
    } missing;
    // Who has an io_uring: what is opened, read and written by it is in none of these numbers.
    struct Ring {
        uint32_t pid = 0;
        std::string name;
    };
    std::vector<Ring> rings;
};

class FileUses {
public:
    void add(const saved::EventFields& one);
    FileReport report(const sink::MetricSnapshot& metrics) const;

private:
    struct State {
        FileUse use;
        std::optional<uint64_t> next_position;
        uint64_t in_order = 0, out_of_order = 0;  // large reads
    };
    void add_open(State& state, const saved::EventFields& one);
    static void add_read(State& state, const saved::EventFields& one);
    static void take_sums(std::map<phases::FileKey, State>& states,
                          const sink::MetricSnapshot& metrics);
    static Access access_of(const State& state);
    void add_missing(FileReport& report) const;

    std::map<phases::FileKey, State> states_;
    std::map<std::string, uint64_t, std::less<>> missing_;
    uint64_t searches_ = 0, search_ns_ = 0;
    std::map<uint32_t, std::string> rings_;  // names of those that made one, by PID
};

void add_rows(sink::Rows& rows, const FileReport& files);
void add_members(JsonWriter& json, const FileReport& files);

}  // namespace mlbcc::profile
