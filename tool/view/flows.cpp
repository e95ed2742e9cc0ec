#include "view/flows.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "text/glob.h"
#include "view/values.h"

namespace mlbcc::view {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<const char*> globs) {
    return std::ranges::any_of(globs, [&](const char* glob) { return glob_match(glob, name); });
}

// A call has one span; what else rules record of it is no launch of its own.
bool is_launch(const DrawnEvent& call) {
    return call.phase == event::Phase::begin &&
           is_one_of(call.name, {"cuLaunch*", "cuGraphLaunch*", "hip*Launch*"});
}
bool is_wait(const DrawnEvent& call) {
    return call.phase == event::Phase::begin &&
           is_one_of(call.name, {"cuCtxSynchronize*", "cuStreamSynchronize*",
                                 "hipDeviceSynchronize", "hipStreamSynchronize*"});
}

std::string stream_of(const Slice& slice) {
    sink::Buffer text{64};
    each_argument(slice, [&](const DrawnEvent::Argument& one) {
        if (text.size() == 0 && (one.name == "hStream" || one.name == "stream"))
            write_json(text, one.value);
    });
    return std::string(text.view());
}

}  // namespace

uint64_t Flows::begun_by(const Slice& slice) {
    const DrawnEvent& call = *slice.call;
    if (!is_launch(call)) return 0;
    std::deque<Flow>& waiting = waiting_[call.pid];
    if (waiting.size() == kMost) waiting.pop_front();
    waiting.push_back({++last_, slice.begin_ns, call.pid, call.tid, stream_of(slice)});
    return last_;
}

std::vector<Flow> Flows::ended_by(const Slice& slice) {
    std::vector<Flow> ended;
    if (!is_wait(*slice.call) || slice.missing == Missing::still_open) return ended;
    auto found = waiting_.find(slice.call->pid);
    if (found == waiting_.end()) return ended;
    const std::string stream = stream_of(slice);
    std::erase_if(found->second, [&](const Flow& launch) {
        bool is_its = stream.empty() || launch.stream.empty() || stream == launch.stream;
        if (!is_its || launch.time_ns > slice.begin_ns) return false;
        ended.push_back(launch);
        return true;
    });
    return ended;
}

}  // namespace mlbcc::view
