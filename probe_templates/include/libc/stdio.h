#ifndef MLBCC_LIBC_STDIO_H
#define MLBCC_LIBC_STDIO_H

#include <stdarg.h>
#include <sys/types.h>

typedef struct _IO_FILE FILE;
typedef struct {
    off_t position;
    int count;
    unsigned int state;
} fpos_t;

#define EOF (-1)
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

#endif
