// A wait for a lock: the time in futex(FUTEX_WAIT) and its relatives, by the address of the lock. A
// lock that is free is taken without a system call, so this is contention only.
//
//= probe lock:futex completion
//= task_tracepoint raw_syscalls:sys_enter futex_begins
//= task_tracepoint raw_syscalls:sys_exit futex_ends
//= goes_on futex_waits futex_goes_on
//= found_waiting futex_found
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
    long result;  // 0: woken; negative: an error, -110 where the time was over, -115 where it waits on
};
//= programs
struct futex_wait {
    struct wait wait;
    u64 address;
    u32 operation;
};
BPF_F_TABLE("hash", u32, struct futex_wait, futex_waits, 65536, BPF_F_NO_PREALLOC);

#define FUTEX_WAITS_ON (-115)  // EINPROGRESS

static __always_inline int futex_is_wait(u32 operation) {
    return operation <= 13 && ((1 << (operation & 31)) & 0x2a41);
}

int futex_begins(struct bpf_raw_tracepoint_args *at) {
    if (MLBCC_SYSCALL_NUMBER(at) != MLBCC_FUTEX || mlbcc_is_of_32_bit()) return 0;
    struct pt_regs registers;
    if (bpf_probe_read_kernel(&registers, sizeof(registers), (void *)MLBCC_SYSCALL_REGISTERS(at)) != 0) return 0;
    struct call call MLBCC_UNSET;
    u32 operation = MLBCC_ARG1(&registers) & 0x7f;  // without FUTEX_PRIVATE_FLAG, ..._REALTIME
    if (!futex_is_wait(operation) || !mlbcc_admit(&call)) return 0;
    struct futex_wait begun = {.wait = {.id = call.id, .left = call.now},
                               .address = MLBCC_ARG0(&registers), .operation = operation};
    begun.wait.taken = take_stack_lock_futex(at, &call);
    futex_waits.update(&begun.wait.id.thread, &begun);
    return 0;
}

static __always_inline int futex_tell(void *at, u32 thread, s64 result, u64 goes_on) {
    struct futex_wait *it = futex_waits.lookup(&thread);
    struct call call MLBCC_UNSET;
    call.all = mlbcc_accounts();
    if (!it || !call.all) return 0;
    call.id = it->wait.id;
    call.now = bpf_ktime_get_ns();
    call.start = it->wait.left;
    call.taken = it->wait.taken | goes_on;
    struct lock_futex fields = {.address = (void *)it->address, .operation = it->operation,
                                .result = result};
    if (futex_waits.delete(&thread) != 0) return 0;
    fire_lock_futex(at, &call, &fields);
    return 1;
}

int futex_ends(struct bpf_raw_tracepoint_args *at) {
    futex_tell(at, bpf_get_current_pid_tgid(), MLBCC_SYSCALL_RESULT(at), 0);
    return 0;
}

int futex_goes_on(struct bpf_raw_tracepoint_args *at) {
    return futex_tell(at, MLBCC_TOLD_KEY(at), FUTEX_WAITS_ON, MLBCC_GOES_ON);
}

int futex_found(struct bpf_raw_tracepoint_args *at) {
    struct waiter found;
    if (!mlbcc_found_waiting(at, &found) || found.system_call != MLBCC_FUTEX) return 0;
    u32 operation = found.arguments[1] & 0x7f;
    if (!futex_is_wait(operation)) return 0;
    struct futex_wait waits = {.wait = found.wait, .address = found.arguments[0], .operation = operation};
    futex_waits.insert(&waits.wait.id.thread, &waits);
    return 0;
}
