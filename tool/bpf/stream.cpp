#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/read_file.h"
#include "bpf/kernel.h"

namespace mlbcc::bpf {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kFewPages = 64;  // fewer are not worth trying, unless they are asked for

// PERF_RECORD_MMAP2 behind its header (include/uapi/linux/perf_event.h).
struct MmapRecord {
    uint32_t pid, tid;
    uint64_t address, size, offset;
    uint32_t device_major, device_minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
    // the file's name follows
};

// "0-2,5" -> 0 1 2 5
Result<std::vector<int>> online_cpus() {
    Result<std::string> text = read_file("/sys/devices/system/cpu/online", 65536);
    if (!text) return text.error();
    std::vector<int> cpus;
    const char* at = text->c_str();
    while (*at >= '0' && *at <= '9') {
        char* end = nullptr;
        long first = std::strtol(at, &end, 10), last = first;
        if (*end == '-') last = std::strtol(end + 1, &end, 10);
        for (long cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
        at = *end == ',' ? end + 1 : end;
    }
    return cpus;
}

Stream::Mapped mapping(const char* body, size_t size) {
    MmapRecord record{};
    if (size < sizeof record) return {};
    std::memcpy(&record, body, sizeof record);
    const char* name = body + sizeof record;
    return {record.pid,          record.address,
            record.size,         record.offset,
            record.device_major, record.device_minor,
            record.inode,        std::string(name, strnlen(name, size - sizeof record))};
}

}  // namespace

struct Stream::State {
    OnRecord on_record;
    OnMapped on_mapped;
    perf_buffer* buffer = nullptr;
    std::vector<int> cpus;  // of each ring
    size_t pages = 0;
    bool lost = false;

    ~State() { perf_buffer__free(buffer); }

    static bpf_perf_event_ret on_event(void* context, int cpu, perf_event_header* header) {
        auto* self = static_cast<State*>(context);
        const char* body = reinterpret_cast<const char*>(header + 1);
        if (header->type == PERF_RECORD_SAMPLE) {
            uint32_t size = 0;
            std::memcpy(&size, body, sizeof size);
            self->on_record(static_cast<uint32_t>(cpu),
                            {reinterpret_cast<const std::byte*>(body + sizeof size), size});
        } else if (header->type == PERF_RECORD_MMAP2 && self->on_mapped) {
            self->on_mapped(mapping(body, header->size - sizeof *header));
        } else if (header->type == PERF_RECORD_LOST) {
            self->lost = true;
        }
        return LIBBPF_PERF_EVENT_CONT;
    }
};

Stream::Stream(std::unique_ptr<State> state) : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Result<Stream> Stream::open(size_t bytes, OnRecord on_record, OnMapped on_mapped) {
    UniqueFd map(bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "mlbcc_rings", 4, 4,
                                static_cast<uint32_t>(libbpf_num_possible_cpus()), nullptr));
    if (!map) return system_error("cannot open the perf buffers");
    Result<std::vector<int>> cpus = online_cpus();
    if (!cpus) return cpus.error();
    auto state = std::make_unique<State>();
    state->on_record = std::move(on_record);
    state->on_mapped = std::move(on_mapped);
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_BPF_OUTPUT;
    attributes.sample_type = PERF_SAMPLE_RAW;
    attributes.sample_period = 1;
    attributes.watermark = 1;
    attributes.mmap = attributes.mmap2 = state->on_mapped ? 1 : 0;
    state->cpus = std::move(*cpus);
    LIBBPF_OPTS(perf_buffer_raw_opts, options);
    options.cpu_cnt = static_cast<int>(state->cpus.size());
    options.cpus = options.map_keys = state->cpus.data();
    size_t pages = std::bit_ceil(std::max<size_t>(1, (bytes + kPage - 1) / kPage));
    size_t least = std::min(pages, kFewPages);
    int code = 0;
    for (; pages >= least && pages > 0; pages /= 2) {
        // Sweeps read the rings in time. A wake-up, even for 64 records, costs each of them half as
        // much as submitting it: in a virtual machine it is an interrupt to oneself.
        attributes.wakeup_watermark = static_cast<uint32_t>(pages * kPage / 4);
        state->buffer = perf_buffer__new_raw(map.get(), pages, &attributes, State::on_event,
                                             state.get(), &options);
        if (state->buffer != nullptr) break;
        code = errno;
        if (code != ENOMEM && code != EPERM) break;
    }
    if (state->buffer == nullptr) {
        errno = code;
        return system_error("cannot open the perf buffers",
                            "give a smaller --buffer, or raise kernel.perf_event_mlock_kb");
    }
    state->pages = pages;
    return Stream(std::move(state));
}

Result<void> Stream::connect(const Map& events) {
    for (size_t i = 0; i < state_->cpus.size(); ++i) {
        int ring = perf_buffer__buffer_fd(state_->buffer, i);
        if (bpf_map_update_elem(events.fd(), &state_->cpus[i], &ring, 0) != 0) {
            return system_error("cannot connect the programs to the perf buffers");
        }
    }
    return {};
}

int Stream::poll_fd() const {
    return perf_buffer__epoll_fd(state_->buffer);
}
void Stream::sweep() {
    perf_buffer__consume(state_->buffer);
}
size_t Stream::bytes_per_cpu() const {
    return state_->pages * kPage;
}
size_t Stream::cpus() const {
    return perf_buffer__buffer_cnt(state_->buffer);
}
bool Stream::saw_loss() {
    return std::exchange(state_->lost, false);
}

}  // namespace mlbcc::bpf
