/* stack_shapes SHAPE: calls getppid() once, by leaf(), under functions of that shape. */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL __attribute__((noinline))
#define KEEP asm volatile("" ::: "memory") /* what follows a call: it is no jump */

int comparisons;

CALL int leaf(int x) {
    x += getppid() != 0;
    KEEP;
    return x;
}
CALL int middle(int x) {
    x = leaf(x);
    KEEP;
    return x + 1;
}
CALL int outer(int x) {
    x = middle(x);
    KEEP;
    return x + 1;
}

CALL int recursive(int x) {
    x = x > 0 ? recursive(x - 1) : leaf(x);
    KEEP;
    return x + 1;
}

int even(int x);
CALL int odd(int x) {
    x = even(x - 1);
    KEEP;
    return x;
}
CALL int even(int x) {
    x = x > 0 ? odd(x - 1) : leaf(x);
    KEEP;
    return x;
}

/* Jumps: only the first of them is awaited at its caller's slot, but all end there. */
CALL int jumps_to_leaf(int x) {
    return leaf(x + 1);
}
CALL int jumps(int x) {
    return jumps_to_leaf(x + 1);
}
CALL int calls_a_jump(int x) {
    x = jumps(x);
    KEEP;
    return x;
}

CALL int grows(int x) {
    char* room = alloca((size_t)x);
    memset(room, 1, (size_t)x);
    x = leaf(room[x - 1]);
    KEEP;
    return x;
}

CALL int aligned(int x) {
    _Alignas(64) char room[128];
    memset(room, x, sizeof room);
    asm volatile("" ::"r"(room) : "memory");
    x = leaf(room[5]);
    KEEP;
    return x;
}

struct large {
    long words[12];
};
CALL struct large returns_a_structure(int x) {
    struct large made = {{leaf(x)}};
    KEEP;
    return made;
}
CALL int many(int a, int b, int c, int d, int e, int f, int g, int h, struct large by_value) {
    a += leaf(b + c + d + e + f + g + h) + (int)by_value.words[3];
    KEEP;
    return a;
}
CALL int with_a_structure(int x) {
    struct large made = returns_a_structure(x);
    KEEP;
    return (int)made.words[0];
}
CALL int with_many(int x) {
    struct large made = {{x, x, x, x}};
    x = many(x, 1, 2, 3, 4, 5, 6, 7, made);
    KEEP;
    return x;
}
CALL int variadic(int count, ...) {
    va_list list;
    va_start(list, count);
    int sum = 0;
    for (int i = 0; i < count; i++) sum += va_arg(list, int);
    va_end(list);
    sum = leaf(sum);
    KEEP;
    return sum;
}

CALL int compare(const void* a, const void* b) {
    if (comparisons++ == 0) outer(1);
    return *(const int*)a - *(const int*)b;
}
CALL int sorts(int x) {
    int numbers[] = {x, 1, 2};
    qsort(numbers, 3, sizeof *numbers, compare);
    KEEP;
    return numbers[0];
}

CALL void on_signal(int number) {
    (void)number;
    outer(2);
    KEEP;
}
CALL int raises(int x) {
    raise(SIGUSR1);
    KEEP;
    return x;
}
CALL int interrupted(int x) {
    signal(SIGUSR1, on_signal);
    x = raises(x);
    KEEP;
    return x;
}

jmp_buf back;
CALL int jumps_back(int x) {
    if (x <= 0) longjmp(back, 1);
    if (x < 100) x = jumps_back(x - 1);
    KEEP;
    return x;
}
/* What was left stays awaited until something is traced above it. */
CALL int left(void) {
    if (setjmp(back) == 0) jumps_back(5);
    int x = outer(1);
    KEEP;
    return x;
}
CALL int left_at_the_leaf(void) {
    if (setjmp(back) == 0) jumps_back(5);
    int x = leaf(1);
    KEEP;
    return x;
}
CALL int leaves(int x) {
    x += left();
    KEEP;
    return x;
}
CALL int leaves_at_the_leaf(int x) {
    x += left_at_the_leaf();
    KEEP;
    return x;
}

void* of_a_thread(void* x) {
    outer(3);
    KEEP;
    return x;
}
CALL int threads(int x) {
    pthread_t thread;
    pthread_create(&thread, NULL, of_a_thread, NULL);
    pthread_join(thread, NULL);
    return x;
}

CALL int forks(int x) {
    pid_t child = fork();
    if (child == 0) _exit(outer(x) < 0);
    waitpid(child, NULL, 0);
    return x;
}

typedef int (*Shape)(int);
static int structures(int x) {
    return with_a_structure(x);
}
CALL int with_variadic(int x) {
    x = variadic(3, x, 2, 3);
    KEEP;
    return x;
}
CALL int by_pointer(int x) {
    static Shape volatile next = outer;
    x = next(x);
    KEEP;
    return x;
}

static const struct {
    const char* name;
    Shape shape;
    int argument;
} shapes[] = {
    {"plain", outer, 1},
    {"recursion", recursive, 20},
    {"mutual", even, 10},
    {"jump", calls_a_jump, 1},
    {"alloca", grows, 1000},
    {"aligned", aligned, 1},
    {"structure", structures, 1},
    {"many", with_many, 1},
    {"variadic", with_variadic, 1},
    {"callback", sorts, 3},
    {"signal", interrupted, 1},
    {"longjmp", leaves, 1},
    {"longjmp-leaf", leaves_at_the_leaf, 1},
    {"thread", threads, 1},
    {"fork", forks, 1},
    {"pointer", by_pointer, 1},
};

int main(int argc, char** argv) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (argc == 2 && strcmp(argv[1], shapes[i].name) == 0)
            return shapes[i].shape(shapes[i].argument) < 0;
        if (argc == 1) puts(shapes[i].name);
    }
    return argc != 1;
}
