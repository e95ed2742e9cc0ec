"""Numbers by stack: the program says itself which of its functions called how often."""

import re
import subprocess

from harness import TracerCase, target

SOURCE = r"""
#include <stdlib.h>
void *volatile kept;
#define CALLS(name, n, size)                                                       \
    __attribute__((noinline)) void name(void) {                                    \
        for (int i = 0; i < n; ++i) free(kept = malloc(size));                     \
        __asm__ volatile("");                                                      \
    }
CALLS(often, 300, 10)
CALLS(seldom, 7, 4000)
__attribute__((noinline)) void outer(void) { often(); seldom(); __asm__ volatile(""); }
int main(void) { outer(); seldom(); __asm__ volatile(""); return 0; }
"""
RULES = 'library c = "libc.so.6"\nvoid *malloc(size_t size);\n'


class ByStack(TracerCase):
    def setUp(self):
        super().setUp()
        self.program = self.dir / "calls"
        subprocess.run(["cc", "-O1", "-fno-optimize-sibling-calls", "-o", self.program, self.write("calls.c", SOURCE)], check=True)

    def groups(self, trace, label, key="stats"):
        """{(function, its caller): group}"""
        found = {}
        for one in trace.summary[key]:
            if one["label"] == label:
                names = [re.search(r":(\w+)\+0x", frame) for frame in one["by"]["stack"][:2]]
                found[tuple(name[1] for name in names)] = one
        return found

    OWN = {("often", "outer"): (300, 3000), ("seldom", "outer"): (7, 28000), ("seldom", "main"): (7, 28000)}

    def test_counts_sums_and_histograms(self):
        trace = self.trace(RULES + 'on c:malloc { count by stack as "Calls"  sum size by stack as "Bytes"  hist size by stack as "Sizes"  stack user }', self.program)
        calls, sums, hists = self.groups(trace, "Calls"), self.groups(trace, "Bytes"), self.groups(trace, "Sizes", "hists")
        for place, (count, size) in self.OWN.items():
            self.assertEqual((calls[place]["value"], sums[place]["value"], hists[place]["count"], hists[place]["sum"]), (count, size, count, size))
        self.assertEqual([e for e in trace.events if e["type"] == "memory"], [])

    def test_without_a_clause_it_is_the_programs(self):
        trace = self.trace(RULES + 'on c:malloc { where size == 4000  count by stack as "Calls" }', self.program)
        self.assertEqual({place: one["value"] for place, one in self.groups(trace, "Calls").items()}, {("seldom", "outer"): 7, ("seldom", "main"): 7})
        # Only the beginning of calls is probed.
        self.assertIn("no return probe is needed", self.mlbcc("explain", "--rules", self.rules(RULES + "on c:malloc { count by stack }")).stdout)

    def test_summary_and_flame_graph(self):
        rules = RULES + 'on c:malloc { where size == 10 || size == 4000  sum size by stack as "Bytes" }'
        folded = self.dir / "live.folded"
        self.trace(rules, self.program, options=("--folded", folded))
        rows = re.findall(r"^    calls:(\w+)\+0x[0-9a-f]+ +([\d.]+ KiB) in (\d+) calls\n      calls:(\w+)\+0x", self.last.stderr, re.MULTILINE)
        self.assertEqual(sorted(rows), [("often", "2.93 KiB", "300", "outer"), ("seldom", "27.34 KiB", "7", "main"), ("seldom", "27.34 KiB", "7", "outer")])
        saved = self.dir / "saved.folded"
        self.assertEqual(self.mlbcc("convert", self.out, "--to", "folded", "-o", saved).returncode, 0)
        self.assertEqual(saved.read_text(), folded.read_text())
        lines = {tuple(stack.split(";")[-2:]): int(weight) for stack, weight in (line.rsplit(" ", 1) for line in saved.read_text().splitlines())}
        self.assertEqual(lines, {("outer", "often"): 3000, ("main", "seldom"): 28000, ("outer", "seldom"): 28000})

    def test_of_python_and_of_the_kernel(self):
        script = self.write("app.py", "import os\ndef a(): os.getppid()\ndef b(): a(); a()\nb(); a()\n")
        stats = self.trace("on syscall:getppid { count by stack  stack python }", "/usr/bin/python3", "-S", script).summary["stats"]
        self.assertEqual({tuple(one["by"]["stack"]): one["value"] for one in stats},
                         {("app.py:a", "app.py:b", "app.py:<module>"): 2, ("app.py:a", "app.py:<module>"): 1})
        (kernel,) = self.trace("on syscall:getppid { count by stack  stack kernel }", "/usr/bin/python3", "-S", script).summary["stats"]
        self.assertEqual(kernel["value"], 3)
        self.assertTrue(all(frame.startswith("[kernel") for frame in kernel["by"]["stack"]))

    def test_beside_another_key(self):
        trace = self.trace(RULES + 'on c:malloc { where size == 10 || size == 4000  count by size, stack as "Calls" }', self.program)
        self.assertEqual(sorted((one["by"]["size"], one["value"]) for one in trace.summary["stats"]), [(10, 300), (4000, 7), (4000, 7)])

    def test_elsewhere_it_is_not_known(self):
        for rules, said in ((f'on "{target("flood")}":hit {{ event flood.hit(stack) }}', "`stack` is not known here"),
                            ("on interval:100ms { count by stack }", "`stack` is not known here")):
            with self.subTest(rules=rules):
                done = self.mlbcc("check", "-e", rules)
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stderr)
