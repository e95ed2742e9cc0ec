// Open calls of each thread, innermost last. A frame is known by the stack pointer at entry, so that
// recursion and tail calls find their own, and calls that longjmp left are dropped by the next one
// above them.

// What a session keeps of a call without a frame.
#define MLBCC_NO_FRAME (~0ULL)
#define MLBCC_SAVED(type, offset) (*(type *)((u8 *)frame->saved + (offset)))

// The thread's state, in call->thread; 0 where there is no room for it.
MLBCC_COMMON u64 common_find_thread(struct call *call) {
    u32 thread = call->id.thread;
    struct thread_state *state = mlbcc_slot(thread);
    if (!state) state = threads.lookup(&thread);
    if (!state) {
        int zero = 0;
        struct thread_state *blank = blank_thread.lookup(&zero);
        if (!blank) return 0;
        threads.update(&thread, blank);
        state = threads.lookup(&thread);
    }
    call->thread = state;
    return state != 0;
}

// The mask must stay where the verifier sees it, though clang may know that it changes nothing.
static __always_inline struct call_frame *mlbcc_frame(struct thread_state *thread, u64 index) {
    asm volatile("" : "+r"(index));
    return &thread->frames[index & (MLBCC_FRAMES - 1)];
}

// What is added to a thread's own time of an aggregate while a call is open is that of calls within it.
#ifdef MLBCC_OWN
static __always_inline void mlbcc_begin_own(struct call *call) {
    struct thread_state *thread = call->thread;
    struct call_frame *frame = call->frame;
    if (!thread || !frame) return;
#pragma unroll
    for (int i = 0; i < MLBCC_OWN; i++) frame->own[i] = thread->own[i];
}
static __always_inline u64 mlbcc_end_own(struct call *call, u32 index, u64 took) {
    struct thread_state *thread = call->thread;
    struct call_frame *frame = call->frame;
    if (!thread || !frame) return took;
    u64 within = thread->own[index] - frame->own[index];
    u64 own = within < took ? took - within : 0;
    thread->own[index] += own;
    return own;
}
#else
#define mlbcc_begin_own(call)
#endif

// A frame for this call, in call->frame; 0 where all are in use. Drops a few frames of calls that
// longjmp left, if there are any: more than one push adds.
MLBCC_COMMON u64 common_push(struct call *call) {
    u64 sp = call->sp;
#ifdef MLBCC_MOVING
    if (MLBCC_MOVES(call)) {
#ifdef MLBCC_OWN
        if (!mlbcc_find_thread(call)) return 0;
#endif
        if (!mlbcc_push_moving(call)) return 0;
        mlbcc_begin_own(call);
        return 1;
    }
#endif
    mlbcc_await_end(call);
#if MLBCC_SESSION
    u64 *kept = 0;
    if (call->ends_by == MLBCC_BY_SESSION) {
        kept = mlbcc_session_cookie(call->ctx);
        *kept = MLBCC_NO_FRAME;
    }
#endif
    if (!mlbcc_find_thread(call)) return 0;
    struct thread_state *thread = call->thread;
    if (!thread) return 0;
    u64 depth = thread->depth;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        depth -= MLBCC_LESS(0, depth) & MLBCC_LESS(mlbcc_frame(thread, depth - 1)->sp, sp);
    }
    if (depth >= MLBCC_FRAMES) return 0;
    // Who comes between drops frames by what stands there, and before `depth` is set takes the same one.
    struct call_frame *frame = mlbcc_frame(thread, depth);
    frame->sp = sp;
    asm volatile("" ::: "memory");
    thread->depth = depth + 1;
    asm volatile("" ::: "memory");
#if MLBCC_SESSION
    if (kept) *kept = depth;
#endif
    frame->sp = sp;
    frame->start = call->now;
    frame->probe = call->probe;
    frame->hits = call->hits;
    frame->unread = 0;
    MLBCC_TAKE_REGISTERS(call->ctx, frame->saved);
    call->frame = frame;
    mlbcc_begin_own(call);
    return 1;
}

// The frame of the call that has just begun.
static __always_inline struct call_frame *mlbcc_innermost(void) {
    u32 id = bpf_get_current_pid_tgid();
    struct thread_state *thread = mlbcc_slot(id);
    if (!thread) thread = threads.lookup(&id);
    if (!thread) return 0;
    u64 depth = thread->depth;
    return mlbcc_frame(thread, depth - 1);
}

// A thread whose frames are all in use: without a session, what its call's return would record is
// lost here.
#define MLBCC_FRAMELESS() (call.ends_by == MLBCC_BY_SESSION ? 0 : mlbcc_lose(&call))

// The kernel keeps the frame's index with the call.
static __always_inline struct call_frame *mlbcc_pop_kept(struct thread_state *thread,
                                                         struct call *call) {
    u64 index = call->start;
    if (index == MLBCC_NO_FRAME) return 0;
    struct call_frame *frame = mlbcc_frame(thread, index);
    if (frame->sp != call->sp) return 0;
    call->probe = frame->probe;
    thread->depth = (u32)index & (MLBCC_FRAMES - 1);
    return frame;
}

static __always_inline struct call_frame *mlbcc_pop_found(struct thread_state *thread,
                                                          struct call *call) {
    u64 depth = thread->depth;
    struct call_frame *found = 0;
    for (u32 i = 0; i < MLBCC_FRAMES && depth > 0; i++) {
        asm volatile("" : "+r"(i));  // a counter of its own, so that the verifier sees the end
        struct call_frame *frame = mlbcc_frame(thread, depth - 1);
        if (frame->sp > call->sp) break;
        depth--;
        if (frame->sp == call->sp && frame->probe == call->probe) {
            found = frame;
            break;
        }
    }
    if (found) thread->depth = depth;
    return found;
}

// A program takes another's place in the middle of a system call, which then ends in the new one.
// All else that the old one had begun is over.
static __always_inline int mlbcc_goes_on(u32 id) {
    struct thread_state *thread = mlbcc_slot(id);
    if (!thread) thread = threads.lookup(&id);
    if (!thread || thread->depth == 0) return 0;
    struct call_frame *frame = mlbcc_frame(thread, thread->depth - 1);
    // Functions of the kernel that are open within it keep what they know of their frames.
    if (frame->sp < MLBCC_SYSCALL_SP) return 1;
    if (frame->sp != MLBCC_SYSCALL_SP) return 0;
    bpf_probe_read_kernel(&thread->frames[0], sizeof(*frame), frame);
    thread->depth = 1;
    return 1;
}

// The end of a call that has a frame: in call->frame. 0 where it has none. Of a function, `sp` is 0
// and `probe` not known yet.
static __always_inline u64 mlbcc_end_frame(struct call *call) {
    call->now = bpf_ktime_get_ns();
    call->start = 0;
    mlbcc_identify(&call->id);
#if MLBCC_SESSION
    if (call->ends_by == MLBCC_BY_SESSION) call->start = *mlbcc_session_cookie(call->ctx);
#endif
    if (!call->sp) {
        call->sp = MLBCC_MOVES(call) ? mlbcc_entry_sp(call) : mlbcc_return_sp(call);
        if (call->ends_by != MLBCC_BY_SESSION)
            call->probe = MLBCC_PROBE(bpf_get_attach_cookie(call->ctx));
    }
    call->all = mlbcc_accounts();
    if (!call->all) return 0;
#ifdef MLBCC_MOVING
    if (MLBCC_MOVES(call)) {
        if (!mlbcc_find_thread(call)) return 0;
        struct thread_state *here = call->thread;
        return here ? mlbcc_end_moving(call, &here->ended) : 0;
    }
#endif
    u32 id = call->id.thread;
    struct thread_state *thread = mlbcc_slot(id);
    if (!thread) thread = threads.lookup(&id);
    struct call_frame *frame = 0;
    if (thread) {
        frame = call->ends_by == MLBCC_BY_SESSION ? mlbcc_pop_kept(thread, call)
                                                  : mlbcc_pop_found(thread, call);
    }
    if (!frame) return 0;
    call->thread = thread;
    call->frame = frame;
    call->start = frame->start;
    call->hits = frame->hits;
    return 1;
}
MLBCC_COMMON u64 common_find_frame(struct call *call) {
    return mlbcc_end_frame(call);
}
// Likewise; what a call without a frame would have recorded is lost.
MLBCC_COMMON u64 common_leave_frame(struct call *call) {
    if (mlbcc_end_frame(call)) return 1;
    if (call->all && call->ends_by == MLBCC_BY_SESSION && call->start == MLBCC_NO_FRAME) {
        call->probe = MLBCC_PROBE(bpf_get_attach_cookie(call->ctx));
        mlbcc_lose(call);
    }
    return 0;
}

#if MLBCC_ENDS || MLBCC_SYSCALL_ENDS
// The record is in the thread's scratch.
static __always_inline void mlbcc_leave_behind(struct call *call) {
    struct thread_state *thread = call->thread;
    struct record_header *header = (struct record_header *)thread->scratch;
    header->time_ns = call->now;
    header->probe = call->probe;
    header->what = call->what;
    header->pid = call->id.pid;
    header->tid = call->id.tid;
    header->sp = call->sp;
    thread->left.size = call->size;
    thread->left.hits = call->hits;
}
// Its Python functions are to be found then: `place` is theirs in the record, bytes.
static __always_inline void mlbcc_leave_python(struct call *call, u32 place, u32 wanted) {
    struct thread_state *thread = call->thread;
    struct python_stack *stack = (struct python_stack *)((u8 *)thread->scratch + place);
    stack->count = 0;
    stack->state = 0;
    thread->left.python = wanted ? place : 0;
}
#if MLBCC_STACKS
static __always_inline void mlbcc_leave_stack(struct call *call, u32 place) {
    struct thread_state *thread = call->thread;
    thread->left.stack = place;
}
#endif
static __always_inline u64 mlbcc_find_behind(struct call *call) {
    u64 both = bpf_get_current_pid_tgid();
    u32 id = both;
    struct thread_state *thread = mlbcc_slot(id);
    if (!thread) thread = threads.lookup(&id);
    call->all = mlbcc_accounts();
    if (!thread || !call->all) return 0;
    struct record_header *header = (struct record_header *)thread->scratch;
    call->thread = thread;
    call->now = header->time_ns;
    call->probe = header->probe;
    call->what = header->what;
    call->id.tgid = both >> 32;
    call->id.thread = id;
    call->id.pid = header->pid;
    call->id.tid = header->tid;
    call->sp = header->sp;
    call->hits = thread->left.hits;
    call->at_return = call->what & 1;
    call->record = header;
    return 1;
}
static __always_inline void mlbcc_submit_behind(struct call *call) {
    struct thread_state *thread = call->thread;
    if (!thread) return;
#if MLBCC_PYTHON
    u64 place = thread->left.python;
    if (place) {
        // Of two bounds clang makes one, of another number: to Linux 6.1 it says nothing of this one.
        MLBCC_SEEN(place);
        if (place <= MLBCC_SCRATCH_BYTES - sizeof(struct python_stack)) {
            MLBCC_SEEN(place);
            thread->left.python = 0;
            call->python = (struct python_stack *)((u8 *)thread->scratch + place);
            if (mlbcc_walk_python(call)) mlbcc_name_pythons(call);
        }
    }
#endif
    u64 size = thread->left.size;
    MLBCC_SEEN(size);
    if (size > MLBCC_SCRATCH_BYTES) return;
    call->size = size;
#if MLBCC_STACKS
    u64 stack = thread->left.stack;  // its place in the record, bytes
    MLBCC_SEEN(stack);
    if (stack > MLBCC_SCRATCH_BYTES - sizeof(struct user_stack)) return;
    MLBCC_SEEN(stack);
    call->stack = (struct user_stack *)((u8 *)thread->scratch + stack);
    if (stack) mlbcc_submit_stack(call);
    else
#endif
        mlbcc_submit(call);
}
#endif

#if MLBCC_ENDS
// The programs of end.bpf.c and lose.bpf.c, which all functions share.
#define MLBCC_END_CALL 0
#define MLBCC_LOSE_CALL 1
BPF_PROG_ARRAY(ends, 2);
#if MLBCC_SESSION
static __always_inline u64 mlbcc_had_no_frame(struct call *call) {
    call->probe = MLBCC_PROBE(bpf_get_attach_cookie(call->ctx));
    call->at_return = 1;
    call->now = bpf_ktime_get_ns();
    u32 index = 2 * call->probe + 1;
    struct record_rules *wanted = record_rules.lookup(&index);
    call->all = mlbcc_accounts();
    if (!wanted || !call->all) return 0;
    call->hits = wanted->mask;
    return *mlbcc_session_cookie(call->ctx) == MLBCC_NO_FRAME;
}
#endif
#endif
