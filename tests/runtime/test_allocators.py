"""rules/memory: what a program holds of each function that allocates, beside its own account."""

import re
import subprocess

from harness import TracerCase
from harness.trace import Trace

# Each function takes blocks of sizes of its own, gives some back, and says how much it holds: "calloc 4711".
SOURCE = r"""
#include <malloc.h>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept;
static const char *wanted;
static bool wants(const char *name) { return strstr(wanted, name) != nullptr; }

template <class Take, class Give> void use(const char *name, size_t unit, Take take, Give give) {
    if (!wants(name)) return;
    size_t held = 0;
    for (size_t i = 1; i <= 8; i++) {
        void *block = take(i * unit);
        kept = block;
        if (i % 3 == 0) give(block);
        else held += i * unit;
    }
    fprintf(stderr, "%s %zu\n", name, held);
}

struct alignas(64) Tile { char bytes[64]; };

int main(int, char **argv) {
    wanted = argv[1];
    use(" malloc ", 1001, [](size_t n) { return malloc(n); }, free);
    use(" calloc ", 999, [](size_t n) { return calloc(n / 3, 3); }, free);
    use(" realloc ", 4000, [](size_t n) { return realloc(realloc(nullptr, 10), n); }, free);
    use(" reallocarray ", 5000, [](size_t n) { return reallocarray(malloc(n / 2), n / 5, 5); }, free);
    use(" posix_memalign ", 1 << 16, [](size_t n) { void *p; return posix_memalign(&p, 64, n) == 0 ? p : nullptr; }, free);
    use(" aligned_alloc ", 1 << 15, [](size_t n) { return aligned_alloc(64, n); }, free);
    use(" memalign ", 3000, [](size_t n) { return memalign(256, n); }, free);
    use(" valloc ", 3001, [](size_t n) { return valloc(n); }, free);
    use(" pvalloc ", 4096, [](size_t n) { return pvalloc(n); }, free);
    use(" strdup ", 100, [](size_t n) { char text[1000]; memset(text, 'x', n - 1); text[n - 1] = 0; return (void *)strdup(text); }, free);
    use(" new ", 777, [](size_t n) { return (void *)new char[n]; }, [](void *p) { delete[] (char *)p; });
    use(" nothrow ", 778, [](size_t n) { return (void *)new (std::nothrow) char[n]; }, [](void *p) { operator delete[](p, std::nothrow); });
    use(" sized ", 779, [](size_t n) { return operator new(n); }, [](void *p) { operator delete(p, (size_t)3 * 779); });
    use(" aligned ", 64, [](size_t n) { return (void *)new Tile[n / 64]; }, [](void *p) { delete[] (Tile *)p; });
    void *none = realloc(malloc(123456), 0);  // which gives it back, or is one of nothing
    return none != nullptr && wants(" never ");
}
"""
ALL = [name.strip() for name in re.findall(r'use\("([a-z_ ]+)"', SOURCE)]
# Where no return probe may be, those whose ends cannot be seen are said, and left out.
UNSEEN = {"malloc": "malloc strdup", "calloc": "calloc", "realloc": "realloc reallocarray", "memalign": "aligned_alloc memalign",
          "valloc": "valloc", "pvalloc": "pvalloc", "_Znam": "new sized", "_ZnamRKSt9nothrow_t": "nothrow",
          "_ZnamSt11align_val_t": "aligned"}


class Allocators(TracerCase):
    def setUp(self):
        super().setUp()
        self.program = self.dir / "allocates"
        self.build()

    def build(self, *options):
        subprocess.run(["g++", "-std=c++17", "-O1", "-fno-builtin", "-w", "-xc++", "-", "-o", self.program, *options],
                       input=SOURCE, text=True, check=True)

    def held(self, names, environment):
        """What the rules say that it holds, and what it says itself."""
        words = [f"{name}={value}" for name, value in environment.items()]
        done = self.mlbcc("--rules", "memory", "-o", self.out, "--", "env", *words, self.program, f" {'  '.join(names)} ", stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        own = {name: int(held) for name, held in re.findall(r"^ ([a-z_]+)  (\d+)$", done.stderr, re.M)}
        return sum(gauge["value"] for gauge in Trace(self.out).summary["gauges"] if gauge["name"] == "heap"), own

    def unseen(self, library):
        explained = self.mlbcc("explain", "--rules", "memory", "--", "true", stdout=subprocess.PIPE).stdout
        functions = re.findall(rf"^{library}:(\S+)  .*\n.*\n  return  not seen", explained, re.M)
        return [name for function in functions for name in UNSEEN.get(function, "").split()]

    def assert_exact(self, library, **environment):
        """What is held without any of these is the libraries' own."""
        unseen = self.unseen(library)
        names = [name for name in ALL if name not in unseen]
        if library == "libjemalloc.so.2":
            names.remove("pvalloc")  # it has none: the C library's own would be called
        before, _ = self.held([], environment)
        held, own = self.held(names, environment)
        self.assertEqual(sorted(own), sorted(names))
        self.assertGreater(len(own), 4)
        self.assertEqual(held - before, sum(own.values()), own)

    def of(self, soname):
        if subprocess.run(f"ldconfig -p | grep -q '{soname} '", shell=True, check=False).returncode != 0:
            self.skipTest(f"there is no {soname}")
        return soname

    def test_the_c_librarys(self):
        self.assert_exact("libc.so.6")

    def test_jemalloc_preloaded(self):
        soname = self.of("libjemalloc.so.2")
        self.assert_exact(soname, LD_PRELOAD=soname)

    def test_jemalloc_linked(self):
        soname = self.of("libjemalloc.so.2")
        self.build(f"-l:{soname}")
        self.assert_exact(soname)

    def test_tcmalloc_preloaded(self):
        for soname in ("libtcmalloc.so.4", "libtcmalloc_minimal.so.4"):
            with self.subTest(soname):
                self.assert_exact(self.of(soname), LD_PRELOAD=soname)

    def test_tcmalloc_linked(self):
        for soname in ("libtcmalloc.so.4", "libtcmalloc_minimal.so.4"):
            with self.subTest(soname):
                self.build(f"-l:{self.of(soname)}")
                self.assert_exact(soname)


if __name__ == "__main__":
    import unittest
    unittest.main()
