// Its first thread ends at once, another goes on: naps, with 50 MiB, and exits with status 5.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) int step(int i) {
    usleep(10000);
    __asm__ volatile("");
    return i;
}

__attribute__((noinline)) void* work(void* steps) {
    char* memory = malloc(50 << 20);
    memset(memory, 1, 50 << 20);
    __asm__ volatile("" : : "r"(memory) : "memory");
    puts("ready");
    fflush(stdout);
    for (long i = 0; i < (long)steps; i++) step((int)i);
    exit(5);
}

int main(int argc, char** argv) {
    pthread_t thread;
    pthread_create(&thread, 0, work, (void*)(argc > 1 ? atol(argv[1]) : 30));
    pthread_exit(0);
}
