// SPDX-License-Identifier: GPL-2.0
/* The device nvidia-uvm, of a major number that the kernel chooses. Its commands are plain numbers,
 * without size or type. */
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "books.h"
#include "nv.h"

#define UVM_INITIALIZE 0x30000001
#define UVM_PAGEABLE_MEM_ACCESS 39
#define UVM_MM_INITIALIZE 75

typedef struct {
    NvU64 flags;
    NV_STATUS rmStatus;
} UVM_INITIALIZE_PARAMS;

typedef struct {
    NvBool pageableMemAccess;
    NV_STATUS rmStatus;
} UVM_PAGEABLE_MEM_ACCESS_PARAMS;

typedef struct {
    NvS32 uvmFd;
    NV_STATUS rmStatus;
} UVM_MM_INITIALIZE_PARAMS;

static dev_t first;
static struct cdev device;

static int uvm_open_entry(struct inode* inode, struct file* filp) {
    books_call(__func__);
    return 0;
}

static int uvm_release_entry(struct inode* inode, struct file* filp) {
    books_call(__func__);
    return 0;
}

/* Whatever is asked is done, and pageable memory cannot be reached: all answers are zeros. */
static long uvm_ioctl(unsigned int cmd, void __user* arg) {
    UVM_PAGEABLE_MEM_ACCESS_PARAMS access = {};

    switch (cmd) {
    case UVM_INITIALIZE: return put_user(NV_OK, &((UVM_INITIALIZE_PARAMS __user*)arg)->rmStatus);
    case UVM_PAGEABLE_MEM_ACCESS: return copy_to_user(arg, &access, sizeof(access)) ? -EFAULT : 0;
    case UVM_MM_INITIALIZE:
        return put_user(NV_OK, &((UVM_MM_INITIALIZE_PARAMS __user*)arg)->rmStatus);
    default: return -EINVAL;
    }
}

static long uvm_unlocked_ioctl_entry(struct file* filp, unsigned int cmd, unsigned long arg) {
    books_command(__func__, cmd);
    return uvm_ioctl(cmd, (void __user*)arg);
}

static const struct file_operations uvm_fops = {
    .owner = THIS_MODULE,
    .open = uvm_open_entry,
    .release = uvm_release_entry,
    .unlocked_ioctl = uvm_unlocked_ioctl_entry,
};

static int __init uvm_init_entry(void) {
    int status = alloc_chrdev_region(&first, 0, 1, "nvidia-uvm");

    if (status) return status;
    cdev_init(&device, &uvm_fops);
    device.owner = THIS_MODULE;
    status = cdev_add(&device, first, 1);
    if (status) unregister_chrdev_region(first, 1);
    return status;
}

static void __exit uvm_exit_entry(void) {
    cdev_del(&device);
    unregister_chrdev_region(first, 1);
}

module_init(uvm_init_entry);
module_exit(uvm_exit_entry);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Stand-in for NVIDIA's nvidia-uvm.ko, for tests without a GPU");
