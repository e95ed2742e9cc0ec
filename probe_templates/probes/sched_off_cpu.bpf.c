// A thread's time off the CPU, from the moment it left to the moment it runs again: why it left, and
// who woke it, and the system call that it was in. A thread that left because its time was over waits to run, with state `runnable`.
//
//= probe sched:off_cpu completion
//= raw_tracepoint sched_switch off_cpu_switch
//= raw_tracepoint sched_waking off_cpu_waking
//= goes_on off_cpu_threads off_cpu_switch
//= found_waiting off_cpu_found
//= offset task_struct.flags
//= offset task_struct.se
//= offset sched_entity.sum_exec_runtime
//= offset task_struct.files
//= offset files_struct.fdt
//= offset fdtable.max_fds
//= offset fdtable.fd
//= offset file.f_inode
//= offset inode.i_mode
//= fields
enum sched_state {
    runnable = 0,
    sleeping = 1,
    disk = 2,  // uninterruptible: most often for a disk
    stopped = 4,
    tracing_stop = 8
};
// What a descriptor is open on: the file's type in stat(2), without its zeros.
enum open_kind {
    not_open = 0,
    pipe_end = 1,
    character_device = 2,
    folder = 4,
    block_device = 6,
    regular_file = 8,
    socket_end = 12
};
struct sched_off_cpu {
    enum sched_state state;
    char waker[16];
    unsigned int waker_pid, waker_tid;
    unsigned long long queued;  // ns from the waking to running
    int system_call;            // that it was in, its number; -1: none
    void *argument;             // the call's first: futex's address
    enum open_kind file;        // of that, if it is a descriptor
    unsigned int timed;         // 1: its fourth argument, futex's time limit, is not 0
};
//= programs
struct off_cpu_thread {
    struct wait wait;
    u64 argument;
    u32 state, waker_pid, waker_tid;
    s32 system_call;
    u32 file, timed;
    char waker[16];
};
// Made beforehand: the scheduler is no place to ask for memory.
BPF_TABLE("hash", u32, struct off_cpu_thread, off_cpu_threads, 16384);

#define OFF_CPU_FOLLOW(at, offset) bpf_probe_read_kernel(&(at), sizeof(at), (void *)((at) + (offset)))

// Where a step fails, the kernel sets `at` to 0, and so do all steps behind it.
static __always_inline u32 off_cpu_open_kind(u64 descriptor) {
    u64 at = bpf_get_current_task();
    OFF_CPU_FOLLOW(at, MLBCC_OFFSET_task_struct_files);
    OFF_CPU_FOLLOW(at, MLBCC_OFFSET_files_struct_fdt);
    u64 table = at;
    u32 count = 0;
    bpf_probe_read_kernel(&count, sizeof(count), (void *)(at + MLBCC_OFFSET_fdtable_max_fds));
    at = descriptor < count ? table : 0;
    OFF_CPU_FOLLOW(at, MLBCC_OFFSET_fdtable_fd);
    OFF_CPU_FOLLOW(at, 8 * descriptor);
    OFF_CPU_FOLLOW(at, MLBCC_OFFSET_file_f_inode);
    u16 mode = 0;
    bpf_probe_read_kernel(&mode, sizeof(mode), (void *)(at + MLBCC_OFFSET_inode_i_mode));
    return mode >> 12;
}

// The thread that leaves is the running one.
static __always_inline void off_cpu_look_at_call(struct off_cpu_thread *left) {
    struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
    u64 first = 0, fourth = 0;
    __typeof__(registers->MLBCC_CALL_NUMBER) number = -1;
    bpf_probe_read_kernel(&number, sizeof(number),
                          (char *)registers +
                              __builtin_offsetof(struct pt_regs, MLBCC_CALL_NUMBER));
    bpf_probe_read_kernel(&first, sizeof(first),
                          (char *)registers +
                              __builtin_offsetof(struct pt_regs, MLBCC_CALL_FIRST));
    bpf_probe_read_kernel(&fourth, sizeof(fourth),
                          (char *)registers +
                              __builtin_offsetof(struct pt_regs, MLBCC_CALL_FOURTH));
    left->system_call = number;
    left->argument = first;
    left->timed = fourth != 0;
    if (left->system_call >= 0) left->file = off_cpu_open_kind(first);
}

static __always_inline void off_cpu_arrives(struct bpf_raw_tracepoint_args *at,
                                            struct off_cpu_thread *it, u64 now) {
    struct call call MLBCC_UNSET;
    call.all = mlbcc_accounts();
    if (!call.all) return;
    call.id = it->wait.id;
    call.now = now;
    call.start = it->wait.left;
    call.taken = it->wait.taken | (u64)MLBCC_IS_TOLD(at) * MLBCC_GOES_ON;
    struct sched_off_cpu fields = {};
    fields.state = it->state & 0xf;
    fields.waker_pid = it->waker_pid;
    fields.waker_tid = it->waker_tid;
    fields.system_call = it->system_call;
    fields.argument = (void *)it->argument;
    fields.file = it->file;
    fields.timed = it->timed;
    fields.queued = it->wait.woken ? call.now - it->wait.woken : 0;
    __builtin_memcpy(fields.waker, it->waker, 16);
    u32 thread = call.id.thread;
    if (off_cpu_threads.delete(&thread) == 0) fire_sched_off_cpu(at, &call, &fields);
}

#define OFF_CPU_EXITING 4  // PF_EXITING: from the beginning of its end to its last switch

// (bool preempted, struct task_struct *previous, struct task_struct *next, unsigned int state)
int off_cpu_switch(struct bpf_raw_tracepoint_args *at) {
    u32 thread = mlbcc_leaves(at);
    struct wait_end end = mlbcc_wait_end(at, off_cpu_threads.lookup(&thread));
    thread = end.thread;
    struct off_cpu_thread *it = off_cpu_threads.lookup(&thread);
    if (it) off_cpu_arrives(at, it, end.time);
    u32 flags = 0;
    bpf_probe_read_kernel(&flags, sizeof(flags),
                          (void *)(at->args[1] + MLBCC_OFFSET_task_struct_flags));
    if (MLBCC_IS_TOLD(at)) return it != 0;
    if (flags & OFF_CPU_EXITING) return 0;  // its slot may be free again: it must not get one
    struct call call MLBCC_UNSET;
    if (!mlbcc_admit(&call)) return 0;
    struct off_cpu_thread left = {.wait = {call.id, call.now, 0, end.ran}, .state = at->args[3]};
    off_cpu_look_at_call(&left);
    left.wait.taken = take_stack_sched_off_cpu(at, &call);
    off_cpu_threads.update(&left.wait.id.thread, &left);
    return 0;
}

// (struct task_struct *woken)
int off_cpu_waking(struct bpf_raw_tracepoint_args *at) {
    u32 thread = 0;
    bpf_probe_read_kernel(&thread, sizeof(thread), (void *)(at->args[0] + MLBCC_TASK_PID));
    struct off_cpu_thread *it = off_cpu_threads.lookup(&thread);
    if (!it || it->wait.woken) return 0;
    it->wait.woken = bpf_ktime_get_ns();
    u64 waker = bpf_get_current_pid_tgid();
    it->waker_pid = waker >> 32;
    it->waker_tid = waker;
    bpf_get_current_comm(&it->waker, sizeof(it->waker));
    return 0;
}

int off_cpu_found(struct bpf_raw_tracepoint_args *at) {
    struct waiter found;
    if (!mlbcc_found_waiting(at, &found)) return 0;
    struct off_cpu_thread waits = {.wait = found.wait, .argument = found.arguments[0],
                                   .state = found.state, .system_call = found.system_call,
                                   .file = found.file, .timed = found.arguments[3] != 0};
    off_cpu_threads.insert(&waits.wait.id.thread, &waits);
    return 0;
}
