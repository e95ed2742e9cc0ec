// SPDX-License-Identifier: GPL-2.0
/* The devices of major 195, nvidia0 and nvidiactl, and what their files can do. Who opens them
 * makes the nodes. */
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "books.h"
#include "nv.h"

#define NV_ESC_CARD_INFO 200
#define NV_ESC_CHECK_VERSION_STR 210
#define NV_ESC_IOCTL_XFER_CMD 211
#define NV_ESC_SYS_PARAMS 214

#define NV_ABSOLUTE_MAX_IOCTL_SIZE 16384
#define NV_RM_API_VERSION_REPLY_RECOGNIZED 1
#define NV_MAX_DEVICES 32

typedef struct {
    NvU32 domain;
    NvU8 bus, slot, function;
    NvU16 vendor_id, device_id;
} nv_pci_info_t;

typedef struct {
    NvBool valid;
    nv_pci_info_t pci_info;
    NvU32 gpu_id;
    NvU16 interrupt_line;
    NvU64 reg_address, reg_size, fb_address, fb_size;
    NvU32 minor_number;
    NvU8 dev_name[10];
} nv_ioctl_card_info_t;
static_assert(sizeof(nv_ioctl_card_info_t) == 72);

typedef struct {
    NvU64 memblock_size;
} nv_ioctl_sys_params_t;

typedef struct {
    NvU32 cmd, reply;
    char version_string[64];
} nv_ioctl_rm_api_version_t;

/* Where the parameters are too large for the command's 14 bits, it points to them. */
typedef struct {
    NvU32 cmd, size;
    NvU64 ptr;
} nv_ioctl_xfer_t;

static nv_state_t gpu = {.gpu_id = 0x100, .minor = 0};
static nv_state_t control = {.gpu_id = 0x100, .minor = NV_MINOR_DEVICE_NUMBER_CONTROL_DEVICE};
static unsigned long shared_page; /* what each mapping shows */
static struct cdev devices;

static int nvidia_open(struct inode* inode, struct file* file) {
    const unsigned int minor = iminor(inode);
    nv_file_private_t* nvfp;

    books_call(__func__);
    if (minor != gpu.minor && minor != control.minor) return -ENODEV;
    nvfp = kzalloc(sizeof(*nvfp), GFP_KERNEL);
    if (!nvfp) return -ENOMEM;
    INIT_LIST_HEAD(&nvfp->objects);
    mutex_init(&nvfp->lock);
    nvfp->nv = minor == gpu.minor ? &gpu : &control;
    file->private_data = nvfp;
    return 0;
}

static int nvidia_close(struct inode* inode, struct file* file) {
    nv_file_private_t* nvfp = file->private_data;

    books_call(__func__);
    rm_cleanup_file_private(NULL, nvfp->nv, nvfp);
    kfree(nvfp);
    return 0;
}

static int card_info(void* data, NvU32 size) {
    nv_ioctl_card_info_t* card = data;

    if (size < sizeof(*card) || size % sizeof(*card)) return -EINVAL;
    memset(data, 0, size);
    card->valid = true;
    card->pci_info.bus = 1;
    card->pci_info.vendor_id = 0x10de;
    card->pci_info.device_id = 0x2330;
    card->gpu_id = gpu.gpu_id;
    card->minor_number = gpu.minor;
    return 0;
}

static int check_version(void* data, NvU32 size) {
    nv_ioctl_rm_api_version_t* version = data;

    if (size != sizeof(*version)) return -EINVAL;
    version->reply = NV_RM_API_VERSION_REPLY_RECOGNIZED;
    strscpy(version->version_string, "stand-in", sizeof(version->version_string));
    return 0;
}

static int sys_params(void* data, NvU32 size) {
    nv_ioctl_sys_params_t* params = data;

    if (size != sizeof(*params)) return -EINVAL;
    params->memblock_size = 128 << 20;
    return 0;
}

static int answer(nv_file_private_t* nvfp, NvU32 number, void* data, NvU32 size) {
    switch (number) {
    case NV_ESC_CARD_INFO: return card_info(data, size);
    case NV_ESC_CHECK_VERSION_STR: return check_version(data, size);
    case NV_ESC_SYS_PARAMS: return sys_params(data, size);
    default: return rm_ioctl(NULL, nvfp->nv, nvfp, number, data, size) == NV_OK ? 0 : -EINVAL;
    }
}

static int nvidia_ioctl(struct inode* inode, struct file* file, unsigned int cmd,
                        unsigned long i_arg) {
    NvU32 number = _IOC_NR(cmd), size = _IOC_SIZE(cmd);
    void __user* arg = (void __user*)i_arg;
    nv_ioctl_xfer_t xfer;
    void* data;
    int status;

    if (number == NV_ESC_IOCTL_XFER_CMD) {
        if (size != sizeof(xfer)) return -EINVAL;
        if (copy_from_user(&xfer, arg, sizeof(xfer))) return -EFAULT;
        number = xfer.cmd;
        size = xfer.size;
        arg = (void __user*)xfer.ptr;
    }
    if (size == 0 || size > NV_ABSOLUTE_MAX_IOCTL_SIZE) return -EINVAL;
    data = memdup_user(arg, size);
    if (IS_ERR(data)) return PTR_ERR(data);
    status = answer(file->private_data, number, data, size);
    if (status == 0 && copy_to_user(arg, data, size)) status = -EFAULT;
    kfree(data);
    return status;
}

static long nvidia_unlocked_ioctl(struct file* file, unsigned int cmd, unsigned long i_arg) {
    books_command(__func__, cmd);
    return nvidia_ioctl(file_inode(file), file, cmd, i_arg);
}

static int nvidia_mmap(struct file* file, struct vm_area_struct* vma) {
    books_call(__func__);
    if (vma->vm_end - vma->vm_start != PAGE_SIZE) return -EINVAL;
    return vm_insert_page(vma, vma->vm_start, virt_to_page((void*)shared_page));
}

static __poll_t nvidia_poll(struct file* file, poll_table* wait) {
    books_call(__func__);
    return EPOLLIN | EPOLLRDNORM;
}

static const struct file_operations nvidia_fops = {
    .owner = THIS_MODULE,
    .open = nvidia_open,
    .release = nvidia_close,
    .unlocked_ioctl = nvidia_unlocked_ioctl,
    .mmap = nvidia_mmap,
    .poll = nvidia_poll,
};

static int add_devices(void) {
    const dev_t first = MKDEV(NV_MAJOR_DEVICE_NUMBER, 0);
    int status = register_chrdev_region(first, 256, "nvidia");

    if (status) return status;
    cdev_init(&devices, &nvidia_fops);
    devices.owner = THIS_MODULE;
    status = cdev_add(&devices, first, 256);
    if (status) unregister_chrdev_region(first, 256);
    return status;
}

static int __init nvidia_init_module(void) {
    int status;

    shared_page = get_zeroed_page(GFP_KERNEL);
    if (!shared_page) return -ENOMEM;
    status = books_open();
    if (status) goto no_books;
    status = nv_xid_open();
    if (status) goto no_xid;
    status = add_devices();
    if (status) goto no_devices;
    return 0;

no_devices:
    nv_xid_close();
no_xid:
    books_close();
no_books:
    free_page(shared_page);
    return status;
}

static void __exit nvidia_exit_module(void) {
    cdev_del(&devices);
    unregister_chrdev_region(MKDEV(NV_MAJOR_DEVICE_NUMBER, 0), 256);
    nv_xid_close();
    books_close();
    free_page(shared_page);
}

module_init(nvidia_init_module);
module_exit(nvidia_exit_module);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Stand-in for NVIDIA's nvidia.ko, for tests without a GPU");
