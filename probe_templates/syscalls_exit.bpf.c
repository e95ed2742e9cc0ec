int on_sys_exit(struct bpf_raw_tracepoint_args *at) {
#if !MLBCC_EVERYONE
    if (!mlbcc_suspect(bpf_get_current_pid_tgid() >> 32)) return 0;
#endif
    struct pt_regs *registers = (struct pt_regs *)at->args[0];
    __typeof__(registers->MLBCC_SYSCALL_NUMBER) number = 0;
    bpf_probe_read_kernel(&number, sizeof(number), &registers->MLBCC_SYSCALL_NUMBER);
    return mlbcc_syscall_pass(at, number, 1);
}
