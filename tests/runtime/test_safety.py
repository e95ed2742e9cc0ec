"""When things go wrong: nothing of ours stays behind, and the traced program does not notice."""

import os
import signal
import subprocess
import time

from harness import TracerCase, target
from harness.lanes import quiet, thorough
from harness.machine import bpf_objects, need_tool

RULES = """
int hit(int thread, unsigned long i);
on "{flood}":hit {{ event hit(thread, i) count as "calls" }}
"""


def rules():
    return RULES.format(flood=target("flood"))


class Safety(TracerCase):
    def new_objects(self, before, seconds=10):
        """BPF objects that were not there before, once the kernel has had time to drop them."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            left = bpf_objects() - before
            if not left:
                break
            time.sleep(0.1)
        return left

    @quiet
    def test_a_normal_end_leaves_nothing(self):
        before = bpf_objects()
        self.trace(rules(), target("flood"), "2", "100")
        self.assertEqual(self.new_objects(before), set())

    @quiet
    def test_kill_leaves_nothing_and_a_readable_file(self):
        before = bpf_objects()
        result = self.dir / "made.txt"
        live = self.start(rules(), "--", "sh", "-c", f"{target('flood')} 2 0 3 >{result}")
        live.wait_for('"name":"hit"')
        time.sleep(0.3)
        self.assertTrue(bpf_objects() - before, "bpftool shows the tracer's objects while it runs")
        os.kill(live.process.pid, signal.SIGKILL)
        live.wait(10)
        self.assertEqual(self.new_objects(before), set())
        trace = live.trace(whole=False)
        self.assertGreater(len(trace.events), 1000)
        end = time.monotonic() + 20
        while not (result.exists() and result.read_text()) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertGreater(int(result.read_text()), 1000, "the program went on to its end")

    def test_a_full_disk(self):
        need_tool("mount")
        small = self.dir / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(small)],
                                 capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no tmpfs can be mounted: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(small)])
        done = self.mlbcc("--rules", self.rules(rules()), "-o", small / "trace.jsonl", "--",
                          target("flood"), "2", "20000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left on device", done.stderr)
        self.assertIn("trace.jsonl", done.stderr)
        self.assertEqual(done.stdout, "40000\n", "the program went on to its end")

    def test_a_file_that_cannot_be_made(self):
        for path, reason in (("/nowhere/trace.jsonl", "No such file or directory"),
                             (str(self.dir), "irectory")):
            done = self.mlbcc("--rules", self.rules(rules()), "-o", path, "--", "touch", "ran.txt")
            self.assertEqual(done.returncode, 1)
            self.assertIn(reason, done.stderr)
            self.assertFalse((self.dir / "ran.txt").exists(), "the command ran all the same")

    def test_a_reader_that_goes_away(self):
        with subprocess.Popen(["head", "-n", "3"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as head:
            done = self.mlbcc("--rules", self.rules(rules()), "--output-fd", head.stdin.fileno(), "--", "sh", "-c",
                              f"{target('flood')} 1 50000 >made.txt", pass_fds=[head.stdin.fileno()])
            head.stdin.close()
            head.stdout.read()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("Broken pipe", done.stderr)
        self.assertEqual((self.dir / "made.txt").read_text(), "50000\n")

    def test_without_root(self):
        done = self.mlbcc("--rules", self.rules(rules()), "-o", self.dir / "x.jsonl", "--", "true",
                          user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "root|CAP_BPF|sudo")


class Accounting(TracerCase):
    """What was submitted is what was received and what was lost, to the event."""

    @quiet
    def test_overloaded(self):
        self.overload(3)

    @quiet
    @thorough
    def test_overloaded_again_and_again(self):
        self.overload(int(os.environ.get("MLBCC_OVERLOAD_RUNS", "25")))

    def overload(self, runs):
        lossy = 0
        for run in range(runs):
            trace = self.trace(rules(), target("flood"), "4", "20000", options=("--buffer", "8KiB"))
            made = int(self.last.stdout)
            lost = trace.summary["lost"]
            self.assertEqual(trace.stats("calls"), {(): made}, f"run {run}")
            self.assertEqual(trace.loss("submitted"), made, f"run {run}")
            self.assertEqual(trace.loss("received"), len(trace.events), f"run {run}")
            self.assertEqual(len(trace.events) + lost, made, f"run {run}")
            lossy += lost > 0
            if lost:
                places = {place.rsplit("/", 1)[-1] for line in trace.lost for place in line["rules"]}
                self.assertEqual(places, {"test.rules:3"})
        self.assertGreater(lossy, 0, "no run was overloaded: the test needs a harder one")

    def test_lost_begins_and_ends(self):
        trace = self.trace(f"""
            int hit(int thread, unsigned long i);
            on "{target('flood')}":hit {{ span hit(thread, i) }}
            """, target("flood"), "4", "20000", options=("--buffer", "8KiB"))
        made = int(self.last.stdout)
        begins, ends = len(trace.named("hit", "B")), len(trace.named("hit", "E"))
        self.assertEqual(begins + ends + trace.summary["lost"], 2 * made)
        self.assertEqual(trace.loss("submitted"), 2 * made)
        pairs = len(trace.pairs("hit"))
        self.assertEqual(trace.loss("unmatched_begin"), begins - pairs)
        self.assertEqual(trace.loss("unmatched_end"), ends - pairs)

    def test_default_buffer_loses_nothing(self):
        trace = self.trace(rules(), target("flood"), "2", "100000")
        self.assertEqual(trace.summary["lost"], 0)
        self.assertEqual(len(trace.events), 200000)
