// SPDX-License-Identifier: GPL-2.0
/* A very small resource manager: objects that clients allocate, ask and free. Like NVIDIA's it
 * tells success and failure in the status field of the parameters; the ioctl itself returns 0.
 * Built without ftrace sites, see Kbuild. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "nv.h"

#define NV_ESC_RM_FREE 0x29
#define NV_ESC_RM_CONTROL 0x2a
#define NV_ESC_RM_ALLOC 0x2b

#define NV01_MEMORY_LOCAL_USER 0x40 /* video memory */
#define NV01_ROOT_CLIENT 0x41

#define NV0000_CTRL_CMD_GPU_GET_ATTACHED_IDS 0x201
#define NV0000_CTRL_GPU_MAX_ATTACHED_GPUS 32
#define NV0000_CTRL_GPU_INVALID_ID 0xffffffff

#define FIRST_CLIENT 0xc1d00000
/* System pages that each block of video memory takes, as for its page tables. */
#define PAGES_OF_MEMORY 4
#define CACHE_TYPE 1

typedef struct {
    NvHandle hRoot, hObjectParent, hObjectOld;
    NvU32 status;
} NVOS00_PARAMETERS; /* free */

typedef struct {
    NvHandle hRoot, hObjectParent, hObjectNew;
    NvU32 hClass;
    NvU64 pAllocParms, pRightsRequested;
    NvU32 paramsSize, flags, status, padding;
} NVOS64_PARAMETERS; /* alloc */

typedef struct {
    NvHandle hClient, hObject;
    NvU32 cmd, flags;
    NvU64 params;
    NvU32 paramsSize, status;
} NVOS54_PARAMETERS; /* control */

struct object {
    struct list_head link;
    NvHandle handle, client;
    NvU32 class;
    void* pages;
};

static struct object* find(nv_file_private_t* nvfp, NvHandle client, NvHandle handle) {
    struct object* object;

    list_for_each_entry(object, &nvfp->objects, link) {
        if (object->handle == handle && object->client == client) return object;
    }
    return NULL;
}

static void drop(nv_state_t* nv, struct object* object) {
    if (object->pages) nv_free_pages(nv, PAGES_OF_MEMORY, true, CACHE_TYPE, object->pages);
    list_del(&object->link);
    kfree(object);
}

static void drop_all_of(nv_state_t* nv, nv_file_private_t* nvfp, NvHandle client) {
    struct object *object, *next;

    list_for_each_entry_safe(object, next, &nvfp->objects, link) {
        if (object->client == client) drop(nv, object);
    }
}

static NV_STATUS take_pages(nv_state_t* nv, struct object* object) {
    NvU64 addresses[PAGES_OF_MEMORY];

    return nv_alloc_pages(nv, PAGES_OF_MEMORY, PAGE_SIZE, true, CACHE_TYPE, true, false, -1,
                          addresses, &object->pages);
}

/* A handle of 0 asks for one; a client is its own root. */
static NV_STATUS rm_alloc(nv_state_t* nv, nv_file_private_t* nvfp, NVOS64_PARAMETERS* params) {
    static atomic_t clients = ATOMIC_INIT(0);
    struct object* object;
    NV_STATUS status = NV_OK;
    const bool is_client = params->hClass == NV01_ROOT_CLIENT;

    if (!is_client && !find(nvfp, params->hRoot, params->hRoot)) return NV_ERR_OBJECT_NOT_FOUND;
    if (!is_client && params->hObjectNew == 0) return NV_ERR_INVALID_ARGUMENT;
    object = kzalloc(sizeof(*object), GFP_KERNEL);
    if (!object) return NV_ERR_NO_MEMORY;
    if (is_client && params->hObjectNew == 0)
        params->hObjectNew = FIRST_CLIENT + atomic_inc_return(&clients);
    object->class = params->hClass;
    object->handle = params->hObjectNew;
    object->client = is_client ? object->handle : params->hRoot;
    if (object->class == NV01_MEMORY_LOCAL_USER) status = take_pages(nv, object);
    if (status == NV_OK)
        list_add_tail(&object->link, &nvfp->objects);
    else
        kfree(object);
    return status;
}

static NV_STATUS rm_free(nv_state_t* nv, nv_file_private_t* nvfp, NVOS00_PARAMETERS* params) {
    struct object* object = find(nvfp, params->hRoot, params->hObjectOld);

    if (!object && params->hRoot == 0) object = find(nvfp, params->hObjectOld, params->hObjectOld);
    if (!object) return NV_ERR_OBJECT_NOT_FOUND;
    if (object->class == NV01_ROOT_CLIENT)
        drop_all_of(nv, nvfp, object->handle);
    else
        drop(nv, object);
    return NV_OK;
}

static NV_STATUS rm_control(nv_state_t* nv, nv_file_private_t* nvfp, NVOS54_PARAMETERS* params) {
    NvU32 ids[NV0000_CTRL_GPU_MAX_ATTACHED_GPUS];

    if (!find(nvfp, params->hClient, params->hObject)) return NV_ERR_OBJECT_NOT_FOUND;
    if (params->cmd != NV0000_CTRL_CMD_GPU_GET_ATTACHED_IDS) return NV_ERR_NOT_SUPPORTED;
    if (params->paramsSize != sizeof(ids)) return NV_ERR_INVALID_ARGUMENT;
    memset32(ids, NV0000_CTRL_GPU_INVALID_ID, ARRAY_SIZE(ids));
    ids[0] = nv->gpu_id;
    if (copy_to_user((void __user*)params->params, ids, sizeof(ids)))
        return NV_ERR_INVALID_ARGUMENT;
    return NV_OK;
}

/* CALL(rm_free, NVOS00_PARAMETERS): the parameters must have the size that they say. */
#define CALL(function, type)                                                                       \
    do {                                                                                           \
        type* params = data;                                                                       \
        if (size != sizeof(*params)) return NV_ERR_INVALID_ARGUMENT;                               \
        mutex_lock(&nvfp->lock);                                                                   \
        params->status = function(nv, nvfp, params);                                               \
        mutex_unlock(&nvfp->lock);                                                                 \
        return NV_OK;                                                                              \
    } while (0)

NV_STATUS rm_ioctl(nvidia_stack_t* sp, nv_state_t* nv, nv_file_private_t* nvfp, NvU32 cmd,
                   void* data, NvU32 size) {
    switch (cmd) {
    case NV_ESC_RM_FREE: CALL(rm_free, NVOS00_PARAMETERS);
    case NV_ESC_RM_CONTROL: CALL(rm_control, NVOS54_PARAMETERS);
    case NV_ESC_RM_ALLOC: CALL(rm_alloc, NVOS64_PARAMETERS);
    default: return NV_ERR_INVALID_ARGUMENT;
    }
}

void rm_cleanup_file_private(nvidia_stack_t* sp, nv_state_t* nv, nv_file_private_t* nvfp) {
    struct object *object, *next;

    list_for_each_entry_safe(object, next, &nvfp->objects, link) drop(nv, object);
}
