/* libbcc's helpers.h chooses by version only between ways that kernels before 4.8 needed. The oldest
 * kernel that this tool attaches on is 5.15 (BPF cookies); the running one may be any newer. */
#ifndef MLBCC_LINUX_VERSION_H
#define MLBCC_LINUX_VERSION_H

#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + ((c) > 255 ? 255 : (c)))
#define LINUX_VERSION_CODE KERNEL_VERSION(5, 15, 0)

#endif
