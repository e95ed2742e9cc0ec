// The beginning of a system call, of which only the time is wanted.
int {{name}}(struct bpf_raw_tracepoint_args *at) {
    return mlbcc_syscall_starts(at);
}
