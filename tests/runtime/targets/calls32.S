/* getpid() of the 32-bit interface, whose number 20 is writev of the 64-bit one; then the end. */
    .globl _start
_start:
    mov $20, %eax
    int $0x80
    mov $1, %eax
    xor %ebx, %ebx
    int $0x80
    .section .note.GNU-stack, "", @progbits
