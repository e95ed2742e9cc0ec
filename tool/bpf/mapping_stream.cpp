// The kernel tells of mappings only through perf events' own rings.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <variant>

#include "bpf/kernel.h"

namespace mlbcc::bpf {
namespace {

constexpr size_t kPages = 64;

// PERF_RECORD_MMAP2 behind its header (include/uapi/linux/perf_event.h).
struct MmapRecord {
    uint32_t pid, tid;
    uint64_t address, size, offset;
    uint32_t device_major, device_minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
    // the file's name follows, and the time
};

// PERF_RECORD_FORK likewise.
struct ForkRecord {
    uint32_t pid, parent, tid, parent_tid;
    uint64_t time;
};

MappingStream::Forked fork_of(const char* body, size_t size) {
    ForkRecord record{};
    if (size < sizeof record) return {};
    std::memcpy(&record, body, sizeof record);
    return {record.parent, record.pid, record.time};
}

MappingStream::Mapped mapping(const char* body, size_t size) {
    MmapRecord record{};
    uint64_t time = 0;
    if (size < sizeof record + sizeof time) return {};
    std::memcpy(&record, body, sizeof record);
    size -= sizeof time;
    std::memcpy(&time, body + size, sizeof time);
    const char* name = body + sizeof record;
    return {record.pid,
            record.address,
            record.size,
            record.offset,
            record.device_major,
            record.device_minor,
            record.inode,
            std::string(name, strnlen(name, size - sizeof record)),
            time};
}

}  // namespace

struct MappingStream::State {
    OnMapped on_mapped;
    OnForked on_forked;
    std::vector<std::variant<Mapped, Forked>> seen;  // in this sweep: each CPU has its own ring
    perf_buffer* buffer = nullptr;

    ~State() { perf_buffer__free(buffer); }

    static bpf_perf_event_ret on_event(void* context, int, perf_event_header* header) {
        auto* self = static_cast<State*>(context);
        const char* body = reinterpret_cast<const char*>(header + 1);
        if (header->type == PERF_RECORD_MMAP2) {
            self->seen.emplace_back(mapping(body, header->size - sizeof *header));
        } else if (header->type == PERF_RECORD_FORK) {
            const Forked forked = fork_of(body, header->size - sizeof *header);
            if (forked.pid != forked.parent) self->seen.emplace_back(forked);  // else a thread
        }
        return LIBBPF_PERF_EVENT_CONT;
    }
};

MappingStream::MappingStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
MappingStream::MappingStream(MappingStream&&) noexcept = default;
MappingStream& MappingStream::operator=(MappingStream&&) noexcept = default;
MappingStream::~MappingStream() = default;

Result<MappingStream> MappingStream::open(OnMapped on_mapped, OnForked on_forked) {
    UniqueFd map(bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "mlbcc_mappings", 4, 4,
                                static_cast<uint32_t>(libbpf_num_possible_cpus()), nullptr));
    auto state = std::make_unique<State>();
    state->on_mapped = std::move(on_mapped);
    state->on_forked = std::move(on_forked);
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_BPF_OUTPUT;
    attributes.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME;
    attributes.sample_id_all = 1;  // the time behind other records, too
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    attributes.watermark = 1;
    attributes.wakeup_watermark = kPages * 4096 / 2;  // sweeps come sooner
    attributes.mmap = attributes.mmap2 = attributes.task = 1;
    if (map) {
        state->buffer = perf_buffer__new_raw(map.get(), kPages, &attributes, State::on_event,
                                             state.get(), nullptr);
    }
    if (state->buffer == nullptr) {
        return system_error("cannot follow what processes map",
                            "run as root, or with CAP_BPF and CAP_PERFMON");
    }
    return MappingStream(std::move(state));
}

void MappingStream::sweep() {
    perf_buffer__consume(state_->buffer);
    const auto time = [](const auto& one) {
        return std::visit([](const auto& it) { return it.time_ns; }, one);
    };
    std::ranges::stable_sort(state_->seen, {}, time);
    for (auto& one : state_->seen) {
        if (auto* mapped = std::get_if<Mapped>(&one))
            state_->on_mapped(std::move(*mapped));
        else
            state_->on_forked(std::get<Forked>(one));
    }
    state_->seen.clear();
}

}  // namespace mlbcc::bpf
