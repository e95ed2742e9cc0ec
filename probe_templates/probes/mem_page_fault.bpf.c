// A page fault of a program: where, and by which instruction. Where the kernel touches the program's
// memory for it, in a system call, that is one, too.
//
//= probe mem:page_fault moment
//= task_tracepoint exceptions:page_fault_user page_fault
//= task_tracepoint exceptions:page_fault_kernel page_fault_for_it
//= offset exceptions:page_fault_user.address
//= offset exceptions:page_fault_user.ip
//= offset exceptions:page_fault_user.error_code
//= offset exceptions:page_fault_kernel.address
//= offset exceptions:page_fault_kernel.ip
//= offset exceptions:page_fault_kernel.error_code
//= offset task_struct.pagefault_disabled
//= fields
struct mem_page_fault {
    void *address, *ip;
    _Bool write, present;  // present: the page is there, but not for this access
    _Bool by_kernel;       // in a system call
};
//= programs
// (unsigned long address, struct pt_regs *registers, unsigned long error)
#if MLBCC_BY_PERF
#define PAGE_FAULT_IP(at, ip, offset) ((ip) = (void *)MLBCC_POINT(at, u64, 1, offset))
#else
#define PAGE_FAULT_IP(at, ip, offset)                                                              \
    bpf_probe_read_kernel(&(ip), sizeof(ip), &((struct pt_regs *)(at)->args[1])->MLBCC_IP)
#endif
#define PAGE_FAULT(at, fields, point)                                                              \
    do {                                                                                           \
        u64 error = MLBCC_POINT(at, u64, 2, MLBCC_OFFSET_##point##_error_code);                    \
        (fields).address = (void *)MLBCC_POINT(at, u64, 0, MLBCC_OFFSET_##point##_address);        \
        (fields).write = (error & 2) != 0;                                                         \
        (fields).present = (error & 1) != 0;                                                       \
        PAGE_FAULT_IP(at, (fields).ip, MLBCC_OFFSET_##point##_ip);                                 \
    } while (0)

// Where the kernel only tries, as for a program's look at memory, the page is not fetched: then it counts
// this up. Some kernels do so for each program, too: what it is of a fault that the program itself has.
BPF_ARRAY(page_fault_tries, u32, 1);

static __always_inline u32 page_fault_tries_now(void) {
    u32 tries = 0;
    u64 task = bpf_get_current_task();
    bpf_probe_read_kernel(&tries, sizeof(tries),
                          (void *)(task + MLBCC_OFFSET_task_struct_pagefault_disabled));
    return tries;
}

int page_fault(struct bpf_raw_tracepoint_args *at) {
    int zero = 0;
    u32 *tries = page_fault_tries.lookup(&zero);
    if (tries) *tries = page_fault_tries_now();
    struct call call MLBCC_UNSET;
    if (!mlbcc_admit(&call)) return 0;
    struct mem_page_fault fields = {};
    PAGE_FAULT(at, fields, page_fault_user);
    call.taken = take_stack_mem_page_fault(at, &call);
    return fire_mem_page_fault(at, &call, &fields);
}

int page_fault_for_it(struct bpf_raw_tracepoint_args *at) {
    int zero = 0;
    u32 *tries = page_fault_tries.lookup(&zero);
    struct call call MLBCC_UNSET;
    if (!tries || page_fault_tries_now() > *tries || !mlbcc_admit(&call)) return 0;
    struct mem_page_fault fields = {};
    fields.by_kernel = 1;
    PAGE_FAULT(at, fields, page_fault_kernel);
    if ((s64)fields.address < 0) return 0;  // its own memory
    call.taken = take_stack_mem_page_fault(at, &call);
    return fire_mem_page_fault(at, &call, &fields);
}
