// Fibers of boost.context: each is in the middle of a function while others are in theirs, and some
// are ended there, by an exception that is thrown in them.
#include <boost/context/fiber.hpp>

#include <vector>

namespace context = boost::context;

static long yields(long n);
static long deeper(int i, long n);
#define BODY(i, n) ((n) > 0 ? deeper(i, (n)-1) + 1 : yields(n))
#include "books.h"

extern "C" {
FUNCTIONS();
}
TABLE();

enum { kFibers = 40, kRounds = 30 };
static context::fiber home[kFibers];
static int current;
static long sum;

static void yield(int i) {
    home[i] = std::move(home[i]).resume();
}
static long yields(long n) {
    yield(current);
    if (sum % 11 == 7) throw n;
    return n + 1;
}
static long deeper(int i, long n) {
    long result = table[(i + 3) % 10](n);
    if (n % 2) yield(current);
    return result;
}

int main() {
    std::vector<context::fiber> all;
    for (int i = 0; i < kFibers; i++) {
        all.emplace_back([i](context::fiber&& from) {
            home[i] = std::move(from);
            for (int k = 0; k < kRounds; k++) {
                try {
                    sum += table[(i + k) % 10](k % 5);
                } catch (long n) {
                    sum += n + 1;
                }
            }
            return std::move(home[i]);
        });
    }
    for (int round = 0; round < 60; round++) {
        for (current = 0; current < kFibers; current++) {
            context::fiber& one = all[current];
            if (one) one = std::move(one).resume();
        }
    }
    all.clear();  // those that are not over are unwound
    printf("sum %ld\n", sum);
    tell_books();
}
