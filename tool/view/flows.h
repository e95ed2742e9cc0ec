// From a launch to the call that waited for it: cuLaunchKernel ... cuStreamSynchronize, of one
// process. A call that waits for a stream waits for the launches on that stream, others for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "view/spans.h"

namespace mlbcc::view {

struct Flow {
    uint64_t id = 0;       // from 1 on
    uint64_t time_ns = 0;  // when the launch began
    uint32_t pid = 0, tid = 0;
    std::string stream;  // "" where the launch does not say
};

class Flows {
public:
    // The number of the flow that begins with this call, 0 for none.
    uint64_t begun_by(const Slice& slice);
    // What this call waited for, the oldest first.
    std::vector<Flow> ended_by(const Slice& slice);

private:
    static constexpr size_t kMost = 4096;  // of a process: of more the oldest are forgotten

    std::unordered_map<uint32_t, std::deque<Flow>> waiting_;  // by process
    uint64_t last_ = 0;
};

}  // namespace mlbcc::view
