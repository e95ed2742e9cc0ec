"""VmCase: a test in the virtual machine. It has what tests of tests/runtime have (self.trace, ...)
and the books of the stand-in, which counts each call of its functions:

    def test_frees(self):
        with self.counted() as books:
            trace = self.trace(RULES, *self.APP)
        self.assertEqual(len(trace.pairs("nv_free_pages")), books.calls("nv_free_pages"))
"""

import os
import subprocess
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from harness import ROOT, TracerCase
from harness.machine import CUDA_SIM

LIMIT = 300  # seconds for one run of mlbcc: everything takes ten times as long here
BOOKS = Path("/proc/nvidia_standin")


class Books(Counter):
    """{("nvidia_open",): 2, ("nvidia_unlocked_ioctl", 0xc030462b): 11}"""

    def calls(self, function):
        return sum(count for key, count in self.items() if key[0] == function)

    def commands(self, function):
        """{command: calls}"""
        return {key[1]: count for key, count in self.items() if key[0] == function}


def read_books():
    books = Books()
    for line in BOOKS.read_text().splitlines():
        function, *command, count = line.split()
        books[(function, *(int(text, 16) for text in command))] = int(count)
    return books


class VmCase(TracerCase):
    APP = ("python3", str(ROOT / "examples" / "inference" / "app.py"))
    ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_SIM_QUIET": "1"}

    def mlbcc(self, *arguments, timeout=LIMIT, **options):
        options.setdefault("env", self.ENVIRONMENT)
        return super().mlbcc(*arguments, timeout=timeout, **options)

    def app(self, *arguments):
        """Runs the example program untraced; returns what it printed."""
        return subprocess.run([*self.APP, *arguments], env=self.ENVIRONMENT, cwd=self.dir,
                              text=True, capture_output=True, check=True).stdout

    @contextmanager
    def counted(self):
        """What the books gained in the block; to be looked at after it."""
        before, gained = read_books(), Books()
        yield gained
        gained.update(read_books() - before)
        self.assertNotIn(("not_counted",), gained)
