// Calls getppid() and sleeps, below as many functions as are asked for, each with so much on its
// stack: deep_stack main|thread FUNCTIONS BYTES
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long functions, bytes;

__attribute__((noinline)) int leaf(int x) {
    x += (int)getppid();
    usleep(1000);
    return x;
}

__attribute__((noinline)) int deeper(long left) {
    char* room = alloca((size_t)bytes);
    memset(room, 1, (size_t)bytes);
    int result = left > 1 ? deeper(left - 1) : leaf(1);
    __asm__ volatile("" : : "r"(room) : "memory");
    return result + 1;
}

__attribute__((noinline)) void* work(void* unused) {
    int result = deeper(functions);
    __asm__ volatile("" : : "r"(result) : "memory");
    return unused;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    functions = atol(argv[2]);
    bytes = atol(argv[3]);
    if (strcmp(argv[1], "main") == 0) {
        work(0);
        return 0;
    }
    pthread_t thread;
    if (pthread_create(&thread, 0, work, 0) != 0) return 1;
    return pthread_join(thread, 0);
}
