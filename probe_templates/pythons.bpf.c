// Which of the traced processes run Python, and where its state lies in them, from the places that
// tool/python/file.cpp knows.

struct python {      // of one process
    u64 state;       // address of its _PyRuntimeState
    u32 bytes;       // how large that is
    u16 key;         // in it: the Py_tss_t by which a thread has its PyThreadState
    u16 thread_id;   // in PyThreadState: pthread_self()
    u16 frame;       // likewise: the innermost frame, or with `indirect` what has it ...
    u16 inner;       // ... there
    u16 back, code;  // in a frame: its caller, its code object
    u16 owner;       // likewise: what it is owned by, in a byte ...
    u16 names;       // in a code object: its file's name, and behind that its own
    u16 line;        // likewise: the first line
    u8 ascii, text;  // bytes before the characters: of ASCII, of other text
    u8 c_stack;      // ... that says this of a frame that stands for a call from C
    u8 indirect;
    u8 holder;       // so far before `key`: the PyThreadState that has the lock of all interpreters
    u8 interpreters; // in the state: the newest one; 0 where `key` follows the thread (3.12)
    u8 threads;      // in an interpreter: its newest PyThreadState
    u8 unused;
};
_Static_assert(sizeof(struct python) == 40, "python");

// By process. One may have ended before it was told of.
BPF_TABLE("lru_hash", u32, struct python, pythons, 8192);
BPF_ARRAY(python_files, struct python, 256);  // `state` counts from where python_starts is attached

#if MLBCC_NAMESPACE
BPF_HASH(python_seeds, u32, struct python, 1024);  // by pid as the tracer's namespace names it
#endif

static __always_inline struct python *mlbcc_python_of(struct identity *id) {
    u32 tgid = id->tgid;
    struct python *known = pythons.lookup(&tgid);
#if MLBCC_NAMESPACE
    u32 pid = id->pid;
    struct python *seed = known ? 0 : python_seeds.lookup(&pid);
    if (seed) {
        pythons.update(&tgid, seed);
        python_seeds.delete(&pid);
        known = pythons.lookup(&tgid);
    }
#endif
    return known;
}

static __always_inline void mlbcc_forget_python(struct identity *id) {
    u32 tgid = id->tgid;
    pythons.delete(&tgid);
#if MLBCC_NAMESPACE
    u32 pid = id->pid;
    python_seeds.delete(&pid);
#endif
}

// The locks of the interpreter itself lie there, as its global one (GIL).
static __always_inline u64 mlbcc_in_python(struct identity *id, u64 address) {
    struct python *python = mlbcc_python_of(id);
    return python && address - python->state < python->bytes;
}

static __always_inline void mlbcc_python_forks(struct identity *parent, u32 child) {
    struct python *python = mlbcc_python_of(parent);
    if (!python) return;
    struct python same = *python;
    pythons.update(&child, &same);
}

#ifdef MLBCC_FSBASE
static __always_inline u64 mlbcc_read_word(u64 from) {
    u64 word = 0;
    bpf_probe_read_user(&word, sizeof(word), (void *)from);
    return word;
}

static __always_inline u64 mlbcc_python_frame(struct python *python, u64 thread) {
    u64 place = thread + python->frame, indirect = -(u64)python->indirect;
    MLBCC_SEEN(indirect);
    place = (mlbcc_read_word(place) & indirect) | (place & ~indirect);
    return mlbcc_read_word(place + python->inner);
}

// In the first words of each: PyInterpreterState of the next one, PyThreadState of the previous,
// the next one and its interpreter. A thread has a PyThreadState in each interpreter that it has
// been in, and before 3.12 the key names its first. 0 where it is not known which one runs: the
// thread has let go of the lock, and there is more than one other interpreter, or the other one has
// several threads.
static __always_inline u64 mlbcc_python_runs(struct python *python, u64 first, u64 descriptor) {
    if (!python->interpreters) return first;
    u64 other = mlbcc_read_word(python->state + python->interpreters);
    u64 second = mlbcc_read_word(other);
    if (!second) return first;  // there are no others
    u64 holder = mlbcc_read_word(python->state + python->key - python->holder);
    if (holder && mlbcc_read_word(holder + python->thread_id) == descriptor) return holder;
    if (mlbcc_read_word(second)) return 0;
    if (mlbcc_read_word(first + 16) == other) other = second;
    u64 thread = mlbcc_read_word(other + python->threads);
    if (!thread) return first;
    if (mlbcc_read_word(thread + 8)) return 0;
    if (mlbcc_read_word(thread + python->thread_id) != descriptor) return first;
    return mlbcc_python_frame(python, thread) ? thread : first;
}

// The calling thread's PyThreadState, or 0. glibc keeps a thread's first 32 keys in its descriptor,
// to which fs points (struct pthread, nptl/descr.h).
static __always_inline u64 mlbcc_python_thread(struct python *python) {
    u64 task = (u64)bpf_get_current_task(), descriptor = 0;
    bpf_probe_read_kernel(&descriptor, 8, (void *)(task + MLBCC_FSBASE));
    u64 key = mlbcc_read_word(python->state + python->key);  // int _is_initialized, unsigned _key
    if ((u32)key != 1 || key >> 32 >= 32) return 0;
    u64 thread = mlbcc_read_word(descriptor + 0x310 + (key >> 32) * 16 + 8);
    if (!thread || mlbcc_read_word(thread + python->thread_id) != descriptor) return 0;
    return mlbcc_python_runs(python, thread, descriptor);
}

// The innermost Python frame of the thread that runs: a number that each greenlet has for itself.
static __always_inline u64 mlbcc_python_now(struct identity *id) {
    struct python *python = mlbcc_python_of(id);
    u64 thread = python ? mlbcc_python_thread(python) : 0;
    return thread ? mlbcc_python_frame(python, thread) : 0;
}
#endif

// Where an interpreter begins its work.
int python_starts(struct pt_regs *ctx) {
{{own_stack}}    struct identity id;
    mlbcc_identify(&id);
#if !MLBCC_EVERYONE
    if (!mlbcc_traced(&id)) return 0;
#endif
    u32 index = bpf_get_attach_cookie(ctx), tgid = id.tgid;
    struct python *file = python_files.lookup(&index);
    if (!file) return 0;
    struct python mine = *file;
    mine.state += ctx->MLBCC_IP;
    pythons.update(&tgid, &mine);
    return 0;
}
