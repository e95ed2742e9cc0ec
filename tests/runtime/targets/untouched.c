/* System calls whose arguments lie in pages that nobody has touched: FILE is mapped at 1 << 45, and
 * has what each word of the command line asks for where it says:
 *   open FILE N   opens N paths, which stand at 1 MiB, 2 MiB, ...
 *   across FILE   opens the path 4 bytes before 1 MiB + 4096; the page before is touched
 *   sleep FILE    nanosleep() for the time at 1 MiB
 *   exec FILE     the program at 1 MiB, with the arguments whose addresses stand at 2 MiB
 *   late FILE     likewise from a second thread, after it has opened the path at 3 MiB
 *   fork FILE N   N processes, each of which opens the path at 1 MiB
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { mib = 1 << 20 };
static char* const base = (char*)(1L << 45);
extern char** environ;

static void map(const char* name) {
    struct stat file;
    int fd = open(name, O_RDONLY);
    if (fstat(fd, &file) != 0) _exit(2);
    void* at = mmap(base, file.st_size, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    if (at != base) _exit(3);
    close(fd);
}

static void open_it(const char* path) {
    if (open(path, O_RDONLY) < 0) _exit(4);
}

static void exec_it(void) {
    execve(base + mib, (char**)(base + 2 * mib), environ);
    _exit(5);
}

static void* late(void* none) {
    open_it(base + 3 * mib);
    exec_it();
    return none;
}

int main(int argc, char** argv) {
    pthread_t thread;
    int n = argc > 3 ? atoi(argv[3]) : 1;
    if (argc < 3) return 9;
    map(argv[2]);
    if (strcmp(argv[1], "open") == 0) {
        for (int i = 1; i <= n; i++) open_it(base + i * mib);
    } else if (strcmp(argv[1], "across") == 0) {
        volatile char* touched = base + mib + 4092;
        if (*touched == 0) return 6;
        open_it(base + mib + 4092);
    } else if (strcmp(argv[1], "sleep") == 0) {
        nanosleep((const struct timespec*)(base + mib), NULL);
    } else if (strcmp(argv[1], "exec") == 0) {
        exec_it();
    } else if (strcmp(argv[1], "late") == 0) {
        pthread_create(&thread, NULL, late, NULL);
        pthread_join(thread, NULL);
    } else if (strcmp(argv[1], "fork") == 0) {
        for (int i = 0; i < n; i++) {
            if (fork() == 0) {
                open_it(base + mib);
                _exit(0);
            }
        }
        for (int i = 0; i < n; i++) wait(NULL);
    }
    return 0;
}
