// Exceptions go through a function of a C library, if it is told so:
//   neighbour calm CALLS
//   neighbour throws          until standard input ends
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

extern "C" int call_through(int (*what)(int), int n);

static bool throws;

static int what(int n) {
    if (throws && n % 2 == 0) throw std::runtime_error("even");
    return n;
}

static bool has_ended() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) != 0;
}

int main(int argc, char** argv) {
    throws = argc > 1 && std::string(argv[1]) == "throws";
    const int calls = argc > 2 ? std::atoi(argv[2]) : 1000;
    long sum = 0, caught = 0;
    int i = 0;
    for (; throws || i < calls; i++) {
        if (throws && i % 100 == 0 && has_ended()) break;
        try {
            sum += call_through(what, i);
        } catch (std::runtime_error&) {
            caught++;
        }
        if (i == 0) {
            std::puts("begun");
            std::fflush(stdout);
        }
        if (i % 100 == 0) usleep(1000);
    }
    std::printf("calls %d sum %ld caught %ld\n", i, sum, caught);
}
