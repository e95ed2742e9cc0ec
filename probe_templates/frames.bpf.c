// Open calls of each thread, innermost last. A frame is known by the stack pointer at entry, so that
// recursion and tail calls find their own, and calls that longjmp left are dropped by the next one
// above them.

struct call_frame {
    u64 sp, start;
    u32 probe, hits;
    u8 saved[MLBCC_SAVED_BYTES];  // values known at entry and wanted at return
};

struct thread_state {
    u32 depth, unused;
    struct call_frame frames[MLBCC_FRAMES];
    u8 scratch[MLBCC_SCRATCH_BYTES];  // where a record too large for BPF's stack is put together
};

BPF_F_TABLE("hash", u32, struct thread_state, threads, 65536, BPF_F_NO_PREALLOC);
BPF_ARRAY(blank_thread, struct thread_state, 1);

static __always_inline struct thread_state *mlbcc_thread(struct identity *id) {
    struct thread_state *thread = threads.lookup(&id->thread);
    if (thread) return thread;
    int zero = 0;
    struct thread_state *blank = blank_thread.lookup(&zero);
    if (!blank) return 0;
    threads.update(&id->thread, blank);
    return threads.lookup(&id->thread);
}

// A thread whose frames are all in use: its call has no frame. At return, a session knows that.
#define MLBCC_NO_FRAME (~0ULL)
#if MLBCC_SESSION
#define MLBCC_FRAMELESS() 0
#else
#define MLBCC_FRAMELESS() (mlbcc_account(&all->rules[MLBCC_ALL_RULES], 1), 0)
#endif

// The mask must stay where the verifier sees it, though clang may know that it changes nothing.
static __always_inline struct call_frame *mlbcc_frame(struct thread_state *thread, u64 index) {
    asm volatile("" : "+r"(index));
    return &thread->frames[index & (MLBCC_FRAMES - 1)];
}

// Drops a few frames of calls that longjmp left, if there are any: more than one push adds.
static __always_inline struct call_frame *mlbcc_push(struct thread_state *thread, u64 sp,
                                                     u64 *index) {
    u64 depth = thread->depth;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (depth > 0 && mlbcc_frame(thread, depth - 1)->sp < sp) depth--;
    }
    if (depth >= MLBCC_FRAMES) return 0;
    thread->depth = depth + 1;
    *index = depth;
    return mlbcc_frame(thread, depth);
}

#if MLBCC_SESSION
// The kernel keeps the frame's index with the call.
static __always_inline struct call_frame *mlbcc_pop(struct thread_state *thread, u64 sp, u32 probe,
                                                    u64 index) {
    if (index == MLBCC_NO_FRAME) return 0;
    struct call_frame *frame = mlbcc_frame(thread, index);
    if (frame->sp != sp || frame->probe != probe) return 0;
    thread->depth = (u32)index & (MLBCC_FRAMES - 1);
    return frame;
}
#else
static __always_inline struct call_frame *mlbcc_pop(struct thread_state *thread, u64 sp, u32 probe,
                                                    u64 unused) {
    u64 depth = thread->depth;
    for (u32 i = 0; i < MLBCC_FRAMES; i++) {
        asm volatile("" : "+r"(i));  // a counter of its own, so that the verifier sees the end
        if (depth == 0) return 0;
        struct call_frame *frame = mlbcc_frame(thread, depth - 1);
        if (frame->sp > sp) return 0;
        depth--;
        if (frame->sp == sp && frame->probe == probe) {
            thread->depth = depth;
            return frame;
        }
    }
    return 0;
}
#endif

#define MLBCC_SAVED(type, offset) (*(type *)(frame->saved + (offset)))
