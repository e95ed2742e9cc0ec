// Submits the record that the program of a system call's shape has left behind.
int end_syscall(struct bpf_raw_tracepoint_args *at) {
    struct call call MLBCC_UNSET;
    call.ctx = 0;
    call.ends_by = 0;
    call.in_kernel = 0;
    if (!mlbcc_find_behind(&call)) return 0;
    call.sp = MLBCC_SYSCALL_SP;
    mlbcc_submit_behind(&call);
    return mlbcc_go_to_end(at);
}
