// Follows the traced processes: children are traced from their first instruction, and the tracer is
// told of forks, execs and exits in the order of the events around them.

// Of call only these are set: ctx, id, what (the change), probe (the other id), hits (is_thread).
MLBCC_COMMON u64 common_report(struct call *call) {
    struct process_record record = {};
    mlbcc_header(&record.header, &call->id, bpf_ktime_get_ns(), call->what, 2);
    record.other = call->probe;
    record.is_thread = call->hits;
    struct accounts *all = mlbcc_accounts();
    if (!all) return 0;
#if MLBCC_WAKES_AT_EXEC
    // A program in another root may end before the next sweep, and with it the way to its files.
    if (call->what == 1) all->unread = MLBCC_WAKE_BYTES;
#endif
    u64 lost = mlbcc_write(all, &record, sizeof(record));
    mlbcc_account_one(&all->rules[MLBCC_PROCESS_RECORDS], 1, lost);
    return 0;
}

static __always_inline int mlbcc_tell(void *ctx, struct call *call, u32 change, u32 other,
                                      u32 is_thread) {
    call->ctx = ctx;
    call->what = change;
    call->probe = other;
    call->hits = is_thread;
    mlbcc_report(call);
    return 0;
}

static __always_inline int mlbcc_on_fork(void *ctx, u32 child, u64 clone_flags) {
    struct call call MLBCC_UNSET;
    mlbcc_identify(&call.id);
    u32 is_thread = (clone_flags & 0x10000) != 0;  // CLONE_THREAD
#if !MLBCC_EVERYONE
    struct process *parent = mlbcc_traced(&call.id);
    if (!parent) return 0;
    if (is_thread) {
        __sync_fetch_and_add(&parent->threads, 1);
    } else {
        struct process fresh = {.ppid = call.id.pid, .pid = MLBCC_NAMESPACE ? 0 : child, .threads = 1};
        mlbcc_trace(child, &fresh);
    }
#endif
#if MLBCC_ANSWERS
    mlbcc_is_new(child);
#endif
#ifdef MLBCC_PYTHONS
    if (!is_thread) mlbcc_python_forks(&call.id, child);
#endif
    return mlbcc_tell(ctx, &call, 0, MLBCC_NAMESPACE ? 0 : child, is_thread);
}

static __always_inline int mlbcc_on_exec(void *ctx, u32 former) {
    struct call call MLBCC_UNSET;
    mlbcc_identify(&call.id);
#if !MLBCC_EVERYONE
    if (!mlbcc_traced(&call.id)) return 0;
#endif
#if MLBCC_TIMED
    u64 start = mlbcc_take_start(former);
#endif
#if MLBCC_USES_FRAMES
    if (!mlbcc_goes_on(call.id.thread)) mlbcc_release(call.id.thread);
#else
    mlbcc_release(call.id.thread);
#endif
    if (former != call.id.thread) mlbcc_release(former);
#if MLBCC_ANSWERS
    mlbcc_is_new(call.id.thread);
#endif
#if MLBCC_TIMED
    if (start) mlbcc_note_start(call.id.thread, start);
#endif
#ifdef MLBCC_PYTHONS
    mlbcc_forget_python(&call.id);
#endif
    return mlbcc_tell(ctx, &call, 1, former, 0);
}

static __always_inline int mlbcc_on_exit(void *ctx) {
    struct call call MLBCC_UNSET;
    mlbcc_identify(&call.id);
    mlbcc_release(call.id.thread);
    u32 others = call.id.tgid != call.id.thread;
#if !MLBCC_EVERYONE
    struct process *mine = mlbcc_traced(&call.id);
    if (!mine) return 0;
    __sync_fetch_and_add(&mine->threads, -1);
    others = mine->threads > 0;
#endif
#ifdef MLBCC_PYTHONS
    if (!others) mlbcc_forget_python(&call.id);
#endif
    return mlbcc_tell(ctx, &call, 2, call.id.tgid, others);
}

#if MLBCC_TASK_PID && !MLBCC_BY_PERF
// Raw tracepoints end at once where perf events of tracepoints take 80 ms each to close, but they
// give the kernel's own structures: the offset in task_struct is from the running kernel's BTF.
RAW_TRACEPOINT_PROBE(task_newtask) {
    u32 child = 0;
    bpf_probe_read_kernel(&child, sizeof(child), (void *)(ctx->args[0] + MLBCC_TASK_PID));
    return mlbcc_on_fork(ctx, child, ctx->args[1]);
}
RAW_TRACEPOINT_PROBE(task_rename) {
    u32 thread = 0;
    bpf_probe_read_kernel(&thread, sizeof(thread), (void *)(ctx->args[0] + MLBCC_TASK_PID));
    struct thread_state *state = mlbcc_slot(thread);
    if (state) {
        bpf_probe_read_kernel_str(&state->comm, sizeof(state->comm), (void *)ctx->args[1]);
    }
    return 0;
}
RAW_TRACEPOINT_PROBE(sched_process_exec) { return mlbcc_on_exec(ctx, ctx->args[1]); }
RAW_TRACEPOINT_PROBE(sched_process_exit) { return mlbcc_on_exit(ctx); }
#else
TRACEPOINT_PROBE(task, task_newtask) { return mlbcc_on_fork(args, args->pid, args->clone_flags); }
TRACEPOINT_PROBE(sched, sched_process_exec) { return mlbcc_on_exec(args, args->old_pid); }
TRACEPOINT_PROBE(sched, sched_process_exit) { return mlbcc_on_exit(args); }
#if MLBCC_TASK_PID
TRACEPOINT_PROBE(task, task_rename) {
    struct thread_state *state = mlbcc_slot(args->pid);
    if (state) bpf_probe_read_kernel_str(&state->comm, sizeof(state->comm), args->newcomm);
    return 0;
}
#endif
#endif
