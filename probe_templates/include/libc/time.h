/* The machine's; without them, the types. */
#if __has_include_next(<time.h>)
#include_next <time.h>
#elif !defined(MLBCC_LIBC_TIME_H)
#define MLBCC_LIBC_TIME_H

#include <sys/types.h>

struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
    long tm_gmtoff;
    const char* tm_zone;
};

#endif
