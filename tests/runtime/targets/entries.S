// Functions that differ in how they begin: where a probe is cheap, and where one must not be put.
// Each is `uint64_t f(uint64_t a, uint64_t b)` and returns a + b. x86-64 only.
#define BEGIN(name)                                                                                \
    .globl name;                                                                                   \
    .type name, @function;                                                                         \
    .p2align 4;                                                                                    \
    name:
#define END(name) .size name, .- name

    .text

BEGIN(entry_push)
    push    %rbp
    mov     %rsp, %rbp
    lea     (%rdi, %rsi), %rax
    pop     %rbp
    ret
END(entry_push)
    .globl entry_push_alias
    .type entry_push_alias, @function
    .set entry_push_alias, entry_push

BEGIN(entry_endbr)
    endbr64
    push    %rbp
    mov     %rsp, %rbp
    lea     (%rdi, %rsi), %rax
    pop     %rbp
    ret
END(entry_endbr)

BEGIN(entry_nop5)
    .byte   0x0f, 0x1f, 0x44, 0x00, 0x00
    lea     (%rdi, %rsi), %rax
    ret
END(entry_nop5)

BEGIN(entry_nop4)
    .byte   0x0f, 0x1f, 0x40, 0x00
    lea     (%rdi, %rsi), %rax
    ret
END(entry_nop4)

// A nop that is none of those the kernel emulates.
BEGIN(entry_odd_nop)
    .byte   0x0f, 0x1f, 0x04, 0x00
    lea     (%rdi, %rsi), %rax
    ret
END(entry_odd_nop)

BEGIN(entry_sub)
    sub     $24, %rsp
    lea     (%rdi, %rsi), %rax
    add     $24, %rsp
    ret
END(entry_sub)

BEGIN(entry_mov)
    mov     %rdi, %rax
    add     %rsi, %rax
    ret
END(entry_mov)

// The trampoline of NVIDIA's own driver library: every call passes the je.
BEGIN(entry_trampoline)
    cmpl    $0x321cba00, deinitialized(%rip)
    je      1f
    jmp     *implementation(%rip)
1:  mov     $4, %eax
    ret
END(entry_trampoline)

// The nop at +4 is a loop's target: a probe there would count each turn.
BEGIN(entry_loop)
    endbr64
1:  nop
    inc     %rdx
    cmp     $3, %rdx
    jl      1b
    lea     (%rdi, %rsi), %rax
    ret
END(entry_loop)

// The push comes after an argument was overwritten.
BEGIN(entry_clobber)
    mov     %rdi, %rax
    xor     %edi, %edi
    push    %rbp
    add     %rsi, %rax
    pop     %rbp
    ret
END(entry_clobber)

// The push is not on every way through the function.
BEGIN(entry_skip)
    test    %rsi, %rsi
    je      1f
    push    %rbp
    lea     (%rdi, %rsi), %rax
    pop     %rbp
    ret
1:  mov     %rdi, %rax
    ret
END(entry_skip)

// The push comes after the stack pointer has moved: a stack argument would be read wrongly.
BEGIN(entry_moved)
    sub     $8, %rsp
    push    %rbp
    lea     (%rdi, %rsi), %rax
    pop     %rbp
    add     $8, %rsp
    ret
END(entry_moved)

// A function of one instruction after another's end: nothing behind it belongs to it.
BEGIN(entry_short)
    jmp     entry_mov
END(entry_short)

    .type trampoline_target, @function
trampoline_target:
    lea     (%rdi, %rsi), %rax
    ret
    .size trampoline_target, .- trampoline_target

    .section .data.rel.local, "aw"
    .balign 8
implementation:
    .quad   trampoline_target
deinitialized:
    .long   0
    .section .note.GNU-stack, "", @progbits
