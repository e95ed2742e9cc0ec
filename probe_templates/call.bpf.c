// What ties the two ends of a call together. A probe's cookie holds the probe (24 bits), how many
// words of arguments its record has (8), and the programs for its entry and its return (16 each).
#define MLBCC_PROBE(cookie) ((u32)((cookie) & 0xffffff))
#define MLBCC_WORDS(cookie) ((u32)((cookie) >> 24) & 0xff)
#define MLBCC_ENTRY_SHAPE(cookie) ((u32)((cookie) >> 32) & 0xffff)
#define MLBCC_RETURN_SHAPE(cookie) ((u32)((cookie) >> 48))

#if MLBCC_SESSION
// A uprobe session runs one program at both ends and keeps 8 bytes for each call: its start, or the
// index of its frame. Returning 1 at entry saves the return probe. The two numbers stand for kernel
// functions; the loader puts their BTF ids there.
static u64 *(*mlbcc_session_cookie)(void) = (void *)0x7fff0001;
static bool (*mlbcc_session_is_return)(void) = (void *)0x7fff0002;
#define MLBCC_SKIP 1
#define MLBCC_BEGIN(value) (*mlbcc_session_cookie() = (value))
#define MLBCC_BEGUN() (*mlbcc_session_cookie())
#else
// An entry and a return program; all that an end must know of its beginning is in the frame.
#define MLBCC_SKIP 0
#define MLBCC_BEGIN(value)
#define MLBCC_BEGUN() 0
#endif

// `args` of most functions: the first words of the calling convention, as they are; at most 7 of them
// from the stack.
struct arguments_record {
    struct record_header header;
    u64 words[16];  // at most 13 are used
};
MLBCC_SAME(arguments_record, words, 48);

// The masks stand where the verifier sees them; clang would prove them away from the cookie's bits.
static __always_inline u64 mlbcc_take_arguments(struct pt_regs *ctx,
                                                struct arguments_record *record, u64 count) {
    MLBCC_TAKE_REGISTERS(ctx, record->words);
    if (count > MLBCC_REGISTERS) {
        u64 more = count - MLBCC_REGISTERS;
        asm volatile("" : "+r"(more));
        bpf_probe_read_user(&record->words[MLBCC_REGISTERS], (more & 7) * 8,
                            (void *)MLBCC_STACK_ARG(ctx, 0));
    }
    asm volatile("" : "+r"(count));
    return sizeof(struct record_header) + (count & 15) * 8;
}
