"""Stacks of programs that end at once in another root: of a mount namespace, or a chroot."""

import collections
import os
import re
import subprocess
import time

from harness import MLBCC, TracerCase

TIMES = 20
SOURCE = """
#include <sys/wait.h>
#include <unistd.h>
#define F(name, next) __attribute__((noinline)) int name(void) { int r = next(); __asm__ volatile(""); return r + 1; }
__attribute__((noinline)) int ask(void) { int r = getppid(); __asm__ volatile(""); return r; }
F(f4, ask) F(f3, f4) F(f2, f3) F(f1, f2)
int main(int argc, char **argv) {
    if (argc > 1 && fork() != 0) return wait(0) < 0;
    return f1() == 0;
}
"""
WHOLE = ["getppid", "ask", "f4", "f3", "f2", "f1", "main"]
RULES = "on syscall:getppid { event p()   stack user }"
# In a namespace of its own, from a file system that is there alone.
INSIDE = "mount -t tmpfs none /mnt && cp {deep} /mnt/deep && exec /mnt/deep"


class Elsewhere(TracerCase):
    def setUp(self):
        super().setUp()
        self.deep = self.dir / "deep"
        self.compile(self.deep)

    def compile(self, to, *options):
        subprocess.run(["gcc", "-O1", "-fomit-frame-pointer", *options, "-xc", "-", "-o", to], input=SOURCE, text=True, check=True)

    def stacks_of(self, script):
        """The names of each stack's functions, of the programs that `script` starts TIMES times."""
        text = f"for i in $(seq {TIMES}); do {script}; done"
        trace = self.trace(RULES, "bash", "-c", text)
        stacks = [[re.sub(r"^[^:]*:|\+0x.*", "", frame) for frame in event["stack"]]
                  for event in trace.events if event["type"] == "p" and event["comm"] == "deep"]
        self.assertEqual(len(stacks), TIMES)
        return stacks

    def assert_whole(self, script):
        ways = collections.Counter(tuple(stack) for stack in self.stacks_of(script))
        self.assertEqual(len(ways), 1, ways)
        stack = list(next(iter(ways)))
        self.assertEqual(stack[-1], "_start", stack)
        self.assertEqual([name for name in stack if name in WHOLE], WHOLE)

    def test_in_a_mount_namespace(self):
        self.assert_whole(f"unshare -m sh -c '{INSIDE.format(deep=self.deep)}'")

    def test_in_one_that_its_parent_has_made(self):
        self.assert_whole(f"unshare -m --fork --pid sh -c '{INSIDE.format(deep=self.deep)}'")

    def test_of_a_child_that_runs_no_other_program(self):
        self.assert_whole(f"unshare -m sh -c '{INSIDE.format(deep=self.deep)} child'")

    def test_in_a_chroot(self):
        root = self.dir / "root"
        root.mkdir()
        self.compile(root / "deep", "-static")
        self.assert_whole(f"chroot {root} /deep")

    def test_a_python_that_is_not_supported(self):
        """One note for a file, however soon its process ended."""
        rules = "on syscall:getppid { event p()   stack python }"
        self.compile(self.deep, "-static", "-Wl,--defsym,Py_GetVersion=main")
        for python, begin in ((os.path.realpath("/usr/bin/python3"), "PYTHONHOME=/usr "), (self.deep, "")):
            inside = (f"mount -t tmpfs none /mnt && cp {python} /mnt/python3.7 && {begin}exec /mnt/python3.7 -S -c "
                      "\"import os; os.getppid()\"")
            trace = self.trace(rules, "bash", "-c", f"for i in 1 2 3; do unshare -m sh -c '{inside}'; done")
            calls = [event for event in trace.events if event["comm"] == "python3.7"]
            self.assertEqual(["stack" in event for event in calls], [False] * 3)
            notes = [line for line in self.last.stderr.splitlines() if "no Python stacks" in line]
            self.assertGreaterEqual(len(notes), 1, self.last.stderr)
            for note in notes:
                self.assertRegex(note, "for PID [0-9]+: /mnt/python3.7: (Python 3.7 is not supported|it was gone before)")

    def test_mounts_are_let_go(self):
        """A file system that only an ended process had mounted is gone, though the trace goes on."""
        script = f"unshare -m sh -c '{INSIDE.format(deep=self.deep)}'; sleep 30"
        tracer = subprocess.Popen([MLBCC, "-q", "--rules", self.rules(RULES), "-o", self.out, "--", "bash", "-c", script])
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.terminate)
        folder = f"/proc/{tracer.pid}/fd"

        def held():
            found = [os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder)]
            return [link for link in found if link.startswith("mnt:")]
        end = time.monotonic() + 20
        while not self.out.exists() or '"deep"' not in self.out.read_text():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        while held():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


if __name__ == "__main__":
    import unittest
    unittest.main()
