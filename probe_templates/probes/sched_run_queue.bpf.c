// The time that a thread waits to run: from its waking, or from the moment that another took its
// place, until it runs.
//
//= probe sched:run_queue completion
//= raw_tracepoint sched_switch run_queue_switch
//= raw_tracepoint sched_waking run_queue_waking
//= goes_on run_queue_threads run_queue_switch
//= offset task_struct.se
//= offset sched_entity.sum_exec_runtime
//= fields
struct sched_run_queue {
    _Bool preempted;  // not woken: it ran, and another took its place
};
//= programs
struct run_queue_thread {
    struct wait wait;
    u32 preempted;
};
BPF_TABLE("hash", u32, struct run_queue_thread, run_queue_threads, 16384);

// (bool preempted, struct task_struct *previous, struct task_struct *next, unsigned int state)
int run_queue_switch(struct bpf_raw_tracepoint_args *at) {
    u32 thread = mlbcc_leaves(at);
    struct wait_end end = mlbcc_wait_end(at, run_queue_threads.lookup(&thread));
    thread = end.thread;
    struct run_queue_thread *it = run_queue_threads.lookup(&thread);
    struct call call MLBCC_UNSET;
    call.all = mlbcc_accounts();
    int was_ready = 0;
    if (it && call.all) {
        call.id = it->wait.id;
        call.now = end.time;
        call.start = it->preempted ? it->wait.left : it->wait.woken;
        call.taken = it->wait.taken | (u64)MLBCC_IS_TOLD(at) * MLBCC_GOES_ON;
        struct sched_run_queue fields = {.preempted = it->preempted};
        was_ready = call.start != 0;
        if (run_queue_threads.delete(&thread) == 0 && was_ready) fire_sched_run_queue(at, &call, &fields);
    }
    if (MLBCC_IS_TOLD(at)) return was_ready;
    if (!mlbcc_admit(&call)) return 0;
    u32 state = at->args[3];
    if (state & 0xb0) return 0;  // it ends
    struct run_queue_thread left = {.wait = {call.id, call.now, 0, end.ran}, .preempted = state == 0};
    left.wait.taken = take_stack_sched_run_queue(at, &call);
    run_queue_threads.update(&left.wait.id.thread, &left);
    return 0;
}

// (struct task_struct *woken)
int run_queue_waking(struct bpf_raw_tracepoint_args *at) {
    u32 thread = 0;
    bpf_probe_read_kernel(&thread, sizeof(thread), (void *)(at->args[0] + MLBCC_TASK_PID));
    struct run_queue_thread *it = run_queue_threads.lookup(&thread);
    if (it && !it->wait.woken) it->wait.woken = bpf_ktime_get_ns();
    return 0;
}
