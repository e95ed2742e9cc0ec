"""What whoever starts mlbcc may have left to it: ignored signals, closed streams, streams that take nothing, limits, no folder.
The command ends with its own status, and finds all as it would without mlbcc."""

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

from harness import MLBCC, TracerCase

RULES = "on syscall:getppid { count }"
# What a command finds: which of its standard streams are open, what it ignores, and its limits.
LOOKS = """
import json, os, resource, sys
def is_open(fd):
    try: os.fstat(fd)
    except OSError: return False
    return True
streams = [is_open(fd) for fd in (0, 1, 2)]
ignored = [line.split()[1] for line in open("/proc/self/status") if line.startswith("SigIgn")]
limits = [resource.getrlimit(one) for one in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)]
json.dump([streams, ignored, limits], open(sys.argv[1], "w"))
raise SystemExit(7)
"""


class Inherited(TracerCase):
    def run_with(self, prepare, *arguments, status=7, **streams):
        done = subprocess.run([MLBCC, *map(str, arguments)], cwd=self.dir, preexec_fn=prepare, timeout=20, check=False, **streams)
        self.assertEqual(done.returncode, status, (arguments, streams))
        return done

    def as_alone(self, prepare):
        """The command finds what it finds when `prepare` starts it by itself."""
        command = "/usr/bin/python3", "-S", "-c", LOOKS
        found = []
        for before in (), (MLBCC, "--rules", self.rules(RULES), "-o", self.out, "--"):
            file = self.dir / "found.json"
            done = subprocess.run([*before, *command, file], cwd=self.dir, preexec_fn=prepare, timeout=20, check=False)
            self.assertEqual(done.returncode, 7)
            found.append(json.loads(file.read_text()))
        self.assertEqual(found[0], found[1])

    def test_sigchld_is_ignored(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.as_alone(ignore)
        self.run_with(ignore, "check", "--compile", "--no-cache", "--rules", self.rules(RULES), status=0, stdout=subprocess.DEVNULL)
        self.run_with(ignore, "profile", "-q", "--no-progress", "-o", self.out, "--", "sh", "-c", "exit 7")

    def test_standard_streams_are_closed(self):
        for closed in (0,), (1,), (2,), (1, 2), (0, 1, 2):
            def close(fds=closed):
                for fd in fds:
                    os.close(fd)
            self.as_alone(close)
            self.run_with(close, "--no-cache", "--rules", self.rules(RULES), "-o", self.out, "--", "sh", "-c", "exit 7")
            shows_nothing = 1 in closed
            for listing in ("list", "--rules", self.rules(RULES)), ("emit", "--rules", self.rules(RULES)), ("--help",), ("doctor",), ("rules",):
                streams = {"stdout" if fd == 1 else "stderr": subprocess.DEVNULL for fd in (1, 2) if fd not in closed}
                self.run_with(close, *listing, status=1 if shows_nothing else 0, **streams)

    def test_standard_error_takes_nothing(self):
        with open("/dev/full", "w") as full:
            for options in (), ("-v",), ("--no-cache",):
                self.run_with(None, *options, "--rules", self.rules(RULES), "-o", self.out, "--", "sh", "-c", "exit 7", stderr=full)
            report = self.dir / "report.json"
            self.run_with(None, "profile", "--json", report, "-o", self.out, "--", "sh", "-c", "exit 7", stderr=full)
            self.assertIn("profile", json.loads(report.read_text()).get("type", "profile"))
            self.run_with(None, "report", self.out, status=0, stdout=subprocess.DEVNULL, stderr=full)
            self.run_with(None, "--rules", "no_such_rules", status=2, stderr=full)

    def test_whoever_reads_standard_error_is_gone(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.run_with(None, "-v", "--rules", self.rules(RULES), "-o", self.out, "--", "sh", "-c", "exit 7", stderr=writer)
        os.close(writer)
        self.assertTrue(self.out.exists())

    def test_standard_output_takes_nothing(self):
        """Of a command that lists that is an error, and said."""
        self.trace(RULES, "true")
        with open("/dev/full", "w") as full:
            for arguments in (("emit", "--rules", self.rules(RULES)), ("list", "syscall:open*"), ("--help",), ("--version",), ("rules",), ("doctor",),
                              ("doctor", "--json"), ("headers",), ("explain", "--rules", self.rules(RULES)), ("check", "--rules", self.rules(RULES)),
                              ("report", self.out), ("timeline", self.out)):
                done = self.run_with(None, *arguments, status=1, stdout=full, stderr=subprocess.PIPE)
                self.assertIn(b"No space left on device", done.stderr, arguments)

    def test_files_may_not_become_large(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        self.as_alone(limit)
        rules = self.rules("on syscall:getppid { event app.getppid }")
        done = self.run_with(limit, "--rules", rules, "-o", self.out, "--", "python3", "-S", "-c", "import os\nfor _ in range(1000): os.getppid()",
                             status=1, stderr=subprocess.PIPE)
        self.assertIn(b"File too large", done.stderr)
        self.assertLessEqual(self.out.stat().st_size, 4096)
        self.assertTrue(self.out.read_bytes().endswith(b"}\n"))

    def test_there_is_no_more_memory(self):
        """The trace ends there, and says so; the command goes on, and its status is that of mlbcc."""
        rules = self.rules("on syscall:getppid { event app.getppid(ret)   count by ret }")
        code = "import os, sys\nfor i in range(200000): os.getppid()\nsys.exit(7)"
        job = subprocess.Popen([MLBCC, "--no-realtime", "-q", "--rules", rules, "-o", self.out, "--", "python3", "-S", "-c", "import time; time.sleep(1)\n" + code],
                               stderr=subprocess.PIPE, text=True, cwd=self.dir)
        while not self.out.exists() or self.out.stat().st_size == 0:
            time.sleep(0.01)
        size = 1024 * next(int(line.split()[1]) for line in Path(f"/proc/{job.pid}/status").read_text().splitlines() if line.startswith("VmSize"))
        resource.prlimit(job.pid, resource.RLIMIT_AS, (size // 2, size // 2))
        _, said = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 7, said)
        self.assertIn("error: ", said)

    def test_too_few_files_may_be_open(self):
        """It works, or the message says which limit to raise."""
        rules = self.rules(RULES)
        statuses = []
        for files in range(4, 68, 4):
            done = subprocess.run([MLBCC, "--no-cache", "--rules", rules, "-o", self.out, "--", "sh", "-c", "exit 7"], capture_output=True, text=True, timeout=20,
                                  check=False, cwd=self.dir, preexec_fn=lambda n=files: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
            statuses.append(done.returncode)
            self.assertNotIn("defect", done.stderr, files)
            # With fewer than these the program's own libraries cannot be loaded.
            if done.returncode not in (7, 127):
                self.assertEqual(done.returncode, 1, (files, done.stderr))
                self.assertIn("ulimit -n", done.stderr, files)
        self.assertEqual((statuses[1], statuses[-1]), (1, 7))

    def test_the_folder_is_gone(self):
        gone = self.dir / "gone"
        gone.mkdir()
        rules = self.rules(RULES)
        done = subprocess.run(["/bin/sh", "-c", f"cd {gone} && rmdir {gone} && exec {MLBCC} --rules {rules} -o {self.out} -- sh -c 'exit 7'"],
                              capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual((done.returncode, "terminate" in done.stderr), (7, False), done.stderr)
