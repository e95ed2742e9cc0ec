/* What programs ask of NVIDIA's kernel modules by ioctl(), and the structures that they pass.
   Names and layouts: NVIDIA's open-gpu-kernel-modules (nv_escape.h, nv-ioctl-numbers.h, nvos.h,
   uvm_ioctl.h). */
#ifndef NVIDIA_IOCTL_H
#define NVIDIA_IOCTL_H

#include "nvidia_controls.h"
#include "nvidia_names.h"

/* The low byte of a command to /dev/nvidiactl and /dev/nvidia0. */
enum nv_escape {
    NV_ESC_RM_ALLOC_MEMORY = 0x27,
    NV_ESC_RM_ALLOC_OBJECT = 0x28,
    NV_ESC_RM_FREE = 0x29,
    NV_ESC_RM_CONTROL = 0x2a,
    NV_ESC_RM_ALLOC = 0x2b,
    NV_ESC_RM_DUP_OBJECT = 0x34,
    NV_ESC_RM_SHARE = 0x35,
    NV_ESC_RM_I2C_ACCESS = 0x39,
    NV_ESC_RM_IDLE_CHANNELS = 0x41,
    NV_ESC_RM_VID_HEAP_CONTROL = 0x4a,
    NV_ESC_RM_ACCESS_REGISTRY = 0x4d,
    NV_ESC_RM_MAP_MEMORY = 0x4e,
    NV_ESC_RM_UNMAP_MEMORY = 0x4f,
    NV_ESC_RM_GET_EVENT_DATA = 0x52,
    NV_ESC_RM_ALLOC_CONTEXT_DMA2 = 0x54,
    NV_ESC_RM_ADD_VBLANK_CALLBACK = 0x56,
    NV_ESC_RM_MAP_MEMORY_DMA = 0x57,
    NV_ESC_RM_UNMAP_MEMORY_DMA = 0x58,
    NV_ESC_RM_BIND_CONTEXT_DMA = 0x59,
    NV_ESC_RM_EXPORT_OBJECT_TO_FD = 0x5c,
    NV_ESC_RM_IMPORT_OBJECT_FROM_FD = 0x5d,
    NV_ESC_RM_UPDATE_DEVICE_MAPPING_INFO = 0x5e,
    NV_ESC_RM_LOCKLESS_DIAGNOSTIC = 0x5f,
    NV_ESC_CARD_INFO = 200,
    NV_ESC_REGISTER_FD = 201,
    NV_ESC_ALLOC_OS_EVENT = 206,
    NV_ESC_FREE_OS_EVENT = 207,
    NV_ESC_STATUS_CODE = 209,
    NV_ESC_CHECK_VERSION_STR = 210,
    NV_ESC_IOCTL_XFER_CMD = 211,
    NV_ESC_ATTACH_GPUS_TO_FD = 212,
    NV_ESC_QUERY_DEVICE_INTR = 213,
    NV_ESC_SYS_PARAMS = 214,
    NV_ESC_NUMA_INFO = 215,
    NV_ESC_SET_NUMA_STATUS = 216,
    NV_ESC_EXPORT_TO_DMABUF_FD = 217,
    NV_ESC_WAIT_OPEN_COMPLETE = 218
};
typedef enum nv_escape nv_escape_hex;

/* Commands as a whole, with the size of what is passed: those whose structures are below. */
enum nv_request {
    NV_REQUEST_FREE = 0xc0104629,
    NV_REQUEST_CONTROL = 0xc020462a,
    NV_REQUEST_ALLOC_SHORT = 0xc020462b,
    NV_REQUEST_ALLOC = 0xc030462b,
    NV_REQUEST_DUP_OBJECT = 0xc01c4634,
    NV_REQUEST_MAP_MEMORY = 0xc038464e,
    NV_REQUEST_UNMAP_MEMORY = 0xc020464f
};

typedef unsigned int nv_handle_hex;
typedef unsigned long long nv_address_ptr;

typedef struct {
    nv_handle_hex hRoot, hObjectParent, hObjectOld;
    nv_status_hex status;
} NVOS00_PARAMETERS; /* FREE */
typedef struct {
    nv_handle_hex hRoot, hObjectParent, hObjectNew;
    nv_class_hex hClass;
    nv_address_ptr pAllocParms;
    unsigned int paramsSize;
    nv_status_hex status;
} NVOS21_PARAMETERS; /* ALLOC_SHORT */
typedef struct {
    nv_handle_hex hRoot, hObjectParent, hObjectNew;
    nv_class_hex hClass;
    nv_address_ptr pAllocParms, pRightsRequested;
    unsigned int paramsSize, flags;
    nv_status_hex status;
} NVOS64_PARAMETERS; /* ALLOC */
typedef struct {
    nv_handle_hex hClient, hObject;
    nv_control_hex cmd;
    unsigned int flags;
    nv_address_ptr params;
    unsigned int paramsSize;
    nv_status_hex status;
} NVOS54_PARAMETERS; /* CONTROL */
typedef struct {
    nv_handle_hex hClient, hParent, hObject, hClientSrc, hObjectSrc;
    unsigned int flags;
    nv_status_hex status;
} NVOS55_PARAMETERS; /* DUP_OBJECT */
typedef struct {
    nv_handle_hex hClient, hDevice, hMemory;
    unsigned long long offset;
    unsigned long length;
    nv_address_ptr pLinearAddress;
    nv_status_hex status;
    unsigned int flags;
} NVOS33_PARAMETERS; /* MAP_MEMORY */
typedef struct {
    nv_handle_hex hClient, hDevice, hMemory;
    nv_address_ptr pLinearAddress;
    nv_status_hex status;
    unsigned int flags;
} NVOS34_PARAMETERS; /* UNMAP_MEMORY */
typedef struct {
    unsigned int cmd, size;
    nv_address_ptr ptr;
} nv_ioctl_xfer_t; /* XFER_CMD: a command whose parameters are too large for an ioctl's number */

/* Commands to /dev/nvidia-uvm: plain numbers. */
enum uvm_command {
    UVM_INITIALIZE = 0x30000001,
    UVM_DEINITIALIZE = 0x30000002,
    UVM_CREATE_RANGE_GROUP = 23,
    UVM_DESTROY_RANGE_GROUP = 24,
    UVM_REGISTER_GPU_VASPACE = 25,
    UVM_UNREGISTER_GPU_VASPACE = 26,
    UVM_REGISTER_CHANNEL = 27,
    UVM_UNREGISTER_CHANNEL = 28,
    UVM_ENABLE_PEER_ACCESS = 29,
    UVM_DISABLE_PEER_ACCESS = 30,
    UVM_SET_RANGE_GROUP = 31,
    UVM_MAP_EXTERNAL_ALLOCATION = 33,
    UVM_FREE = 34,
    UVM_MEM_MAP = 35,
    UVM_REGISTER_GPU = 37,
    UVM_UNREGISTER_GPU = 38,
    UVM_PAGEABLE_MEM_ACCESS = 39,
    UVM_PREVENT_MIGRATION_RANGE_GROUPS = 40,
    UVM_ALLOW_MIGRATION_RANGE_GROUPS = 41,
    UVM_SET_PREFERRED_LOCATION = 42,
    UVM_UNSET_PREFERRED_LOCATION = 43,
    UVM_ENABLE_READ_DUPLICATION = 44,
    UVM_DISABLE_READ_DUPLICATION = 45,
    UVM_SET_ACCESSED_BY = 46,
    UVM_UNSET_ACCESSED_BY = 47,
    UVM_MIGRATE = 51,
    UVM_MIGRATE_RANGE_GROUP = 53,
    UVM_TOOLS_INIT_EVENT_TRACKER = 56,
    UVM_TOOLS_SET_NOTIFICATION_THRESHOLD = 57,
    UVM_TOOLS_EVENT_QUEUE_ENABLE_EVENTS = 58,
    UVM_TOOLS_EVENT_QUEUE_DISABLE_EVENTS = 59,
    UVM_TOOLS_ENABLE_COUNTERS = 60,
    UVM_TOOLS_DISABLE_COUNTERS = 61,
    UVM_TOOLS_READ_PROCESS_MEMORY = 62,
    UVM_TOOLS_WRITE_PROCESS_MEMORY = 63,
    UVM_TOOLS_GET_PROCESSOR_UUID_TABLE = 64,
    UVM_MAP_DYNAMIC_PARALLELISM_REGION = 65,
    UVM_UNMAP_EXTERNAL = 66,
    UVM_TOOLS_FLUSH_EVENTS = 67,
    UVM_ALLOC_SEMAPHORE_POOL = 68,
    UVM_CLEAN_UP_ZOMBIE_RESOURCES = 69,
    UVM_PAGEABLE_MEM_ACCESS_ON_GPU = 70,
    UVM_POPULATE_PAGEABLE = 71,
    UVM_VALIDATE_VA_RANGE = 72,
    UVM_CREATE_EXTERNAL_RANGE = 73,
    UVM_MAP_EXTERNAL_SPARSE = 74,
    UVM_MM_INITIALIZE = 75,
    UVM_TOOLS_INIT_EVENT_TRACKER_V2 = 76,
    UVM_TOOLS_GET_PROCESSOR_UUID_TABLE_V2 = 77,
    UVM_ALLOC_DEVICE_P2P = 78,
    UVM_CLEAR_ALL_ACCESS_COUNTERS = 79,
    UVM_DISCARD = 80,
    UVM_IS_8_SUPPORTED = 2047
};
typedef enum uvm_command uvm_command_hex;

typedef struct {
    unsigned long long flags;
    nv_status_hex rmStatus;
} UVM_INITIALIZE_PARAMS;
typedef struct {
    int uvmFd;
    nv_status_hex rmStatus;
} UVM_MM_INITIALIZE_PARAMS;
typedef struct {
    unsigned char pageableMemAccess;
    nv_status_hex rmStatus;
} UVM_PAGEABLE_MEM_ACCESS_PARAMS;
typedef struct {
    unsigned long long base;
    nv_status_hex rmStatus;
} UVM_FREE_PARAMS;
typedef struct {
    unsigned long long base, length;
    nv_status_hex rmStatus;
} UVM_CREATE_EXTERNAL_RANGE_PARAMS;

/* Functions of the modules, for their parameters' names and sizes: modules are mostly built without
   type information. What follows the parameters here differs from version to version. */
struct file;
struct inode;
struct vm_area_struct;
struct nv_state_t;
long nvidia_unlocked_ioctl(struct file* file, unsigned int cmd, unsigned long i_arg);
long nvidia_frontend_unlocked_ioctl(struct file* file, unsigned int cmd, unsigned long i_arg);
long uvm_unlocked_ioctl_entry(struct file* filp, unsigned int cmd, unsigned long arg);
int nvidia_open(struct inode* inode, struct file* file);
int nvidia_close(struct inode* inode, struct file* file);
int nvidia_mmap(struct file* file, struct vm_area_struct* vma);
unsigned int nvidia_poll(struct file* file, void* wait);
nv_status_hex nv_alloc_pages(struct nv_state_t* nv, unsigned int page_count);
nv_status_hex nv_free_pages(struct nv_state_t* nv, unsigned int page_count);

#endif
