// What every probe needs: who is traced, what is known of each thread, the account of each record.

// Records go to the ring of the CPU that they are made on. The tracer has made the rings, and its
// map of them takes this one's place; `ring` says what they are like.
BPF_RINGBUF_OUTPUT(ring, 16);
BPF_ARRAY_OF_MAPS(rings, "ring", 1);
// What to do with calls that begin: of functions, of all else; then the number of the change of rules
// that goes on, if one does.
BPF_ARRAY(control, u32, 3);
#define MLBCC_PASS 0     // all are passed over
#define MLBCC_TAKE 1     // all are taken
#define MLBCC_LEAVING 2  // other programs are about to take them, which are MLBCC_COMING
#define MLBCC_COMING 3
// Threads whose calls the programs that come have taken: by thread and what it is that begins, the
// number of the change. One table for all programs that the tracer loads.
BPF_F_TABLE("hash", u64, u32, switched, 65536, BPF_F_NO_PREALLOC);
struct accounts {
    // Behind the last rule: MLBCC_SHARED, MLBCC_PROCESS_RECORDS, sets of rules; a power of two in all.
    struct account rules[MLBCC_ACCOUNTS];
    struct {
        u64 count, sum;
    } totals[{{totals}}];  // of counts and sums that have no groups
    u64 unread;            // bytes of records since the reader was woken last
};
BPF_PERCPU_ARRAY(accounts, struct accounts, 1);
// Which rules a probe's record is for: of those whose bits are in `mask` the number is at their bit.
// Above the mask stands the account of them all, where they have one; 0: they have none.
// The record of a probe's entry is at twice its number, the return's behind it.
struct record_rules {
    u64 mask;
    u16 rules[(MLBCC_RULES + 3) / 4 * 4];
};
BPF_ARRAY(record_rules, struct record_rules, MLBCC_RECORDS);
// What a probe makes of its thread's time (tool/account/tracing_cost.h): how often it was hit, how many
// of these calls were let go, so that no probe awaits their end; its records, and, of some of them,
// the time from the probe's beginning until its record was made. And how many calls were too deep for
// the kernel to await their end, and how many were of the 32-bit interface, and so no calls of this
// number. In parts that CPUs use in turn, each of which has cache lines of its own.
struct work {
    u64 hits, let_go, records, timed, timed_ns, too_deep, of_32_bit, unused;
};
struct all_work {
    struct work parts[MLBCC_WORK_PARTS];
};
BPF_ARRAY(work, struct all_work, MLBCC_RECORDS / 2);
#if !MLBCC_EVERYONE
BPF_F_TABLE("hash", u32, struct process, traced, 65536, BPF_F_NO_PREALLOC);
// 1 where a traced process may have an id that ends in these bits: saves most others the hash table.
BPF_ARRAY(suspects, u8, 4096);
#endif
#if MLBCC_NAMESPACE && !MLBCC_EVERYONE
BPF_HASH(seeds, u32, struct process, 1024);  // pids as the tracer's namespace names them
#endif

// What a program on a system call's tracepoint is given (`at`). A raw one has what the kernel calls it
// with: the program's registers, then the call's number, or its result. Perf's have a record, as the
// format file says: 8 bytes that all have, the number, then the result.
#define MLBCC_SYSCALL_NUMBER(at) ((at)->args[1])  // where it begins
#if MLBCC_BY_PERF
#define MLBCC_SYSCALL_REGISTERS(at) ((u64)bpf_task_pt_regs(bpf_get_current_task_btf()))
#define MLBCC_SYSCALL_RESULT(at) ((at)->args[2])
#else
#define MLBCC_SYSCALL_REGISTERS(at) ((at)->args[0])
#define MLBCC_SYSCALL_RESULT(at) ((at)->args[1])
#endif
// Likewise of other tracepoints: the raw one's argument `raw`, or what is at `offset` of the record.
#if MLBCC_BY_PERF
#define MLBCC_POINT(at, type, raw, offset) (*(type *)((u8 *)(at) + (offset)))
#else
#define MLBCC_POINT(at, type, raw, offset) ((type)(at)->args[raw])
#endif

struct identity {
    u32 tgid, thread;  // the kernel's own numbers: keys of maps
    u32 pid, tid;      // as the tracer's namespace sees them: for records
};

static __always_inline void mlbcc_identify(struct identity *id) {
    u64 both = bpf_get_current_pid_tgid();
    id->tgid = both >> 32;
    id->thread = (u32)both;
    id->pid = id->tgid;
    id->tid = id->thread;
#if MLBCC_NAMESPACE
    struct bpf_pidns_info seen = {};
    if (bpf_get_ns_current_pid_tgid(MLBCC_NAMESPACE_DEVICE, MLBCC_NAMESPACE_INODE, &seen,
                                    sizeof(seen)) == 0) {
        id->pid = seen.tgid;
        id->tid = seen.pid;
        return;
    }
#if !MLBCC_EVERYONE
    // A thread that is reaped has no number there any more, and leaves the CPU once again.
    struct process *known = traced.lookup(&id->tgid);
    if (known && known->pid) {
        id->pid = known->pid;
        id->tid = 0;
    }
#endif
#endif
}

#if !MLBCC_EVERYONE
// In a pid namespace the tracer cannot name a process by the kernel's number: a process that it
// asked for by its own number is taken in when it first shows itself.
static __always_inline struct process *mlbcc_traced(struct identity *id) {
    u32 tgid = id->tgid;
    struct process *known = traced.lookup(&tgid);
#if MLBCC_NAMESPACE
    if (!known) {
        // A process of another namespace has only the kernel's number, which here is another's.
        struct bpf_pidns_info seen = {};
        if (bpf_get_ns_current_pid_tgid(MLBCC_NAMESPACE_DEVICE, MLBCC_NAMESPACE_INODE, &seen,
                                        sizeof(seen)) != 0)
            return 0;
        struct process *seed = seeds.lookup(&seen.tgid);
        if (!seed) return 0;
        struct process fresh = *seed;
        traced.update(&tgid, &fresh);
        known = traced.lookup(&tgid);
    }
    if (known && !known->pid && id->pid != tgid) known->pid = id->pid;
#endif
    return known;
}

// Whether it may be traced; of most processes that are not, this is all that is asked.
static __always_inline int mlbcc_suspect(u32 tgid) {
    u32 last_bits = tgid & 4095;
    u8 *suspect = suspects.lookup(&last_bits);
    return MLBCC_NAMESPACE || !suspect || *suspect;
}

static __always_inline void mlbcc_trace(u32 tgid, struct process *process) {
    u32 last_bits = tgid & 4095;
    u8 yes = 1;
    suspects.update(&last_bits, &yes);
    traced.update(&tgid, process);
}
#endif

// Whose probes the kernel runs first where both sets of programs have one: those of functions that
// were attached last, of all else those that were attached first.
#define MLBCC_NEWER_FIRST 0
#define MLBCC_OLDER_FIRST 1

// While rules change, both sets see each call, one after the other, and one of them must take it. Who
// runs first decides that a thread's calls are from now on for those that come, and tells the other.
static __always_inline int mlbcc_changes(u32 order, u32 state, u32 thread) {
    int two = 2;
    u32 *change = control.lookup(&two);
    if (!change) return 0;
    u64 key = (u64)order << 32 | thread;
    u32 number = *change;
    int comes = state == MLBCC_COMING;
    if (comes == (order == MLBCC_NEWER_FIRST)) {
        switched.update(&key, &number);
        return comes;
    }
    u32 *told = switched.lookup(&key);
    return comes == (told && *told == number);
}

static __always_inline int mlbcc_takes(u32 order, u32 thread) {
    u32 *state = control.lookup(&order);
    if (!state || *state == MLBCC_PASS) return 0;
    return *state == MLBCC_TAKE || mlbcc_changes(order, *state, thread);
}

// What interrupts others is no call of a thread.
static __always_inline int mlbcc_takes_all(void) {
    int other = MLBCC_OLDER_FIRST;
    u32 *state = control.lookup(&other);
    return state && (*state == MLBCC_TAKE || *state == MLBCC_COMING);
}

static __always_inline struct accounts *mlbcc_accounts(void) {
    int zero = 0;
    return accounts.lookup(&zero);
}

static __always_inline struct work *mlbcc_work(u32 probe) {
    struct all_work *all = work.lookup(&probe);
    return all ? &all->parts[bpf_get_smp_processor_id() & (MLBCC_WORK_PARTS - 1)] : 0;
}
static __always_inline void mlbcc_hit(u32 probe) {
    struct work *mine = mlbcc_work(probe);
    if (mine) __sync_fetch_and_add(&mine->hits, 1);
}

// Text that is compared, by eight of its characters.
typedef u64 __attribute__((may_alias)) mlbcc_word;

// 1 where a < b, which are less than 2^63, or where b is an error's number: without a branch, for the
// verifier goes through all that follows once for each way to it.
#define MLBCC_LESS(a, b) (((u64)(a) - (u64)(b)) >> 63)
#define MLBCC_FAILED(result) ((u64)(s64)(result) >> 63)
static __always_inline u64 mlbcc_later(u64 a, u64 b) { return a + ((b - a) & -MLBCC_LESS(a, b)); }

// A reader sweeps the rings regularly. It is woken only where that may be too late: in a virtual
// machine a wake-up is an interrupt to oneself. 1 where the record found no room.
static __always_inline u64 mlbcc_wakes(struct accounts *all, u64 size) {  // for bpf_ringbuf_output()
    u64 unread = all->unread + size;
    u64 wakes = MLBCC_LESS(MLBCC_WAKE_BYTES - 1, unread);
    all->unread = unread & (wakes - 1);
    _Static_assert(BPF_RB_NO_WAKEUP + 1 == BPF_RB_FORCE_WAKEUP, "");
    return BPF_RB_NO_WAKEUP + wakes;
}
static __always_inline u64 mlbcc_write(struct accounts *all, void *record, u64 size) {
    int cpu = bpf_get_smp_processor_id();
    void *to = rings.lookup(&cpu);
    if (!to) return 1;
    return MLBCC_FAILED(bpf_ringbuf_output(to, record, size, mlbcc_wakes(all, size)));
}

// Atomic, because a probe can be preempted by another on the same CPU.
static __always_inline void mlbcc_account_one(struct account *mine, u64 times, u64 lost) {
    __sync_fetch_and_add(&mine->records[lost & 1], times);
}

#if MLBCC_USES_FRAMES
// An open call, for its return.
struct call_frame {
    u64 sp, start;
    u32 probe, hits;
    u64 unread;                        // of the values below: a bit set for one that is none
#ifdef MLBCC_OWN
    u64 own[MLBCC_OWN];  // what the thread's were when it began
#endif
    u64 saved[MLBCC_SAVED_BYTES / 8];  // values known at entry and wanted at return
};
#endif

#ifdef MLBCC_SYSCALLS
#define MLBCC_SYSCALL_RECORD 176  // of the arguments of a system call, and text
#else
#define MLBCC_SYSCALL_RECORD 0
#endif

struct thread_state {
    u32 owner, depth;  // owner: its kernel id, of a slot; depth: open calls
    u64 comm[2];
#if MLBCC_TIMED
    u64 started;  // ns, the system call that goes on; 0: none that rules want
#endif
#if MLBCC_ANSWERS
    u64 begun;  // the number + 1 of the system call that goes on; 0: not known
#define MLBCC_IN_NO_CALL (1ULL << 32)  // that rules want
#define MLBCC_ANSWERED (1ULL << 33)    // with its number + 1: at its end, its beginning is told
#define MLBCC_ANSWER_ENDS (1ULL << 34)  // and now its end
#define MLBCC_HELD (1ULL << 35)         // with its number + 1: it is one of held_calls
#endif
#if MLBCC_USES_FRAMES
#ifdef MLBCC_OWN
    u64 own[MLBCC_OWN];  // ns, of an aggregate's calls that have ended: each without those within it
#endif
    struct call_frame frames[MLBCC_FRAMES];
#ifdef MLBCC_MOVING
    struct call_frame ended;  // of a call that was on no thread's stack (moving.bpf.c)
#endif
    // Where a record too large for BPF's stack is put together.
    u64 scratch[MLBCC_SCRATCH_BYTES / 8 + MLBCC_SYSCALL_RECORD / 8];
    struct { u32 size, hits, python, stack; } left;  // of a record in it that another program submits
#ifdef MLBCC_BETWEEN
    // Likewise of tracepoints and the kernel's functions, which come in the middle of that: in an
    // interrupt, or where the thread is preempted.
    u64 between[MLBCC_SCRATCH_BYTES / 8];
#endif
#ifdef MLBCC_TAKEN
    // And of templates' probes, which keep the stack of their beginning there, each its own.
    u64 taken[MLBCC_TAKEN][MLBCC_SCRATCH_BYTES / 8];
#endif
#ifdef MLBCC_ROOMS
    u64 rooms[MLBCC_ROOMS][MLBCC_ROOM_BYTES / 8];  // of keys and texts, one at a time (codegen/rooms.h)
#endif
#if MLBCC_PYTHON
    struct python_names python;
#endif
#endif
};

// A hash table costs 30 ns a lookup, an array next to nothing: a traced thread has the slot with the
// last bits of its id, if no other has it. Only then its frames are in the hash table.
BPF_ARRAY(slots, struct thread_state, MLBCC_SLOTS);
BPF_HASH(claims, u32, u32, MLBCC_SLOTS);
#if MLBCC_TIMED
BPF_F_TABLE("hash", u32, u64, starts, 65536, BPF_F_NO_PREALLOC);  // of threads without a slot
#endif
#if MLBCC_ANSWERS
BPF_F_TABLE("hash", u32, u64, begins, 65536, BPF_F_NO_PREALLOC);  // likewise: thread_state's begun
#endif
#if MLBCC_HOLDS
// System calls whose beginning is told later, by thread: what they were given is in no memory yet. A
// program cannot bring it in; the kernel does, in the call.
struct held_call {
    u64 since, registers;
    u32 number, told;  // told: whether it is now
};
#define MLBCC_TOLD_WITHIN 1
#define MLBCC_TOLD_AT_END 2
BPF_F_TABLE("hash", u32, struct held_call, held_calls, 10240, BPF_F_NO_PREALLOC);
#endif
#if MLBCC_USES_FRAMES
BPF_F_TABLE("hash", u32, struct thread_state, threads, 65536, BPF_F_NO_PREALLOC);
BPF_ARRAY(blank_thread, struct thread_state, 1);
#endif

// The slot that the thread has, if it has one. The idle thread of a CPU, 0, has none: nobody owns a
// slot whose owner is 0.
static __always_inline struct thread_state *mlbcc_slot(u32 thread) {
    u32 index = thread & (MLBCC_SLOTS - 1);
    struct thread_state *slot = slots.lookup(&index);
    return slot && thread && slot->owner == thread ? slot : 0;
}

static __always_inline void mlbcc_name(struct thread_state *state, u32 thread) {
    bpf_get_current_comm(&state->comm, sizeof(state->comm));
    state->depth = 0;
#if MLBCC_TIMED
    state->started = 0;
#endif
#if MLBCC_ANSWERS
    state->begun = 0;
#endif
    state->owner = thread;
}

static __always_inline void mlbcc_claim(u32 thread) {
    u32 index = thread & (MLBCC_SLOTS - 1);
    if (claims.insert(&index, &thread) != 0) return;  // another thread has it
    void *elsewhere = 0;                              // or had it, while this one's calls began
#if MLBCC_USES_FRAMES
    elsewhere = threads.lookup(&thread);
#endif
#if MLBCC_HOLDS
    if (!elsewhere) elsewhere = held_calls.lookup(&thread);
#endif
    if (elsewhere) {
        claims.delete(&index);
        return;
    }
    struct thread_state *slot = slots.lookup(&index);
    if (!slot) return;
    mlbcc_name(slot, thread);
#if MLBCC_ANSWERS
    u64 *begun = begins.lookup(&thread);
    if (!begun) return;
    slot->begun = *begun;
    begins.delete(&thread);
#endif
}

static __always_inline void mlbcc_release(u32 thread) {
    struct thread_state *slot = mlbcc_slot(thread);
    if (slot) {
        u32 index = thread & (MLBCC_SLOTS - 1);
        slot->owner = 0;
        claims.delete(&index);
    }
#if MLBCC_USES_FRAMES
    threads.delete(&thread);
#endif
#if MLBCC_TIMED
    starts.delete(&thread);
#endif
#if MLBCC_ANSWERS
    begins.delete(&thread);
#endif
#if MLBCC_HOLDS
    held_calls.delete(&thread);
#endif
}

#if MLBCC_ANSWERS
static __always_inline u64 mlbcc_begun(u32 thread) {
    struct thread_state *slot = mlbcc_slot(thread);
    u64 *begun = slot ? &slot->begun : begins.lookup(&thread);
    return begun ? *begun : 0;
}
static __always_inline void mlbcc_begin(u32 thread, u64 begun) {
    struct thread_state *slot = mlbcc_slot(thread);
    u64 *kept = slot ? &slot->begun : begins.lookup(&thread);
    if (kept) *kept = begun;
    else begins.update(&thread, &begun);
}

// Of a thread that is new, or runs a new program, it is known that no call of before goes on.
static __always_inline void mlbcc_is_new(u32 thread) {
    if (!mlbcc_slot(thread)) mlbcc_claim(thread);
    if (!mlbcc_begun(thread)) mlbcc_begin(thread, MLBCC_IN_NO_CALL);
}
#endif

#if MLBCC_TIMED
// When the thread's system call began. 0 where there is no room for it.
static __always_inline int mlbcc_note_start(u32 thread, u64 now) {
    struct thread_state *slot = mlbcc_slot(thread);
    if (!slot) return starts.update(&thread, &now) == 0;
    slot->started = now;
    return 1;
}
// 0 where it is not known; it is known once.
static __always_inline u64 mlbcc_take_start(u32 thread) {
    struct thread_state *slot = mlbcc_slot(thread);
    u64 *kept = slot ? &slot->started : starts.lookup(&thread);
    if (!kept) return 0;
    u64 start = *kept;
    if (slot) *kept = 0;
    else starts.delete(&thread);
    return start;
}
#endif

#if MLBCC_DEFINED
// Of a thread that may be another than the one that runs: then only what is known of it.
static __always_inline void mlbcc_comm_of(u32 thread, char *to) {
    struct thread_state *slot = mlbcc_slot(thread);
    if ((u32)bpf_get_current_pid_tgid() == thread) bpf_get_current_comm(to, 16);
    else if (slot) __builtin_memcpy(to, &slot->comm, 16);
    else __builtin_memset(to, 0, 16);
}
#endif

// A comm is asked for once a thread where renaming is followed: the kernel takes 36 ns for it.
static __always_inline void mlbcc_header(struct record_header *header, struct identity *id,
                                         u64 now, u32 probe, u32 what) {
    header->time_ns = now;
    header->probe = probe;
    header->what = what;
    header->pid = id->pid;
    header->tid = id->tid;
    struct thread_state *slot = MLBCC_TASK_PID ? mlbcc_slot(id->thread) : 0;
    if (slot) {
        u64 *comm = (u64 *)header->comm;
        comm[0] = slot->comm[0];
        comm[1] = slot->comm[1];
    } else {
#if MLBCC_DEFINED
        mlbcc_comm_of(id->thread, header->comm);
#else
        bpf_get_current_comm(&header->comm, sizeof(header->comm));
#endif
    }
}

// 0xff, 0 stands for text that could not be read: no UTF-8 text begins so.
static __always_inline void mlbcc_read_text(char *to, u32 size, u64 from) {
    if (bpf_probe_read_user_str(to, size, (void *)from) < 0) {
        to[0] = (char)0xff;
        to[1] = 0;
    }
}

// Memory that a pointer of the kernel's points to: its own, or the program's.
static __always_inline int mlbcc_read(void *to, u32 size, u64 from) {
    return (s64)from < 0 ? bpf_probe_read_kernel(to, size, (void *)from)
                         : bpf_probe_read_user(to, size, (void *)from);
}
static __always_inline void mlbcc_read_kernel_text(char *to, u32 size, u64 from) {
    if (bpf_probe_read_kernel_str(to, size, (void *)from) < 0) {
        to[0] = (char)0xff;
        to[1] = 0;
    }
}
static __always_inline void mlbcc_read_any_text(char *to, u32 size, u64 from) {
    if ((s64)from < 0) mlbcc_read_kernel_text(to, size, from);
    else mlbcc_read_text(to, size, from);
}

static __always_inline u64 mlbcc_unsigned_div(u64 a, u64 b) { return b ? a / b : 0; }
static __always_inline u64 mlbcc_unsigned_mod(u64 a, u64 b) { return b ? a % b : 0; }
// BPF has no signed division.
static __always_inline s64 mlbcc_signed_div(s64 a, s64 b) {
    u64 size = mlbcc_unsigned_div(a < 0 ? -(u64)a : (u64)a, b < 0 ? -(u64)b : (u64)b);
    return (a < 0) != (b < 0) ? -size : size;
}
static __always_inline s64 mlbcc_signed_mod(s64 a, s64 b) {
    u64 size = mlbcc_unsigned_mod(a < 0 ? -(u64)a : (u64)a, b < 0 ? -(u64)b : (u64)b);
    return a < 0 ? -size : size;
}

// 1 where a bit of v is set from the bit-th on, which is not the first: without a branch.
static __always_inline u64 mlbcc_reaches(u64 v, u32 bit) {
    v >>= bit;
    asm volatile("" : "+r"(v));
    return (0 - v) >> 63;
}
// The bucket of a histogram that v is in: the number of its bits.
static __always_inline u32 mlbcc_bucket(u64 v) {
    u64 bits = 0, more;
#pragma unroll
    for (u32 log = 6; log-- > 0;) {
        more = mlbcc_reaches(v, 1 << log) << log;
        v >>= more;
        bits += more;
    }
    asm volatile("" : "+r"(bits), "+r"(v));  // before 6.18 the verifier knows less of them than clang
    return (bits & 63) + (v & 1);
}
// Likewise of signed values: behind the 64 of what is not negative are as many for what is.
static __always_inline u32 mlbcc_signed_bucket(u64 v) {
    u32 bits = mlbcc_bucket((s64)v < 0 ? ~v : v);
    return ((s64)v < 0 ? bits + 64 : bits) & 127;
}
