/* Types only: the macros for printf play no part in an interface. */
#ifndef MLBCC_LIBC_INTTYPES_H
#define MLBCC_LIBC_INTTYPES_H

#include <stdint.h>

typedef struct {
    intmax_t quot, rem;
} imaxdiv_t;

#endif
