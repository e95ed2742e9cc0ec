/* SPDX-License-Identifier: GPL-2.0 */
/* The books: how often each function was called, exactly, for tests to compare a trace with.
 *
 *     $ cat /proc/nvidia_standin
 *     nvidia_open 2
 *     nvidia_unlocked_ioctl 0xc030462b 11 */
#ifndef NVIDIA_STANDIN_BOOKS_H
#define NVIDIA_STANDIN_BOOKS_H

#include <linux/types.h>

int books_open(void);
void books_close(void);

void books_call(const char* function);
void books_command(const char* function, u32 command);

#endif
