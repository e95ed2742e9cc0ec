// Names for code that a process made at run time: /tmp/perf-PID.map, as V8, the JVM and CPython
// (-X perf) write it.
//
//   7f3c80001000 1a0 LazyCompile:~main app.js:1
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc::event {

class PerfMap {
public:
    // More is not used of a file, but the newest: whoever writes it decides what it costs us.
    static constexpr size_t kMaxBytes = 64 << 20, kMaxEntries = 1 << 20;

    struct Hit {
        std::string_view name;
        uint64_t start = 0;
    };

    // What came later in the file stands for what was made later: it wins where two overlap.
    explicit PerfMap(std::string text);
    PerfMap() = default;

    std::optional<Hit> find(uint64_t address) const;

private:
    struct Entry {
        uint64_t start, end;
        size_t name, length;  // in text_
    };
    struct Piece {  // of an entry: what no later one covers
        uint64_t start, end;
        size_t entry;
    };
    void read_entries();
    void read_line(const char* line, const char* end);
    void make_pieces();

    std::string text_;
    std::vector<Entry> entries_;  // by start
    std::vector<Piece> pieces_;   // by start; none overlap
};

}  // namespace mlbcc::event
