/* As in a container whose processes mean ill: writes code into FILE and maps it, puts a link to
 * TARGET in its place, and calls hit() through that code, TIMES times in as many tenths of a
 * second.
 *
 *   mapped FILE TARGET TIMES
 *   mapped                    sleeps for a minute
 *
 * Linked statically: it runs in a root that has nothing else. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "calls_argument.h"

enum { kAt = 0x1110, kSize = 8192 }; /* in the file, bytes */

__attribute__((noinline)) unsigned long hit(void) {
    __asm__ volatile("");
    return 1;
}

int main(int argc, char** argv) {
    umount2("/old", MNT_DETACH); /* where pivot_root has put the host's files */
    if (argc < 4) return (int)sleep(60);
    int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0755);
    if (file < 0 || ftruncate(file, kSize) != 0) return 1;
    if (pwrite(file, kCode, sizeof kCode, kAt) != (ssize_t)sizeof kCode) return 2;
    char* code = mmap(NULL, kSize, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    if (code == MAP_FAILED || close(file) != 0) return 3;
    if (unlink(argv[1]) != 0 || symlink(argv[2], argv[1]) != 0) return 4;
    for (int i = 0; i < atoi(argv[3]); i++) {
        ((unsigned long (*)(unsigned long (*)(void)))(code + kAt))(hit);
        usleep(100000);
    }
    return 0;
}
