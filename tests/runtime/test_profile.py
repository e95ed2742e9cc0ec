"""mlbcc profile: what a job did, live and from its saved trace."""

import json
import os
import re
import resource
import subprocess
import tempfile
import textwrap
import unittest
from pathlib import Path

from harness import ROOT, TracerCase

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's torch
JOB = ROOT / "tests/runtime/targets/torch_inference.py"


class ProfileCase(TracerCase):
    def profile(self, *command, status=0, options=()):
        """The profile as JSON; that of the saved trace has been found to be the same."""
        live, saved = self.dir / "live.json", self.dir / "saved.json"
        done = self.mlbcc("profile", "-o", self.out, "--json", live, *options, "--", *command)
        self.assertEqual(done.returncode, status, done.stderr)
        self.text = done.stderr
        report = self.mlbcc("report", "--json", saved, self.out)
        self.assertEqual(report.returncode, 0, report.stderr)
        shown = json.loads(live.read_text())
        self.assertEqual(shown, json.loads(saved.read_text()))
        self.assertIn(report.stdout, self.text)
        self.assertEqual((shown["schema"], shown["version"]), ("mlbcc-profile", 1))
        self.assertEqual(shown["lost"], 0)
        self.assertEqual(shown["command"], [str(word) for word in command])
        return shown

    def script(self, text):
        return self.profile(PYTHON, "-S", self.write("script.py", textwrap.dedent(text)))

    def file(self, profile, path):
        found, = [f for f in profile["files"]["files"] if f["path"] == str(path)]
        return found


class Processes(ProfileCase):
    def test_tree_commands_and_status(self):
        profile = self.profile("/bin/sh", "-c", "/bin/ls / >/dev/null; /bin/sleep 0.2; exit 3", status=3)
        shell, ls, sleep = profile["processes"]
        self.assertEqual([p["programs"][-1]["arguments"] for p in (ls, sleep)],
                         [["/bin/ls", "/"], ["/bin/sleep", "0.2"]])
        self.assertEqual([p["parent"] for p in (ls, sleep)], [shell["pid"]] * 2)
        self.assertEqual([p["exit_status"] for p in (shell, ls, sleep)], [3, 0, 0])
        self.assertTrue(all(p["ended"] for p in profile["processes"]))
        self.assertGreaterEqual(sleep["duration_ns"], 200_000_000)
        self.assertGreaterEqual(shell["duration_ns"], sleep["duration_ns"] + ls["duration_ns"])
        self.assertLessEqual(shell["end_ns"], profile["duration_ns"])
        self.assertIn("/bin/sleep 0.2", self.text)
        self.assertIn("exit status 3", self.text)

    def test_a_signal_ends_one(self):
        shell, killed = self.profile("/bin/sh", "-c", "/bin/sh -c 'kill -9 $$'; exit 0")["processes"]
        self.assertEqual((killed["signal"], shell["signal"], shell["exit_status"]), (9, 0, 0))
        self.assertIn("ended by signal 9", self.text)

    def test_threads_and_their_time(self):
        profile = self.script("""
            import threading, time
            def work():
                end = time.thread_time() + 0.2
                while time.thread_time() < end: pass
            threads = [threading.Thread(target=work) for _ in range(3)]
            for one in threads: one.start()
            for one in threads: one.join()
            """)
        process, = profile["processes"]
        self.assertEqual(len(process["threads"]), 4)
        self.assertGreater(process["cpu_ns"], 600_000_000 * 0.95)
        busy = sorted(t["cpu_ns"] for t in process["threads"])[1:]
        self.assertTrue(all(ns > 190_000_000 for ns in busy), busy)

    def test_a_running_process(self):
        sleeper = subprocess.Popen(["/bin/sleep", "1"])
        self.addCleanup(sleeper.wait)
        done = self.mlbcc("profile", "-o", self.out, "--json", "-", "--pid", sleeper.pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        process, = json.loads(done.stdout)["processes"]
        self.assertEqual((process["pid"], process["ended"], process["begin_ns"]), (sleeper.pid, True, 0))


class Files(ProfileCase):
    def test_what_was_read_written_and_mapped(self):
        data = self.dir / "model.safetensors"
        data.write_bytes(os.urandom(3 << 20))
        out = self.dir / "out.dat"
        profile = self.script(f"""
            import mmap, os
            fd = os.open("{data}", os.O_RDONLY)
            while os.read(fd, 1 << 20): pass
            os.lseek(fd, 0, 0)
            while os.read(fd, 1 << 20): pass
            mmap.mmap(fd, 8192, prot=mmap.PROT_READ)
            fd = os.open("{out}", os.O_WRONLY | os.O_CREAT)
            os.write(fd, b"x" * 1000)
            os.pwrite(fd, b"x" * 1000, 5000)
            for _ in range(3):
                try: os.stat("{self.dir}/nowhere")
                except OSError: pass
            """)
        weights = self.file(profile, data)
        self.assertEqual((weights["group"], weights["size_bytes"], weights["opens"]), ("weights", 3 << 20, 1))
        self.assertEqual((weights["read_bytes"], weights["reads"], weights["seeks"]), (6 << 20, 6, 1))
        self.assertEqual((weights["mapped_bytes"], weights["times_read"]), (8192, 2))
        self.assertEqual((weights["opened_for_reading"], weights["opened_for_writing"]), (True, False))
        self.assertEqual(weights["access"], "sequential")
        self.assertGreater(weights["read_time_ns"], 0)
        written = self.file(profile, out)
        self.assertEqual((written["written_bytes"], written["writes"], written["read_bytes"]), (2000, 2, 0))
        self.assertEqual((written["opened_for_reading"], written["opened_for_writing"]), (False, True))
        self.assertIn({"path": f"{self.dir}/nowhere", "searches": 3}, profile["files"]["missing"]["paths"])
        group = {g["group"]: g for g in profile["files"]["groups"]}["weights"]
        self.assertEqual((group["files"], group["read_bytes"]), (1, 6 << 20))


def bytes_read(log, path):
    """What strace -y saw read() and pread64() return for a file."""
    call = re.compile(rf"\b(?:read|pread64)\(\d+<{re.escape(str(path))}>.*= (\d+)$")
    return sum(int(found[1]) for line in log.read_text(errors="replace").splitlines()
               if (found := call.search(line)))


class Torch(ProfileCase):
    """A model of more than 200 MB, loaded from disk and run 50 times by Debian's python3-torch."""

    @classmethod
    def setUpClass(cls):
        done = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False)
        if done.returncode != 0:
            raise unittest.SkipTest("python3-torch is not installed (scripts/setup.sh --tests)")
        cls.folder = tempfile.TemporaryDirectory(prefix="mlbcc-torch-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.weights = Path(cls.folder.name) / "model.pt"
        subprocess.run([PYTHON, JOB, "make", cls.weights], check=True)

    def run_job(self):
        log = self.dir / "times.json"
        profile = self.profile(PYTHON, JOB, "run", self.weights, log)
        times = json.loads(log.read_text())
        self.assertEqual(len(times["repetitions"]), 50)
        return profile, times

    def test_weights_are_read_and_memory_is_as_the_kernel_says(self):
        profile, times = self.run_job()
        weights = self.file(profile, self.weights)
        size = self.weights.stat().st_size
        self.assertGreater(size, 200_000_000)
        self.assertEqual((weights["size_bytes"], weights["group"]), (size, "weights"))
        # The archive's directory is read again: strace counts the very same bytes.
        log = self.dir / "strace.txt"
        subprocess.run(["strace", "-f", "-y", "-o", log, "-e", "trace=read,pread64", PYTHON, JOB, "run",
                        self.weights, self.dir / "other.json"], check=True)
        self.assertEqual(weights["read_bytes"], bytes_read(log, self.weights))
        self.assertAlmostEqual(weights["read_bytes"] / size, 1, delta=0.001)
        self.assertEqual(weights["access"], "sequential")
        process = profile["processes"][0]
        # wait4()'s figure for the largest process that was waited for, as /usr/bin/time shows it.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
        self.assertAlmostEqual(process["peak_resident_bytes"] / peak, 1, delta=0.02)
        self.assertGreater(process["duration_ns"], (times["repetitions"][-1] - times["begin"]) * 1e9)
        self.assertLess(weights["last_read_ns"] - weights["first_read_ns"],
                        (times["loaded"] - times["made"]) * 1e9)
