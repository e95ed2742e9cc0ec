// (Not bpf.h: that name is libbpf's own.)
// What the tracer does with the kernel once programs are loaded: attaches them, reads the rings,
// reads and writes maps. Loading itself is the helper's work (compiler.h); its descriptors come
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "codegen/codegen.h"
#include "plan/plan.h"

namespace mlbcc::bpf {

// ---- what this kernel can do, found by trying

struct TypePlaces {  // what the kernel's BTF says
    // BTF ids of bpf_session_cookie and bpf_session_is_return; 0: there is none.
    uint32_t session_cookie = 0, session_is_return = 0;
    // Bytes, of `pid`, `stack` and `thread.fsbase` in struct task_struct.
    std::optional<uint32_t> task_pid_offset, task_stack_offset, task_fsbase_offset;
    // Likewise of `seccomp.mode`, `pending.signal` and `start_time`.
    std::optional<uint32_t> task_seccomp_offset, task_pending_offset, task_start_offset;
    std::optional<uint32_t> task_status_offset;  // of `thread_info.status`, which x86-64 has
    // Of `utask` there, and of `return_instances` and `depth` in what it points to, struct
    // uprobe_task.
    std::optional<uint32_t> task_uprobes_offset, return_instances_offset, awaited_offset;
    std::optional<codegen::ReturnInstance> return_instance;
    std::optional<codegen::StackEnds> stack_ends;
    // Of the uprobe that a thread is in: known on x86-64 alone.
    std::optional<codegen::ReturnPlaces> return_places;
    bool prepares_exec = false;  // the tracepoint sched:sched_prepare_exec is there
    // Where a thread's count of reasons not to be preempted is: the BTF id of x86-64's variable of
    // the CPU, or bytes in struct task_struct. Neither: the kernel never preempts its own work.
    std::optional<uint32_t> preempt_count, task_preempt_offset;
};
struct Features : TypePlaces {
    bool session = false;  // uprobe session links, and the kfuncs that go with them
    bool multi = false;    // uprobe_multi links
    bool kernel_session = false, kernel_multi = false;  // likewise of the kernel's functions
    bool sets_registers = false;  // programs of uprobes may: 7.3 lets them, 6.18 does not
    // Programs of raw tracepoints are preempted, and then those of other threads skipped.
    bool preempts_points = false;
    uint32_t cpus = 1;  // that the machine may have
};
Features find_features(const TypePlaces& types);

// A link of a uprobe that nothing runs into; none where that is impossible. The kernel lets the
// registration of a uprobe wait for all CPUs (an RCU grace period, 10 to 20 ms) unless another was
// shortly before: this one may be it. Closing it takes as long again, but lets nobody else wait.
UniqueFd register_idle_uprobe();

// Whether the two system calls of tracing are let through at all: the errno of one that does
// nothing, EBADF of bpf(2) and 0 of perf_event_open(2) where they are.
struct SystemCalls {
    int bpf = 0, perf_event_open = 0;
};
SystemCalls try_system_calls();

// expected_attach_type of programs for a mode (kernel's enum bpf_attach_type).
uint32_t expected_attach_type(codegen::Side side, codegen::AttachMode mode);

// ---- the tracer's own task, read by the kernel

struct TaskPlaces {
    uint32_t tgid = 0, real_parent = 0;  // bytes, in struct task_struct
};
struct OwnTask {
    uint32_t truth = 0;             // the process's number, as the kernel itself says
    uint32_t tgid = 0, parent = 0;  // what is at these places; 0 where nothing can be read
};
Result<OwnTask> read_own_task(const TaskPlaces& at);

// ---- the kernel's types

// All of them as C, each behind those that it needs: vmlinux.h. Error: the kernel has no BTF.
Result<std::string> kernel_types_text();

// ---- maps

class Map {
public:
    Map() = default;
    Map(UniqueFd fd, uint32_t key_size, uint32_t value_size)
        : fd_(std::move(fd)), key_size_(key_size), value_size_(value_size) {}
    int fd() const { return fd_.get(); }
    Result<void> update(const void* key, const void* value);
    // Many at once, one behind the other.
    Result<void> update(std::span<const std::byte> keys, std::span<const std::byte> values);
    void erase(const void* key);
    std::optional<std::vector<std::byte>> lookup(const void* key) const;
    // Per-CPU maps: the value of each possible CPU, `value_size` bytes each.
    std::vector<std::vector<std::byte>> lookup_per_cpu(const void* key) const;
    std::vector<std::vector<std::byte>> keys() const;

private:
    UniqueFd fd_;
    uint32_t key_size_ = 0, value_size_ = 0;
};

struct LoadedProgram {
    std::map<std::string, Map, std::less<>> maps;
    std::map<std::string, UniqueFd, std::less<>> programs;
    Map* map(std::string_view name);
    int program(std::string_view name) const;  // -1 if there is none
    // Runs that the kernel skipped, for another one was under way on the CPU.
    uint64_t skipped() const;
};

// Runs a raw tracepoint's program once, in this thread: what it returns.
Result<uint32_t> run_once(int program, uint64_t argument);

// ---- dispatch

// The program of each kind that links hold.
using Programs = std::map<codegen::ProgramKind, int>;

// One link serves a whole library only if it has one program. It passes each call on to the program
// of its shape, by the probe's cookie. It needs no compiler, so that links can be made while that
// still works: as long as no shape is connected, calls are passed over.
class Dispatcher {
public:
    Dispatcher() = default;
    static Result<Dispatcher> make(codegen::Side side, codegen::AttachMode mode,
                                   const Features& features, size_t shapes);
    // Descriptors by kind.
    Programs programs() const;
    Result<void> connect(const LoadedProgram& loaded, const codegen::Program& program);
    // Programs that pass a call on unless a function with a return probe has jumped to it: then the
    // call is that function's, and was seen there. Only of a session, which knows the difference.
    Result<Programs> programs_but_for_jumps();
    uint64_t skipped() const;  // as LoadedProgram

private:
    int table_of(const LoadedProgram& loaded, const codegen::Function& function) const;

    UniqueFd table_;
    std::optional<uint32_t> session_is_return_;  // Features::session_is_return
    UniqueFd but_for_jumps_;
    std::map<codegen::ProgramKind, UniqueFd> programs_;
};

// ---- attachment

// A function to attach to: where exactly the trap goes was chosen by its instructions.
struct Site {
    const plan::ProbePlan* probe = nullptr;
    uint64_t offset = 0;     // in the file, bytes
    uint64_t semaphore = 0;  // likewise: the counter that the kernel keeps above 0; 0: none
    struct End {
        uint64_t offset = 0;
        codegen::Role role{};
        bool operator==(const End&) const = default;
    };
    std::vector<End> ends;              // of a function on Side::moving
    std::optional<codegen::Role> role;  // of the offset, where it has one

    uint64_t cookie() const;
};
struct Refusal {  // a function that the kernel would not probe; the others are attached
    plan::ProbeId probe{};
    int code = 0;     // errno
    std::string why;  // where it is not the kernel that refuses
};

// Holds the links; detaches in its destructor.
class Attachment {
public:
    // All sites of one file that are on one side. What needs no return probe gets none where the
    // mode allows it. Fails only if not one site could be attached.
    static Result<Attachment> functions(const std::string& path, std::span<const Site> sites,
                                        const Programs& programs, codegen::AttachMode mode);
    // The same on one perf event a function, each with its shape's own program.
    static Result<Attachment> functions_by_perf(const std::string& path,
                                                std::span<const Site> sites,
                                                const LoadedProgram& loaded,
                                                const codegen::Program& program);
    // Functions of the kernel. That it refuses all is no failure: it is in `refused`.
    static Result<Attachment> kernel_functions(std::span<const plan::ProbePlan* const> probes,
                                               const Programs& programs, codegen::AttachMode mode);
    static Result<Attachment>
    kernel_functions_by_perf(std::span<const plan::ProbePlan* const> probes,
                             const LoadedProgram& loaded, const codegen::Program& program);
    // Programs that read text cannot bring in a page that nobody has touched yet, as that of a
    // string in the program itself may be at its first use. These probes can, and run first where
    // they are attached last. None where the rules read no text, or the kernel cannot (touching.h).
    static std::optional<Attachment>
    touch_texts(const std::string& path, std::span<const Site> sites, codegen::AttachMode mode);
    // Probes that a program brings along, all of one shape.
    static Result<Attachment> usdt(const std::string& path, std::span<const Site> sites,
                                   int program, codegen::AttachMode mode);
    // touch_texts() for these, whose arguments are in places of their own.
    static std::optional<Attachment>
    touch_arguments(const std::string& path, std::span<const Site> sites, codegen::AttachMode mode);
    // One program where functions of a file begin: offsets in the file, and a cookie for each.
    static Result<Attachment> entries(const std::string& path, int program,
                                      std::span<const uint64_t> offsets,
                                      std::span<const uint64_t> cookies);
    static Result<Attachment> raw_tracepoint(int program, const std::string& name);
    static Result<Attachment> tracepoint(int program, uint32_t id, const std::string& name,
                                         std::optional<uint64_t> cookie = std::nullopt);
    std::vector<Refusal> refused;
    size_t links() const { return returns_.size() + links_.size(); }
    // Calls of functions of the kernel, by any process, that it could not follow: too many were
    // open.
    uint64_t missed() const;  // since Linux 6.7

private:
    friend class FunctionAttacher;
    friend class KernelAttacher;
    // Of functions' returns, where they have links of their own: destroyed last, so that calls
    // that have begun end as such.
    std::vector<UniqueFd> returns_;
    std::vector<UniqueFd> links_;  // destroyed before the events they hold
};

// ---- the rings

// Where programs find the ring of the CPU they run on: a map that they are loaded with, and that is
// filled at any time.
Result<Map> make_ring_table();

// What programs tell each other of threads while rules change (codegen::maps::kSwitched).
Result<Map> make_thread_table();

// A ring of records for each CPU.
class Stream {
public:
    using OnRecord = std::function<void(uint32_t cpu, std::span<const std::byte> record)>;
    // `bytes` a CPU, rounded up to a power of two of pages; halved while the kernel refuses, down
    // to 256 KiB. sweep() must be called every 10 ms, and when poll_fd() is readable.
    static Result<Stream> open(const Map& table, size_t bytes, OnRecord on_record);
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    ~Stream();

    int poll_fd() const;
    void sweep();  // reads all rings, of each at most what fits into it
    size_t bytes_per_cpu() const;

private:
    struct State;
    explicit Stream(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// The executable mappings of files that processes of this machine make, and the processes that take
// them over from others, in the order of time.
class MappingStream {
public:
    struct Mapped {
        uint32_t pid = 0;
        uint64_t start = 0, size = 0, offset = 0;
        uint32_t device_major = 0, device_minor = 0;
        uint64_t inode = 0;
        std::string path;
        uint64_t time_ns = 0;  // CLOCK_MONOTONIC
    };
    struct Forked {
        uint32_t parent = 0, pid = 0;
        uint64_t time_ns = 0;
    };
    using OnMapped = std::function<void(Mapped)>;
    using OnForked = std::function<void(const Forked&)>;
    static Result<MappingStream> open(OnMapped on_mapped, OnForked on_forked);
    MappingStream(MappingStream&&) noexcept;
    MappingStream& operator=(MappingStream&&) noexcept;
    ~MappingStream();
    void sweep();

private:
    struct State;
    explicit MappingStream(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace mlbcc::bpf
