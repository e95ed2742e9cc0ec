"""Threads that ended leave nothing behind in the kernel's tables."""

import json
import re
import shutil
import subprocess
import textwrap
import unittest
from pathlib import Path

from harness import TracerCase


def entries_of(pid, name):
    """How many entries the process's BPF maps of this name have."""
    ids = {found[1] for fd in Path(f"/proc/{pid}/fdinfo").iterdir()
           if (found := re.search(r"^map_id:\s+(\d+)$", fd.read_text(), re.MULTILINE))}
    counts = []
    for one in ids:
        shown = json.loads(subprocess.run(["bpftool", "-j", "map", "show", "id", one], capture_output=True, check=True).stdout)
        if shown.get("name") == name:
            counts.append(len(json.loads(subprocess.run(["bpftool", "-j", "map", "dump", "id", one], capture_output=True,
                                                        check=True).stdout)))
    return counts


class EndedThreads(TracerCase):
    def test_their_slots_are_free_again(self):
        if not shutil.which("bpftool"):
            self.skipTest("bpftool is not installed (scripts/setup.sh --tests)")
        script = self.write("job.py", textwrap.dedent("""
            import os, threading, time
            for _ in range(100):
                one = threading.Thread(target=time.sleep, args=(0.001,))
                one.start()
                one.join()
            while len(os.listdir("/proc/self/task")) > 1:  # join does not wait for the kernel's part
                time.sleep(0.001)
            print("over", flush=True)
            input()
            """))
        rules = self.rules("on sched:off_cpu { sum duration by tid }\non syscall:futex { event futex(ret) }\n")
        live = self.start(rules, "--", "/usr/bin/python3", "-S", script, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(live.process.stdout.readline().strip(), b"over")
        self.assertEqual(entries_of(live.process.pid, "claims"), [1])


if __name__ == "__main__":
    unittest.main()
