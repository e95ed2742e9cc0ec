// A filter (seccomp) may answer a system call itself: then the kernel tells its end alone. This comes
// before the programs of the end, and has the beginning done first.
int on_sys_answered(struct bpf_raw_tracepoint_args *at) {
#if !MLBCC_EVERYONE
    if (!mlbcc_suspect(bpf_get_current_pid_tgid() >> 32)) return 0;
#endif
    struct thread_state *slot = mlbcc_slot(bpf_get_current_pid_tgid());
    if (!slot) return 0;
    u64 begun = slot->begun;
    slot->begun = MLBCC_IN_NO_CALL;
    // Of a thread that was there before the trace, what it was in is not known.
    if (begun != MLBCC_IN_NO_CALL && !(begun & MLBCC_ANSWERED)) return 0;
    u32 number = mlbcc_number_of_registers(at);
    u64 cookie = mlbcc_syscall_cookie(number);
    if (!cookie || MLBCC_ENTRY_SHAPE(cookie) == MLBCC_NO_SHAPE) return 0;
    // A new process, or program, comes out of a call that another began.
    if (MLBCC_SYSCALL_RESULT(at) == 0 && (MLBCC_IS_FORK(number) || MLBCC_IS_EXEC(number))) return 0;
    u32 mode = 0;
    u64 task = bpf_get_current_task();
    bpf_probe_read_kernel(&mode, sizeof(mode), (void *)(task + MLBCC_TASK_SECCOMP));
    if (mode < 2) return 0;  // it has no filter; 3: the filter ends it
    slot->begun = MLBCC_ANSWERED | ((u64)number + 1);
    return mlbcc_syscall_pass(at, cookie, 0);
}
