#undef MLBCC_REGISTER
#define MLBCC_REGISTER(registers, name) ((u64)(registers)->name)
// The beginning of a system call.
static __always_inline int {{name}}_begins(struct bpf_raw_tracepoint_args *at) {
    struct call call MLBCC_UNSET;
    MLBCC_SYSCALL_COPY registers, *ctx = &registers;
    call.ends_by = 0;
    if (!mlbcc_syscall_begins(&call, &registers, at)) return 0;
{{body}}}
int {{name}}(struct bpf_raw_tracepoint_args *at) {
    {{name}}_begins(at);
    return mlbcc_go_to_end(at);
}
#undef MLBCC_REGISTER
#define MLBCC_REGISTER(registers, name) MLBCC_REGISTER_OF_PROBE(registers, name)
