// SPDX-License-Identifier: GPL-2.0
/* Lets NVIDIA's own kernel module load in a virtual machine that has no GPU: a PCI device that QEMU
 * emulates gets, in the kernel's view, the ids of a GPU before nvidia.ko looks for one.
 *
 *     insmod nvidia_device.ko        # QEMU: -device secondary-vga,vgamem_mb=16
 *     insmod nvidia.ko
 *
 * It answers no command: cuInit ends with CUDA_ERROR_UNKNOWN, behind the requests that find out. */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>

/* QEMU's secondary-vga */
#define DISGUISED_VENDOR 0x1234
#define DISGUISED_DEVICE 0x1111
/* A T4 */
#define NVIDIA_VENDOR 0x10de
#define T4_DEVICE 0x1eb8
#define T4_SUBSYSTEM 0x12a2
#define T4_INTERRUPT 11
/* Registers at the beginning of BAR 0 that name the chip; open-gpu-doc: NV_PMC_BOOT_0, _42 */
#define PMC_BOOT_0 0x000
#define PMC_BOOT_42 0xa00
#define PMC_BOOT_0_TU104 0x164000a1
#define PMC_BOOT_42_TU104 0x164a1000

/* The device's BAR 0 is memory: what is written stays there. */
static int write_chip(struct pci_dev* device) {
    u8 __iomem* registers;
    int status = pci_enable_device(device);

    if (status) return status;
    registers = ioremap(pci_resource_start(device, 0), PAGE_SIZE);
    if (registers) {
        writel(PMC_BOOT_0_TU104, registers + PMC_BOOT_0);
        writel(PMC_BOOT_42_TU104, registers + PMC_BOOT_42);
        iounmap(registers);
    } else {
        status = -ENOMEM;
    }
    pci_disable_device(device);
    return status;
}

static int __init nvidia_device_init(void) {
    struct pci_dev* device = pci_get_device(DISGUISED_VENDOR, DISGUISED_DEVICE, NULL);
    int status;

    if (!device) return -ENODEV;
    status = write_chip(device);
    if (status == 0) {
        device->vendor = device->subsystem_vendor = NVIDIA_VENDOR;
        device->device = T4_DEVICE;
        device->subsystem_device = T4_SUBSYSTEM;
        device->class = PCI_CLASS_DISPLAY_3D << 8;
        if (!device->irq) device->irq = T4_INTERRUPT;
    }
    pci_dev_put(device);
    return status;
}

static void __exit nvidia_device_exit(void) {}

module_init(nvidia_device_init);
module_exit(nvidia_device_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Gives an emulated PCI device the ids of an NVIDIA GPU, for tests");
