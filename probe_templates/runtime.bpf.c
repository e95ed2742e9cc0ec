// What every probe needs: who is traced, the frames of open calls, the account of each record.

BPF_PERF_OUTPUT(events);
BPF_ARRAY(control, u32, 1);  // 1 while armed
struct accounts {
    struct account rules[{{rules}} + 2];  // behind the last rule: all its records; process records
    struct {
        u64 count, sum;
    } totals[{{totals}}];  // of counts and sums that have no groups
};
BPF_PERCPU_ARRAY(accounts, struct accounts, 1);
#if !MLBCC_EVERYONE
BPF_F_TABLE("hash", u32, struct process, traced, 65536, BPF_F_NO_PREALLOC);
#endif
#if MLBCC_NAMESPACE && !MLBCC_EVERYONE
BPF_HASH(seeds, u32, struct process, 1024);  // pids as the tracer's namespace names them
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
    }
#endif
}

#if !MLBCC_EVERYONE
// In a pid namespace the tracer cannot name a process by the kernel's number: a process that it
// asked for by its own number is taken in when it first shows itself.
static __always_inline struct process *mlbcc_traced(struct identity *id) {
    struct process *known = traced.lookup(&id->tgid);
#if MLBCC_NAMESPACE
    if (!known) {
        struct process *seed = seeds.lookup(&id->pid);
        if (!seed) return 0;
        struct process fresh = *seed;
        traced.update(&id->tgid, &fresh);
        known = traced.lookup(&id->tgid);
    }
#endif
    return known;
}
#endif

static __always_inline int mlbcc_armed(void) {
    int zero = 0;
    u32 *on = control.lookup(&zero);
    return on && *on;
}

static __always_inline struct accounts *mlbcc_accounts(void) {
    int zero = 0;
    return accounts.lookup(&zero);
}

// Atomic, because a probe can be preempted by another on the same CPU.
static __always_inline void mlbcc_account_one(struct account *mine, int lost) {
    __sync_fetch_and_add(&mine->submitted, 1);
    __sync_fetch_and_add(&mine->lost, lost);
}

static __always_inline void mlbcc_header(struct record_header *header, struct identity *id,
                                         u64 now, u32 probe, u32 what) {
    header->time_ns = now;
    header->probe = probe;
    header->what = what;
    header->pid = id->pid;
    header->tid = id->tid;
    bpf_get_current_comm(&header->comm, sizeof(header->comm));
}

// 0xff, 0 stands for text that could not be read: no UTF-8 text begins so.
static __always_inline void mlbcc_read_text(char *to, u32 size, u64 from) {
    if (bpf_probe_read_user_str(to, size, (void *)from) < 0) {
        to[0] = (char)0xff;
        to[1] = 0;
    }
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

// The number of bits of v: 0 for 0 and for what is negative, else i with 2^(i-1) <= v < 2^i.
static __always_inline u32 mlbcc_bucket(u64 v) {
    u32 bits = 0;
    if ((s64)v <= 0) return 0;
    if (v >> 32) { v >>= 32; bits += 32; }
    if (v >> 16) { v >>= 16; bits += 16; }
    if (v >> 8) { v >>= 8; bits += 8; }
    if (v >> 4) { v >>= 4; bits += 4; }
    if (v >> 2) { v >>= 2; bits += 2; }
    if (v >> 1) bits += 1;
    return (bits + 1) & 63;
}
