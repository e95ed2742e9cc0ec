"""What tracing cost: how often probes were hit, to the call, and whose CPU time that was a part of."""

import json
import shutil
import subprocess
import sys
import time

from harness import TracerCase
from harness.machine import target

CALLS = 20000
LIBRARY = f'library short = "{target("libentries.so")}"\n'
# Computes for about the time it is given (ms) in each of two processes, one of which ends before the other.
COMPUTES = """
import os, sys, time
def compute(ms):
    while time.process_time() < ms / 1000: pass
child = os.fork()
compute(300)
if child == 0: os._exit(0)
os.waitpid(child, 0)
"""


# Has used half a second when it says so, and uses some more, with system calls, when it is told to.
BUSY = """
import os, sys, time
def compute(until):
    while time.process_time() < until: pass
    print(time.process_time(), flush=True)
compute(.5)
sys.stdin.readline()
for _ in range(1000): os.getppid()
compute(1)
sys.stdin.readline()
"""


class Cost(TracerCase):
    def loop(self, rule, function="entry_push", options=(), calls=CALLS):
        self.trace(LIBRARY + rule, target("loop"), target("libentries.so"), function, str(calls), options=options)
        return self.cost()

    def cost(self):
        lines = self.out.read_text().splitlines()
        return json.loads(lines[-1]).get("cost")

    def await_probes(self, tracer):
        until = time.monotonic() + 60
        while "Ctrl-C ends the trace" not in tracer.said():
            self.assertLess(time.monotonic(), until, tracer.said())
            time.sleep(.01)

    def functions(self, cost):
        return {one["function"]: one["hits"] for one in cost["functions"]}

    def test_each_hit_counts_however_probes_attach(self):
        for options in ([], ["--attach", "multi"], ["--attach", "perf"]):
            for rule in ("on short:entry_push { span call }", "on short:entry_push { count }",
                         "on short:entry_push { where arg(0) > 19000  event late }"):
                with self.subTest(rule=rule, options=options):
                    cost = self.loop(rule, options=options)
                    self.assertEqual(self.functions(cost), {"entry_push": CALLS})
                    self.assertGreater(cost["ns"], 0)
                    self.assertLessEqual(cost["ns"], cost["cpu_ns"])

    def test_a_call_that_is_let_go_costs_less_than_one_with_an_end(self):
        """In a session the kernel places no probe on the return of a call that its beginning turned down."""
        rows = json.loads(self.mlbcc("doctor", "--json").stdout)["checks"]
        if {row["id"]: row["found"] for row in rows}["uprobe_session"] != "works":
            self.skipTest("no uprobe sessions here")
        with_end = self.loop("on short:entry_push { span call }")
        without = self.loop("on short:entry_push { where arg(0) > 1000000  span call }")
        self.assertLess(without["ns"], with_end["ns"])

    def test_the_summary_and_report_say_it(self):
        self.loop("on short:entry_p* { span call }", calls=40000)
        line = r"\nTRACING COST\n  about [\d.]+ ms of [\d.]+ m?s of CPU time \(\d+ %\)\n" \
               r"    entry_push [\d.]+ ms in 40 000 calls; leave it out with `except entry_push`\n"
        self.assertRegex(self.last.stderr, line)
        self.assertRegex(self.mlbcc("report", self.out).stdout, line)
        self.loop("on short:entry_push { span call }", calls=40000)
        self.assertRegex(self.last.stderr, r"entry_push [\d.]+ ms in 40 000 calls\n", "no pattern has it")
        # It does nothing, so that its time, as measured, is what tracing adds.
        mostly = r"\n    entry_push took [\d.]+ [un]s a call, most of it tracing \(about [\d.]+ [un]s a call\)\n"
        self.assertRegex(self.last.stderr, mostly)
        self.assertRegex(self.mlbcc("report", self.out).stdout, mostly)

    def test_a_trace_that_takes_much_says_so_while_it_runs(self):
        self.trace(LIBRARY + "on short:entry_p* { count by function  hist duration }", target("loop"),
                   target("libentries.so"), "entry_push", "5000000")
        warning = r"mlbcc: tracing takes about [\d.]+ m?s of [\d.]+ s of CPU time \(\d+ %\) of the traced processes: " \
                  r"entry_push [\d.]+ m?s in [\d ]+ calls; leave it out with `except entry_push`\n"
        self.assertRegex(self.last.stderr, warning)
        self.assertEqual(self.last.stderr.count("tracing takes"), 1, "once")
        self.assertLess(self.last.stderr.index("tracing takes"), self.last.stderr.index("=== TRACE SUMMARY"))

    def test_the_profile_says_it(self):
        done = self.mlbcc("profile", "--json", self.dir / "profile.json", "-o", self.out, "--", sys.executable,
                          self.write("computes.py", COMPUTES))
        self.assertRegex(done.stderr, r"\nTRACING COST\n  about [\d.]+ [um]s of [\d.]+ m?s of CPU time \([\d.]+ %\)\n")
        cost = json.loads((self.dir / "profile.json").read_text())["tracing_cost"]
        self.assertGreater(cost["cpu_ns"], 600e6)
        self.assertGreater(cost["ns"], 0)
        self.assertLess(cost["ns"], 0.2 * cost["cpu_ns"])

    def test_the_time_is_that_of_all_processes(self):
        self.trace("on syscall:exit_group { event ends }", sys.executable, self.write("computes.py", COMPUTES))
        cost = self.cost()
        self.assertGreater(cost["cpu_ns"], 600e6)
        self.assertLess(cost["cpu_ns"], 1500e6)
        self.assertLess(cost["ns"], 0.05 * cost["cpu_ns"])

    def test_of_a_running_process_only_the_time_since(self):
        """What it used before the trace is its own; what it uses while it is traced is counted while it runs."""
        job = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(job.communicate)
        before = float(job.stdout.readline())
        tracer = self.start("on syscall:getppid { event asked }", "--pid", str(job.pid))
        self.await_probes(tracer)
        job.stdin.write("\n")
        job.stdin.flush()
        spent = float(job.stdout.readline()) - before
        tracer.interrupt()
        self.assertEqual(tracer.wait(), 0, tracer.said())
        cost = self.cost()
        self.assertEqual(self.functions(cost), {"getppid": 1000})
        self.assertGreater(cost["cpu_ns"], 0.9e9 * spent)
        self.assertLess(cost["cpu_ns"], 1.5e9 * spent)

    def test_of_all_processes_no_share_is_known(self):
        own = shutil.copy(target("libentries.so"), self.dir)  # others call the one that all tests have
        tracer = self.start(f'on "{own}":entry_push {{ span call }}', "--all")
        self.await_probes(tracer)
        subprocess.run([target("loop"), own, "entry_push", str(CALLS)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        tracer.interrupt()
        self.assertEqual(tracer.wait(), 0, tracer.said())
        cost = self.cost()
        self.assertEqual(self.functions(cost), {"entry_push": CALLS})
        self.assertNotIn("cpu_ns", cost)
