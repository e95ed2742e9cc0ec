"""Looks at processes from outside, at intervals."""

import json
import subprocess
import sys

from harness import TracerCase

MIB = 1 << 20
# Grows by 64 MiB, 20 open files and 3 threads, and says what it is like by its own account.
GROWS = """
import json, os, resource, threading, time

def lines(name):
    return {l.split(":")[0]: l.split(":")[1].split()[0] for l in open("/proc/self/" + name) if l.split(":")[1].split()}

time.sleep(0.4)
block = bytearray(b"x") * (64 << 20)
files = [open("/dev/null") for _ in range(20)]
done = threading.Event()
for _ in range(3):
    threading.Thread(target=done.wait).start()
with open("/dev/zero", "rb", buffering=0) as zero:
    zero.read(5 << 20)
end = time.monotonic() + 0.3
while time.monotonic() < end:
    pass
status, io, usage = lines("status"), lines("io"), resource.getrusage(resource.RUSAGE_SELF)
said = {"resident": int(status["VmRSS"]) << 10, "anonymous": int(status["RssAnon"]) << 10,
        "peak_resident": int(status["VmHWM"]) << 10, "virtual": int(status["VmSize"]) << 10,
        "threads": int(status["Threads"]), "open_files": len(os.listdir("/proc/self/fd")) - 1,
        "read_chars": int(io["rchar"]), "minor_faults": usage.ru_minflt,
        "cpu_time": int((usage.ru_utime + usage.ru_stime) * 1e9)}
time.sleep(0.5)
done.set()
print(json.dumps(said))
"""


class Interval(TracerCase):
    def samples(self, trace, comm="python3"):
        return [e for e in trace.named("sample") if e["comm"].startswith(comm)]

    def test_the_values_of_a_process(self):
        trace = self.trace("on interval:50ms { event process.sample(args) }", sys.executable, "-c", GROWS)
        said = json.loads(self.last.stdout)
        samples = self.samples(trace, "python")
        last = [e["args"] for e in samples if e["args"]["threads"] == 4][-1]
        for name in ("resident", "anonymous", "peak_resident", "virtual"):
            self.assertLess(abs(last[name] - said[name]), 4 * MIB, name)
        self.assertEqual(last["threads"], said["threads"])
        self.assertEqual(last["open_files"], said["open_files"])
        self.assertGreaterEqual(last["read_chars"], 5 * MIB)
        self.assertLess(abs(last["read_chars"] - said["read_chars"]), MIB)
        self.assertLess(abs(last["cpu_time"] - said["cpu_time"]), 50_000_000)
        self.assertLess(abs(last["user_time"] + last["system_time"] - last["cpu_time"]), 30_000_000)
        self.assertLess(abs(last["minor_faults"] - said["minor_faults"]), 1000)
        self.assertGreater(last["voluntary_switches"], 3)
        self.assertGreaterEqual(last["swap"], 0)
        all_args = [e["args"] for e in samples]
        before = [a for a, b in zip(all_args, all_args[1:])
                  if a["cpu_time"] == b["cpu_time"] and b["open_files"] < 20][0]  # it sleeps
        self.assertLess(abs(last["anonymous"] - before["anonymous"] - 64 * MIB), 12 * MIB)
        self.assertGreaterEqual(last["open_files"] - before["open_files"], 20)

    def test_events_are_instants_of_the_process_in_order(self):
        trace = self.trace("on interval:50ms { event process.sample(pid, tid, ppid, comm, elapsed) }\n"
                           "on syscall:clock_nanosleep { span kernel }", sys.executable, "-c",
                           "import os, time\nprint(os.getpid(), os.getppid())\ntime.sleep(0.5)")
        pid, parent = map(int, self.last.stdout.split())
        samples = self.samples(trace, "python")
        for event in samples:
            self.assertEqual((event["phase"], event["type"], event["function"]), ("i", "process", "interval"))
            self.assertEqual((event["pid"], event["tid"]), (pid, pid))
            self.assertNotIn("parent", event)
            args = event["args"]
            self.assertEqual((args["pid"], args["tid"], args["ppid"], args["comm"]),
                             (pid, pid, parent, event["comm"]))
        passed = [float(b["ts"] - a["ts"]) * 1e9 for a, b in zip(samples, samples[1:])]
        for between, event in zip(passed, samples[1:]):
            self.assertLess(abs(between - event["args"]["elapsed"]), 1000)
        self.assertEqual(samples[0]["args"]["elapsed"], 0)

    def test_about_one_look_an_interval(self):
        trace = self.trace("on interval:100ms { event process.sample   count as \"Looks\" }", "sleep", "2")
        samples = self.samples(trace, "sleep")
        self.assertGreaterEqual(len(samples), 10)
        self.assertLessEqual(len(samples), 21)
        self.assertEqual(trace.stats("Looks"), {(): len(trace.named("sample"))})
        self.assertEqual(trace.loss("received"), len(trace.named("sample")))

    def test_a_process_that_ends_is_not_looked_at(self):
        """A gigabyte takes the kernel tens of milliseconds to take back: meanwhile it reads as 0."""
        trace = self.trace("on interval:1ms { event process.sample(resident)   gauge held = resident }", "/usr/bin/python3", "-S", "-c",
                           "import os, time\nblock = bytearray(b'x') * (1 << 30)\ntime.sleep(0.1)\nos._exit(0)")
        resident = [e["args"]["resident"] for e in self.samples(trace)]
        held, = trace.summary["gauges"]
        self.assertGreater(resident[-1], 1 << 30)
        self.assertEqual(held["value"], resident[-1])
        self.assertNotIn(0, resident)

    def test_changes_since_the_last_look(self):
        trace = self.trace("""
            on interval:50ms {
                event process.sample(anonymous, anonymous_change, cpu_time, cpu_time_change, elapsed,
                                     percent = cpu_time_change * 100 / elapsed)
            }
            """, sys.executable, "-c", GROWS)
        samples = [e["args"] for e in self.samples(trace, "python")]
        if samples[-1]["anonymous"] is None:
            samples.pop()  # the process was ending
        self.assertEqual((samples[0]["anonymous_change"], samples[0]["percent"]), (0, 0))
        for before, after in zip(samples, samples[1:]):
            for name in ("anonymous", "cpu_time"):
                self.assertEqual(after[name + "_change"], after[name] - before[name])
            self.assertEqual(after["percent"], after["cpu_time_change"] * 100 // after["elapsed"])
        changes = sum(s["anonymous_change"] for s in samples)
        self.assertEqual(changes, samples[-1]["anonymous"] - samples[0]["anonymous"])
        grown = sum(max(0, s["anonymous_change"]) for s in samples)
        self.assertGreater(grown, 60 * MIB)

    def test_conditions_counts_sums_histograms_gauges(self):
        trace = self.trace("""
            on interval:50ms { event process.sample(anonymous, threads) }
            on interval:50ms {
                where anonymous > 60MiB && starts_with(comm, "py")
                event process.large(anonymous)
                count by threads as "Large"
                hist anonymous as "Sizes"
            }
            on interval:50ms { where anonymous_change > 0   sum anonymous_change as "Growth" }
            on interval:50ms { gauge held = anonymous }
            on interval:50ms { where comm == "nobody"   count as "Never"   event process.never }
            """, sys.executable, "-c", GROWS)
        # Of a process that is ending the last look may find nothing.
        samples = [e["args"] for e in self.samples(trace, "python")
                   if e["args"]["anonymous"] is not None]
        large = [s for s in samples if s["anonymous"] > 60 * MIB]
        self.assertEqual([e["args"]["anonymous"] for e in trace.named("large")],
                         [s["anonymous"] for s in large])
        threads = {(n,): sum(s["threads"] == n for s in large) for n in {s["threads"] for s in large}}
        self.assertEqual(trace.stats("Large"), threads)
        hist, = trace.hist("Sizes")
        self.assertEqual((hist["count"], hist["min"], hist["max"], hist["unit"]),
                         (len(large), min(s["anonymous"] for s in large),
                          max(s["anonymous"] for s in large), "bytes"))
        self.assertGreater(trace.stats("Growth")[()], 60 * MIB)
        gauge, = trace.gauge("held")
        self.assertEqual(gauge["peak"], max(s["anonymous"] for s in samples))
        self.assertEqual(trace.named("never"), [])
        self.assertEqual(trace.stats("Never"), {(): 0})

    def test_a_count_shared_with_a_system_call(self):
        trace = self.trace("on interval:50ms, syscall:clock_nanosleep { count by function as \"Both\" }",
                           "sleep", "0.5")
        both = trace.stats("Both")
        self.assertEqual(both[("clock_nanosleep",)], 1)
        self.assertGreater(both[("interval",)], 2)

    def test_children_come_and_go(self):
        trace = self.trace("on interval:20ms { event process.sample(ppid) }", "/bin/sh", "-c",
                           "sleep 0.5 & sleep 0.3; wait")
        by_pid = {}
        for event in trace.named("sample"):
            by_pid.setdefault(event["pid"], []).append(event)
        sleeps = [pid for pid, events in by_pid.items() if events[-1]["comm"] == "sleep"]
        shells = [pid for pid, events in by_pid.items() if events[-1]["comm"] in ("sh", "dash")]
        self.assertEqual((len(sleeps), len(shells)), (2, 1))
        for pid in sleeps:
            self.assertEqual(by_pid[pid][-1]["args"]["ppid"], shells[0])
        self.assertEqual(trace.summary["end"], "the command ended")

    def test_of_a_process_that_runs_already(self):
        sleeper = subprocess.Popen(["sleep", "60"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        live = self.start("on interval:10s { event process.sample(resident) }", "--pid", sleeper.pid)
        live.wait_for('"name":"sample"')
        sleeper.kill()
        self.assertEqual(live.wait(), 0)
        first = live.trace().named("sample")[0]
        self.assertEqual((first["pid"], first["comm"]), (sleeper.pid, "sleep"))
        self.assertGreater(first["args"]["resident"], 0)

    def test_what_the_subcommands_say(self):
        rules = self.rules("on interval:1s { event process.sample(resident, read_bytes) }")
        listed = self.mlbcc("list", "--rules", rules, "interval:1s")
        self.assertIn("interval:1s  void interval:1s(long elapsed, ssize_t resident, ", listed.stdout)
        explained = self.mlbcc("explain", "--rules", rules).stdout
        self.assertIn("the tracer samples each traced process every 1s\n"
                      "  reads   /proc/PID/io, /proc/PID/stat\n", explained)
        self.assertRegex(explained, r"  cost    \d+ us of the tracer's time per sample")
        self.assertIn("resident (/proc/PID/stat), read_bytes (/proc/PID/io)", explained)
        self.assertIn("no mistakes found", self.mlbcc("check", "--rules", rules).stdout)
        self.assertIn("int raw_tracepoint__", self.mlbcc("emit", "--rules", rules).stdout.replace(
            "RAW_TRACEPOINT_PROBE(", "int raw_tracepoint__"))
