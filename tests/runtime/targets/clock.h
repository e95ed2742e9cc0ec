/* For targets that wait by known amounts and say by their own clock how long it was. */
#pragma once

#include <time.h>

/* nanoseconds */
static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* less than a second */
static void pause_ms(long ms) {
    struct timespec t = {0, ms * 1000000};
    nanosleep(&t, 0);
}
