// Follows the traced processes: children are traced from their first instruction, and the tracer is
// told of forks, execs and exits in the order of the events around them.

static __always_inline void mlbcc_report(void *ctx, struct identity *id, u32 change, u32 other,
                                         u32 is_thread) {
    struct process_record record = {};
    mlbcc_header(&record.header, id, bpf_ktime_get_ns(), change, 2);
    record.other = other;
    record.is_thread = is_thread;
    int lost = events.perf_submit(ctx, &record, sizeof(record)) != 0;
    struct accounts *all = mlbcc_accounts();
    if (all) mlbcc_account(&all->rules[MLBCC_ALL_RULES + 1], lost);
}

TRACEPOINT_PROBE(task, task_newtask) {
    struct identity id = {};
    mlbcc_identify(&id);
    u32 child = args->pid;
    u32 is_thread = (args->clone_flags & 0x10000) != 0;  // CLONE_THREAD
#if !MLBCC_EVERYONE
    struct process *parent = mlbcc_traced(&id);
    if (!parent) return 0;
    if (is_thread) {
        __sync_fetch_and_add(&parent->threads, 1);
    } else {
        struct process fresh = {.ppid = id.pid, .pid = MLBCC_NAMESPACE ? 0 : child, .threads = 1};
        traced.update(&child, &fresh);
    }
#endif
    mlbcc_report(args, &id, 0, MLBCC_NAMESPACE ? 0 : child, is_thread);
    return 0;
}

TRACEPOINT_PROBE(sched, sched_process_exec) {
    struct identity id = {};
    mlbcc_identify(&id);
#if !MLBCC_EVERYONE
    if (!mlbcc_traced(&id)) return 0;
#endif
    u32 former = args->old_pid;
#if MLBCC_USES_FRAMES
    threads.delete(&id.thread);
    threads.delete(&former);
#endif
    mlbcc_report(args, &id, 1, former, 0);
    return 0;
}

TRACEPOINT_PROBE(sched, sched_process_exit) {
    struct identity id = {};
    mlbcc_identify(&id);
#if MLBCC_USES_FRAMES
    threads.delete(&id.thread);
#endif
    u32 others = id.tgid != id.thread;
#if !MLBCC_EVERYONE
    struct process *mine = mlbcc_traced(&id);
    if (!mine) return 0;
    __sync_fetch_and_add(&mine->threads, -1);
    others = mine->threads > 0;
#endif
    mlbcc_report(args, &id, 2, id.tgid, others);
    return 0;
}
