// Probes of its own, as <sys/sdt.h> would put them: a nop each, and a note. For each line of its
// input it hits them, and says what it passed and what its semaphore is.
#include <stdio.h>
#include <stdlib.h>

#include "usdt.h"

// In a page of its own: the kernel finds a semaphore by where it is in the file, and some linkers
// let two parts of memory have one page of the file.
union {
    unsigned short value;
    char page[4096];
} made_semaphore __attribute__((section(".probes"), aligned(4096), used)) = {0};

#ifdef __aarch64__
#define FORTY_TWO "8@42"
#define A_FLOAT "8f@d0"
#else
#define FORTY_TWO "8@$42"
#define A_FLOAT "8f@%%xmm0"
#endif
// Inlined: the same probe in two places, in registers here and on the stack there.
static inline __attribute__((always_inline)) void sold(const char* what, int count, long price) {
    PROBE("shop", "sold", "made_semaphore", "8@%[what] -4@%[count] -8@%[price]", [what] "nor"(what),
          [count] "nor"(count), [price] "nor"(price));
}

// Read once before the first probe: not every kernel lets a probe bring in a page.
static const char apple[] = "apple", pear[] = "pear";

static volatile char untouched[1 << 16];  // a page that nobody has written to or read

int main(void) {
    static const char late[] __attribute__((aligned(4096), section(".late"))) = "melon";
    char line[64];
    volatile int small = -7;
    volatile long large = -5000000000;
    const volatile char* touched = apple;
    (void)*touched;
    touched = pear;
    (void)*touched;
    while (fgets(line, sizeof line, stdin) != NULL) {
        int count = atoi(line);
        sold(apple, count, 1);
        sold(pear, -count, large);
        PROBE("shop", "returned", "0", "-4@%[small] 1@%[byte] " FORTY_TWO " " A_FLOAT,
              [small] "m"(small), [byte] "r"((unsigned char)(count + 200)));
        PROBE("shop", "late", "0",
              "8@%[text] -1@%[memory]", [text] "r"(late), [memory] "m"(untouched[40000]));
        printf("{\"count\": %d, \"semaphore\": %d}\n", count,
               *(volatile unsigned short*)&made_semaphore);
        fflush(stdout);
    }
    return 0;
}
