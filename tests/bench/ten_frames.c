/* ten_frames CALLS [thread]: as many calls of getppid(), ten functions below main() or below a
 * thread's own; prints nothing. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long calls;

__attribute__((noinline)) static int deeper(int left) {
    int result = 0;
    if (left > 1) {
        result = deeper(left - 1);
    } else {
        for (long i = 0; i < calls; i++) result += (int)syscall(SYS_getppid);
    }
    __asm__ volatile("" : "+r"(result));
    return result + 1;
}

static void* work(void* unused) {
    (void)unused;
    deeper(10);
    return NULL;
}

int main(int argc, char** argv) {
    calls = argc > 1 ? atol(argv[1]) : 0;
    if (argc <= 2) {
        work(NULL);
        return 0;
    }
    pthread_t thread;
    return pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0;
}
