/* made_code TIMES [MS]: makes functions at run time that call tick, and tells of them in
 * /tmp/perf-PID.map, as runtimes do: as it goes; or, with MS, when it ends, so many milliseconds
 * later, and then the map stays. Where TIMES is negative, it is one function, made anew so often.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls_argument.h"

__attribute__((noinline)) void tick(void) {
    __asm__ volatile("" : : : "memory");
}

int main(int argc, char** argv) {
    char path[64];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int times = argc > 1 ? atoi(argv[1]) : 1, anew = times < 0;
    if (anew) times = -times;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    char* all = NULL;
    size_t size = 0;
    FILE* map = argc > 2 ? open_memstream(&all, &size) : fopen(path, "w");
    if (map == NULL) return 1;
    char* code = NULL;
    for (int i = 0; i < times; i++) {
        if (!anew || code == NULL)
            code = mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
        if (code == MAP_FAILED) return 1;
        memcpy(code, kCode, sizeof kCode);
        __builtin___clear_cache(code, code + sizeof kCode);
        fprintf(map, "%lx %lx made_%d app.js:%d\n", (unsigned long)code,
                (unsigned long)sizeof kCode, i, i + 1);
        fflush(map);
        for (int call = 0; call < (anew ? 3 : 1); call++) {
            if (anew) usleep(30000); /* a file's times are no finer than 10 ms */
            ((void (*)(void (*)(void)))code)(tick);
            if (anew) usleep(30000);
        }
    }
    if (argc <= 2) {
        usleep(200000); /* its map is read while it runs */
        fclose(map);
        unlink(path);
        return 0;
    }
    fclose(map);
    usleep((useconds_t)atoi(argv[2]) * 1000);
    map = fopen(path, "w");
    return map == NULL || fwrite(all, 1, size, map) != size || fclose(map) != 0;
}
