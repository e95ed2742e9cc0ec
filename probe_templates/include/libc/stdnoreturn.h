#ifndef MLBCC_LIBC_STDNORETURN_H
#define MLBCC_LIBC_STDNORETURN_H

#define noreturn _Noreturn

#endif
