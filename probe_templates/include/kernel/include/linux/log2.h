/* For the sizes of libbcc's stack-trace maps. */
#ifndef MLBCC_LINUX_LOG2_H
#define MLBCC_LINUX_LOG2_H

#define roundup_pow_of_two(n)                                                                      \
    ((n) <= 1 ? 1 : (1ULL << (64 - __builtin_clzll((unsigned long long)(n)-1))))

#endif
