int on_sys_exit(struct bpf_raw_tracepoint_args *at) {
#if !MLBCC_EVERYONE
    if (!mlbcc_suspect(bpf_get_current_pid_tgid() >> 32)) return 0;
#endif
#if MLBCC_HOLDS
    mlbcc_tell_held(at, MLBCC_TOLD_AT_END);  // which goes on to its end
#endif
#if MLBCC_ANSWERS
    u64 answered = mlbcc_is_answered(at);
    if (answered) return mlbcc_syscall_pass(at, answered, 0);  // which goes on to its end
#endif
    return mlbcc_syscall_pass(at, mlbcc_syscall_ended(at), 1);
}
