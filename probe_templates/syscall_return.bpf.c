#undef MLBCC_REGISTER
#define MLBCC_REGISTER(registers, name) ((u64)(registers)->name)
// The end of a system call.
int {{name}}(struct bpf_raw_tracepoint_args *at) {
    struct call call MLBCC_UNSET;
    MLBCC_SYSCALL_COPY registers, *ctx = &registers;
    call.ends_by = 0;
    if (!{{how}}(&call, &registers, at)) return 0;
{{body}}    return 0;
}
#undef MLBCC_REGISTER
#define MLBCC_REGISTER(registers, name) MLBCC_REGISTER_OF_PROBE(registers, name)
