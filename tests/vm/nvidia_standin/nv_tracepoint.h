/* SPDX-License-Identifier: GPL-2.0 */
/* The tracepoint nvidia:nvidia_dev_xid, with the fields that drivers have from 575.51.02 on. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvidia

#if !defined(NVIDIA_STANDIN_NV_TRACEPOINT_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVIDIA_STANDIN_NV_TRACEPOINT_H

#include <linux/tracepoint.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define ASSIGN_TEXT(field, text) __assign_str(field)
#else
#define ASSIGN_TEXT(field, text) __assign_str(field, text)
#endif

/* clang-format off: what follows only looks like C. */
TRACE_EVENT(nvidia_dev_xid, TP_PROTO(const char* device, u32 error_code, const char* text),
            TP_ARGS(device, error_code, text),
            TP_STRUCT__entry(__string(dev, device) __field(u32, error_code) __string(msg, text)),
            TP_fast_assign(ASSIGN_TEXT(dev, device); ASSIGN_TEXT(msg, text);
                           __entry->error_code = error_code;),
            TP_printk("Xid (PCI:%s): %u, %s", __get_str(dev), __entry->error_code, __get_str(msg)));
/* clang-format on */

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE nv_tracepoint
#include <trace/define_trace.h>
