/* jumps N: calls that are left by longjmp, from under another call and from a signal handler. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static jmp_buf back;
static sigjmp_buf out_of_handler;

int inner(int i) {
    longjmp(back, i + 1);
    return i;
}
int middle(int i) {
    return inner(i);
}
int after(int i) {
    return i;
}
int outer(int i) {
    if (setjmp(back) == 0) middle(i);
    return after(i);
}

int handled(int i) {
    return i;
}
int interrupted(int i) {
    raise(SIGUSR1);
    return i;
}
int abandoned(int i) {
    raise(SIGUSR2);
    return i;
}
int settled(int i) {
    return i;
}

static void on_usr1(int number) {
    handled(number);
}
static void on_usr2(int number) {
    handled(number);
    siglongjmp(out_of_handler, 1);
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1;
    signal(SIGUSR1, on_usr1);
    signal(SIGUSR2, on_usr2);
    for (int i = 0; i < n; i++) {
        outer(i);
        interrupted(i);
        if (sigsetjmp(out_of_handler, 1) == 0) abandoned(i);
        settled(i);
    }
    return 0;
}
