/* A kernel may be built with pages of 4, 16 or 64 KiB. A multiple of 64 KiB is a multiple of each,
 * which is all that the size of a ring buffer (its one use here) asks for. */
#ifndef MLBCC_ASM_PAGE_H
#define MLBCC_ASM_PAGE_H

#define PAGE_SHIFT 16
#define PAGE_SIZE (1UL << PAGE_SHIFT)

#endif
