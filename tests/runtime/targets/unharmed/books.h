// Ten functions, f0 to f9, and the program's own books of them: how often each was called, and how
// often it returned. What one does besides is in BODY, in which `n` is its argument; it may leave
// it otherwise.
#ifdef __cplusplus
#include <atomic>
using std::atomic_long;
#else
#include <stdatomic.h>
#endif
#include <stdio.h>

static atomic_long calls[10], ends[10];

#define FUNCTION(I)                                                                                \
    __attribute__((noinline)) long f##I(long n) {                                                  \
        calls[I]++;                                                                                \
        long result = BODY(I, n);                                                                  \
        ends[I]++;                                                                                 \
        return result;                                                                             \
    }
#define FUNCTIONS()                                                                                \
    FUNCTION(0);                                                                                   \
    FUNCTION(1);                                                                                   \
    FUNCTION(2);                                                                                   \
    FUNCTION(3);                                                                                   \
    FUNCTION(4);                                                                                   \
    FUNCTION(5);                                                                                   \
    FUNCTION(6);                                                                                   \
    FUNCTION(7);                                                                                   \
    FUNCTION(8);                                                                                   \
    FUNCTION(9);
#define TABLE() static long (*const table[10])(long) = {f0, f1, f2, f3, f4, f5, f6, f7, f8, f9}

static void tell_books(void) {
    for (int i = 0; i < 10; i++) printf("f%d %ld %ld\n", i, (long)calls[i], (long)ends[i]);
}
