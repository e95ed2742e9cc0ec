/* deep DEPTH TIMES: recursion of that depth. */
#include <stdio.h>
#include <stdlib.h>

int down(int depth) {
    return depth <= 1 ? 1 : down(depth - 1) + 1;
}

int main(int argc, char** argv) {
    int depth = argc > 1 ? atoi(argv[1]) : 60, times = argc > 2 ? atoi(argv[2]) : 1, sum = 0;
    for (int i = 0; i < times; i++) sum += down(depth);
    printf("%d\n", sum);
    return 0;
}
