// Puts its own code on other pages, as some programs do to have it on huge ones, and goes on there.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline)) int middle(int x) {
    __asm__ volatile("");
    return x * 2;
}

static int move(void) {
    unsigned long begin = 0, end = 0;
    char line[512], rights[5];
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) == 3 && rights[2] == 'x' &&
            (unsigned long)middle - begin < end - begin)
            break;
    }
    if (maps) fclose(maps);
    void* copy = mmap(0, end - begin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return 1;
    memcpy(copy, (void*)begin, end - begin);
    mprotect(copy, end - begin, PROT_READ | PROT_EXEC);
    return mremap(copy, end - begin, end - begin, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)begin) ==
           MAP_FAILED;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += middle(i);
    if (move()) return 1;
    for (int i = 0; i < 5; i++) sum += middle(i);
    return sum == 26 ? 0 : 1;
}
