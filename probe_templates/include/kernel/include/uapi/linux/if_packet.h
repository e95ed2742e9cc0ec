/* libbcc's helpers.h includes it; programs that attach to probes need nothing of it. */
