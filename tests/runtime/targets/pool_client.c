/* Uses the pool: 5 blocks, one of which leaky() forgets, one that is refused; two kernels by name
 * and one by a handle that nobody named. */
#include <stdio.h>
#include <stdlib.h>

#include "pool.h"

static pool_ptr allocate(size_t size) {
    pool_ptr block = 0;
    if (pool_alloc(&block, size) != POOL_OK) return 0;
    return block;
}

pool_ptr leaky(size_t size) {
    pool_ptr block = allocate(size);
    printf("{\"leaked\": \"0x%llx\"}\n", (unsigned long long)block);
    return block;
}

int main(void) {
    pool_ptr a = allocate(1000), b = allocate(2000), c = allocate(3000);
    leaky(4096);
    allocate((size_t)1 << 30); /* refused */
    pool_free(b);
    pool_ptr d = allocate(500);
    pool_free(a);
    pool_free(c);
    pool_free(d);
    pool_free(1); /* refused */

    pool_kernel gemm, softmax;
    pool_find(&gemm, "gemm");
    pool_find(&softmax, "softmax");
    for (unsigned i = 1; i <= 4; i++) pool_launch(gemm, i);
    pool_launch(softmax, 10);
    pool_launch((pool_kernel)0xabc000, 7);
    pool_launch(gemm, 0); /* refused */
    pool_queue(3);
    pool_queue(2);
    pool_queue(-4);
    return 0;
}
