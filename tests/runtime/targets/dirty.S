// int call_dirty(void): echo_int(42) with rubbish above the 32 bits that an int has.
    .text
    .globl call_dirty
    .type call_dirty, @function
call_dirty:
#if defined(__x86_64__)
    sub     $8, %rsp
    movabs  $0xdeadbeef0000002a, %rdi
    call    echo_int@PLT
    add     $8, %rsp
    ret
#elif defined(__aarch64__)
    stp     x29, x30, [sp, #-16]!
    mov     x0, #42
    movk    x0, #0xdead, lsl #48
    bl      echo_int
    ldp     x29, x30, [sp], #16
    ret
#endif
    .size call_dirty, .-call_dirty
    .section .note.GNU-stack, "", @progbits
