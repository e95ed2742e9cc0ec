#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bpf/abilities.h"
#include "bpf/assemble.h"
#include "bpf/own_probes.h"

namespace mlbcc::bpf {
namespace {

constexpr uint32_t kRingBytes = 1 << 18;  // a batch of calls fits in
constexpr int kCalls = 500, kBatches = 9;

int count_record(void* context, void* /*data*/, size_t /*size*/) {
    ++*static_cast<uint64_t*>(context);
    return 0;
}

}  // namespace

Result<EventCost> measure_event(const Abilities& abilities) {
    UniqueFd ring(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "mlbcc_cost", 0, 0, kRingBytes, nullptr));
    if (!ring) return system_error("cannot make a ring buffer");
    EventCost cost;
    const std::unique_ptr<ring_buffer, decltype(&ring_buffer__free)> reader(
        ring_buffer__new(ring.get(), count_record, &cost.records, nullptr), ring_buffer__free);
    if (!reader) return system_error("cannot read a ring buffer");
    auto nothing = [] {};
    cost.call_ns = median_call_ns(kBatches, kCalls, nothing, nothing);
    const Result<OwnProbes> probes =
        probe_own_function({abilities.uprobe_session.works, abilities.uprobe_multi.works},
                           recording(ring.get(), 0), OwnPlace::both_ends);
    if (!probes) return probes.error();
    const double traced =
        median_call_ns(kBatches, kCalls, nothing, [&] { ring_buffer__consume(reader.get()); });
    cost.expected = uint64_t{2} * kCalls * kBatches;
    cost.event_ns = std::max(0.0, traced - cost.call_ns) / 2;
    return cost;
}

}  // namespace mlbcc::bpf
