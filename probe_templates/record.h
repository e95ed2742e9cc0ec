// The records that the kernel writes and mlbcc reads. tool/plan/plan.h has the same in C++.
#include <uapi/linux/ptrace.h>

struct record_header {
    u64 time_ns;    // CLOCK_MONOTONIC
    u32 probe;      // which function; of a process record: 0 fork, 1 exec, 2 exit
    u32 what;       // low 7 bits: 0 entry, 1 return, 2 process; 0x80: of an entry, reached by a tail
                    // call, of a return, it goes on; the upper 24: the rules that apply
    u32 pid, tid;   // as the tracer's pid namespace sees them
    char comm[16];
    u64 sp;         // at the call's beginning
};

struct process_record {
    struct record_header header;
    u32 other;      // fork: the new pid or tid; exec: the thread's former tid; exit: global pid
    u32 is_thread;  // fork: a thread, not a process; exit: others of its process still run
};

#define MLBCC_AWAITED_RETURNS 64  // one stays empty: the verifier sees the last bits of their count

struct awaited_return {
    u64 sp, address;
};

struct user_stack {  // at the end of a record whose rule has `stack user`
    u64 bytes;       // of `data` that were read
    u64 returns;     // behind them
    u64 more;        // bytes, behind those: what lies above `data` in the program
    u64 ip, sp, saved[14];
    u8 data[4096 + MLBCC_AWAITED_RETURNS * sizeof(struct awaited_return)];
};

struct python_stack {   // likewise, `stack python`
    u32 count, state;   // 1: all of them, 2: there were more
    u64 frames[64];     // keys of python_codes, innermost first
};

struct kernel_stack {  // likewise, `stack kernel`
    u64 bytes;         // of `frames`
    u64 frames[48];
};

struct python_text {
    u32 kind, bytes;  // bytes a character; and 0x100: it is ASCII
    char data[128];   // 96 of them are used: these are as many as a mask can bound
};
struct python_code {  // what a frame of a python_stack is called
    u64 id;
    u32 line, unused;
    struct python_text file, name;  // the end of the file's, the beginning of the function's
};
struct python_names {  // those of one stack that are not known yet
    u64 count;
    struct { u64 id, code; } missing[64];
    struct python_code fresh;
};

struct account {  // one rule on one CPU
    u64 records[2], full;  // those that found room, those that did not
};

struct process {
    u32 ppid, pid;  // as the tracer's namespace sees them; 0 until known
    int threads;    // that run
    u32 unused;
};

#define MLBCC_SAME(type, member, offset)                                                           \
    _Static_assert(__builtin_offsetof(struct type, member) == (offset), #type "." #member)

MLBCC_SAME(record_header, probe, 8);
MLBCC_SAME(record_header, what, 12);
MLBCC_SAME(record_header, pid, 16);
MLBCC_SAME(record_header, sp, 40);
MLBCC_SAME(process_record, other, 48);
MLBCC_SAME(user_stack, data, 152);
MLBCC_SAME(python_stack, frames, 8);
MLBCC_SAME(kernel_stack, frames, 8);
_Static_assert(sizeof(struct kernel_stack) == 392, "kernel_stack");
_Static_assert(sizeof(struct process_record) == 56, "process_record");

// A register that a probe was handed. Read by one instruction of its own: where many values are read
// through one register, a compiler would keep its address, and the verifier takes no address that is
// made of the context's. Not volatile: what is read twice is read once, and the verifier knows of the
// second what it has learnt of the first.
#define MLBCC_REGISTER_OF_PROBE(registers, name)                                                   \
    ({                                                                                             \
        u64 register_;                                                                             \
        asm("%0 = *(u64 *)(%1 + %2)"                                                               \
            : "=r"(register_)                                                                      \
            : "r"(registers), "i"(__builtin_offsetof(struct pt_regs, name)));                      \
        register_;                                                                                 \
    })
// Of a system call (syscall_entry.bpf.c) it is a copy on the stack, where the compiler may look itself.
#define MLBCC_REGISTER(registers, name) MLBCC_REGISTER_OF_PROBE(registers, name)
