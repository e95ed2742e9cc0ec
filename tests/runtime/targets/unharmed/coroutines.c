// Coroutines: each is in the middle of a function while others are in theirs, on one thread; some
// jump out of it (longjmp), and some begin a call in one thread and end it in another.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static int yields(long n);
static long deeper(int i, long n);
#define BODY(i, n) ((n) > 0 ? deeper(i, (n)-1) + 1 : yields(n))
#include "books.h"

FUNCTIONS();
TABLE();

enum { kCoroutines = 40, kRounds = 30 };
static ucontext_t home, at[kCoroutines];
static jmp_buf out[kCoroutines];
static int current, is_over[kCoroutines];
static long sum;

static int yields(long n) {
    swapcontext(&at[current], &home);
    if (sum % 11 == 7) longjmp(out[current], 1);
    return (int)n + 1;
}
static long deeper(int i, long n) {
    long result = table[(i + 3) % 10](n);
    if (n % 2) swapcontext(&at[current], &home);
    return result;
}

static void run(int i) {
    for (int k = 0; k < kRounds; k++) {
        if (setjmp(out[i]) == 0)
            sum += table[(i + k) % 10](k % 5);
        else
            sum++;
    }
    is_over[i] = 1;
}

static int go_on(void) {
    int alive = 0;
    for (current = 0; current < kCoroutines; current++) {
        if (is_over[current]) continue;
        swapcontext(&home, &at[current]);
        alive++;
    }
    return alive;
}
static void* one_turn(void* alive) {
    *(int*)alive = go_on();
    return 0;
}

int main(int argc, char** argv) {
    const int moves = argc > 1 && strcmp(argv[1], "threads") == 0;
    for (int i = 0; i < kCoroutines; i++) {
        getcontext(&at[i]);
        at[i].uc_stack.ss_sp = malloc(65536);
        at[i].uc_stack.ss_size = 65536;
        at[i].uc_link = &home;
        makecontext(&at[i], (void (*)(void))run, 1, i);
    }
    int alive = 1;
    while (alive) {
        if (!moves) {
            alive = go_on();
            continue;
        }
        pthread_t thread;
        pthread_create(&thread, 0, one_turn, &alive);
        pthread_join(thread, 0);
    }
    printf("sum %ld\n", sum);
    tell_books();
    return 0;
}
