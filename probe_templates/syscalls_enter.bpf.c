int on_sys_enter(struct bpf_raw_tracepoint_args *at) {
#if !MLBCC_EVERYONE
    if (!mlbcc_suspect(bpf_get_current_pid_tgid() >> 32)) return 0;
#endif
    return mlbcc_syscall_pass(at, mlbcc_syscall_cookie(MLBCC_SYSCALL_NUMBER(at)), 0);
}
