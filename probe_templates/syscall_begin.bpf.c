// The beginning of a system call, of which only the time is wanted.
int {{name}}(struct bpf_raw_tracepoint_args *at) {
    mlbcc_syscall_starts(at);
    return mlbcc_go_to_end(at);
}
