"""What is traced by a path, a number or a clock that is not what it seems: files that were replaced, threads, time namespaces."""

import json
import os
import shutil
import subprocess
import time

from harness import MLBCC, TracerCase, target
from harness.trace import Trace

PYTHON = "/usr/bin/python3"
CALLS = """
import ctypes, sys, time
lib = ctypes.CDLL(sys.argv[1])
print("loaded", flush=True)
while True:
    lib.entry_push()
    time.sleep(0.01)
"""
CLOCK = """
import ctypes, time
c = ctypes.CDLL(None)
for i in range(3):
    c.getppid()
    time.sleep(0.1)
"""


class Replaced(TracerCase):
    """As an upgrade does: another file is renamed over the one that a process runs."""

    def start_and_replace(self, path, *command):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        process.stdout.readline()
        new = self.dir / "new"
        shutil.copy(target("libtarget.so"), new)
        os.replace(new, path)
        return process

    def trace_pid(self, rules, pid):
        done = self.mlbcc("--rules", self.rules(rules), "-o", self.out, "--pid", pid, "-d", "500ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        return Trace(self.out)

    def test_a_library(self):
        library = self.dir / "libq.so"
        for name in (str(library), str(self.dir / "libq.s*")):
            with self.subTest(name=name):
                shutil.copy(target("libentries.so"), library)
                process = self.start_and_replace(library, PYTHON, "-c", CALLS, str(library))
                trace = self.trace_pid(f'on "{name}":entry_push {{ event q.push }}', process.pid)
                self.assertGreater(len(trace.events), 10)

    def test_a_program(self):
        program = self.dir / "program"
        shutil.copy(target("driver"), program)
        process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        process.stdin.write("call 1 0\n")
        process.stdout.readline()
        new = self.dir / "new"
        shutil.copy(target("driver"), new)
        os.replace(new, program)
        live = self.start(f'on "{program}":tick {{ event p.tick }}', "--pid", str(process.pid))

        def tick():
            process.stdin.write("call 1 0\n")
            process.stdout.readline()
        live.wait_for('"name":"tick"', poke=tick)
        live.interrupt()
        live.wait()


class Brackets(TracerCase):
    """A folder and a file whose names look like patterns."""

    def test_paths(self):
        folder = self.dir / "a[1]"
        folder.mkdir()
        library = folder / "lib[x]q.so"
        shutil.copy(target("libentries.so"), library)
        (folder / "own.rules").write_text('on "./lib[x]q.so":entry_push { count }\n')
        (folder / "glob.rules").write_text('on "./lib*q.so":entry_push { count }\n')
        whole = self.rules(f'on "{library}":entry_push {{ count }}\n', "whole.rules")
        program = f"import ctypes; lib = ctypes.CDLL({str(library)!r}); [lib.entry_push() for _ in range(7)]"
        for rules in folder / "own.rules", folder / "glob.rules", whole:
            trace = self.trace(rules, PYTHON, "-c", program)
            self.assertEqual([one["value"] for one in trace.summary["stats"]], [7], rules)


class Versions(TracerCase):
    """glibc has two functions of one name, and the old one calls the new one: each is traced by its version."""

    def test_of_a_name(self):
        program = self.write("versions.c", """
            #define _GNU_SOURCE
            #include <stdio.h>
            #include <stdlib.h>
            char *old(const char *, char *);
            __asm__(".symver old, realpath@GLIBC_2.2.5");
            int main(void) {
                char room[4096];
                for (int i = 0; i < 3; i++) old("/tmp", room);
                for (int i = 0; i < 5; i++) realpath("/tmp", room);
            }""")
        subprocess.run(["gcc", "-w", program, "-o", self.dir / "versions"], check=True)
        for name, calls in ("realpath@GLIBC_2.2.5", 3), ("realpath@@GLIBC_2.3", 8), ("realpath@GLIBC_2.3", 8), ("realpath", 11):
            trace = self.trace(f'on entry "libc.so.6":"{name}" {{ count as "n" }}', self.dir / "versions")
            self.assertEqual([one["value"] for one in trace.summary["stats"]], [calls], name)
        self.assertIn("no function in `libc.so.6` matches `realpath@@GLIBC_2.2.5`", self.refused('on "libc.so.6":"realpath@@GLIBC_2.2.5" { count }'))


class Numbers(TracerCase):
    def test_a_thread_is_no_process(self):
        process = subprocess.Popen([PYTHON, "-c", "import threading, time\nthreading.Thread(target=time.sleep, args=(30,)).start()\nprint(1, flush=True)"],
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        process.stdout.readline()
        thread, = (int(tid) for tid in os.listdir(f"/proc/{process.pid}/task") if int(tid) != process.pid)
        for command in (("--rules", self.rules("on syscall:read { count }")), ("profile",), ("serve",)):
            with self.subTest(command=command):
                done = self.mlbcc(*command, "--pid", thread, "-d", "1s")
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"{thread} is a thread of process {process.pid}", done.stderr)
                self.assertIn(f"--pid {process.pid} traces all threads", done.stderr)

    def test_everybody_finds_libraries_where_we_do(self):
        folder = self.dir / "here"
        folder.mkdir()
        shutil.copy(target("libentries.so"), folder / "libfound-here.so")
        rules = self.rules('library q = "libfound-here.so"\non q:entry_push { count }')
        environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
        done = self.mlbcc("--rules", rules, "-o", self.out, "--all", "-d", "100ms", env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tracing 1 function", done.stderr)


class Clocks(TracerCase):
    def test_in_a_time_namespace(self):
        """Its clocks are ahead of the kernel's, or behind: times are since the trace began all the same."""
        rules = self.rules("""
            library c = "libc.so.6"
            int getppid();
            on c:getppid { event c.call(time)  hist duration }
            on interval:50ms { event p.look(elapsed) }
            """)
        for seconds in ("1000000", "-100"):
            with self.subTest(seconds=seconds):
                place = ("unshare", "-T", "--monotonic", seconds, "--boottime", seconds, MLBCC)
                begin = time.monotonic()
                done = subprocess.run([*place, "--rules", rules, "-o", self.out, "--", PYTHON, "-c", CLOCK],
                                      capture_output=True, text=True, check=False, cwd=self.dir)
                took = time.monotonic() - begin
                self.assertEqual(done.returncode, 0, done.stderr)
                trace = Trace(self.out)
                times = [float(e["ts"]) for e in trace.named("call")]
                self.assertEqual(len(times), 3)
                self.assertTrue(all(0 <= one < took for one in times), times)
                self.assertTrue(0.1 <= times[1] - times[0] < 0.2, times)
                self.assertGreater(trace.summary["ts"], times[-1])
                self.assertLess(trace.summary["ts"], took)
                self.assertGreater(len(trace.named("look")), 2)
                report = self.dir / "profile.json"
                done = subprocess.run([*place, "profile", "-q", "--json", report, "--", PYTHON, "-c", CLOCK],
                                      capture_output=True, text=True, check=False, cwd=self.dir)
                life, = json.loads(report.read_text())["processes"]
                self.assertTrue(0.3e9 < life["duration_ns"] < took * 1e9 + 1e9, life)
