// Functions that are left by exceptions, cancelled in, and in which backtraces are taken.
//   unwinds nested|rethrown|destructors|recursion|jumps|million|steps|cancelled|exited|backtraces
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <fstream>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static std::atomic<long> calls[10], ends[10], destroyed, cleaned;
static const char* mode = "";
static bool is(const char* name) {
    return std::strcmp(mode, name) == 0;
}
static int waits_on[2];

static thread_local jmp_buf back;
static constexpr long kJumped = 1L << 60;  // what f9 was given by f8, which has left by a jump

struct Guard {
    ~Guard() { destroyed++; }
};

extern "C" {
long f0(long), f1(long), f2(long), f3(long), f4(long), f5(long), f6(long), f7(long), f8(long),
    f9(long);
}
static long (*const table[10])(long) = {f0, f1, f2, f3, f4, f5, f6, f7, f8, f9};

static long innermost(long n) {
    if (is("cancelled")) {
        char c;
        return read(waits_on[0], &c, 1);
    }
    if (is("exited")) pthread_exit(nullptr);
    if (is("backtraces")) {
        void* frames[64];
        const int depth = backtrace(frames, 64);
        long inner = 0;
        for (int i = 0; i < depth; i++) inner += frames[i] != nullptr;
        return inner;
    }
    if (is("million")) throw n;
    if (is("jumps") && n % 5 == 0) longjmp(back, 1);
    if (n % 3 == 0) throw std::runtime_error("three");
    if (n % 7 == 0) throw n;
    return n;
}

static void clean(void*) {
    cleaned++;
}

static long work(int i, long n) {
    Guard guard;
    const long depth = n & 255, key = n >> 8;
    if (depth == 0) {
        long result = 0;
        pthread_cleanup_push(clean, nullptr);
        result = innermost(key);
        pthread_cleanup_pop(0);
        return result;
    }
    if (is("rethrown") && i % 4 == 1) {
        try {
            return table[(i + 1) % 10](n - 1) + 1;
        } catch (long) {
            throw;
        }
    }
    if (i == 5 && !is("cancelled") && !is("exited")) {  // caught in a function that is traced
        try {
            return table[(i + 1) % 10](n - 1) + 1;
        } catch (std::runtime_error&) {
            return -1;
        }
    }
    return table[(i + 1) % 10](n - 1) + 1;
}

#define FUNCTION(I)                                                                                \
    extern "C" __attribute__((noinline)) long f##I(long n) {                                       \
        calls[I]++;                                                                                \
        long result = work(I, n);                                                                  \
        ends[I]++;                                                                                 \
        return result;                                                                             \
    }
FUNCTION(0);
FUNCTION(1);
FUNCTION(2);
FUNCTION(3);
FUNCTION(4);
FUNCTION(5);
FUNCTION(6);
FUNCTION(7);
extern "C" __attribute__((noinline)) long f8(long n) {
    calls[8]++;
    if (is("jumps") && (n & 255)) return f9((n - 1) | kJumped);
    long result = work(8, n);
    ends[8]++;
    return result;
}
extern "C" __attribute__((noinline)) long f9(long n) {
    calls[9]++;
    long result = work(9, n & ~kJumped);
    ends[9]++;
    if (n & kJumped) ends[8]++;
    return result;
}

struct Throws {
    long n;
    ~Throws() noexcept(false) { table[n % 10](n << 8 | 2); }
};

static long run(long thread) {
    long sum = 0;
    const long depth = is("recursion") ? 100 : is("million") ? 1 : 6;
    for (long n = 0; n < (is("million") ? 250000 : 400); n++) {
        if (setjmp(back) != 0) {
            sum += 10;
            continue;
        }
        try {
            if (is("destructors")) {
                Throws last{n + thread};
            } else {
                sum += table[n % 10]((n + thread) << 8 | (n % depth));
            }
        } catch (std::runtime_error&) {
            sum += 1000;
        } catch (long) {
            sum += 100000;
        }
    }
    return sum;
}

static void* left(void*) {
    table[0](5);
    return nullptr;
}

// The kernel maps a page of its own where it single-steps instructions.
static void tell_steps() {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    bool steps = false;
    while (std::getline(maps, line)) steps = steps || line.find("[uprobes]") != line.npos;
    std::fputs(steps ? "single-stepped\n" : "not single-stepped\n", stderr);
}

int main(int argc, char** argv) {
    if (argc > 1) mode = argv[1];
    long sum = 0;
    if (is("cancelled") || is("exited")) {
        if (pipe(waits_on) != 0) return 1;
        for (int i = 0; i < 40; i++) {
            pthread_t thread;
            const long before = calls[5];
            pthread_create(&thread, nullptr, left, nullptr);
            if (is("cancelled")) {
                while (calls[5] == before) usleep(200);
                usleep(1000);
                pthread_cancel(thread);
            }
            pthread_join(thread, nullptr);
        }
    } else {
        long sums[4];
        std::vector<std::thread> threads;
        for (long i = 0; i < 4; i++) threads.emplace_back([i, &sums] { sums[i] = run(i); });
        for (auto& one : threads) one.join();
        for (long one : sums) sum += one;
    }
    if (is("steps")) tell_steps();
    std::printf("sum %ld destroyed %ld cleaned %ld\n", sum, destroyed.load(), cleaned.load());
    for (int i = 0; i < 10; i++) std::printf("f%d %ld %ld\n", i, calls[i].load(), ends[i].load());
}
