// All system calls by two tracepoints, whatever the number of names that rules want.

// By number: the probe's cookie, or 0 where nobody wants it. Of an end that has nothing to do the
// shape is MLBCC_NO_SHAPE.
BPF_ARRAY(syscalls, u64, MLBCC_SYSCALLS);

static __always_inline u64 mlbcc_syscall_cookie(u64 number) {
    u32 index = number;
    u64 *cookie = syscalls.lookup(&index);
    return cookie ? *cookie : 0;
}

// Of a call that begins: whether its number stands for another one. Of traced processes they are counted.
static __always_inline int mlbcc_is_other_call(u64 cookie) {
    if (!mlbcc_is_of_32_bit()) return 0;
    struct call call MLBCC_UNSET;
    mlbcc_identify(&call.id);
    struct work *mine = mlbcc_is_traced(&call) ? mlbcc_work(MLBCC_PROBE(cookie)) : 0;
    if (mine) __sync_fetch_and_add(&mine->of_32_bit, 1);
    return 1;
}

#if MLBCC_ANSWERS
static __always_inline u32 mlbcc_number_of_registers(struct bpf_raw_tracepoint_args *at) {
    u32 number = ~0u;
    u64 place = MLBCC_SYSCALL_REGISTERS(at) + __builtin_offsetof(struct pt_regs, MLBCC_CALL_NUMBER);
    bpf_probe_read_kernel(&number, sizeof(number), (void *)place);
    return number;
}
#endif

#if MLBCC_HOLDS
static __always_inline struct held_call *mlbcc_held(u32 thread) {
    u64 begun = mlbcc_begun(thread);
    if (begun && !(begun & MLBCC_HELD)) return 0;
    return held_calls.lookup(&thread);
}
// Likewise, where its beginning is told now.
static __always_inline struct held_call *mlbcc_told(void) {
    struct held_call *held = mlbcc_held(bpf_get_current_pid_tgid());
    return held && held->told ? held : 0;
}
#endif

// Which call begins; this may be told at its end.
static __always_inline u32 mlbcc_call_number(struct bpf_raw_tracepoint_args *at) {
#if MLBCC_ANSWERS
    u64 begun = mlbcc_begun(bpf_get_current_pid_tgid());
    return begun ? (u32)begun - 1 : mlbcc_number_of_registers(at);
#else
    return MLBCC_SYSCALL_NUMBER(at);
#endif
}

// What the call returned. Where a filter answers by a signal (SIGSYS), or by the program's end, the
// kernel puts the call's number there: it is a call in whose place a signal came, ERESTARTSYS.
static __always_inline u64 mlbcc_syscall_result(struct bpf_raw_tracepoint_args *at) {
    u64 result = MLBCC_SYSCALL_RESULT(at);
#ifdef MLBCC_TASK_PENDING
    if (result < MLBCC_SYSCALLS) {
        u64 signals = 0, task = bpf_get_current_task();
        bpf_probe_read_kernel(&signals, sizeof(signals), (void *)(task + MLBCC_TASK_PENDING));
        if (signals >> 30 & 1) return -512;
    }
#endif
    return result;
}

// The program's registers, with the arguments where a function would have them. 0: a call of the
// 32-bit interface, whose numbers mean others.
static __always_inline int mlbcc_take_registers(struct call *call, MLBCC_SYSCALL_COPY *registers,
                                                u64 from) {
    if (!MLBCC_COPY_REGISTERS(registers, from)) return 0;
    MLBCC_ARGUMENTS_OF_SYSCALL(registers);
    call->ctx = (struct pt_regs *)registers;
    call->sp = MLBCC_SYSCALL_SP;
    return !MLBCC_IS_32_BIT(registers);
}
static __always_inline int mlbcc_syscall_registers(struct call *call, MLBCC_SYSCALL_COPY *registers,
                                                   struct bpf_raw_tracepoint_args *at) {
    return mlbcc_take_registers(call, registers, MLBCC_SYSCALL_REGISTERS(at));
}

#if MLBCC_HOLDS
// Text of at most `size` bytes.
BPF_PERCPU_ARRAY(held_text, struct { char text[512]; }, 1);
static __always_inline u64 mlbcc_is_missing_text(u64 from, u32 size) {
    char first;
    if (from < 4096 || (s64)from < 0) return 0;
    if (bpf_probe_read_user(&first, 1, (void *)from) != 0) return 1;
    if ((from & 4095) + size <= 4096) return 0;
    int zero = 0;
    void *room = held_text.lookup(&zero);
    return room && bpf_probe_read_user_str(room, size, (void *)from) < 0;
}
static __always_inline u64 mlbcc_is_missing(u64 from, u32 size) {
    u64 room;
    return from >= 4096 && (s64)from >= 0 && bpf_probe_read_user(&room, size, (void *)from) != 0;
}

// 1: nothing is told of the call yet. A new program has other memory: before it takes the place of the
// old one there must be a moment (syscalls_prepare.bpf.c). A filter has answered a call that is told
// when it ends, and nobody has read what it was given.
static __always_inline int mlbcc_hold(struct call *call, struct bpf_raw_tracepoint_args *at) {
    u32 thread = call->id.thread;
    if (mlbcc_told()) return 0;
    if (mlbcc_begun(thread) & MLBCC_ANSWERED) return 0;
    struct held_call held = {call->now, MLBCC_SYSCALL_REGISTERS(at), MLBCC_SYSCALL_NUMBER(at)};
    if (MLBCC_IS_EXEC(held.number) && !MLBCC_PREPARES_EXEC) return 0;
    if (held_calls.update(&thread, &held) != 0) return 0;
    mlbcc_begin(thread, MLBCC_HELD | ((u64)held.number + 1));
    return 1;
}

// The call that was held, as it was when it began.
static __always_inline int mlbcc_take_held(struct call *call, struct held_call *held) {
    u32 order = MLBCC_OLDER_FIRST;
    u32 *state = control.lookup(&order);
    call->all = mlbcc_accounts();
    if (!state || *state == MLBCC_PASS || !call->all) return 0;
    mlbcc_identify(&call->id);
    call->now = held->since;
    return 1;
}
// The argument that the record's text is behind.
#define MLBCC_TEXT_ARGUMENT(call, ctx)                                                             \
    ((call).text == 1   ? MLBCC_ARG0(ctx)                                                          \
     : (call).text == 2 ? MLBCC_ARG1(ctx)                                                          \
     : (call).text == 3 ? MLBCC_ARG2(ctx)                                                          \
     : (call).text == 4 ? MLBCC_ARG3(ctx)                                                          \
     : (call).text == 5 ? MLBCC_ARG4(ctx)                                                          \
     : (call).text == 6 ? MLBCC_ARG5(ctx)                                                          \
                        : 0)
#define MLBCC_HOLD(missing) ((missing) && mlbcc_hold(&call, at))
#else
#define mlbcc_is_missing_text(from, size) 0
#define mlbcc_is_missing(from, size) 0
#define MLBCC_HOLD(missing) 0
#endif

static __always_inline int mlbcc_syscall_begins(struct call *call, MLBCC_SYSCALL_COPY *registers,
                                                struct bpf_raw_tracepoint_args *at) {
#if MLBCC_HOLDS
    struct held_call *held = mlbcc_told();
    if (held) {
        if (!mlbcc_take_held(call, held)) return 0;
        mlbcc_know_cookie(call, mlbcc_syscall_cookie(held->number));  // it was a hit when it began
        return mlbcc_take_registers(call, registers, held->registers);
    }
#endif
    u64 cookie = mlbcc_syscall_cookie(mlbcc_call_number(at));
    if (!cookie || MLBCC_ENTRY_SHAPE(cookie) == MLBCC_NO_SHAPE) return 0;
    if (!mlbcc_admit(call) || !mlbcc_syscall_registers(call, registers, at)) return 0;
    mlbcc_take_cookie(call, cookie);
    return 1;
}

// The cookie of the call that ends, or 0. A return from a signal's handler has put back registers
// that say of no call. What a new process does first looks like the end of the call that made it.
static __always_inline u64 mlbcc_syscall_ended(struct bpf_raw_tracepoint_args *at) {
    struct mlbcc_syscall_rest rest;
    void *from = (void *)(MLBCC_SYSCALL_REGISTERS(at) + MLBCC_SYSCALL_REST);
    if (bpf_probe_read_kernel(&rest, sizeof(rest), from) != 0) return 0;
    u32 number = rest.number;
    if (MLBCC_IS_32_BIT(&rest) || mlbcc_is_of_32_bit()) return 0;
    if (number == ~0u) number = MLBCC_SIGRETURN;
    if (MLBCC_SYSCALL_RESULT(at) == 0 && MLBCC_IS_FORK(number)) return 0;
    return mlbcc_syscall_cookie(number);
}

static __always_inline int mlbcc_syscall_ends(struct call *call,
                                              struct bpf_raw_tracepoint_args *at) {
    u64 cookie = mlbcc_syscall_ended(at);
    if (!cookie || MLBCC_RETURN_SHAPE(cookie) == MLBCC_NO_SHAPE) return 0;
    call->probe = MLBCC_PROBE(cookie);
    return 1;
}

// Where nothing was done when it began.
static __always_inline int mlbcc_syscall_hits(struct call *call,
                                              struct bpf_raw_tracepoint_args *at) {
    if (!mlbcc_syscall_ends(call, at)) return 0;
    mlbcc_hit(call->probe);
    return 1;
}

// The end is all that is looked at: no frame says that the call is traced.
static __always_inline int mlbcc_syscall_completes(struct call *call, MLBCC_SYSCALL_COPY *registers,
                                                   struct bpf_raw_tracepoint_args *at) {
    if (!mlbcc_admit(call)) return 0;
    call->start = call->now;
    return mlbcc_syscall_hits(call, at) && mlbcc_syscall_registers(call, registers, at);
}

// Of the call nobody asks for more than which it was, whose, and its result.
static __always_inline int mlbcc_syscall_counts(struct call *call, MLBCC_SYSCALL_COPY *registers,
                                                struct bpf_raw_tracepoint_args *at) {
    return mlbcc_admit_untimed(call) && mlbcc_syscall_hits(call, at);
}

static __always_inline int mlbcc_syscall_returns(struct call *call, MLBCC_SYSCALL_COPY *registers,
                                                 struct bpf_raw_tracepoint_args *at) {
#if !MLBCC_EVERYONE
    if (!mlbcc_suspect(bpf_get_current_pid_tgid() >> 32)) return 0;
#endif
    return mlbcc_syscall_ends(call, at) && mlbcc_syscall_registers(call, registers, at);
}

// A call of which only the end was seen took a time that nobody knows: none.
static __always_inline void mlbcc_time_answer(struct call *call) {
#if MLBCC_ANSWERS
    if (mlbcc_begun(bpf_get_current_pid_tgid()) == MLBCC_ANSWER_ENDS) call->now = call->start;
#endif
}

#if MLBCC_TIMED
static __always_inline int mlbcc_syscall_starts(struct bpf_raw_tracepoint_args *at) {
    struct call call MLBCC_UNSET;
    u64 cookie = mlbcc_syscall_cookie(mlbcc_call_number(at));
    if (!cookie || MLBCC_ENTRY_SHAPE(cookie) == MLBCC_NO_SHAPE || !mlbcc_admit(&call)) return 0;
    call.probe = MLBCC_PROBE(cookie);
    mlbcc_hit(call.probe);
    if (mlbcc_note_start(call.id.thread, call.now)) return 0;
    call.hits = ~0u;
    call.at_return = 1;
    return mlbcc_lose(&call);
}

// That its beginning was seen says that the call is traced; all else is decided now.
static __always_inline int mlbcc_syscall_took(struct call *call, MLBCC_SYSCALL_COPY *registers,
                                              struct bpf_raw_tracepoint_args *at) {
    u64 both = bpf_get_current_pid_tgid();
#if !MLBCC_EVERYONE
    if (!mlbcc_suspect(both >> 32)) return 0;
#endif
    call->start = mlbcc_take_start(both);
    call->all = mlbcc_accounts();
    if (!call->start || !call->all) return 0;
    mlbcc_identify(&call->id);
    call->now = bpf_ktime_get_ns();
    mlbcc_time_answer(call);
    return mlbcc_syscall_ends(call, at) && mlbcc_syscall_registers(call, registers, at);
}
#endif

#if MLBCC_USES_FRAMES
// As mlbcc_submit_arguments(), which needs more of BPF's stack than the registers have left.
MLBCC_COMMON u64 common_submit_syscall(struct call *call) {
    if (!mlbcc_find_thread(call)) return mlbcc_lose(call);
    struct thread_state *thread = call->thread;
    if (!thread) return 0;
    u64 count = call->words, text = (u64)call->text - 1;
    u64 *words = &thread->scratch[sizeof(struct record_header) / 8];
    MLBCC_TAKE_REGISTERS(call->ctx, words);
    MLBCC_SEEN(count);
    if (count > MLBCC_REGISTERS) return 0;
    u64 size = sizeof(struct record_header) + count * 8;
    MLBCC_SEEN(text);
    if (text < MLBCC_REGISTERS) {
        mlbcc_read_text((char *)&words[count], MLBCC_TEXT_BYTES, words[text]);
        size += MLBCC_TEXT_BYTES;
    }
    return mlbcc_account(call, mlbcc_put(call, (struct record_header *)thread->scratch, size));
}
#endif

// Where there are several shapes of an end, one program passes each call on to its own.
#define MLBCC_END_SYSCALL MLBCC_SHAPES  // behind them, the program of syscall_end.bpf.c
BPF_PROG_ARRAY(syscall_shapes, MLBCC_SHAPES + 1);
static __always_inline int mlbcc_syscall_pass(struct bpf_raw_tracepoint_args *at, u64 cookie,
                                              int at_end) {
    if (!cookie) return 0;
    u32 shape = at_end ? MLBCC_RETURN_SHAPE(cookie) : MLBCC_ENTRY_SHAPE(cookie);
    syscall_shapes.call(at, shape);
    return 0;
}

#if MLBCC_ANSWERS
// The cookie of a call that ends, if a filter (seccomp) answered it: then the kernel tells its end alone.
// A thread that has a filter was in no call that it began. What a thread that was there before the trace
// was in then is not known.
static __always_inline u64 mlbcc_is_answered(struct bpf_raw_tracepoint_args *at) {
    u32 thread = bpf_get_current_pid_tgid();
    u64 begun = mlbcc_begun(thread);
    mlbcc_begin(thread, MLBCC_IN_NO_CALL);
    if (begun != MLBCC_IN_NO_CALL && begun != MLBCC_ANSWER_ENDS) return 0;
    u32 number = mlbcc_number_of_registers(at);
    u64 cookie = mlbcc_syscall_cookie(number);
    if (!cookie || MLBCC_ENTRY_SHAPE(cookie) == MLBCC_NO_SHAPE) return 0;
    // A new process, or program, comes out of a call that another began.
    if (MLBCC_SYSCALL_RESULT(at) == 0 && (MLBCC_IS_FORK(number) || MLBCC_IS_EXEC(number))) return 0;
    u32 mode = 0;
    u64 task = bpf_get_current_task();
    bpf_probe_read_kernel(&mode, sizeof(mode), (void *)(task + MLBCC_TASK_SECCOMP));
    if (mode < 2) return 0;  // it has no filter; 3: the filter ends it
    mlbcc_begin(thread, MLBCC_ANSWERED | ((u64)number + 1));
    return cookie;
}
#endif

#if MLBCC_HOLDS
// Goes on with the beginning of a call that was held, if the thread is in one.
static __always_inline void mlbcc_tell_held(struct bpf_raw_tracepoint_args *at, u32 within) {
    struct held_call *held = mlbcc_held(bpf_get_current_pid_tgid());
    if (!held) return;
    held->told = within;
    mlbcc_syscall_pass(at, mlbcc_syscall_cookie(held->number), 0);
}
// Its beginning has been told. 0, or the cookie of a call whose end comes now.
static __always_inline u64 mlbcc_let_held_go(void) {
    u32 thread = bpf_get_current_pid_tgid();
    struct held_call *held = mlbcc_told();
    if (!held) return 0;
    u32 number = held->number, told = held->told;
    held_calls.delete(&thread);
    mlbcc_begin(thread, told == MLBCC_TOLD_AT_END ? MLBCC_IN_NO_CALL : (u64)number + 1);
    return told == MLBCC_TOLD_AT_END ? mlbcc_syscall_cookie(number) : 0;
}
#endif

// Behind the beginning of a call that is told at its end comes the end.
static __always_inline int mlbcc_go_to_end(struct bpf_raw_tracepoint_args *at) {
#if MLBCC_HOLDS
    u64 held = mlbcc_let_held_go();
    if (held) return mlbcc_syscall_pass(at, held, 1);
#endif
#if MLBCC_ANSWERS
    u32 thread = bpf_get_current_pid_tgid();
    u64 begun = mlbcc_begun(thread);
    if (!(begun & MLBCC_ANSWERED)) return 0;
    u64 cookie = mlbcc_syscall_cookie((u32)begun - 1);
    mlbcc_begin(thread, MLBCC_ANSWER_ENDS);
    return mlbcc_syscall_pass(at, cookie, 1);
#else
    return 0;
#endif
}
