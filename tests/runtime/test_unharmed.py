"""Programs that unwind, switch or move their stacks do the same under return-traced functions as alone, and the calls and
ends of ten functions are those of their own books."""

import json
import os
import shutil
import subprocess

from harness import TracerCase, target
from harness.machine import ROOT, attach_ways, need_tool

SOURCES = ROOT / "tests/runtime/targets/unharmed"
WAYS = "session", "multi", "perf"
RUNS = int(os.environ.get("MLBCC_RUNS", "1"))  # of each program in one trace: some faults show in one run of many
AGAIN = 'for i in $(seq "$0"); do "$@" || exit; done'


def books_of(text):
    """`f0 360 349`: calls and returns, by function."""
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: (int(row[1]), int(row[2])) for row in rows if len(row) == 3 and row[0].rsplit(".", 1)[-1].startswith("f")}


class Unharmed(TracerCase):
    def check(self, *command, functions=None, prefix="", ways=("session",), environment=None, runs=RUNS):
        functions = functions or command[0]
        environment = {**os.environ, **(environment or {})}
        alone = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, env=environment).stdout
        books = {name: (runs * calls, runs * ends) for name, (calls, ends) in books_of(alone).items()}
        self.assertEqual(len(books), 10, alone)
        all_ten = ", ".join(f'"{functions}":"{prefix}f{i}"' for i in range(10))
        rules = (f'on entry {all_ten} {{ count by symbol as "calls" }}\n'
                 f'on {all_ten} {{ count by symbol as "ends"   hist duration by symbol as "took" }}\n')
        for way in ways:
            trace = self.trace(rules, "/bin/sh", "-c", AGAIN, runs, *command, options=("--attach", way), stdout=subprocess.PIPE, env=environment)
            self.assertEqual(self.last.stdout.split("=== TRACE")[0], runs * alone, way)
            self.assertEqual(trace.summary["lost"], 0, way)
            told = {label: {one["by"]["symbol"]: one["value"] for one in trace.summary["stats"] if one["label"] == label} for label in ("calls", "ends")}
            self.assertEqual({name: (told["calls"].get(name, 0), told["ends"].get(name, 0)) for name in books}, books, (way, command))
            times = {one["by"]["symbol"]: one["count"] for one in trace.summary["hists"]}
            self.assertEqual(times, {name: ends for name, (_, ends) in books.items() if ends}, way)

    def test_exceptions(self):
        for how in "nested", "rethrown", "destructors", "jumps":
            self.check(target("unwinds"), how)
        for program in "unwinds", "unwinds_static":
            self.check(target(program), "nested", ways=WAYS)

    def test_returns_are_not_single_stepped_where_programs_may_do_them(self):
        rows = json.loads(self.mlbcc("doctor", "--json").stdout)["checks"]
        done_by_programs = {row["id"]: row["found"] for row in rows}["ret"] != "single-stepped, which costs more than a return probe"
        program = target("unwinds")
        some = ", ".join(f'"{program}":f{i}' for i in range(8))  # f9's are f8's, too: two probes on one instruction
        for way in attach_ways():
            trace = self.trace(f"on {some} {{ count   hist duration by symbol }}", program, "steps", options=("--attach", way), stdout=subprocess.PIPE)
            books = books_of(self.last.stdout)
            self.assertEqual([one["value"] for one in trace.summary["stats"]], [sum(books[f"f{i}"][1] for i in range(8))], way)
            self.assertEqual("not single-stepped" in self.last.stderr, done_by_programs, (way, self.last.stderr))

    def test_a_deep_recursion_that_an_exception_leaves(self):
        self.check(target("unwinds"), "recursion")

    def test_a_million_exceptions(self):
        """Calls that they leave take no room for ever."""
        self.check(target("unwinds"), "million", runs=1)

    def test_threads_that_are_cancelled_or_exit(self):
        for how in "cancelled", "exited":
            self.check(target("unwinds"), how, ways=WAYS)

    def test_backtraces(self):
        self.check(target("unwinds"), "backtraces", ways=WAYS)

    def test_coroutines(self):
        self.check(target("coroutines"), ways=WAYS)

    def test_coroutines_that_end_in_another_thread(self):
        self.check(target("coroutines"), "threads", ways=WAYS)

    def test_fibers_of_boost(self):
        if not os.path.exists("/usr/include/boost/context/fiber.hpp"):
            self.skipTest("no boost.context (scripts/setup.sh --tests)")
        for linked in ((), ("-static",)):
            program = self.dir / "-".join(("fibers", *linked))
            subprocess.run([need_tool("g++"), "-O2", "-w", SOURCES / "fibers.cpp", *linked, "-lboost_context", "-o", program], check=True, capture_output=True)
            self.check(program, ways=WAYS)

    def test_spans_of_coroutines(self):
        """They overlap in a thread without one being in the other: each is told when it ends, wherever that is."""
        program = target("coroutines")
        trace = self.trace(f'long f3(long n); long f4(long n);\non "{program}":f3, "{program}":f4 {{ span step(n, ret) }}', program, "threads")
        books = books_of(self.last.stdout)
        for name in "f3", "f4":
            told = trace.named(name)
            self.assertEqual({one["phase"] for one in told}, {"X"})
            self.assertEqual(len(told), books[name][1])
            self.assertTrue(all(one["args"]["n"] in range(5) for one in told))
        self.assertGreater(len({one["tid"] for one in trace.named("f3")}), 20)

    def greenlets(self, *how):
        python = "/usr/bin/python3"
        known = subprocess.run([python, "-c", f"import greenlet, {how[0] if how else 'sys'}"], capture_output=True, check=False)
        if known.returncode != 0:
            self.skipTest("no greenlets (scripts/setup.sh --tests)")
        self.check(python, SOURCES / "greenlets.py", target("libcallbacks.so"), *how, functions=target("libcallbacks.so"))

    def test_greenlets(self):
        self.greenlets()

    def test_greenlets_of_gevent(self):
        self.greenlets("gevent")

    def test_greenlets_change_in_the_interpreter(self):
        """Its own functions are left and entered by them."""
        python = "/usr/bin/python3"
        command = python, SOURCES / "greenlets.py", target("libcallbacks.so")
        if subprocess.run([python, "-c", "import greenlet"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no greenlets (scripts/setup.sh --tests)")
        file = os.path.realpath(python)
        trace = self.trace(f'on entry "{file}":PyObject_Vectorcall {{ count as "calls" }}\non "{file}":PyObject_Vectorcall {{ count as "ends"  where duration >= 0 }}',
                           *command)
        self.assertIn("160 calls", self.last.stdout)
        counts = {one["label"]: one["value"] for one in trace.summary["stats"]}
        self.assertGreater(counts["calls"], 1000)
        self.assertLessEqual(counts["calls"] - counts["ends"], counts["calls"] / 1000)

    def test_rust(self):
        program = self.dir / "unwinds_rust"
        subprocess.run([need_tool("rustc"), "-O", SOURCES / "unwinds.rs", "-o", program], check=True, capture_output=True)
        self.check(program, ways=WAYS)

    def build_go(self):
        program = self.dir / "goroutines"
        go = shutil.which("go") or need_tool("/usr/lib/go/bin/go")
        cache = {"GOCACHE": str(self.dir / "cache"), "GOFLAGS": "-mod=mod", "HOME": str(self.dir)}
        subprocess.run([go, "build", "-o", program, SOURCES / "goroutines.go"], check=True, capture_output=True, env={**os.environ, **cache})
        return program

    def test_go(self):
        self.check(self.build_go(), prefix="main.", ways=WAYS)

    def test_arguments_of_go(self):
        """They are in registers of its own; and a function that only its beginning is asked of counts once, too, where its stack grew."""
        program = self.build_go()
        trace = self.trace(f'on entry "{program}":"main.f3" {{ event begun(n = arg(0), depth = arg(1))  count }}\n'
                           f'on "{program}":"main.f4" {{ event ended(n = arg(0), depth = arg(1), ret) }}', program)
        books = books_of(self.last.stdout)
        begun, ended = ([event for event in trace.events if event["type"] == kind] for kind in ("begun", "ended"))
        self.assertEqual(len(begun), books["main.f3"][0])
        self.assertEqual([one["value"] for one in trace.summary["stats"]], [books["main.f3"][0]])
        self.assertEqual(len(ended), books["main.f4"][1])
        pairs = lambda events: sorted({(int(one["args"]["n"], 16), int(one["args"]["depth"], 16)) for one in events})
        self.assertEqual(pairs(begun), sorted({(g, g % 50 - step) for g in range(400) for step in range(g % 50 + 1) if (g + step) % 10 == 3}))
        self.assertEqual({int(one["args"]["n"], 16) % 7 == 3 for one in ended}, {False})
        said = self.refused(f'on entry "{program}":"main.f3" {{ event e(arg(7)) }}')
        self.assertIn("it is not known where this argument of a Go function is", said)

    def test_functions_that_leave_by_jumps(self):
        """Through a pointer, as to other libraries, and to where many others do: there their calls end, unless rules want what comes after."""
        program = self.dir / "leaves"
        many = "".join(f'extern "C" OWN void g{i}(long n) {{ sum += {i}; common(n); }}\n' for i in range(12))
        calls = "".join(f"g{i}(n); " for i in range(12))
        (self.dir / "leaves.cpp").write_text(f"""#include <cstdio>
            #include <cstdlib>
            #define OWN __attribute__((noinline))
            static volatile long sum;
            static void throws(long n) {{ if (n % 3 == 0) throw n; }}
            static void (*volatile through)(long) = throws;
            OWN static void common(long n) {{ sum += n; asm volatile(""); }}
            {many}
            extern "C" OWN void by_pointer(long n) {{ sum += n; through(n); }}
            extern "C" OWN void to_library(void* p) {{ sum += 1; free(p); }}
            int main() {{
                long caught = 0;
                for (long n = 0; n < 100; n++) {{
                    try {{ by_pointer(n); }} catch (long) {{ caught++; }}
                    to_library(malloc(n + 1));
                    {calls}
                }}
                printf("%ld %ld\\n", (long)sum, caught);
            }}""")
        subprocess.run([need_tool("g++"), "-O2", self.dir / "leaves.cpp", "-o", program], check=True)
        want = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        names = "by_pointer", "to_library", *(f"g{i}" for i in range(12))
        listed = ", ".join(f'"{program}":{name}' for name in names)
        for way in attach_ways():
            trace = self.trace(f"on {listed} {{ count by symbol   hist duration by symbol }}", program, stdout=subprocess.PIPE, options=("--attach", way))
            self.assertEqual(self.last.stdout.split("=== TRACE")[0], want)
            self.assertEqual({one["by"]["symbol"]: one["value"] for one in trace.summary["stats"]}, dict.fromkeys(names, 100), way)
            self.assertEqual({one["by"]["symbol"]: one["count"] for one in trace.summary["hists"]}, dict.fromkeys(names, 100), way)
        self.assertIn("of leaves end where they jump to another function, whose time is not in theirs", self.last.stderr)
        outcome = f'long by_pointer(long n);\non "{program}":by_pointer, "{program}":g3 {{ count by symbol as "n"   event e(r = ret) }}'
        trace = self.trace(outcome, program, stdout=subprocess.PIPE)
        self.assertIn("by_pointer of leaves is not traced: +", self.last.stderr)
        self.assertEqual([one["by"]["symbol"] for one in trace.summary["stats"]], ["g3"])

    def test_functions_that_leave_by_a_stub(self):
        """As a library calls its own exported functions. Where the program has one of that name, nothing is made up."""
        (self.dir / "stubs.cpp").write_text("""
            extern "C" __attribute__((noinline)) long inner(long n) { if (n % 3 == 0) throw n; return 7 * n; }
            extern "C" long outer(long n) { return n % 2 ? inner(n + 1) : n; }
            """)
        (self.dir / "main.cpp").write_text("""#include <cstdio>
            extern "C" long outer(long n);
            #ifdef OWN
            extern "C" long inner(long n) { return 5 * n; }
            #endif
            int main() {
                long sum = 0;
                for (long n = 0; n < 30; n++) { try { sum += outer(n); } catch (long) {} }
                std::printf("%ld\\n", sum);
            }""")
        library = self.dir / "libstubs.so"
        compiler = need_tool("g++"), "-O2", "-fPIC", "-fno-reorder-blocks-and-partition"
        subprocess.run([*compiler, "-shared", self.dir / "stubs.cpp", "-o", library], check=True)
        rules = f'long outer(long n);\non "{library}":outer {{ count by symbol as "ends"   event e(n, r = ret) }}'
        for own in (), ("-DOWN",):
            program = self.dir / f"stubs{len(own)}"
            subprocess.run([*compiler, *own, self.dir / "main.cpp", "-rdynamic", f"-Wl,-rpath,{self.dir}", library, "-o", program], check=True)
            want = subprocess.run([program], capture_output=True, text=True, check=True).stdout
            trace = self.trace(rules, program, stdout=subprocess.PIPE)
            self.assertEqual(self.last.stdout.split("=== TRACE")[0], want)
            got = {event["args"]["n"]: event["args"]["r"] for event in trace.events}
            all_of_them = {n: (5 if own else 7) * (n + 1) if n % 2 else n for n in range(30) if own or n % 2 == 0 or (n + 1) % 3}
            self.assertEqual({n: r for n, r in got.items() if all_of_them.get(n) != r}, {})
            if not own:
                self.assertEqual(got, all_of_them)

    def test_a_stripped_go_program(self):
        """Debian's caddy has no symbols: the table of Go's runtime has the functions."""
        caddy = need_tool("caddy")
        names = "runtime.mallocgc", "runtime.newobject", "runtime.makeslice", "runtime.growslice", "main.main"
        listed = ", ".join(f'"{caddy}":"{name}"' for name in names)
        want = subprocess.run([caddy, "version"], capture_output=True, text=True, check=True).stdout
        trace = self.trace(f'on entry {listed} {{ count by symbol as "calls" }}\non {listed} {{ count by symbol as "ends"  where duration >= 0 }}',
                           caddy, "version", stdout=subprocess.PIPE)
        self.assertEqual(self.last.stdout.split("=== TRACE")[0], want)
        told = {label: {one["by"]["symbol"]: one["value"] for one in trace.summary["stats"] if one["label"] == label} for label in ("calls", "ends")}
        self.assertGreater(told["calls"]["runtime.mallocgc"], 1000)
        self.assertEqual({**told["calls"], "main.main": 0}, {**told["ends"], "main.main": 0})

    def test_a_program_that_copies_its_code(self):
        """It takes the breakpoints along, and ends by SIGTRAP: that is said."""
        program = target("copies_code")
        self.assertEqual(subprocess.run([program], check=False).returncode, 0)
        done = self.mlbcc("--rules", self.rules(f'on "{program}":middle {{ count }}'), "-o", self.out, "--", program)
        self.assertEqual(done.returncode, 128 + 5)
        self.assertIn("mlbcc: the command was ended by SIGTRAP; a program that copies its own code", done.stderr)


class Neighbours(TracerCase):
    """A process that is not traced throws exceptions through functions of which another process's returns are probed: the
    kernel's breakpoints are in both."""

    RULES = f'on "{target("libthrough.so")}":call_through {{ count as "n" }}'

    def setUp(self):
        super().setUp()
        if "session" not in attach_ways():
            self.skipTest("without sessions the kernel has return probes of every process return to it (docs/language.md)")

    def neighbour(self):
        process = subprocess.Popen([target("neighbour"), "throws"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "begun\n")
        return process

    def check(self, process):
        trace = self.trace(self.RULES, target("neighbour"), "calm", "5000")
        self.assertIsNone(process.poll(), "it has ended before the trace has")
        self.assertEqual([one["value"] for one in trace.summary["stats"]], [5000])
        said, _ = process.communicate(timeout=60)
        calls = int(said.split()[1])
        self.assertGreater(calls, 100)
        self.assertEqual((process.returncode, said), (0, f"calls {calls} sum {(calls // 2) ** 2 + calls // 2} caught {calls // 2}\n"))

    def test_one_that_nobody_traces(self):
        self.check(self.neighbour())

    def test_one_of_which_only_beginnings_are_traced(self):
        process = self.neighbour()
        entry = self.RULES.replace("on ", "on entry ").replace("count", "sample 1/100  event neighbours.call  count")
        other = self.start(self.rules(entry, "entry.rules"), "--pid", process.pid)
        other.wait_for('"type":"neighbours"')
        self.out = self.dir / "second.jsonl"
        self.check(process)
        other.wait()
