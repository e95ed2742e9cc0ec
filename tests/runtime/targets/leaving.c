/* Threads that end inside a call, and a process that exits inside two. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

int leaving(int number) {
    pthread_exit(NULL);
    return number;
}
int staying(int number) {
    return number;
}
int quit(int status) {
    exit(status);
    return 0;
}

static void* run(void* number) {
    staying((int)(intptr_t)number);
    leaving((int)(intptr_t)number);
    return NULL;
}

int main(void) {
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, (void*)(intptr_t)i);
        pthread_join(thread, NULL);
    }
    staying(4);
    return quit(9);
}
