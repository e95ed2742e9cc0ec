/* An allocator and a launcher with the manners of a driver: status returned, results through
 * pointers, names given once and handles afterwards. */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>
#include <stdint.h>

typedef enum { POOL_OK = 0, POOL_FULL = 2, POOL_NO_BLOCK = 3 } pool_status;
typedef struct pool_kernel_state* pool_kernel;

pool_status pool_alloc(uint64_t* block, size_t size);
pool_status pool_free(uint64_t block);
pool_status pool_find(pool_kernel* kernel, const char* name);
pool_status pool_launch(pool_kernel kernel, unsigned blocks);
void pool_queue(int change); /* how much longer a queue has become */

#endif
