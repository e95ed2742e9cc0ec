/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the stand-in share. Names of types and functions, their parameters and the
 * numbers are those of NVIDIA's open kernel modules, so that rules and probes made for the real
 * driver fit here. */
#ifndef NVIDIA_STANDIN_NV_H
#define NVIDIA_STANDIN_NV_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

typedef u8 NvU8;
typedef u8 NvBool;
typedef u16 NvU16;
typedef u32 NvU32;
typedef s32 NvS32;
typedef u64 NvU64;
typedef NvU32 NvHandle;
typedef NvU32 NV_STATUS;

#define NV_OK 0x00
#define NV_ERR_INVALID_ARGUMENT 0x1f
#define NV_ERR_NO_MEMORY 0x51
#define NV_ERR_NOT_SUPPORTED 0x56
#define NV_ERR_OBJECT_NOT_FOUND 0x57

#define NV_MAJOR_DEVICE_NUMBER 195
#define NV_MINOR_DEVICE_NUMBER_CONTROL_DEVICE 255

/* One GPU, or the control device. */
typedef struct nv_state_t {
    NvU32 gpu_id;
    NvU32 minor;
} nv_state_t;

/* What an open file owns. */
typedef struct nv_file_private_t {
    struct list_head objects;
    struct mutex lock;
    nv_state_t* nv;
} nv_file_private_t;

/* The resource manager has stacks of its own; here nobody looks into them. */
typedef struct nvidia_stack_s nvidia_stack_t;

/* nv_pages.c: system memory. `pte_array` takes the physical address of the first page if
 * contiguous, else of each. */
NV_STATUS nv_alloc_pages(nv_state_t* nv, NvU32 page_count, NvU64 page_size, NvBool contiguous,
                         NvU32 cache_type, NvBool zeroed, NvBool unencrypted, NvS32 node_id,
                         NvU64* pte_array, void** priv_data);
NV_STATUS nv_free_pages(nv_state_t* nv, NvU32 page_count, NvBool contiguous, NvU32 cache_type,
                        void* priv_data);

/* nv_xid.c: errors, at the wish of tests. */
int nv_xid_open(void);
void nv_xid_close(void);

/* rm.c: the resource manager, without ftrace sites. `cmd` is the number alone, 0x2b of 0xc030462b.
 */
NV_STATUS rm_ioctl(nvidia_stack_t* sp, nv_state_t* nv, nv_file_private_t* nvfp, NvU32 cmd,
                   void* data, NvU32 size);
void rm_cleanup_file_private(nvidia_stack_t* sp, nv_state_t* nv, nv_file_private_t* nvfp);

#endif
