// A page fault of a program: where, and by which instruction.
//
//= probe mem:page_fault moment
//= task_tracepoint exceptions:page_fault_user page_fault
//= offset exceptions:page_fault_user.address
//= offset exceptions:page_fault_user.ip
//= offset exceptions:page_fault_user.error_code
//= fields
struct mem_page_fault {
    void *address, *ip;
    _Bool write, present;  // present: the page is there, but not for this access
};
//= programs
// (unsigned long address, struct pt_regs *registers, unsigned long error)
int page_fault(struct bpf_raw_tracepoint_args *at) {
    struct call call MLBCC_UNSET;
    if (!mlbcc_admit(&call)) return 0;
    struct mem_page_fault fields = {};
    u64 error = MLBCC_POINT(at, u64, 2, MLBCC_OFFSET_page_fault_user_error_code);
    fields.address = (void *)MLBCC_POINT(at, u64, 0, MLBCC_OFFSET_page_fault_user_address);
    fields.write = (error & 2) != 0;
    fields.present = (error & 1) != 0;
#if MLBCC_BY_PERF
    fields.ip = (void *)MLBCC_POINT(at, u64, 1, MLBCC_OFFSET_page_fault_user_ip);
#else
    struct pt_regs *registers = (struct pt_regs *)at->args[1];
    bpf_probe_read_kernel(&fields.ip, sizeof(fields.ip), &registers->MLBCC_IP);
#endif
    call.taken = take_stack_mem_page_fault(at, &call);
    return fire_mem_page_fault(at, &call, &fields);
}
