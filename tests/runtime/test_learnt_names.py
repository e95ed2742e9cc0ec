"""Totals by a learnt name: the name that a handle had when the call was made, whatever it is called later."""

import os
import re
import subprocess
import time

from harness import MLBCC, ROOT, TracerCase
from harness.machine import CUDA_SIM, SLOWNESS
from test_prometheus import PageCase, free_port, read

HEAD = """library c = "libc.so.6"
int open(const char *file, int flags);
int close(int fd);
ssize_t read(int fd, void *data, size_t count);
on c:open { where ret >= 0   learn path[ret] = file }
"""
TOTALS = """on c:read {
    where starts_with(path[fd], "part-") || fd == 199
    count by file = path[fd] as "Reads"
    sum ret by file = path[fd] as "Read"
    hist ret by file = path[fd] as "Sizes"
    largest 3 by ret as "Largest" (file = path[fd])
}
"""
# Three files, one after the other, by one descriptor; a tenth of what each has is read at once.
READS = """
import os
for name, times in ("part-a", 10), ("part-b", 20), ("part-c", 30):
    fd = os.open(name, os.O_RDONLY)
    for _ in range(times): os.read(fd, 10 * times)
    os.close(fd)
"""
CALLS = {"part-a": 10, "part-b": 20, "part-c": 30}


class LearntNames(TracerCase):
    def setUp(self):
        super().setUp()
        for name, times in CALLS.items():
            (self.dir / name).write_bytes(b"x" * 10 * times * times)

    def groups(self, summary, label):
        return {one["by"]["file"]: one["value"] for one in summary["stats"] if one["label"] == label}

    def test_one_descriptor_for_three_files(self):
        trace = self.trace(HEAD + TOTALS, "python3", "-c", READS)
        self.assertEqual(self.groups(trace.summary, "Reads"), CALLS)
        self.assertEqual(self.groups(trace.summary, "Read"), {name: 10 * n * n for name, n in CALLS.items()})
        self.assertEqual({one["by"]["file"]: (one["count"], one["sum"], one["min"], one["max"]) for one in trace.summary["hists"]},
                         {name: (n, 10 * n * n, 10 * n, 10 * n) for name, n in CALLS.items()})
        largest, = trace.summary["largest"]
        self.assertEqual([one["args"]["file"] for one in largest["entries"]], ["part-c"] * 3)
        self.assertRegex(self.last.stderr, r"part-c +30 \(50.0 %\)\n")

    def test_what_is_forgotten_keeps_what_was_counted(self):
        """What nobody has named is called by its number, before and after."""
        trace = self.trace(HEAD + TOTALS + "on entry c:close { forget path[fd] }\n", "python3", "-c",
                           READS.replace("import os", "import os; os.dup2(os.open('part-c', 0), 199); os.read(199, 5)"))
        self.assertEqual(self.groups(trace.summary, "Reads"), {**CALLS, 199: 1})

    def test_each_process_has_its_own_names(self):
        """Parent and child have other files behind the same descriptor, at the same time."""
        trace = self.trace(HEAD + TOTALS, "python3", "-c", f"""if True:
            import os
            child = os.fork()
            names = ("part-a", "part-b") if child else ("part-b", "part-c")
            for name in names:
                fd = os.open(name, os.O_RDONLY)
                for _ in range(7): os.read(fd, 1)
                os.close(fd)
            if child: os.waitpid(child, 0)
            os._exit(0)""")
        self.assertEqual(self.groups(trace.summary, "Reads"), {"part-a": 7, "part-b": 14, "part-c": 7})

    def test_what_a_gauge_holds(self):
        """What was held is called as it was then, though the descriptor is another file's at the end."""
        trace = self.trace(HEAD + "on c:read { where starts_with(path[fd], \"part-\")   gauge asked[path[fd]] = count }\n",
                           "python3", "-c", "import os; fd = os.open('part-a', 0); os.read(fd, 7); os.close(fd); os.open('part-b', 0)")
        held, = [one for gauge in trace.summary["gauges"] for one in gauge["held"]]
        self.assertEqual((held["key"], held["value"]), ("part-a", 7))

    def test_ways_to_learn(self):
        """push and pop, ranges, numbers that grow."""
        trace = self.trace(HEAD + """
            on c:read { where path[fd] == "part-a"   learn at[7] push "deep"   learn times[1] += 1   learn zone[5 : 9] = "zone" }
            on c:read { where path[fd] == "part-b"   learn at[7] pop   learn zone[6 : 8] = "inner" }
            on c:read { where path[fd] == "part-c"
                        count by at[7] as "Stacked"   count by zone[7] as "Zones"   count by times[1] as "Numbers" }
            """, "python3", "-c", """if True:
            import os
            a, b, c = (os.open("part-" + one, 0) for one in "abc")
            for fd in (c, a, c, a, c, c, b, c, b, c): os.read(fd, 1)""")

        def groups(label):
            return {next(iter(one["by"].values())): one["value"] for one in trace.summary["stats"] if one["label"] == label}
        self.assertEqual(groups("Stacked"), {7: 2, "deep": 4})
        self.assertEqual(groups("Zones"), {7: 1, "zone": 3, "inner": 2})
        self.assertEqual(groups("Numbers"), {1: 2, 2: 4})

    def test_rules_that_change(self):
        """A name that the first rules learnt counts under the second, and what each counted keeps its names."""
        live = self.start(HEAD + TOTALS, "--watch", "--reload-wait", "500ms", "--", "python3", "-c", f"""if True:
            import os, sys
            kept = os.dup2(os.open("part-a", 0), 199)
            for line in sys.stdin:
                exec({READS!r})
                os.lseek(kept, 0, 0), os.read(kept, 1), os.mkdir(line.strip())""", stdin=subprocess.PIPE)
        job = live.process.stdin
        job.write(b"first\n"), job.flush()
        self.until(self.dir / "first")
        os.replace(self.write("new.rules", HEAD + "on c:open { learn path[199] = file }\n" + TOTALS), self.dir / "test.rules")
        live.wait_for('"type":"reload","number":1,')
        job.write(b"second\n"), job.flush()
        self.until(self.dir / "second")
        job.close()
        self.assertEqual(live.wait(), 0, live.said())
        trace = live.trace()
        before, = [one["before"] for one in trace.records if one["type"] == "reload"]
        self.assertEqual(self.groups(before, "Reads"), {**CALLS, 199: 1})
        self.assertEqual(self.groups(trace.summary, "Reads"), {**CALLS, "part-c": 31})

    def until(self, file):
        end = time.monotonic() + 60 * SLOWNESS
        while not file.exists():
            self.assertLess(time.monotonic(), end, file)
            time.sleep(0.02)

    def test_kernels_by_one_handle(self):
        """A module is unloaded, and the next one's function gets the handle of the first."""
        trace = self.trace(ROOT / "rules/cuda.rules", "python3", "-c", f"""if True:
            import ctypes, pathlib
            cuda = ctypes.CDLL("libcuda.so.1")
            image = pathlib.Path({str(ROOT / "examples/inference/mlp.kernels")!r}).read_bytes()
            context, handles = ctypes.c_void_p(), set()
            cuda.cuInit(0), cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
            for name, times in (b"softmax", 10), (b"mlp_gemm_bias", 20):
                module, function = ctypes.c_void_p(), ctypes.c_void_p()
                assert cuda.cuModuleLoadData(ctypes.byref(module), image) == 0
                assert cuda.cuModuleGetFunction(ctypes.byref(function), module, name) == 0
                for _ in range(times): cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, None)
                assert cuda.cuModuleUnload(module) == 0
                handles.add(function.value)
            print(len(handles))""", env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_SIM_QUIET": "1"})
        self.assertEqual(trace.stats("Kernel launches"), {("softmax",): 10, ("mlp_gemm_bias",): 20})


class OnAPage(PageCase):
    def test_a_scrape_between_two_names(self):
        """What a page has said of a name stays so when the handle is another's."""
        port = free_port()
        rules = self.write("test.rules", HEAD + TOTALS)
        (self.dir / "part-a").write_bytes(b"x"), (self.dir / "part-b").write_bytes(b"x")
        job = self.write("job.py", """if True:
            import os, sys
            for name in "part-a", "part-b":
                fd = os.open(name, 0)
                for _ in range(9): os.read(fd, 1)
                os.close(fd), os.mkdir(name + ".read")
                while not os.path.exists(name + ".seen"): os.stat(".")""")
        self.start(str(MLBCC), "--rules", rules, "--prometheus", f":{port}", "--", "python3", job)

        def reads():
            found = re.findall(r'^mlbcc_rule_calls_total\{[^}]*name="Reads"[^}]*\} \d+$', read(f"http://127.0.0.1:{port}/metrics"), re.M)
            return {re.search(r'file="([^"]*)"', one)[1]: int(one.split()[-1]) for one in found}
        self.until(lambda: reads() == {"part-a": 9}, "the first name")
        (self.dir / "part-a.seen").touch()
        self.until(lambda: reads() == {"part-a": 9, "part-b": 9}, "both names")
        (self.dir / "part-b.seen").touch()
