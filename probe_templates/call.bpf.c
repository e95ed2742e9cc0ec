// What ties the two ends of a call together, and what all probes do alike.

// A probe's cookie holds the probe (22 bits), how many words of arguments its record has (5), which
// of them, counted from 1, points to text that it has, too (5), and the shapes of its entry and its
// return (16 each).
#define MLBCC_PROBE(cookie) ((u32)((cookie) & 0x3fffff))
#define MLBCC_WORDS(cookie) ((u32)((cookie) >> 22) & 31)
#define MLBCC_TEXT(cookie) ((u32)((cookie) >> 27) & 31)
#define MLBCC_ENTRY_SHAPE(cookie) ((u32)((cookie) >> 32) & 0xffff)
#define MLBCC_RETURN_SHAPE(cookie) ((u32)((cookie) >> 48))

#if MLBCC_SESSION
// A session runs one program at both ends and keeps 8 bytes for each call: its start, or the index
// of its frame. Returning 1 at entry saves the return probe. The number stands for a kernel
// function; the loader puts its BTF id there. On Linux 7 these functions take the program's
// context; before that they take nothing, and the kernel does not look at the argument. Without a
// session, all that an end must know of its beginning is in the frame.
static u64 *(*mlbcc_session_cookie)(void *ctx) = (void *)0x7fff0001;
#define MLBCC_BEGIN(value) (*mlbcc_session_cookie(call.ctx) = (value))
static bool (*mlbcc_session_is_return)(void *ctx) = (void *)0x7fff0002;
#endif

// What tells the end of a call: a session, which runs one program at both ends, or the function's own
// instructions; 0: a probe on its return, or it is none of a function.
#define MLBCC_BY_SESSION 1
#define MLBCC_BY_INSTRUCTION 2
#define MLBCC_BY_COROUTINE 3  // likewise, of a program whose threads go from stack to stack
#define MLBCC_BY_GO 4         // likewise, of a goroutine
#define MLBCC_MOVES(call) ((call)->ends_by >= MLBCC_BY_INSTRUCTION)

// The stack pointers that calls in the kernel are told apart by: a system call is above all that it
// calls there and below all of the program. A function of the kernel is where it is on the thread's
// stack, which has 16 KiB; what interrupts a thread has a stack of its own.
#define MLBCC_SYSCALL_SP 0xffffULL
#define MLBCC_KERNEL_STACK 16384ULL

static __always_inline u64 mlbcc_kernel_sp(u64 sp) {
    u64 place = 2 * MLBCC_KERNEL_STACK;
#ifdef MLBCC_TASK_STACK
    u64 stack = 0;
    bpf_probe_read_kernel(&stack, 8, (void *)(bpf_get_current_task() + MLBCC_TASK_STACK));
    if (stack && sp - stack >= MLBCC_KERNEL_STACK) place = MLBCC_KERNEL_STACK;
#endif
    return place + (sp & (MLBCC_KERNEL_STACK - 1));
}

struct call_frame;

// One end of a call, while its probe runs. Set to zero only where it becomes registers: there, what
// is not set is no memory but nothing at all to clang, and to the verifier.
struct call {
    struct pt_regs *ctx;
    struct accounts *all;
    struct thread_state *thread;
    struct call_frame *frame;
    struct record_header *record;  // to be submitted
    // The BPF stack has 512 bytes: what is needed one after the other shares its place.
    union {
        u64 taken;                 // of a template's probe: bytes of the stack that are there
        u64 size;                  // of the record, bytes; set last
    };
    union {                        // where in it go:
        struct python_stack *python;
        struct user_stack *stack;  // set last
    };
    u64 now, start;                // start: of the call; or, at return, what MLBCC_BEGIN kept
    u64 sp;                        // the same number at both ends; 0: in the kernel, or not known
    // What is known of a number in the first half of 8 bytes the verifier keeps in mind. Before Linux
    // 6.8 it takes what it has seen of it on one way for all of them: `hits`, by which it would
    // decide, stands in the second half, and the low bits of `what` are the same on all ways.
    u32 what;                      // as in record_header
    u32 hits;                      // the rules that apply: bit i for the i-th of the function
    u32 probe;
    u8 words, text;
    u8 in_kernel;                  // whether it is one of a function of the kernel
    u8 goes_on;                    // of a template's: it is not over, and told of all the same
    u64 ends_by;                   // MLBCC_BY_...; the verifier must know
    u64 at_return;                 // which of the probe's records it is
    struct identity id;
};

static __always_inline u64 mlbcc_entry_sp(struct call *call) {
    u64 sp = MLBCC_ENTRY_SP(call->ctx);
    return MLBCC_KERNEL && call->in_kernel ? mlbcc_kernel_sp(sp) : sp;
}
static __always_inline u64 mlbcc_return_sp(struct call *call) {
    u64 sp = MLBCC_RETURN_SP(call->ctx);
    return MLBCC_KERNEL && call->in_kernel ? mlbcc_kernel_sp(sp) : sp;
}

// Functions named common_... are called by the name mlbcc_... Where there are many shapes, they are
// compiled once and linked to each program that calls them (tool/compiler/link.h), for libbcc makes
// programs of one function only; where there are few, they are inlined.

// 0 where the call is not to be traced. A thread with a slot is one of a traced process.
static __always_inline u64 mlbcc_admit_in(struct call *call, u32 order) {
    call->all = 0;  // clang may copy it on a way out, where it must be something to Linux 6.1
    mlbcc_identify(&call->id);
#if !MLBCC_EVERYONE
    if (!mlbcc_suspect(call->id.tgid)) return 0;
#endif
    if (!mlbcc_slot(call->id.thread)) {
#if !MLBCC_EVERYONE
        if (!mlbcc_traced(&call->id)) return 0;
#endif
        mlbcc_claim(call->id.thread);
    }
    if (!mlbcc_takes(order, call->id.thread)) return 0;
    call->all = mlbcc_accounts();
    return call->all != 0;
}
static __always_inline u64 mlbcc_admit_untimed(struct call *call) {
    return mlbcc_admit_in(call, MLBCC_OLDER_FIRST);
}

static __always_inline u64 mlbcc_admit(struct call *call) {
    if (!mlbcc_admit_untimed(call)) return 0;
    call->now = bpf_ktime_get_ns();
    return 1;
}

static __always_inline u64 mlbcc_admit_function(struct call *call) {
    if (!mlbcc_admit_in(call, MLBCC_NEWER_FIRST)) return 0;
    call->now = bpf_ktime_get_ns();
    return 1;
}

// Whoever it is: some moments are of no process, and interrupt any.
static __always_inline u64 mlbcc_admit_all(struct call *call) {
    mlbcc_identify(&call->id);
    if (!mlbcc_takes_all()) return 0;
    call->all = mlbcc_accounts();
    call->now = bpf_ktime_get_ns();
    return call->all != 0;
}
static __always_inline u64 mlbcc_is_traced(struct call *call) {
#if !MLBCC_EVERYONE
    return mlbcc_slot(call->id.thread) || mlbcc_traced(&call->id);
#else
    return 1;
#endif
}

static __always_inline void mlbcc_know_cookie(struct call *call, u64 cookie) {
    call->probe = MLBCC_PROBE(cookie);
    call->words = MLBCC_WORDS(cookie);
    call->text = MLBCC_TEXT(cookie);
}
static __always_inline void mlbcc_take_cookie(struct call *call, u64 cookie) {
    mlbcc_know_cookie(call, cookie);
    mlbcc_hit(call->probe);
}

// `skip`, for a call whose end is of no interest.
static __always_inline int mlbcc_let_go(struct call *call, int skip) {
    struct work *mine = mlbcc_work(call->probe);
    if (mine) __sync_fetch_and_add(&mine->let_go, 1);
    return skip;
}

// A pointer that is a member of what a pointer of the kernel's points to. BCC would make a call of it.
// Not through 0: x86-64 gives 0, but on arm64 it is a fault, which may wait for a lock in the middle of a
// switch of threads, and stop the CPU for good.
#define MLBCC_POINTER_IN(pointer, offset)                                                          \
    ({                                                                                             \
        void *member_;                                                                             \
        asm("%0 = *(u64 *)(%1 + %2)" : "=r"(member_) : "r"(pointer), "i"(offset));                 \
        member_;                                                                                   \
    })

// What the kernel keeps of the thread's uprobes; 0 where it has met none.
#define MLBCC_UPROBES() MLBCC_POINTER_IN(bpf_get_current_task_btf(), MLBCC_TASK_UPROBES)

// Whether the system call that goes on is one of the 32-bit interface, whose numbers mean others: a
// 64-bit program makes them by `int 0x80`.
static __always_inline u64 mlbcc_is_of_32_bit(void) {
#ifdef MLBCC_TASK_STATUS
    u32 status = 0;
    asm("%0 = *(u32 *)(%1 + %2)"
        : "=r"(status)
        : "r"(bpf_get_current_task_btf()), "i"(MLBCC_TASK_STATUS));
    return status >> 1 & 1;  // TS_COMPAT, arch/x86/include/asm/thread_info.h
#else
    return 0;
#endif
}

// For a call whose end is wanted. Of a thread the kernel awaits so many at a time, and of those that
// begin within them none (MAX_URETPROBE_DEPTH, kernel/events/uprobes.c).
#define MLBCC_MOST_AWAITED 64
static __always_inline void mlbcc_await_end(struct call *call) {
#ifdef MLBCC_AWAITED
    if (call->in_kernel || call->sp <= MLBCC_SYSCALL_SP) return;
    u32 awaited = 0;
    void *uprobes = MLBCC_UPROBES();
    if (!uprobes) return;
    asm("%0 = *(u32 *)(%1 + %2)" : "=r"(awaited) : "r"(uprobes), "i"(MLBCC_AWAITED));
    if (awaited < MLBCC_MOST_AWAITED) return;
    struct work *mine = mlbcc_work(call->probe);
    if (mine) __sync_fetch_and_add(&mine->too_deep, 1);
#endif
}

// One record in 32 is timed: the clock's last bits, which any granularity leaves to chance, say which.
// Where it takes longer than any program does, something else ran in between.
#define MLBCC_PREEMPTED_NS 65536
static __always_inline void mlbcc_made_record(struct call *call) {
    struct work *mine = mlbcc_work(call->probe);
    if (!mine) return;
    __sync_fetch_and_add(&mine->records, 1);
    if (call->now >> 3 & 31) return;
    u64 took = bpf_ktime_get_ns() - call->now;
    if (took >= MLBCC_PREEMPTED_NS) return;
    __sync_fetch_and_add(&mine->timed_ns, took);
    __sync_fetch_and_add(&mine->timed, 1);
}

// A Go function asks at its beginning whether the stack has room for it. If not, the stack is moved,
// and it begins again. A probe on that instruction has MLBCC_CHECKS_STACK in its cookie, in the place
// of a text, which these functions have none of.
#define MLBCC_CHECKS_STACK 31

MLBCC_COMMON u64 common_enter(struct call *call) {
    u64 cookie = bpf_get_attach_cookie(call->ctx);
    if (call->ends_by == MLBCC_BY_GO && MLBCC_TEXT(cookie) == MLBCC_CHECKS_STACK &&
        MLBCC_STACK_IS_SHORT(call->ctx))
        return 0;
    if (!mlbcc_admit_function(call)) return 0;
    mlbcc_take_cookie(call, cookie);
    call->sp = mlbcc_entry_sp(call);
    return 1;
}

#if MLBCC_SESSION
// The end of a call without a frame. A process that is made in the middle of it returns, too, and has
// the cookie: but one call is one.
MLBCC_COMMON u64 common_leave(struct call *call) {
    call->now = bpf_ktime_get_ns();
    call->start = *mlbcc_session_cookie(call->ctx);
    call->all = mlbcc_accounts();
#ifdef MLBCC_TASK_START
    u64 made = 0;
    bpf_probe_read_kernel(&made, sizeof(made), (void *)(bpf_get_current_task() + MLBCC_TASK_START));
    if (made > call->start) return 0;
#endif
    return call->all != 0;
}
#endif

// Who called what; a bare count wants to know neither.
MLBCC_COMMON u64 common_know_caller(struct call *call) {
    mlbcc_identify(&call->id);
    call->probe = MLBCC_PROBE(bpf_get_attach_cookie(call->ctx));
    call->sp = mlbcc_return_sp(call);
    return 0;
}

static __always_inline u64 mlbcc_count_bits(u64 bits) {  // of 24
    bits = (bits & 0x555555) + (bits >> 1 & 0x555555);
    bits = (bits & 0x333333) + (bits >> 2 & 0x333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f;
    return (bits + (bits >> 8) + (bits >> 16)) & 31;
}

// A record counts for each rule that asked for it; `shared` says how much more than once that was.
// Where all ask that ever do, one account may stand for them.
// It comes first, so that who reads meanwhile never sees more records than there were. Inlined, for
// another call would be another 32 bytes of stack.
static __always_inline u64 mlbcc_account(struct call *call, u64 lost) {
    u32 index = 2 * call->probe + (call->at_return & 1);
    struct record_rules *wanted = record_rules.lookup(&index);
    mlbcc_made_record(call);
    if (!wanted) return 0;
    u64 rules = call->hits & wanted->mask;
    struct account *accounts = call->all->rules;
    u64 set = wanted->mask >> 32;
    if (set && rules == (u32)wanted->mask) {
        mlbcc_account_one(&accounts[set & (MLBCC_ACCOUNTS - 1)], 1, lost);
        return 0;
    }
    if (rules & (rules - 1)) {
        mlbcc_account_one(&accounts[MLBCC_SHARED], mlbcc_count_bits(rules) - 1, lost);
    }
    // Not a loop, which the verifier would go through round by round; only as many as there are.
#define MLBCC_ACCOUNT(i)                                                                           \
    if ((i) < MLBCC_RULES && (rules & 1u << (i)))                                                  \
        mlbcc_account_one(&accounts[wanted->rules[i] & (MLBCC_ACCOUNTS - 1)], 1, lost);
#define MLBCC_ACCOUNT_FOUR(i)                                                                      \
    MLBCC_ACCOUNT(i) MLBCC_ACCOUNT((i) + 1) MLBCC_ACCOUNT((i) + 2) MLBCC_ACCOUNT((i) + 3)
    MLBCC_ACCOUNT_FOUR(0)
    MLBCC_ACCOUNT_FOUR(4)
    MLBCC_ACCOUNT_FOUR(8)
    MLBCC_ACCOUNT_FOUR(12)
    MLBCC_ACCOUNT_FOUR(16)
    MLBCC_ACCOUNT_FOUR(20)
    return 0;
}

// Whether the function returns to a trampoline, which the kernel has put there for another probe.
static __always_inline u64 mlbcc_returns_to_trampoline(struct call *call) {
#ifdef MLBCC_TASK_UPROBES
    void *uprobes = MLBCC_UPROBES();
    if (!uprobes || !MLBCC_POINTER_IN(uprobes, MLBCC_RETURN_INSTANCES)) return 0;
#endif
    u64 to = 0;
    MLBCC_RETURN_ADDRESS(call->ctx, &to);
    return MLBCC_LESS(MLBCC_TRAMPOLINES - 1, to);
}

static __always_inline void mlbcc_head(struct call *call, struct record_header *header) {
    u32 what = call->what;
    if ((what & 0x7f) == 0 && call->sp > MLBCC_SYSCALL_SP)
        what |= mlbcc_returns_to_trampoline(call) << 7;
    mlbcc_header(header, &call->id, call->now, call->probe, what);
    header->sp = call->sp;
}

// 1 where the record found no room.
static __always_inline u64 mlbcc_put(struct call *call, struct record_header *header, u64 size) {
    mlbcc_head(call, header);
    return mlbcc_write(call->all, header, size);
}

// Submits call->record. One that could not even be put together has size 0, and is accounted for as one
// that found no room.
MLBCC_COMMON u64 common_submit(struct call *call) {
    u64 lost = 1;
    if (call->size > 0) lost = mlbcc_put(call, call->record, call->size);
    return mlbcc_account(call, lost);
}
static __always_inline u64 mlbcc_lose(struct call *call) {
    call->size = 0;
    return mlbcc_submit(call);
}

// `args` of most functions: the first words of the calling convention, as they are, and behind them
// the text to which one of them points.
#define MLBCC_MAX_WORDS 21
#define MLBCC_TEXT_BYTES 64
struct arguments_record {
    struct record_header header;
    u64 words[MLBCC_MAX_WORDS + MLBCC_TEXT_BYTES / 8];
};
MLBCC_SAME(arguments_record, words, 48);

// What the verifier knows of the rules that apply it would follow once for each combination of them.
#define MLBCC_FORGET(rules)                                                                        \
    do {                                                                                           \
        call.hits = rules;                                                                         \
        asm volatile("" ::: "memory");                                                             \
        rules = call.hits;                                                                         \
    } while (0)

// The verifier must see each bound where the number is used; clang may know it already.
#define MLBCC_SEEN(number) asm volatile("" : "+r"(number))

// Memory behind an argument: of the kernel's functions it may be the kernel's.
static __always_inline void mlbcc_read_for(struct call *call, void *to, u64 size, u64 from) {
    if (MLBCC_KERNEL && call->in_kernel) bpf_probe_read_kernel(to, size, (void *)from);
    else bpf_probe_read_user(to, size, (void *)from);
}
static __always_inline void mlbcc_text_for(struct call *call, char *to, u32 size, u64 from) {
    if (MLBCC_KERNEL && call->in_kernel) mlbcc_read_any_text(to, size, from);
    else mlbcc_read_text(to, size, from);
}

static __always_inline void mlbcc_take_arguments(struct call *call, u64 *to) {
    if (call->ends_by == MLBCC_BY_GO) MLBCC_TAKE_GO_REGISTERS(call->ctx, to);
    else MLBCC_TAKE_REGISTERS(call->ctx, to);
}

MLBCC_COMMON u64 common_submit_arguments(struct call *call) {
    struct arguments_record record = {};
    u64 count = call->words, text = (u64)call->text - 1;
    mlbcc_take_arguments(call, record.words);
    if (count > MLBCC_REGISTERS) {
        u64 more = count - MLBCC_REGISTERS;
        MLBCC_SEEN(more);
        u64 from = MLBCC_STACK_ARG(call->ctx, 0);
        mlbcc_read_for(call, &record.words[MLBCC_REGISTERS], (more & 15) * 8, from);
    }
    MLBCC_SEEN(count);
    if (count > MLBCC_MAX_WORDS) return 0;
    u64 size = sizeof(struct record_header) + count * 8;
    MLBCC_SEEN(text);
    if (text < MLBCC_MAX_WORDS) {
        mlbcc_text_for(call, (char *)&record.words[count], MLBCC_TEXT_BYTES, record.words[text]);
        size += MLBCC_TEXT_BYTES;
    }
    return mlbcc_account(call, mlbcc_put(call, &record.header, size));
}

// For all rules that have a record of the call's beginning.
static __always_inline void mlbcc_record_beginning(struct call *call) {
    u32 index = 2 * call->probe;
    struct record_rules *wanted = record_rules.lookup(&index);
    if (!wanted) return;
    call->hits = wanted->mask;
    call->at_return = 0;
    call->what = call->hits << 8;
    mlbcc_submit_arguments(call);
}

static __always_inline u64 mlbcc_ppid(struct call *call) {
#if !MLBCC_EVERYONE
    u32 tgid = call->id.tgid;
    struct process *known = traced.lookup(&tgid);
    if (known) return known->ppid;
#endif
    return 0;
}
