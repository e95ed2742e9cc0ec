// Calls and instants as a page draws them: on a lane for each thread and type, in rows by how many
// calls of the lane they are in, each row in the order of time.
//
// Memory is bounded: of more than 2 million the shorter half is given up, again and again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sink/buffer.h"
#include "view/packed.h"
#include "view/spans.h"

namespace mlbcc::view {

class Marks {
public:
    // `kind`: Missing of a call, kInstant; `call`: its row in the table.
    static constexpr uint32_t kInstant = 4;
    void add(const Slice& slice, uint32_t kind, uint32_t call);
    void lost(uint64_t time_ns, uint64_t count);

    // `"lanes":[...],"marks":{...}` as members of an object, then columns by put_columns().
    void write_members(sink::Buffer& out);
    // Calls `put(name, packed)` for each column.
    template <class Put> void put_columns(Put&& put) {
        fill_columns();
        put("calls", calls_);
        put("lengths", lengths_);
        put("gaps", gaps_);
        put("details", details_at_);
        put("texts", texts_);
    }
    size_t threads() const { return threads_; }

private:
    static constexpr size_t kMost = 1 << 21, kLanes = 1 << 12;
    static constexpr uint64_t kMostText = 48 << 20;  // bytes of arguments
    static constexpr uint32_t kPiece = 1024;         // of them, as page/data.js has it
    struct Mark {
        uint64_t begin_ns, length_ns;
        uint32_t call_and_kind, detail;  // 1 is the first detail, 0 none
        uint32_t lane, row;
    };
    struct Lane {
        uint32_t pid, tid;
        std::string type;
    };
    struct Loss {
        uint64_t time_ns, count;
    };

    std::optional<uint32_t> lane_of(const DrawnEvent& record);
    uint32_t detail_of(const Slice& slice);
    void thin();
    void find_rows();
    void fill_columns();

    std::vector<Mark> marks_;
    std::map<std::tuple<uint32_t, uint32_t, std::string>, uint32_t, std::less<>> lane_ids_;
    std::vector<Lane> lanes_;
    std::map<uint64_t, std::string> comms_;  // by process and thread
    std::vector<Loss> losses_;
    std::vector<std::tuple<uint32_t, uint32_t, uint32_t>> rows_;  // lane, row, marks
    sink::Buffer text_{4096};
    Packed calls_, lengths_, gaps_, details_at_, texts_;
    uint32_t details_ = 0;
    uint64_t least_ns_ = 0, left_out_ = 0;
    size_t threads_ = 0;
};

}  // namespace mlbcc::view
