/* interrupted: asks for the time until a timer has found it 20 times in the kernel's helper library
 * (vdso); the handler calls tick then. Prints how often it was found there within 5 seconds. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

static unsigned long vdso_begin, vdso_end;
static volatile sig_atomic_t found;

__attribute__((noinline)) void tick(int n) {
    __asm__ volatile("" : : "r"(n) : "memory");
}

static void on_timer(int signal, siginfo_t* info, void* context) {
    const mcontext_t* machine = &((ucontext_t*)context)->uc_mcontext;
#if defined(__x86_64__)
    unsigned long pc = (unsigned long)machine->gregs[REG_RIP];
#else
    unsigned long pc = machine->pc;
#endif
    (void)signal, (void)info;
    if (pc > vdso_begin && pc < vdso_end && found < 20) tick(++found);
}

static void find_vdso(void) {
    char line[512];
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, "[vdso]") != NULL) sscanf(line, "%lx-%lx", &vdso_begin, &vdso_end);
    }
    if (maps != NULL) fclose(maps);
}

__attribute__((noinline)) static void ask_for_the_time(void) {
    struct timeval now;
    for (int i = 0; i < 1000; i++) gettimeofday(&now, NULL);
}

int main(void) {
    struct sigaction action;
    struct itimerval often = {{0, 300}, {0, 300}};
    time_t until = time(NULL) + 5;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_timer;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    find_vdso();
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (found < 20 && time(NULL) < until) ask_for_the_time();
    printf("%d\n", (int)found);
    return 0;
}
