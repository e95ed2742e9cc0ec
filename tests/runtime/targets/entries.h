/* The functions of entries.S. */
#include <stdint.h>

uint64_t entry_push(uint64_t a, uint64_t b);
uint64_t entry_push_alias(uint64_t a, uint64_t b);
uint64_t entry_endbr(uint64_t a, uint64_t b);
uint64_t entry_nop5(uint64_t a, uint64_t b);
uint64_t entry_nop4(uint64_t a, uint64_t b);
uint64_t entry_odd_nop(uint64_t a, uint64_t b);
uint64_t entry_sub(uint64_t a, uint64_t b);
uint64_t entry_mov(uint64_t a, uint64_t b);
uint64_t entry_trampoline(uint64_t a, uint64_t b);
uint64_t entry_loop(uint64_t a, uint64_t b);
uint64_t entry_clobber(uint64_t a, uint64_t b);
uint64_t entry_skip(uint64_t a, uint64_t b);
uint64_t entry_moved(uint64_t a, uint64_t b);
uint64_t entry_short(uint64_t a, uint64_t b);
