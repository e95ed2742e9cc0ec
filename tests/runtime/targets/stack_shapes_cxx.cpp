// stack_shapes_cxx SHAPE: as stack_shapes.c, of C++.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>

#define CALL [[gnu::noinline]]
#define KEEP asm volatile("" ::: "memory")

extern "C" {
CALL int leaf(int x) {
    x += getppid() != 0;
    KEEP;
    return x;
}
CALL int outer(int x) {
    x = leaf(x);
    KEEP;
    return x + 1;
}
}

struct Shape {
    virtual ~Shape() = default;
    virtual int area(int x) = 0;
};
struct Square : Shape {
    CALL int area(int x) override {
        x = outer(x);
        KEEP;
        return x;
    }
};
CALL int virtuals(int x) {
    const std::unique_ptr<Shape> shape = std::make_unique<Square>();
    x = shape->area(x);
    KEEP;
    return x;
}

CALL int applied(const std::function<int(int)>& function, int x) {
    x = function(x);
    KEEP;
    return x;
}
CALL int lambdas(int x) {
    x = applied([&](int y) { return outer(x + y); }, x);
    KEEP;
    return x;
}

template <int N> CALL int templates(int x) {
    if constexpr (N == 0)
        x = outer(x);
    else
        x = templates<N - 1>(x);
    KEEP;
    return x;
}

struct Guard {
    CALL explicit Guard(int x) : x(x) { KEEP; }
    CALL ~Guard() {
        outer(x);
        KEEP;
    }
    int x;
};
CALL int destructors(int x) {
    {
        const Guard guard(x);
        KEEP;
    }
    return x;
}

CALL int throws(int x) {
    if (x > 0) throw std::runtime_error("thrown");
    return x;
}
CALL int between(int x) {
    x = throws(x);
    KEEP;
    return x;
}
CALL int caught(int x) {
    try {
        x = between(x);
    } catch (const std::runtime_error&) {
        x = 2;
    }
    x = outer(x);
    KEEP;
    return x;
}
CALL int in_the_handler(int x) {
    try {
        x = between(x);
    } catch (const std::runtime_error&) {
        x = outer(x);
        KEEP;
    }
    return x;
}
CALL int while_unwinding(int x) {
    try {
        const Guard guard(x);
        between(x);
    } catch (const std::runtime_error&) {
        x = 2;
    }
    return x;
}

static const struct {
    const char* name;
    int (*shape)(int);
} shapes[] = {
    {"virtual", virtuals},          {"lambda", lambdas}, {"template", templates<12>},
    {"destructor", destructors},    {"caught", caught},  {"handler", in_the_handler},
    {"unwinding", while_unwinding},
};

int main(int argc, char** argv) {
    for (const auto& one : shapes) {
        if (argc == 2 && std::strcmp(argv[1], one.name) == 0) return one.shape(1) < 0;
        if (argc == 1) std::puts(one.name);
    }
    return argc != 1;
}
