// 64-bit, with calls of the 32-bit interface: nanosleep three times, getegid and getpid. Their
// numbers are those of sync(), futex() and writev() elsewhere.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

static int call(int number, void* first) {
    int result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(first), "c"(0), "d"(0)
                     : "memory", "r8", "r9", "r10", "r11");
    return result;
}

int main(void) {
    int* time =
        mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (time == MAP_FAILED) return 1;
    time[1] = 1000000;  // ns
    for (int i = 0; i < 3; i++) {
        if (call(162, time) != 0) return 2;
    }
    call(202, 0);
    getppid();
    return call(20, 0) > 0 ? 0 : 3;
}
