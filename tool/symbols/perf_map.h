// Names for code that a process made at run time: /tmp/perf-PID.map, as V8, the JVM and CPython
// (-X perf) write it.
//
//   7f3c80001000 1a0 LazyCompile:~main app.js:1
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc::symbols {

class PerfMap {
public:
    // More is not used of a file, but the newest: whoever writes it decides what it costs us.
    static constexpr size_t kMaxBytes = 64 << 20, kMaxEntries = 1 << 20;

    struct Hit {
        std::string_view name;
        uint64_t start = 0;
    };

    // What came later in the file stands for what was made later: it wins where two overlap.
    explicit PerfMap(std::string_view text);
    PerfMap() = default;

    // Lines that were written behind those, at `since_ns`. True where one of them names code anew.
    bool add(std::string_view text, uint64_t since_ns);
    // No more can be added: it is to be read again, its newest.
    bool is_full() const {
        return text_.size() > 2 * kMaxBytes || entries_.size() > 2 * kMaxEntries;
    }

    // The name that the code had at `time_ns`. What it was called first it was called before, too.
    std::optional<Hit> find(uint64_t address, uint64_t time_ns = UINT64_MAX) const;

private:
    struct Entry {
        uint64_t start, end, since_ns;
        size_t name, length;  // in text_
    };
    struct Piece {
        uint64_t end;
        std::vector<uint32_t> names;  // entries, of different times, the newest last
    };
    using Pieces = std::map<uint64_t, Piece>;  // by start; none overlap
    std::optional<Entry> entry_of(const char* line, const char* end) const;
    bool insert(const Entry& entry);
    void split(uint64_t at);
    bool rename(Piece& piece, uint32_t entry);
    std::string_view name_of(const Entry& entry) const {
        return std::string_view(text_).substr(entry.name, entry.length);
    }

    std::string text_;
    std::vector<Entry> entries_;
    Pieces pieces_;
};

}  // namespace mlbcc::symbols
