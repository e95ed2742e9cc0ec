"""TracerCase: a test that runs the real mlbcc on a rule text and a program, and reads the trace."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from . import machine
from .trace import Trace

LIMIT = 300 * machine.SLOWNESS  # seconds for one run of mlbcc


def main_is_missing():
    """The reason for which nothing can be tested at all, or None."""
    if not machine.MLBCC.exists():
        return f"{machine.MLBCC} is not built"
    return None


class TracerCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        reason = machine.why_not_bpf()
        if reason is not None:
            self.skipTest(reason)
        self.dir = Path(tempfile.mkdtemp(prefix="mlbcc-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.dir.chmod(0o755)  # for programs that run as somebody else
        self.out = self.dir / "trace.jsonl"
        self.last = None  # the last finished run: CompletedProcess

    def need_npm(self, name, *programs):
        """What tests/NAME asks npm for is in build/NAME then; a skip where it cannot be had."""
        done = subprocess.run([sys.executable, machine.ROOT / "tests/npm_install.py", name, *programs], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest(done.stdout.strip() or done.stderr.strip())

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def rules(self, text, name="test.rules"):
        return self.write(name, text)

    def mlbcc(self, *arguments, timeout=LIMIT, **options):
        """Runs mlbcc; standard streams are captured unless given."""
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("cwd", self.dir)
        self.last = subprocess.run([str(machine.MLBCC), *map(str, arguments)], text=True,
                                   errors="replace", timeout=timeout, **options)
        return self.last

    def trace(self, rules, *command, options=(), status=0, **run):
        """Traces `command` under the rule text `rules` (or a path); the command's exit status must
        be `status`. The trace has been checked as a whole."""
        file = rules if isinstance(rules, Path) else self.rules(rules)
        done = self.mlbcc("--rules", file, "-o", self.out, *options, "--", *command, **run)
        self.assertEqual(done.returncode, status, f"exit status; standard error:\n{done.stderr}")
        return Trace(self.out)

    def start(self, rules, *arguments, **options):
        """Starts mlbcc in a session of its own and leaves it running."""
        file = rules if isinstance(rules, Path) else self.rules(rules)
        self.out.unlink(missing_ok=True)  # what an earlier run has written is not waited for
        live = Live([str(machine.MLBCC), "--rules", str(file), "-o", str(self.out),
                     *map(str, arguments)], self.out, self.dir, **options)
        self.addCleanup(live.kill)
        return live

    def refused(self, rules, status=2, options=(), command=("true",)):
        """Standard error of a run that must not start, without colours and the folder's name."""
        file = rules if isinstance(rules, Path) else self.rules(rules)
        done = self.mlbcc("--rules", file, "-o", self.out, *options, "--", *command)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr.replace(f"{self.dir}/", "")


class Live:
    """A running mlbcc."""

    def __init__(self, command, out, cwd, **options):
        self.out = out
        self.errors = cwd / "stderr.txt"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                command, cwd=cwd, start_new_session=True,
                **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": errors,
                   **options})

    def lines(self):
        """What the trace file holds now: whole lines."""
        data = self.out.read_bytes() if self.out.exists() else b""
        return data.decode().split("\n")[:-1]

    def wait_for(self, text, poke=None, seconds=120):
        """Until a line of the trace has `text` in it; `poke` is called again and again."""
        end = time.monotonic() + seconds * machine.SLOWNESS
        while time.monotonic() < end:
            if poke is not None:
                poke()
            if any(text in line for line in self.lines()):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"no line with {text!r} in the trace; mlbcc said:\n{self.said()}")

    def said(self):
        return self.errors.read_text(errors="replace")

    def interrupt(self, group=False):
        """Ctrl-C: to mlbcc alone, or to all of its session's foreground group."""
        (os.killpg if group else os.kill)(self.process.pid, signal.SIGINT)

    def wait(self, seconds=LIMIT):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"mlbcc still runs after {seconds} s; it said:\n{self.said()}") from None

    def trace(self, whole=True):
        return Trace(self.out, whole)

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Driver:
    """targets/driver.c: a program that calls tick() when it is told to."""

    def __init__(self, case, **options):
        self.process = subprocess.Popen([machine.target("driver")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1, **options)
        self.pid = self.process.pid
        case.addCleanup(self.end)

    def tell(self, verb, n=0, tag=0):
        """Gives an order and waits until it is carried out."""
        self.process.stdin.write(f"{verb} {n} {tag}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def end(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()
