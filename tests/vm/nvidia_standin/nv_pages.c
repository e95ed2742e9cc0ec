// SPDX-License-Identifier: GPL-2.0
/* System memory for the GPU, as the resource manager asks for it. */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "books.h"
#include "nv.h"

typedef struct nv_alloc_t {
    NvU32 num_pages;
    struct page* pages[];
} nv_alloc_t;

static void release(nv_alloc_t* at) {
    NvU32 i;

    for (i = 0; i < at->num_pages && at->pages[i]; i++) __free_page(at->pages[i]);
    kfree(at);
}

/* "Contiguous" changes only what stands in `pte_array`: no device reads these pages. */
NV_STATUS nv_alloc_pages(nv_state_t* nv, NvU32 page_count, NvU64 page_size, NvBool contiguous,
                         NvU32 cache_type, NvBool zeroed, NvBool unencrypted, NvS32 node_id,
                         NvU64* pte_array, void** priv_data) {
    const gfp_t flags = GFP_KERNEL | (zeroed ? __GFP_ZERO : 0);
    nv_alloc_t* at;
    NvU32 i;

    books_call(__func__);
    if (page_size != PAGE_SIZE) return NV_ERR_NOT_SUPPORTED;
    at = kzalloc(struct_size(at, pages, page_count), GFP_KERNEL);
    if (!at) return NV_ERR_NO_MEMORY;
    at->num_pages = page_count;
    for (i = 0; i < page_count; i++) {
        at->pages[i] = alloc_page(flags);
        if (!at->pages[i]) {
            release(at);
            return NV_ERR_NO_MEMORY;
        }
        if (i == 0 || !contiguous) pte_array[i] = page_to_phys(at->pages[i]);
    }
    *priv_data = at;
    return NV_OK;
}

NV_STATUS nv_free_pages(nv_state_t* nv, NvU32 page_count, NvBool contiguous, NvU32 cache_type,
                        void* priv_data) {
    books_call(__func__);
    release(priv_data);
    return NV_OK;
}
