int on_sys_enter(struct bpf_raw_tracepoint_args *at) {
#if !MLBCC_EVERYONE
    if (!mlbcc_suspect(bpf_get_current_pid_tgid() >> 32)) return 0;
#endif
    u32 number = MLBCC_SYSCALL_NUMBER(at);
    u64 cookie = mlbcc_syscall_cookie(number);
    if (cookie && mlbcc_is_other_call(cookie)) return 0;
#if MLBCC_ANSWERS
    if (cookie) mlbcc_begin(bpf_get_current_pid_tgid(), (u64)number + 1);
#endif
    return mlbcc_syscall_pass(at, cookie, 0);
}
