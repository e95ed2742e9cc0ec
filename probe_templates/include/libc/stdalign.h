#ifndef MLBCC_LIBC_STDALIGN_H
#define MLBCC_LIBC_STDALIGN_H

#define alignas _Alignas
#define alignof _Alignof

#endif
