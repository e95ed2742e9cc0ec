// A thread's time off the CPU, from the moment it left to the moment it runs again: why it left, and
// who woke it. A thread that left because its time was over waits to run, with state `runnable`.
//
//= probe sched:off_cpu completion
//= raw_tracepoint sched_switch off_cpu_switch
//= raw_tracepoint sched_waking off_cpu_waking
//= fields
enum sched_state {
    runnable = 0,
    sleeping = 1,
    disk = 2,  // uninterruptible: most often for a disk
    stopped = 4,
    tracing_stop = 8
};
struct sched_off_cpu {
    enum sched_state state;
    char waker[16];
    unsigned int waker_pid;
    unsigned long long queued;  // ns from the waking to running
};
//= programs
struct off_cpu_thread {
    u64 left, woken, taken;
    struct identity id;
    u32 state, waker_pid;
    char waker[16];
};
// Made beforehand: the scheduler is no place to ask for memory.
BPF_TABLE("hash", u32, struct off_cpu_thread, off_cpu_threads, 16384);

static __always_inline void off_cpu_arrives(void *ctx, u32 thread) {
    struct off_cpu_thread *it = off_cpu_threads.lookup(&thread);
    if (!it) return;
    struct call call MLBCC_UNSET;
    call.all = mlbcc_accounts();
    if (!call.all) return;
    call.id = it->id;
    call.now = bpf_ktime_get_ns();
    call.start = it->left;
    call.taken = it->taken;
    struct sched_off_cpu fields = {};
    fields.state = it->state & 0xf;
    fields.waker_pid = it->waker_pid;
    fields.queued = it->woken ? call.now - it->woken : 0;
    __builtin_memcpy(fields.waker, it->waker, 16);
    off_cpu_threads.delete(&thread);
    fire_sched_off_cpu(ctx, &call, &fields);
}

// (bool preempted, struct task_struct *previous, struct task_struct *next, unsigned int state)
int off_cpu_switch(struct bpf_raw_tracepoint_args *at) {
    u32 next = 0;
    bpf_probe_read_kernel(&next, sizeof(next), (void *)(at->args[2] + MLBCC_TASK_PID));
    off_cpu_arrives(at, next);
    struct call call MLBCC_UNSET;
    if (!mlbcc_admit(&call)) return 0;
    struct off_cpu_thread left = {.left = call.now, .id = call.id, .state = at->args[3]};
    if (left.state & 0xb0) return 0;  // it ends
    left.taken = take_stack_sched_off_cpu(at, &call);
    off_cpu_threads.update(&left.id.thread, &left);
    return 0;
}

// (struct task_struct *woken)
int off_cpu_waking(struct bpf_raw_tracepoint_args *at) {
    u32 thread = 0;
    bpf_probe_read_kernel(&thread, sizeof(thread), (void *)(at->args[0] + MLBCC_TASK_PID));
    struct off_cpu_thread *it = off_cpu_threads.lookup(&thread);
    if (!it || it->woken) return 0;
    it->woken = bpf_ktime_get_ns();
    it->waker_pid = bpf_get_current_pid_tgid() >> 32;
    bpf_get_current_comm(&it->waker, sizeof(it->waker));
    return 0;
}
