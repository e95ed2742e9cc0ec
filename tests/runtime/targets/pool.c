#include "pool.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 20 };
static char names[8][32];
static int known;

pool_status pool_alloc(pool_ptr* block, size_t size) {
    if (size > LIMIT) return POOL_FULL;
    *block = (pool_ptr)(uintptr_t)malloc(size);
    return POOL_OK;
}

pool_status pool_free(pool_ptr block) {
    if (block < 4096) return POOL_NO_BLOCK;
    free((void*)(uintptr_t)block);
    return POOL_OK;
}

pool_status pool_find(pool_kernel* kernel, const char* name) {
    strncpy(names[known], name, sizeof names[0] - 1);
    *kernel = (pool_kernel)names[known++];
    return POOL_OK;
}

pool_status pool_launch(pool_kernel kernel, unsigned blocks) {
    return kernel == NULL || blocks == 0 ? POOL_NO_BLOCK : POOL_OK;
}

void pool_queue(int change) {
    known += change - change;
}
