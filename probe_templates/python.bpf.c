// The Python functions that a thread is in, for a record whose rule has `stack python`: found by the
// interpreter's own structures, whose places tool/trace/python_file.cpp knows.

struct python {      // how to find them in one process
    u64 key;         // address of the Py_tss_t by which a thread has its PyThreadState
    u16 thread_id;   // in PyThreadState: pthread_self()
    u16 frame;       // likewise: the innermost frame, or what has it ...
    u16 inner;       // ... there
    u16 back, code;  // in a frame: its caller, its code object
    u16 owner;       // likewise: who made it
    u16 names;       // in a code object: its file's name, and behind that its own
    u16 line;        // likewise: the first line
    u16 ascii, text; // bytes before the characters: of ASCII, of other text
    u32 unused;
};
_Static_assert(sizeof(struct python) == 32, "python");
#define MLBCC_PYTHON_NONE 0xffff
#define MLBCC_PYTHON_FRAMES 64
#define MLBCC_PYTHON_C_STACK 3   // owner of a frame that stands for a call from C
#define MLBCC_PYTHON_TEXT 96

struct python_text {
    u32 kind, bytes;  // bytes a character, 0x100: ASCII
    char data[MLBCC_PYTHON_TEXT];
};
struct python_code {
    u32 ready, line;
    struct python_text file, name;  // the end of the file's, the beginning of the function's
};

BPF_HASH(pythons, u32, struct python, 8192);  // by process
BPF_ARRAY(python_files, struct python, 256);  // `key` counts from where python_starts is attached
// Names of code objects. Whatever has left is read again.
BPF_TABLE("lru_hash", u64, struct python_code, python_codes, 16384);
BPF_ARRAY(python_blank, struct python_code, 1);

static __always_inline u64 mlbcc_read_word(u64 from) {
    u64 word = 0;
    bpf_probe_read_user(&word, sizeof(word), (void *)from);
    return word;
}

static __always_inline void mlbcc_read_python_text(struct python_text *to, struct python *python,
                                                   u64 from, int its_end) {
    struct {
        u64 length, hash;
        u32 state, unused;  // interned:2, kind:3, compact:1, ascii:1
    } head = {};
    bpf_probe_read_user(&head, sizeof(head), (void *)(from + 16));
    if (!(head.state & 0x20)) return;
    u32 kind = (head.state >> 2) & 7, is_ascii = head.state & 0x40;
    from += is_ascii ? python->ascii : python->text;
    u64 bytes = head.length * kind;
    if (bytes > MLBCC_PYTHON_TEXT) {
        if (its_end) from += bytes - MLBCC_PYTHON_TEXT;
        bytes = MLBCC_PYTHON_TEXT;
    }
    MLBCC_SEEN(bytes);
    if (bytes > MLBCC_PYTHON_TEXT) return;
    if (bpf_probe_read_user(to->data, bytes, (void *)from) != 0) return;
    to->kind = is_ascii ? 0x100 : kind;
    to->bytes = bytes;
}

static __always_inline u64 mlbcc_mix(u64 hash, u64 value) {
    hash = (hash ^ value) * 0xff51afd7ed558ccdULL;
    return hash ^ (hash >> 32);
}

// What a code object is known by. Its address may be another's when it is gone; the name's hash is
// of its characters, and there since the name was looked up first.
static __always_inline u64 mlbcc_python_code(u32 tgid, struct python *python, u64 code) {
    struct {
        u64 file, name;
    } texts = {};
    bpf_probe_read_user(&texts, sizeof(texts), (void *)(code + python->names));
    u64 hash = mlbcc_read_word(texts.name + 24);
    u64 id = mlbcc_mix(mlbcc_mix(mlbcc_mix(mlbcc_mix(tgid, code), texts.file), texts.name), hash);
    if (python_codes.lookup(&id)) return id;
    int zero = 0;
    struct python_code *blank = python_blank.lookup(&zero);
    if (!blank) return id;
    python_codes.update(&id, blank);
    struct python_code *fresh = python_codes.lookup(&id);
    if (!fresh) return id;
    bpf_probe_read_user(&fresh->line, sizeof(fresh->line), (void *)(code + python->line));
    mlbcc_read_python_text(&fresh->file, python, texts.file, 1);
    mlbcc_read_python_text(&fresh->name, python, texts.name, 0);
    fresh->ready = 1;
    return id;
}

// The calling thread's PyThreadState, or 0. glibc keeps a thread's first 32 keys in its descriptor,
// to which fs points (struct pthread, nptl/descr.h).
static __always_inline u64 mlbcc_python_thread(struct python *python) {
    u64 task = (u64)bpf_get_current_task(), descriptor = 0;
    bpf_probe_read_kernel(&descriptor, 8, (void *)(task + MLBCC_FSBASE));
    u64 key = mlbcc_read_word(python->key);  // int _is_initialized, unsigned _key
    if ((u32)key != 1 || key >> 32 >= 32) return 0;
    u64 thread = mlbcc_read_word(descriptor + 0x310 + (key >> 32) * 16 + 8);
    if (!thread || mlbcc_read_word(thread + python->thread_id) != descriptor) return 0;
    return thread;
}

// Fills call->python.
MLBCC_COMMON u64 common_walk_python(struct call *call) {
    struct python_stack *stack = call->python;
    stack->count = 0;
    stack->state = 0;
    u32 tgid = call->id.tgid;
    struct python *python = pythons.lookup(&tgid);
    if (!python) return 0;
    u64 thread = mlbcc_python_thread(python);
    if (!thread) return 0;
    u64 frame = mlbcc_read_word(thread + python->frame);
    if (python->inner != MLBCC_PYTHON_NONE) frame = mlbcc_read_word(frame + python->inner);
    u32 count = 0;
    for (u32 i = 0; i < 2 * MLBCC_PYTHON_FRAMES && frame; i++) {
        asm volatile("" : "+r"(i));  // a loop, not 128 copies
        u64 code = mlbcc_read_word(frame + python->code);
        u8 owner = 0;
        if (python->owner != MLBCC_PYTHON_NONE) {
            bpf_probe_read_user(&owner, 1, (void *)(frame + python->owner));
        }
        if (owner != MLBCC_PYTHON_C_STACK) {
            if (count >= MLBCC_PYTHON_FRAMES) break;
            stack->frames[count & (MLBCC_PYTHON_FRAMES - 1)] =
                mlbcc_python_code(tgid, python, code);
            count++;
        }
        frame = mlbcc_read_word(frame + python->back);
    }
    stack->count = count;
    stack->state = frame ? 2 : 1;
    return 0;
}

static __always_inline void mlbcc_take_python(struct call *call, u32 wanted) {
    if (wanted) mlbcc_walk_python(call);
    else call->python->count = 0;
}

static __always_inline void mlbcc_python_forks(u32 parent, u32 child) {
    struct python *python = pythons.lookup(&parent);
    if (!python) return;
    struct python same = *python;
    pythons.update(&child, &same);
}

// Where an interpreter begins its work.
int python_starts(struct pt_regs *ctx) {
    struct identity id;
    mlbcc_identify(&id);
#if !MLBCC_EVERYONE
    if (!mlbcc_traced(&id)) return 0;
#endif
    u32 index = bpf_get_attach_cookie(ctx), tgid = id.tgid;
    struct python *file = python_files.lookup(&index);
    if (!file) return 0;
    struct python mine = *file;
    mine.key += ctx->ip;
    pythons.update(&tgid, &mine);
    return 0;
}
