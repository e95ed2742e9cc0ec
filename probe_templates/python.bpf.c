// The Python functions that a thread is in, for a record whose rule has `stack python`: found by the
// interpreter's own structures, whose places tool/python/file.cpp knows.

#define MLBCC_PYTHON_FRAMES 64
#define MLBCC_PYTHON_TEXT 96

// Names of code objects. Whatever has left is read again.
BPF_TABLE("lru_hash", u64, struct python_code, python_codes, 16384);

// The loops below have no branch in them: the verifier walks each path of each pass, and gives up at
// a million steps.
static __always_inline void mlbcc_read_python_text(struct python_text *to, struct python *python,
                                                   u64 from, int its_end) {
    struct {
        u64 length, hash;
        u32 state, unused;  // interned:2, kind:3, compact:1, ascii:1
    } head = {};
    bpf_probe_read_user(&head, sizeof(head), (void *)(from + 16));
    u64 kind = (head.state >> 2) & 7, is_ascii = (head.state >> 6) & 1;
    u64 bytes = head.length * kind;
    u64 more = bytes - MLBCC_PYTHON_TEXT, fits = (u64)((s64)more >> 63);  // all bits, or none
    MLBCC_SEEN(fits);
    from += python->text - is_ascii * (u64)(python->text - python->ascii);
    if (its_end) from += more & ~fits;
    bytes = (bytes & fits) | (MLBCC_PYTHON_TEXT & ~fits);
    MLBCC_SEEN(bytes);
    bytes &= 127;
    bpf_probe_read_user(to->data, bytes, (void *)from);
    to->kind = kind | is_ascii << 8;
    to->bytes = bytes;
}

struct python_texts {
    u64 file, name;
};

static __always_inline void mlbcc_name_python(struct python *python, struct python_names *names,
                                              u64 index) {
    u64 code = names->missing[index].code, id = names->missing[index].id;
    struct python_texts texts = {};
    bpf_probe_read_user(&texts, sizeof(texts), (void *)(code + python->names));
    struct python_code *fresh = &names->fresh;
    fresh->id = id;
    bpf_probe_read_user(&fresh->line, sizeof(fresh->line), (void *)(code + python->line));
    mlbcc_read_python_text(&fresh->file, python, texts.file, 1);
    mlbcc_read_python_text(&fresh->name, python, texts.name, 0);
    // If another program came between, on the same thread, the id within is not the key.
    python_codes.update(&id, fresh);
}

static __always_inline u64 mlbcc_mix(u64 hash, u64 value) {
    hash = (hash ^ value) * 0xff51afd7ed558ccdULL;
    return hash ^ (hash >> 32);
}

// What a code object is known by. Its address may be another's when it is gone; the name's hash is
// of its characters, and there since the name was looked up first.
static __always_inline u64 mlbcc_python_code(u32 tgid, struct python *python, u64 code) {
    struct python_texts texts = {};
    bpf_probe_read_user(&texts, sizeof(texts), (void *)(code + python->names));
    u64 hash = mlbcc_read_word(texts.name + 24);
    return mlbcc_mix(mlbcc_mix(mlbcc_mix(mlbcc_mix(tgid, code), texts.file), texts.name), hash);
}

// 1 where the two differ, else 0. Of what it sees whole, clang would make a branch.
static __always_inline u64 mlbcc_differ(u64 a, u64 b) {
    u64 differ = a ^ b, negative = -differ;
    MLBCC_SEEN(negative);
    return (differ | negative) >> 63;
}

// 0 where it is one without names. Reading from where nothing is gives 0.
static __always_inline u64 mlbcc_known_code(u64 id) {
    u64 known = 0;
    bpf_probe_read_kernel(&known, sizeof(known), python_codes.lookup(&id));
    return known;
}

// Adds a frame to the stack; returns its caller's. Both counts are in memory, where the verifier
// does not follow them: all passes look the same to it.
static __always_inline u64 mlbcc_python_step(u32 tgid, struct python *python, u64 frame,
                                             struct python_stack *stack,
                                             struct python_names *names) {
    u64 code = mlbcc_read_word(frame + python->code), id = mlbcc_python_code(tgid, python, code);
    u8 owner = 0;
    bpf_probe_read_user(&owner, 1, (void *)(frame + python->owner));
    u64 counts = mlbcc_differ(owner, python->c_stack);  // else the next one takes its place
    u32 count = stack->count, missing = names->count;
    stack->frames[count & (MLBCC_PYTHON_FRAMES - 1)] = id;
    names->missing[missing & (MLBCC_PYTHON_FRAMES - 1)].id = id;
    names->missing[missing & (MLBCC_PYTHON_FRAMES - 1)].code = code;
    stack->count = count + counts;
    names->count = missing + (counts & mlbcc_differ(mlbcc_known_code(id), id));
    return mlbcc_read_word(frame + python->back);
}

// Fills call->python; 0 where all of their names are known.
MLBCC_COMMON u64 common_walk_python(struct call *call) {
    struct python_stack *stack = call->python;
    stack->count = 0;
    stack->state = 0;
    u32 tgid = call->id.tgid;
    struct python *python = mlbcc_python_of(&call->id);
    if (!python || !call->thread) return 0;
    struct python_names *names = &call->thread->python;
    u64 thread = mlbcc_python_thread(python);
    if (!thread) return 0;
    u64 frame = mlbcc_python_frame(python, thread);
    names->count = 0;
    for (u32 i = 0; i < 2 * MLBCC_PYTHON_FRAMES && frame; i++) {
        asm volatile("" : "+r"(i));  // a loop, not 128 copies
        if (stack->count >= MLBCC_PYTHON_FRAMES) break;
        frame = mlbcc_python_step(tgid, python, frame, stack, names);
    }
    stack->state = 1 + mlbcc_differ(frame, 0);
    return names->count;
}

// By itself: what the walk has on its stack is gone by then.
MLBCC_COMMON u64 common_name_pythons(struct call *call) {
    struct python *python = mlbcc_python_of(&call->id);
    if (!python || !call->thread) return 0;
    struct python_names *names = &call->thread->python;
    for (u32 i = 0; i < MLBCC_PYTHON_FRAMES && i < names->count; i++) {
        asm volatile("" : "+r"(i));
        mlbcc_name_python(python, names, i & (MLBCC_PYTHON_FRAMES - 1));
    }
    return 0;
}

static __always_inline void mlbcc_take_python(struct call *call, u32 wanted) {
    if (!wanted) call->python->count = 0;
    else if (mlbcc_walk_python(call)) mlbcc_name_pythons(call);
}
