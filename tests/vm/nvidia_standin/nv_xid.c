// SPDX-License-Identifier: GPL-2.0
/* Errors of the GPU. There is none, so a test says which error it is to have:
 *
 *     $ echo 79 GPU has fallen off the bus. > /proc/nvidia_standin_xid
 *
 * It is reported as the driver does, by a thread of the kernel, before the write returns. */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "nv.h"

#define CREATE_TRACE_POINTS
#include "nv_tracepoint.h"

#define XID_NAME "nvidia_standin_xid"
#define XID_DEVICE "0000:01:00.0"
#define XID_MESSAGE 256

struct xid {
    struct work_struct work;
    NvU32 code;
    char message[XID_MESSAGE];
};

static struct workqueue_struct* reporter; /* a thread of its own, to be waited for */

static void report(struct work_struct* work) {
    struct xid* xid = container_of(work, struct xid, work);

    trace_nvidia_dev_xid(XID_DEVICE, xid->code, xid->message);
}

static ssize_t write(struct file* file, const char __user* from, size_t size, loff_t* at) {
    struct xid* xid;
    char text[XID_MESSAGE];
    int begin = 0;

    if (size >= sizeof(text)) return -EINVAL;
    if (copy_from_user(text, from, size)) return -EFAULT;
    text[size] = '\0';
    xid = kzalloc(sizeof(*xid), GFP_KERNEL);
    if (!xid) return -ENOMEM;
    if (sscanf(text, "%u %n", &xid->code, &begin) != 1) {
        kfree(xid);
        return -EINVAL;
    }
    strscpy(xid->message, strim(text + begin), sizeof(xid->message));
    INIT_WORK(&xid->work, report);
    queue_work(reporter, &xid->work);
    flush_work(&xid->work);
    kfree(xid);
    return size;
}

static const struct proc_ops xid_ops = {.proc_write = write};

int nv_xid_open(void) {
    reporter = alloc_workqueue(XID_NAME, 0, 0);
    if (!reporter) return -ENOMEM;
    if (proc_create(XID_NAME, 0200, NULL, &xid_ops)) return 0;
    destroy_workqueue(reporter);
    return -ENOMEM;
}

void nv_xid_close(void) {
    remove_proc_entry(XID_NAME, NULL);
    destroy_workqueue(reporter);
}
