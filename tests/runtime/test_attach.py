"""Processes that run already: --pid, --all, --duration and Ctrl-C."""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from harness import Driver, TracerCase, target
from harness.case import LIMIT
from harness.lanes import quiet
from harness.machine import MLBCC

RULES = 'int tick(int tag, int i);\non "{driver}":tick {{ event tick(tag, i) }}'
ARMED, TOLD = 1, 2  # tags: calls made until probes are seen to be there, and those that count


def rules():
    return RULES.format(driver=target("driver"))


def told(trace, tag=TOLD):
    return [event for event in trace.events if event["args"]["tag"] == tag]


class Attach(TracerCase):
    def attach(self, driver, *options, **streams):
        """mlbcc, attached to a driver that has been seen to be traced."""
        live = self.start(rules(), *options, **streams)
        live.wait_for(f'"tag":{ARMED}', poke=lambda: driver.tell("call", 1, ARMED))
        return live

    def test_one_of_several_ends_before_it_is_traced(self):
        sleeps = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
        for one in sleeps:
            self.addCleanup(one.wait)
            self.addCleanup(one.kill)
        unknown = f'on syscall:getppid {{ count as "{time.time_ns()}" }}'  # in no cache: it is compiled
        live = self.start(unknown, "--pid", ",".join(str(one.pid) for one in sleeps), "-d", "200ms")
        children = Path(f"/proc/{live.process.pid}/task/{live.process.pid}/children")
        while live.process.poll() is None and not children.read_text():
            pass  # the compiler has started: that they are there was known before
        sleeps[0].kill()
        sleeps[0].wait()
        self.assertEqual(live.wait(), 0, live.said())
        self.assertIn(f"mlbcc: process {sleeps[0].pid} ended before it could be traced", live.said())

    def test_pid(self):
        driver = Driver(self)
        live = self.attach(driver, "--pid", driver.pid)
        driver.tell("call", 1000, TOLD)
        live.interrupt()
        self.assertEqual(live.wait(10), 0, live.said())
        trace = live.trace()
        self.assertEqual([e["args"]["i"] for e in told(trace)], list(range(1000)))
        self.assertEqual({e["pid"] for e in trace.events}, {driver.pid})
        driver.tell("call", 10, TOLD)  # lives on, unharmed

    def test_pid_with_its_children(self):
        driver = Driver(self)
        driver.tell("start")  # a child that was there before
        live = self.attach(driver, "--pid", driver.pid)
        driver.tell("tell", 5, TOLD)
        driver.tell("fork", 7, TOLD)
        driver.tell("thread", 9, TOLD)
        live.interrupt()
        self.assertEqual(live.wait(10), 0, live.said())
        self.assertEqual(len(told(live.trace())), 5 + 7 + 9)

    def test_several_pids_and_no_others(self):
        first, second, other = Driver(self), Driver(self), Driver(self)
        live = self.attach(first, "--pid", first.pid, "--pid", second.pid)
        other.tell("call", 100, TOLD)
        second.tell("call", 3, TOLD)
        live.interrupt()
        self.assertEqual(live.wait(10), 0, live.said())
        self.assertEqual([e["pid"] for e in told(live.trace())], [second.pid] * 3)

    def test_the_trace_ends_with_the_process(self):
        driver = Driver(self)
        live = self.attach(driver, "--pid", driver.pid)
        driver.tell("call", 4, TOLD)
        driver.end()
        self.assertEqual(live.wait(10), 0, live.said())
        self.assertEqual(len(told(live.trace())), 4)

    def test_more_probes_than_open_files(self):
        """One by one each takes a file. The command has the limit that it would have had."""
        soft, hard = 64, 4096
        limited = ["prlimit", f"--nofile={soft}:{hard}", str(MLBCC), "--attach", "perf", "--rules",
                   self.rules('on "libc.so.6":str*, "libc.so.6":mem* except *_l { hist duration }'),
                   "-v", "-o", self.out, "--", "sh", "-c", "ulimit -Sn"]
        done = subprocess.run(limited, capture_output=True, text=True, timeout=LIMIT, cwd=self.dir)
        self.assertEqual((done.returncode, done.stdout), (0, f"{soft}\n"), done.stderr)
        links = int(re.search(r"by perf events, (\d+) links", done.stderr)[1])
        self.assertGreater(links, soft)
        self.assertNotIn("will not probe", done.stderr)

    def test_a_pid_that_is_not_there(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        done = self.mlbcc("--rules", self.rules(rules()), "--pid", gone.pid)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(gone.pid), done.stderr)

    def test_all(self):
        first, second = Driver(self), Driver(self)
        live = self.attach(first, "--all")
        second.tell("call", 6, TOLD)
        third = Driver(self)  # starts later
        third.tell("call", 8, TOLD)
        live.interrupt()
        self.assertEqual(live.wait(10), 0, live.said())
        pids = [e["pid"] for e in told(live.trace())]
        self.assertEqual((pids.count(second.pid), pids.count(third.pid)), (6, 8))

    def test_duration(self):
        for text in ("1", "1s", "1000ms"):
            driver = Driver(self)
            live = self.start(rules(), "--pid", driver.pid, "--duration", text)
            begin = time.monotonic()
            self.assertEqual(live.wait(10), 0, live.said())
            self.assertTrue(0.8 < time.monotonic() - begin < 4)
            self.assertLess(live.trace().summary["ts"], 2)

    def test_duration_leaves_the_command_unharmed(self):
        live = self.start(rules(), "--duration", "0.5s", "--", "sh", "-c",
                          "sleep 1.5; echo whole >whole.txt")
        live.wait(20)
        end = time.monotonic() + 5
        while not (self.dir / "whole.txt").exists() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual((self.dir / "whole.txt").read_text(), "whole\n")
        self.assertLess(live.trace().summary["ts"], 1.4)

    @quiet
    def test_events_show_within_100_ms(self):
        driver = Driver(self)
        live = self.attach(driver, "--pid", driver.pid)
        delays = []
        for i in range(20):
            begin = time.monotonic()
            driver.tell("call", 1, 1000 + i)
            while not any(f'"tag":{1000 + i}' in line for line in live.lines()):
                time.sleep(0.002)
                self.assertLess(time.monotonic() - begin, 5)
            delays.append(time.monotonic() - begin)
        live.interrupt()
        live.wait(10)
        self.assertLess(sorted(delays)[len(delays) // 2], 0.1, delays)


class Interrupt(TracerCase):
    def test_once_ends_command_and_trace(self):
        live = self.start(rules(), "--", target("driver"), stdin=subprocess.PIPE)
        live.process.stdin.write(b"call 3 2\n")
        live.process.stdin.flush()
        live.wait_for('"tag":2')
        live.interrupt(group=True)
        self.assertEqual(live.wait(10), 128 + signal.SIGINT, live.said())
        self.assertEqual(len(told(live.trace())), 3)

    def test_the_summary_is_shown(self):
        driver = Driver(self)
        live = self.start(rules(), "--pid", driver.pid)
        live.wait_for(f'"tag":{ARMED}', poke=lambda: driver.tell("call", 1, ARMED))
        live.interrupt()
        live.wait(10)
        self.assertIn("TRACE SUMMARY", live.said())

    def interrupted_as_it_ends(self, times):
        """mlbcc that is held up as it writes its summary, and is interrupted then."""
        driver = Driver(self)
        read, write = os.pipe()
        live = self.start(rules(), "--pid", driver.pid, stderr=write)
        live.wait_for(f'"tag":{ARMED}', poke=lambda: driver.tell("call", 1, ARMED))
        full = os.open(f"/proc/self/fd/{write}", os.O_WRONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(full, b"\n")
        os.close(full)
        os.close(write)
        driver.end()
        end = time.monotonic() + 10
        while Path(f"/proc/{live.process.pid}/syscall").read_text().split()[1:2] != ["0x2"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        for _ in range(times):
            live.interrupt()
            time.sleep(0.2)
        with open(read, "rb") as said:
            text = said.read().decode()
        return live, text

    def test_as_the_trace_ends_loses_nothing(self):
        live, said = self.interrupted_as_it_ends(1)
        self.assertEqual(live.wait(10), 0, said)
        self.assertIn("TRACE SUMMARY", said)
        self.assertEqual(live.trace().summary["end"], "the processes ended")

    def test_twice_as_the_trace_ends_is_at_once(self):
        live, said = self.interrupted_as_it_ends(2)
        self.assertEqual(live.wait(10), -signal.SIGINT, said)

    def test_twice_ends_it_now(self):
        live = self.start(rules(), "--", "sh", "-c",
                          f"trap '' INT; echo call 1 2 | {target('driver')}; sleep 8; echo >late.txt")
        live.wait_for('"tag":2')
        live.interrupt(group=True)
        time.sleep(0.5)
        begin = time.monotonic()
        if live.process.poll() is None:
            live.interrupt(group=True)
        live.wait(5)
        self.assertLess(time.monotonic() - begin, 2)
        self.assertEqual(len(told(live.trace(whole=False))), 1)

    def test_termination_is_as_clean_as_ctrl_c(self):
        driver = Driver(self)
        live = self.start(rules(), "--pid", driver.pid)
        live.wait_for(f'"tag":{ARMED}', poke=lambda: driver.tell("call", 1, ARMED))
        live.process.terminate()
        live.wait(10)
        self.assertIsNotNone(live.trace().summary)
        driver.tell("call", 1, 1)
