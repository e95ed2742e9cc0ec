// Exceptions go through a function of a C library, if it is told so:
//   neighbour calm|throws CALLS
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <unistd.h>

extern "C" int call_through(int (*what)(int), int n);

static bool throws;

static int what(int n) {
    if (throws && n % 2 == 0) throw std::runtime_error("even");
    return n;
}

int main(int argc, char** argv) {
    throws = argc > 1 && std::string(argv[1]) == "throws";
    const int calls = argc > 2 ? std::atoi(argv[2]) : 1000;
    long sum = 0, caught = 0;
    for (int i = 0; i < calls; i++) {
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
    std::printf("sum %ld caught %ld\n", sum, caught);
}
