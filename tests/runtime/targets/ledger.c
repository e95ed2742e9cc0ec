// Calls its functions with numbers and texts at random, and keeps the books: a line for each call.
//   ledger SEED CALLS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;
static uint64_t next(uint64_t most) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % most;
}

#define FUNCTION(NAME, RESULT)                                                                     \
    __attribute__((noinline)) uint64_t NAME(uint64_t a, uint64_t b, uint64_t c,                    \
                                            const char* name) {                                    \
        __asm__ volatile("" ::"r"(name));                                                          \
        return RESULT;                                                                             \
    }
FUNCTION(ledger_add, a + b + c);
FUNCTION(ledger_mix, (a ^ b) & 1023);
FUNCTION(ledger_pick, c % 2 ? a : b);

static const char* const names[] = {"one", "two", "three", "a longer name than the others have",
                                    ""};

int main(int argc, char** argv) {
    uint64_t (*const functions[])(uint64_t, uint64_t, uint64_t,
                                  const char*) = {ledger_add, ledger_mix, ledger_pick};
    const char* const called[] = {"ledger_add", "ledger_mix", "ledger_pick"};
    state = argc > 1 ? strtoull(argv[1], 0, 0) : 1;
    long count = argc > 2 ? atol(argv[2]) : 100;
    static struct { uint64_t which, a, b, c, name, result; } books[100000];
    if (count > 100000) count = 100000;
    for (long i = 0; i < count; i++) {
        books[i].which = next(3);
        books[i].a = next(1000);
        books[i].b = next(50);
        books[i].c = next(7);
        books[i].name = next(5);
        books[i].result =
            functions[books[i].which](books[i].a, books[i].b, books[i].c, names[books[i].name]);
    }
    for (long i = 0; i < count; i++)
        printf("%s\t%lu\t%lu\t%lu\t%s\t%lu\n", called[books[i].which], books[i].a, books[i].b,
               books[i].c, names[books[i].name], books[i].result);
    return 0;
}
