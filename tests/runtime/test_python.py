"""`stack python`: the functions that Python itself says it is in, by each Python of this machine."""

import glob
import json
import os
import shutil
import subprocess
import unittest
from collections import defaultdict
from pathlib import Path

from harness import ROOT, TracerCase
from harness.machine import CUDA_SIM

CALLS = ROOT / "tests/runtime/targets/python_calls.py"
APP = ROOT / "examples" / "inference"
VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")

RULES = """
    on syscall:getppid, syscall:fdatasync { event mark  stack python }
    """


def debian_python():
    """Debian's own, which is one program; not a pyenv's script."""
    path = os.path.realpath("/usr/bin/python3")
    if not os.access(path, os.X_OK):
        raise unittest.SkipTest("there is no /usr/bin/python3")
    return path


def pyenv(version):
    """One that pyenv has built, with a libpython; a skip where there is none."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = sorted(glob.glob(f"{root}/versions/{version}.*/bin/python{version}"))
    if not found:
        raise unittest.SkipTest(f"pyenv has no Python {version} here")
    return found[0]


class Python(TracerCase):
    def run_calls(self, python, rules=RULES, options=()):
        return self.trace(rules, python, "-I", str(CALLS), options=options)

    def said(self):
        """{thread: stacks}, as the processes say."""
        threads = defaultdict(list)
        for line in self.last.stdout.splitlines():
            for tid, stack in json.loads(line)[1]:
                threads[tid].append(stack)
        return threads

    def seen(self, trace):
        threads = defaultdict(list)
        for event in trace.events:
            threads[event["tid"]].append(event.get("stack"))
        return threads

    def assert_same(self, trace):
        said, seen = self.said(), self.seen(trace)
        self.assertGreater(sum(map(len, said.values())), 150)
        self.assertEqual(set(seen), set(said))
        for tid in said:
            self.assertEqual(seen[tid], said[tid])
        self.assertEqual(trace.summary["lost"], 0)

    def test_debian(self):
        self.assert_same(self.run_calls(debian_python()))
        self.assertNotIn("Python stacks", self.last.stderr)

    def test_3_8(self):
        self.assert_same(self.run_calls(pyenv("3.8")))

    def test_3_9(self):
        self.assert_same(self.run_calls(pyenv("3.9")))

    def test_3_10(self):
        self.assert_same(self.run_calls(pyenv("3.10")))

    def test_3_11(self):
        self.assert_same(self.run_calls(pyenv("3.11")))

    def test_3_12(self):
        self.assert_same(self.run_calls(pyenv("3.12")))

    def test_3_13(self):
        self.assert_same(self.run_calls(pyenv("3.13")))


if __name__ == "__main__":
    unittest.main()
