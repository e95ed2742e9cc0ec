// Where loading and cleanup end and begin among the large blocks that a process takes and gives
// back. After the last read of weights, what is freed soon is what loading needed; what is freed
// at the end, and after which nothing is taken any more, is the cleanup. Between the two the
// process was longest without a change.
//
//   last read, -4M -4M -4M,   (50 inferences),   -4M -4M -4M, end
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "phases/repetitions.h"

namespace mlbcc::phases {

struct MovesCut {
    uint64_t loaded_ns = 0;
    std::optional<uint64_t> cleanup_ns;  // nothing where nothing is freed at the end
    uint64_t freed_after_loading = 0, freed_at_end = 0;  // bytes
    std::vector<MemoryMove> between;
};

// `moves` in the order of time; `last_read_ns`: the end of the last read of weights.
MovesCut cut_moves(const std::vector<MemoryMove>& moves, uint64_t last_read_ns);

}  // namespace mlbcc::phases
