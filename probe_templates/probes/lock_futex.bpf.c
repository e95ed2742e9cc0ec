// A wait for a lock: the time in futex(FUTEX_WAIT) and its relatives, by the address of the lock. A
// lock that is free is taken without a system call, so this is contention only.
//
//= probe lock:futex completion
//= task_tracepoint raw_syscalls:sys_enter futex_begins
//= task_tracepoint raw_syscalls:sys_exit futex_ends
//= fields
enum futex_operation {
    FUTEX_WAIT = 0,
    FUTEX_LOCK_PI = 6,
    FUTEX_WAIT_BITSET = 9,
    FUTEX_WAIT_REQUEUE_PI = 11,
    FUTEX_LOCK_PI2 = 13
};
struct lock_futex {
    void *address;
    enum futex_operation operation;
    long result;  // 0: woken; negative: an error, -110 where the time was over
};
//= programs
struct futex_wait {
    u64 since, address, taken;
    struct identity id;
    u32 operation;
};
BPF_F_TABLE("hash", u32, struct futex_wait, futex_waits, 65536, BPF_F_NO_PREALLOC);

int futex_begins(struct bpf_raw_tracepoint_args *at) {
    if (MLBCC_SYSCALL_NUMBER(at) != MLBCC_FUTEX) return 0;
    struct pt_regs registers;
    if (bpf_probe_read_kernel(&registers, sizeof(registers), (void *)MLBCC_SYSCALL_REGISTERS(at)) != 0) return 0;
    struct call call MLBCC_UNSET;
    u32 operation = MLBCC_ARG1(&registers) & 0x7f;  // without FUTEX_PRIVATE_FLAG, ..._REALTIME
    if (!((1 << (operation & 31)) & 0x2a41) || operation > 13 || !mlbcc_admit(&call)) return 0;
    struct futex_wait wait = {.since = call.now, .address = MLBCC_ARG0(&registers),
                              .id = call.id, .operation = operation};
    wait.taken = take_stack_lock_futex(at, &call);
    futex_waits.update(&wait.id.thread, &wait);
    return 0;
}

int futex_ends(struct bpf_raw_tracepoint_args *at) {
    u32 thread = bpf_get_current_pid_tgid();
    struct futex_wait *it = futex_waits.lookup(&thread);
    struct call call MLBCC_UNSET;
    call.all = mlbcc_accounts();
    if (!it || !call.all) return 0;
    call.id = it->id;
    call.now = bpf_ktime_get_ns();
    call.start = it->since;
    call.taken = it->taken;
    struct lock_futex fields = {.address = (void *)it->address, .operation = it->operation,
                                .result = MLBCC_SYSCALL_RESULT(at)};
    futex_waits.delete(&thread);
    return fire_lock_futex(at, &call, &fields);
}
