"""Capabilities: what is said where they are missing, and what the tracer keeps once it is attached."""

import os
import signal
import subprocess
import time

from harness import MLBCC, Driver, Trace, TracerCase, target
from harness.machine import need_tool

LATE = 'library late = "{}"\nint late_work(int i);\non optional late:late_work {{ event work(i, ret) }}\n'

KILL, READ_SEARCH, PTRACE, SYSLOG, PERFMON, BPF, RESTORE = 5, 2, 19, 34, 38, 39, 40
FILES = {READ_SEARCH, PTRACE, RESTORE}


def tick(clauses="event tick(tag, i)"):
    return f'int tick(int tag, int i);\non "{target("driver")}":tick {{ {clauses} }}\n'


def tick_with_stacks():
    return tick("event tick(tag, i) stack user")


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def capabilities(pid):
    """(effective, permitted, inheritable, ambient) as sets of numbers."""
    status = status_of(pid)
    return tuple({bit for bit in range(64) if int(status[name], 16) >> bit & 1}
                 for name in ("CapEff", "CapPrm", "CapInh", "CapAmb"))


class Kept(TracerCase):
    """Of a running tracer, as /proc has it. `lacking` are those that this machine's root has not."""

    def setUp(self):
        super().setUp()
        self.own = capabilities("self")[0]

    def assert_keeps(self, live, wanted):
        kept = wanted & self.own
        self.assertEqual(capabilities(live.process.pid), (kept, kept, set(), set()))
        self.assertEqual(status_of(live.process.pid)["NoNewPrivs"], "1")

    def running(self, rules, *arguments):
        """A tracer of a driver that runs, after its first record."""
        driver = Driver(self)
        live = self.start(rules, "--pid", driver.pid, *arguments)
        live.wait_for('"tick"', poke=lambda: driver.tell("call", 1, 7))
        return driver, live

    def end(self, driver, live, tag=8, calls=1000):
        """Ctrl-C after so many calls, none of which is missing."""
        driver.tell("call", calls, tag)
        live.interrupt()
        self.assertEqual(live.wait(), 0, live.said())
        trace = live.trace()
        self.assertEqual([e["args"]["i"] for e in trace.events if e["args"]["tag"] == tag], list(range(calls)))
        self.assertEqual(trace.summary["lost"], 0)
        return trace

    def test_none_for_a_process(self):
        driver, live = self.running(tick())
        self.assert_keeps(live, set())
        self.end(driver, live)

    def test_those_for_stacks(self):
        driver, live = self.running(tick_with_stacks(), "-v")
        self.assert_keeps(live, FILES)
        self.assertIn("mlbcc: capabilities kept: CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE, "
                      "for files of the traced processes\n", live.said())
        trace = self.end(driver, live)
        self.assertEqual({e["stack"][0].split("+")[0] for e in trace.events if "stack" in e}, {"driver:run"})

    def test_signals_for_a_command(self):
        """Which runs as somebody else, and to which a signal is passed on."""
        # Not dash: it forgets a signal that comes while it waits in vfork().
        live = self.start(tick(), "--user", "nobody", "--", "bash", "-c",
                          f"trap 'echo call 1 5 | {target('driver')}; exit 3' INT; "
                          f"echo call 1 4 | {target('driver')}; while :; do sleep 0.1; done")
        live.wait_for('"tick"')
        self.assert_keeps(live, {KILL})
        live.interrupt()
        self.assertEqual(live.wait(), 3, live.said())
        self.assertEqual([e["args"]["tag"] for e in live.trace().events], [4, 5])

    def test_those_for_libraries_that_come_later(self):
        file = self.dir / "liblate.so"
        driver = Driver(self)
        live = self.start(LATE.format(file) + tick(), "--pid", driver.pid)
        live.wait_for('"tick"', poke=lambda: driver.tell("call", 1, 7))
        self.assert_keeps(live, FILES | {BPF, PERFMON})
        live.interrupt()
        self.assertEqual(live.wait(), 0, live.said())

    def test_libraries_that_come_later_are_traced(self):
        file = self.dir / "liblate.so"
        trace = self.trace(LATE.format(file), target("late"), "--from", target("liblatelib.so"), file)
        self.assertEqual([(e["args"]["i"], e["args"]["ret"]) for e in trace.events], [(0, 1), (1, 2), (2, 3)])

    def test_files_in_a_folder_of_somebody_else(self):
        """They are opened while the tracer still may, and written when it may no more."""
        folder = self.dir / "theirs"
        folder.mkdir()
        os.chown(folder, 65534, 65534)
        folder.chmod(0o700)
        self.out = folder / "trace.jsonl"
        driver, live = self.running(tick_with_stacks(), "--folded", folder / "stacks.txt")
        trace = self.end(driver, live)
        lines = (folder / "stacks.txt").read_text().splitlines()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), len(trace.events))

    def test_all_where_processes_are_looked_into_without_ptrace(self):
        """As in a container: the processes have no more than the tracer, as long as that keeps it."""
        driver = Driver(self, user=65534, group=65534, extra_groups=[])
        file = self.rules(tick_with_stacks())
        few = {PERFMON, BPF, KILL, READ_SEARCH}
        with open(self.dir / "said.txt", "wb") as said:
            tracer = subprocess.Popen(
                [need_tool("setpriv"), "--bounding-set=-all,+perfmon,+bpf,+kill,+dac_read_search", str(MLBCC),
                 "--rules", str(file), "-o", str(self.out), "-v", "--", target("driver")],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, bufsize=1)
        tracer.stdin.write("call 5 9\n")
        self.assertTrue(tracer.stdout.readline())
        self.assertEqual(capabilities(tracer.pid), (few, few, set(), set()))
        tracer.stdin.close()
        tracer.stdout.close()
        self.assertEqual(tracer.wait(60), 0)
        self.assertIn("for processes are inspected without CAP_SYS_PTRACE", (self.dir / "said.txt").read_text())
        stacks = [e["stack"][0].split("+")[0] for e in Trace(self.out).events]
        self.assertEqual(stacks, ["driver:run"] * 5)
        driver.end()


class Missing(TracerCase):
    """The message names what is missing, and the flag of a container that gives it."""

    def said_by(self, *before):
        done = subprocess.run([*before, str(MLBCC), "--rules", str(self.rules(tick())), "-o", str(self.out), "--", "true"],
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_capabilities(self):
        setpriv = need_tool("setpriv")
        for left, missing, flags in (("", "CAP_PERFMON and CAP_BPF", "--cap-add PERFMON --cap-add BPF"),
                                     (",+bpf", "CAP_PERFMON", "--cap-add PERFMON"),
                                     (",+perfmon", "CAP_BPF", "--cap-add BPF")):
            with self.subTest(left=left):
                self.assertEqual(self.said_by(setpriv, f"--bounding-set=-all{left}"),
                                 f"error: tracing needs CAP_BPF and CAP_PERFMON; missing: {missing}\n"
                                 f"   = help: start the container with {flags} (docs/docker.md)\n")

    def test_two_are_enough(self):
        file = self.rules(tick())
        done = subprocess.run(
            [need_tool("setpriv"), "--bounding-set=-all,+bpf,+perfmon", str(MLBCC), "--rules", str(file),
             "-o", str(self.out), "--", "sh", "-c", f"echo call 100 1 | {target('driver')}"],
            text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([e["args"]["i"] for e in Trace(self.out).events], list(range(100)))

    def test_a_user_namespace(self):
        unshare = need_tool("unshare")
        if subprocess.run([unshare, "-Ur", "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("no user namespace can be made here")
        self.assertEqual(self.said_by(unshare, "-Ur"),
                         "error: this process is in a user namespace of its own, where no capability lets it trace\n"
                         "   = help: start the container as root, neither rootless nor with userns-remap "
                         "(docs/docker.md)\n")

    def test_a_process_of_another_user(self):
        process = subprocess.Popen(["sleep", "100"], user=65534, group=65534, extra_groups=[])
        self.addCleanup(process.wait)
        self.addCleanup(process.send_signal, signal.SIGKILL)
        end = time.monotonic() + 10
        while status_of(process.pid)["Name"] != "sleep" and time.monotonic() < end:
            time.sleep(0.01)
        done = subprocess.run(
            [need_tool("setpriv"), "--bounding-set=-all,+bpf,+perfmon", str(MLBCC), "--rules", str(self.rules(tick())),
             "-o", str(self.out), "--pid", str(process.pid)], text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"error: cannot inspect process {process.pid}: Permission denied\n"
                             "   = help: run as root; a container needs --cap-add SYS_PTRACE, and under AppArmor "
                             "--security-opt apparmor=unconfined\n"))
