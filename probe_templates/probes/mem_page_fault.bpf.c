// A page fault of a program: where, and by which instruction.
//
//= probe mem:page_fault moment
//= raw_tracepoint page_fault_user page_fault
//= offset exceptions:page_fault_user.address
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
    struct mem_page_fault fields = {.address = (void *)at->args[0]};
    fields.write = (at->args[2] & 2) != 0;
    fields.present = (at->args[2] & 1) != 0;
    struct pt_regs *registers = (struct pt_regs *)at->args[1];
    bpf_probe_read_kernel(&fields.ip, sizeof(fields.ip), &registers->MLBCC_IP);
    call.taken = take_stack_mem_page_fault(at, &call);
    return fire_mem_page_fault(at, &call, &fields);
}
