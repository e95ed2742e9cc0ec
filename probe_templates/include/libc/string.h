#ifndef MLBCC_LIBC_STRING_H
#define MLBCC_LIBC_STRING_H

#include <stddef.h>

#endif
