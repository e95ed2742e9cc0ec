#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>

#include "base/read_file.h"
#include "bpf/kernel.h"

namespace mlbcc::bpf {
namespace {

constexpr size_t kFewBytes = 256 * 1024;  // fewer are not worth trying, unless they are asked for

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

// One CPU's ring, with a reader of its own: a reader of several stays at one as long as that fills
// faster than it is read.
class Ring {
public:
    Ring(int cpu, size_t bytes, const Stream::OnRecord& on_record)
        : cpu_(cpu), bytes_(bytes), on_record_(on_record) {}
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() { ring_buffer__free(reader_); }

    bool open() {
        map_.reset(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "mlbcc_ring", 0, 0,
                                  static_cast<uint32_t>(bytes_), nullptr));
        if (map_) reader_ = ring_buffer__new(map_.get(), on_sample, this, nullptr);
        return reader_ != nullptr;
    }
    int cpu() const { return cpu_; }
    int fd() const { return map_.get(); }
    void sweep() {
        left_ = static_cast<ptrdiff_t>(bytes_);
        ring_buffer__consume(reader_);
    }

private:
    static int on_sample(void* context, void* data, size_t size) {
        auto* self = static_cast<Ring*>(context);
        self->on_record_(static_cast<uint32_t>(self->cpu_),
                         {static_cast<const std::byte*>(data), size});
        self->left_ -= static_cast<ptrdiff_t>(size);
        return self->left_ > 0 ? 0 : -EAGAIN;  // the record counts as read
    }

    int cpu_;
    size_t bytes_;
    const Stream::OnRecord& on_record_;
    UniqueFd map_;
    ring_buffer* reader_ = nullptr;
    ptrdiff_t left_ = 0;  // bytes, to be read in this sweep
};

}  // namespace

struct Stream::State {
    OnRecord on_record;
    std::vector<std::unique_ptr<Ring>> rings;
    size_t bytes = 0;
    UniqueFd wake_ups;

    bool open(const std::vector<int>& cpus, size_t bytes_per_cpu);
    bool listen();
    bool enter_into(int table);
};

// Or errno says why not.
bool Stream::State::open(const std::vector<int>& cpus, size_t bytes_per_cpu) {
    rings.clear();
    bytes = bytes_per_cpu;
    for (int cpu : cpus) {
        rings.push_back(std::make_unique<Ring>(cpu, bytes, on_record));
        if (!rings.back()->open()) return false;
    }
    return true;
}

// For edges: a ring with anything in it is readable, a wake-up comes when there is much.
bool Stream::State::listen() {
    wake_ups.reset(epoll_create1(EPOLL_CLOEXEC));
    if (!wake_ups) return false;
    for (const auto& ring : rings) {
        epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
        if (epoll_ctl(wake_ups.get(), EPOLL_CTL_ADD, ring->fd(), &event) != 0) return false;
    }
    return true;
}

// At once: the kernel waits after each update of such a map until no program still sees it as it
// was, tens of milliseconds.
bool Stream::State::enter_into(int table) {
    std::vector<int> cpus, fds;
    for (const auto& ring : rings) {
        cpus.push_back(ring->cpu());
        fds.push_back(ring->fd());
    }
    auto count = static_cast<uint32_t>(cpus.size());
    if (bpf_map_update_batch(table, cpus.data(), fds.data(), &count, nullptr) == 0) return true;
    for (size_t i = 0; i < cpus.size(); ++i) {  // before Linux 5.16
        if (bpf_map_update_elem(table, &cpus[i], &fds[i], BPF_ANY) != 0) return false;
    }
    return true;
}

Stream::Stream(std::unique_ptr<State> state) : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Result<Map> make_ring_table() {
    auto page = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
    UniqueFd like(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "mlbcc_ring", 0, 0, page, nullptr));
    LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = static_cast<uint32_t>(like.get()));
    UniqueFd table;
    if (like) {
        table.reset(bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", 4, 4,
                                   static_cast<uint32_t>(libbpf_num_possible_cpus()), &options));
    }
    if (!table) {
        return system_error("cannot make a BPF map",
                            "run as root, or with CAP_BPF and CAP_PERFMON");
    }
    return Map(std::move(table), 4, 4);
}

Result<Stream> Stream::open(const Map& table, size_t bytes, OnRecord on_record) {
    Result<std::vector<int>> cpus = online_cpus();
    if (!cpus) return cpus.error();
    auto state = std::make_unique<State>();
    state->on_record = std::move(on_record);
    size_t size = std::bit_ceil(std::max(bytes, static_cast<size_t>(sysconf(_SC_PAGESIZE))));
    size_t least = std::min(size, kFewBytes);
    bool opened = state->open(*cpus, size);
    while (!opened && (errno == ENOMEM || errno == EPERM) && size / 2 >= least) {
        size /= 2;
        opened = state->open(*cpus, size);
    }
    if (!opened || !state->listen() || !state->enter_into(table.fd())) {
        const char* help = errno == EPERM ? "run as root, or with CAP_BPF and CAP_PERFMON"
                                          : "give a smaller --buffer";
        return system_error("cannot open the event buffers", errno == EMFILE ? "" : help);
    }
    return Stream(std::move(state));
}

int Stream::poll_fd() const {
    return state_->wake_ups.get();
}

void Stream::sweep() {
    std::array<epoll_event, 64> seen{};
    epoll_wait(state_->wake_ups.get(), seen.data(), seen.size(), 0);
    for (const auto& ring : state_->rings) ring->sweep();
}

size_t Stream::bytes_per_cpu() const {
    return state_->bytes;
}

}  // namespace mlbcc::bpf
