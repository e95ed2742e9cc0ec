"""mlbcc profile: what the job is at, on the terminal while it runs."""

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import textwrap
import time
import unittest

from harness import TracerCase
from harness.case import LIMIT
from harness.machine import MLBCC
from test_profile import PYTHON

ROWS, COLUMNS = 24, 100
SHOWN = re.compile(rf"\x1b7\x1b\[{ROWS};1H\x1b\[K([^\x1b]+)\x1b8")
RESERVED = f"\x1bD\x1b[A\x1b7\x1b[1;{ROWS - 1}r\x1b8"
REMOVED = f"\x1b7\x1b[{ROWS};1H\x1b[K\x1b[r\x1b8"
LINE = re.compile(r"\d+ s  (.+?)  holds [\d.]+ \w+  reads [\d.]+ \w+/s  writes [\d.]+ \w+/s")


class Terminal:
    """mlbcc in a session of its own whose terminal is a pty, and all that the pty showed."""

    def __init__(self, case, *arguments, streams=(0, 1, 2), term="xterm"):
        self.master, slave = pty.openpty()
        case.addCleanup(os.close, self.master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.shown = b""

        def take_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        colors = {} if term == "dumb" else {"NO_COLOR": "1"}  # all that controls the terminal is of the line
        on = [slave if stream in streams else subprocess.DEVNULL for stream in (0, 1, 2)]
        self.process = subprocess.Popen([str(MLBCC), *map(str, arguments)], stdin=on[0], stdout=on[1], stderr=on[2],
                                        preexec_fn=take_terminal, cwd=case.dir,
                                        env={**os.environ, "TERM": term, **colors}, close_fds=True)
        case.addCleanup(self.process.wait)
        case.addCleanup(self.process.kill)
        os.close(slave)

    def read(self, until):
        """Reads until that holds of what was shown; false where the terminal was closed before."""
        end = time.monotonic() + LIMIT
        while not until(self.shown.decode(errors="replace")):
            if not select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(self.shown)
            try:
                more = os.read(self.master, 65536)
            except OSError as failure:
                if failure.errno != errno.EIO:
                    raise
                more = b""
            if not more:
                return False
            self.shown += more
        return True

    def all(self):
        self.read(lambda _: False)
        self.status = self.process.wait(LIMIT)
        return self.shown.decode(errors="replace")


class Progress(TracerCase):
    def start(self, script, *options, **how):
        return Terminal(self, "profile", "--refresh", "50ms", "-o", self.out, *options, "--", PYTHON, "-S",
                        self.write("job.py", textwrap.dedent(script)), **how)

    def check_clean(self, shown):
        """What is left of the terminal is all of it, and nothing is shown after that."""
        self.assertEqual(shown.count(RESERVED), 1)
        self.assertEqual(shown.count(REMOVED), 1)
        begin, end = shown.index(RESERVED), shown.index(REMOVED)
        self.assertLess(begin, end)
        self.assertEqual(SHOWN.findall(shown[:begin]), [])
        self.assertEqual(SHOWN.findall(shown[end + len(REMOVED):]), [])
        self.assertNotIn("\x1b", shown[end + len(REMOVED):])

    JOB = """
        import os, sys, time
        with open("weights.gguf", "wb") as file: file.write(b"GGUF" + b"x" * (1 << 20))
        held = b"x" * (64 << 20)
        time.sleep(0.8)
        print("loads now", flush=True)
        fd = os.open("weights.gguf", os.O_RDONLY)
        while os.read(fd, 1 << 18): pass
        time.sleep(1.8)
        print("is over", flush=True)
        """

    def test_a_job_on_a_terminal(self):
        shown = self.start(self.JOB).all()
        self.check_clean(shown)
        lines = SHOWN.findall(shown)
        phases = [LINE.fullmatch(line)[1] for line in lines]
        order = [phase for i, phase in enumerate(phases) if i == 0 or phases[i - 1] != phase]
        self.assertEqual(order, ["no weights yet", "loading", "inference"])
        self.assertTrue(all(len(line) < COLUMNS for line in lines))
        held = [float(m[1]) for line in lines if (m := re.search(r"holds ([\d.]+) MiB", line))]
        self.assertGreater(max(held), 64)
        rest = SHOWN.sub("", shown).replace(RESERVED, "").replace(REMOVED, "")
        self.assertNotIn("\x1b", rest)
        self.assertIn("loads now\r\n", rest)
        self.assertIn("=== PROFILE ===", shown[shown.index(REMOVED):])

    def test_marks_are_phases_and_do_not_steer_the_terminal(self):
        shown = self.start("""
            import os, time
            os.dup2(os.open("/dev/null", os.O_WRONLY), 9)
            os.write(9, b"my\\033[2Jphase\\n")
            time.sleep(0.6)
            """, "--marks", "9").all()
        shown = shown[:shown.index("=== PROFILE ===")]
        self.check_clean(shown)
        self.assertEqual({LINE.fullmatch(line)[1] for line in SHOWN.findall(shown)}, {"my\\x1b[2Jphase"})

    def interrupted(self, send):
        terminal = self.start("import time\nprint('begins', flush=True)\ntime.sleep(1000)")
        self.assertTrue(terminal.read(lambda shown: SHOWN.search(shown)))
        send(terminal)
        self.check_clean(terminal.all())
        return terminal

    def test_ctrl_c_leaves_the_terminal_clean(self):
        terminal = self.interrupted(lambda terminal: os.write(terminal.master, b"\x03"))
        self.assertEqual(terminal.status, 128 + signal.SIGINT)

    def test_kill_leaves_the_terminal_clean(self):
        terminal = self.interrupted(lambda terminal: terminal.process.terminate())
        self.assertEqual(terminal.status, 128 + signal.SIGTERM)

    def test_who_has_the_terminal_to_itself_is_not_disturbed(self):
        shown = self.start("""
            import sys, time, tty
            time.sleep(0.5)
            tty.setcbreak(sys.stdin.fileno())
            time.sleep(0.5)
            print("edits", flush=True)
            time.sleep(0.5)
            print("is over", flush=True)
            """).all()
        self.check_clean(shown)
        self.assertNotIn("\x1b", shown[shown.index("edits"):shown.index("is over")])

    def test_where_none_is_wanted(self):
        job = "import time\ntime.sleep(0.5)"
        for options, how in ((("--no-progress",), {}), (("--quiet",), {}), ((), {"term": "dumb"}),
                             ((), {"streams": (0, 1)})):
            with self.subTest(options=options, **how):
                shown = self.start(job, *options, **how).all()
                self.assertNotIn("\x1b", shown)
        done = self.mlbcc("profile", "-o", self.out, "--", PYTHON, "-S", self.write("job.py", job))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\x1b", done.stderr)


if __name__ == "__main__":
    unittest.main()
