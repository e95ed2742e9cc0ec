"""The live view in tmux, driven as a user would."""

import re
import shutil
import subprocess
import time
import unittest

from .case import TracerCase
from .machine import MLBCC, SLOWNESS

RULES = """
library c = "libc.so.6"
pid_t getppid(void);
pid_t getpgrp(void);
on c:getppid { span call   count as "Parents asked for" }
on c:getpgrp { span call }
"""
# Calls a known number of times, says so, and ends when it is told to, or its folder is gone.
JOB = """
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None)
for _ in range(1234): libc.getppid()
for _ in range(57): libc.getpgrp()
print("the job's first line")
print("has called", flush=True)
while os.path.exists("job.py") and not os.path.exists("stop"): time.sleep(0.05)
print("the job's last line", flush=True)
"""
LEAVES = "mlbcc_status="


@unittest.skipUnless(shutil.which("tmux"), "needs tmux")
class LiveCase(TracerCase):
    def setUp(self):
        super().setUp()
        self.socket = self.dir / "tmux"
        self.sessions = 0
        self.addCleanup(self.tmux, "kill-server", check=False)
        self.tmux("new-session", "-d", "-s", "stays", "cat")  # the server ends with its last session
        job, rules = self.write("job.py", JOB), self.rules(RULES)
        self.command = f"{MLBCC} top --refresh 200ms --rules {rules} -o trace.jsonl -- python3 -S {job}"

    def tmux(self, *arguments, check=True):
        done = subprocess.run(["tmux", "-S", str(self.socket), "-f", "/dev/null", *map(str, arguments)], text=True,
                              capture_output=True)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def open(self, command=None, size=(100, 30), env=""):
        self.sessions += 1
        name = f"live{self.sessions}"
        self.tmux("new-session", "-d", "-s", name, "-x", size[0], "-y", size[1], "-c", self.dir, "env PS1='$ ' sh")
        self.keys(f"stty -g > before; {env} {command or self.command}; echo {LEAVES}$?; stty -g > after", "Enter")
        return name

    def on(self):
        return "-t", f"live{self.sessions}"

    def keys(self, *keys):
        self.tmux("send-keys", *self.on(), *keys)

    def screen(self, *options):
        return self.tmux("capture-pane", *self.on(), "-p", *options)

    def until(self, fact, *options, seconds=30):
        end = time.monotonic() + seconds * SLOWNESS
        while time.monotonic() < end:
            shown = self.screen(*options)
            if fact(shown):
                return shown
            time.sleep(0.05)
        raise AssertionError(f"never seen on the screen:\n{shown}")

    def shows(self, *texts):
        return self.until(lambda shown: all(text in shown for text in texts))

    def ended(self):
        """All that the terminal shows once the tracer has ended, which has left it as it was."""
        shown = self.until(lambda text: re.search(rf"^{LEAVES}\d+$", text, re.M), "-S", "-200")
        self.until(lambda _: (self.dir / "after").exists() and (self.dir / "after").read_text())
        self.assertEqual((self.dir / "after").read_text(), (self.dir / "before").read_text())
        flags = self.tmux("display-message", *self.on(), "-p", "#{alternate_on} #{cursor_flag}")
        self.assertEqual(flags.split(), ["0", "1"])
        self.status = int(re.search(rf"^{LEAVES}(\d+)$", shown, re.M)[1])
        return shown

    def tracer(self):
        return int(subprocess.run(["pgrep", "-f", f"^{MLBCC} top .*{self.dir}"], text=True,
                                  capture_output=True).stdout.split()[0])

    def calls(self, shown, name):
        found = re.search(rf"^{name} {{2,}}[\d.]+ {{2,}}(\d[\d ]*?)(?: {{2,}}|$)", shown, re.M)
        return int(found[1].replace(" ", "")) if found else None
