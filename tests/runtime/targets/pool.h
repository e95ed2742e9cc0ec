/* An allocator and a launcher with the manners of a driver: status returned, results through
 * pointers, names given once and handles afterwards. */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>
#include <stdint.h>

typedef enum { POOL_OK = 0, POOL_FULL = 2, POOL_NO_BLOCK = 3 } pool_status;
typedef uint64_t pool_ptr; /* the address of a block */
typedef struct pool_kernel_state* pool_kernel;

pool_status pool_alloc(pool_ptr* block, size_t size);
pool_status pool_free(pool_ptr block);
pool_status pool_find(pool_kernel* kernel, const char* name);
pool_status pool_launch(pool_kernel kernel, unsigned blocks);
void pool_queue(int change); /* how much longer a queue has become */

#endif
