"""mlbcc profile: what a job did, live and from its saved trace."""

import json
import os
import re
import subprocess
import tempfile
import textwrap
import unittest
from pathlib import Path

from harness import ROOT, TracerCase, target
from harness.schema import faults

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
    def test_processes_with_one_number(self):
        profile = self.profile(target("same_number"))
        first, *same = profile["processes"]
        self.assertEqual(len({p["pid"] for p in same}), 1)
        self.assertEqual([p["exit_status"] for p in same], [0, 1, 0])
        self.assertEqual([p["cpu_ns"] > 100_000_000 for p in same], [False, True, False])
        self.assertTrue(all(0.2e9 <= p["duration_ns"] for p in same), same)
        self.assertLessEqual(sum(p["duration_ns"] for p in same), profile["duration_ns"])
        self.assertEqual(profile["time"]["shared_numbers"], 3)
        self.assertEqual(list(profile["time"]["processes"]), [str(first["pid"])])
        self.assertIn("3 threads left out: their thread ids were reused", self.text)

    def test_no_value_of_the_environment_is_kept(self):
        os.environ["KEY_OF_MINE"] = "a-secret-value"
        self.addCleanup(os.environ.pop, "KEY_OF_MINE")
        profile = self.profile("/bin/sh", "-c", "/bin/true one; /bin/true 1 2 3 4 5 6 7; KEY_OF_MINE=a-secret-value /bin/true")
        self.assertEqual([p["programs"][-1]["arguments"] for p in profile["processes"][1:3]],
                         [["/bin/true", "one"], ["/bin/true", "1", "2", "3", "4", "5"]])
        self.assertIn("KEY_OF_MINE", profile["environment"])
        saved = self.out.read_text()
        self.assertNotIn("a-secret-value", saved.replace("KEY_OF_MINE=a-secret-value /bin/true", ""))

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
        lives = profile["processes"]
        self.assertEqual(max(one["end_ns"] for one in lives) - min(one["begin_ns"] for one in lives), profile["duration_ns"])
        for one in lives:
            self.assertLessEqual(one["cpu_ns"], one["duration_ns"] * len(one["threads"]))
        self.assertIn("/bin/sleep 0.2", self.text)
        self.assertIn("exit status 3", self.text)

    def test_what_starts_the_job_is_a_line(self):
        """A script in the interpreter's place, which looks around first; and a shell that waits for it."""
        work = self.write("work.py", "import time\nwhile time.process_time() < .6: pass\n")
        shim = self.write("python3", f'#!/bin/sh\n/bin/ls / >/dev/null; /bin/true; $(/bin/true); exec {PYTHON} "$@"\n')
        shim.chmod(0o755)
        profile = self.profile(shim, work)
        self.assertEqual(len(profile["processes"]), 4)
        shown = rf"\nPROCESSES\n  \d+ {PYTHON} {work}\n +[^\n]*exit status 0\n" \
                rf"  started by {shim}: 3 processes, [\d.]+ \w+ of CPU time\n"
        self.assertRegex(self.text, shown)
        self.profile("/bin/sh", "-c", f"{PYTHON} {work}; true")
        self.assertRegex(self.text, rf"\nPROCESSES\n  \d+ {PYTHON} {work}\n +[^\n]*exit status 0\n"
                                    rf"  started by /bin/sh -c {PYTHON} [^\n]*: 1 process, [\d.]+ \w+ of CPU time\n")

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
        sleeper = subprocess.Popen(["/bin/sleep", "1000"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        done = self.mlbcc("profile", "-o", self.out, "--json", "-", "--pid", sleeper.pid, "-d", "500ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        profile = json.loads(done.stdout)
        process, = profile["processes"]
        self.assertEqual((process["pid"], process["ended"], process["begin_ns"]), (sleeper.pid, False, 0))
        self.assertEqual(process["end_ns"], profile["duration_ns"])
        self.assertEqual((profile["command"], profile["time"]["whole"]["threads"]), ([], 0))
        self.assertIn("runs on", done.stderr)


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


class Schema(ProfileCase):
    SCHEMA = ROOT / "docs/profile.schema.json"

    def test_a_profile_is_what_it_says(self):
        profile = self.profile("/bin/sh", "-c", "/bin/ls / >/dev/null; /bin/sleep 0.2")
        self.assertEqual(faults(self.SCHEMA, profile), "")
        self.assertEqual(set(json.loads(self.SCHEMA.read_text())["properties"]), set(profile))
        profile["processes"][0]["pid"] = "1"
        self.assertEqual(faults(self.SCHEMA, profile), "['processes', 0, 'pid']: '1' is not of type 'integer'")


class Memory(ProfileCase):
    def test_over_time(self):
        size = 150 << 20
        profile = self.script(f"""
            import time
            time.sleep(.3)
            block = bytearray({size})
            for i in range(0, {size}, 4096): block[i] = 1
            time.sleep(.3)
            del block
            time.sleep(.3)
            """)
        memory, process = profile["memory"], profile["processes"][0]
        samples = [s for s in memory["samples"] if s["pid"] == process["pid"]]
        first, last = samples[0]["resident_bytes"], samples[-1]["resident_bytes"]
        peak = process["peak_resident_bytes"]
        self.assertGreater(peak, size)
        self.assertLess(peak, size + (40 << 20))
        self.assertAlmostEqual(memory["peak_resident_bytes"] / peak, 1, delta=0.02)
        self.assertLess(max(first, last), peak - size + (20 << 20))
        self.assertGreaterEqual(memory["minor_faults"], size >> 12 if not huge_pages() else 1)
        at_peak = max(samples, key=lambda s: s["resident_bytes"])
        self.assertGreater(at_peak["anonymous_bytes"], size)
        self.assertEqual([s["time_ns"] for s in samples], sorted(s["time_ns"] for s in samples))

    def test_a_small_program_is_not_given_what_its_launcher_had(self):
        profile = self.profile("/bin/sleep", "0.3")
        self.assertLess(profile["processes"][0]["peak_resident_bytes"], 10 << 20)


class Calls(ProfileCase):
    CATEGORIES = {"file_io", "memory", "process", "network", "time", "ipc", "security", "signal", "system",
                  "other"}

    def test_by_category_with_errors(self):
        profile = self.script("""
            import ctypes, os, socket, time
            libc = ctypes.CDLL(None)
            for _ in range(7): os.getppid()
            for _ in range(5): libc.sync_file_range(99, 0, 0, 0)
            for _ in range(4): os.uname()
            for _ in range(3): socket.socketpair()
            """)
        calls = {c["name"]: c for c in profile["system_calls"]["by_name"]}
        found = {name: (calls[name]["category"], calls[name]["calls"], calls[name]["errors"])
                 for name in ("getppid", "sync_file_range", "uname", "socketpair")}
        self.assertEqual(found, {"getppid": ("process", 7, 0), "sync_file_range": ("file_io", 5, 5),
                                 "uname": ("system", 4, 0), "socketpair": ("network", 3, 0)})
        categories = {c["category"]: c for c in profile["system_calls"]["categories"]}
        self.assertLessEqual(set(categories), self.CATEGORIES)
        for total in ("calls", "total_time_ns", "errors"):
            self.assertEqual(sum(c[total] for c in categories.values()), profile["system_calls"][total])
            self.assertEqual(sum(c[total] for c in calls.values()), profile["system_calls"][total])

    def test_each_call_is_in_one_category(self):
        """`other` leaves out what another list has, and nothing else."""
        text = (ROOT / "rules/profile_calls.rules").read_text()
        lists = re.findall(r"^on optional ((?:syscall:|\s|,|\w)+?) \{\s*sum", text, re.MULTILINE)
        named = [name for one in lists for name in re.findall(r"syscall:(\w+)", one)]
        excepted, = set(re.findall(r"except ([^{]*?) \{", text))
        self.assertEqual(sorted(named), sorted(re.findall(r"\w+", excepted)))
        self.assertEqual(len(named), len(set(named)))
        labels = set(re.findall(r'as "(\w+) calls"', text))
        self.assertEqual(labels, self.CATEGORIES)
        self.assertEqual(labels, set(re.findall(r'as "(\w+) errors"', text)))


class Waits(ProfileCase):
    def test_reasons_and_what_adds_up(self):
        profile = self.script("""
            import os, socket, subprocess, threading, time
            time.sleep(.1)
            r, w = os.pipe()
            threading.Timer(.11, lambda: os.write(w, b"x")).start()
            os.read(r, 1)
            a, b = socket.socketpair()
            threading.Timer(.12, lambda: a.send(b"x")).start()
            b.recv(1)
            lock = threading.Lock()
            lock.acquire()
            threading.Timer(.13, lock.release).start()
            lock.acquire()
            if os.fork() == 0:
                while " S " not in open(f"/proc/{os.getppid()}/stat").read(): pass  # it may be long in coming to its wait
                time.sleep(.14)
                os._exit(0)
            os.wait()
            """)
        main = profile["processes"][0]["pid"]
        off = profile["off_cpu"]
        stats = off["thread_stats"][f"{main}:{main}"]
        for reason, least in (("sleep", 100), ("pipe", 100), ("network", 110), ("lock", 120), ("child", 130)):
            self.assertGreaterEqual(stats["reasons_ns"].get(reason, 0), least * 1_000_000, (reason, stats))
        threads = off["thread_stats"].values()
        self.assertEqual(off["total_time_ns"], sum(t["total_time_ns"] for t in threads))
        self.assertEqual(off["total_events"], sum(t["total_events"] for t in threads))
        self.assertEqual(off["max_time_ns"], max(t["max_time_ns"] for t in threads))
        self.assertEqual(off["min_time_ns"], min(t["min_time_ns"] for t in threads))
        self.assertEqual(off["avg_time_ns"], off["total_time_ns"] // off["total_events"])
        self.assertEqual({thread: sum(t["reasons_ns"].values()) for thread, t in off["thread_stats"].items()},
                         {thread: t["total_time_ns"] for thread, t in off["thread_stats"].items()})
        top = off["top_blocking_threads"][0]
        self.assertEqual((top["pid"], top["tid"]), (main, main))
        self.assertAlmostEqual(top["time_ms"], stats["total_time_ns"] / 1e6, places=3)
        self.assertAlmostEqual(top["percentage"], 100 * stats["total_time_ns"] / off["total_time_ns"], places=3)

        whole, idle = profile["time"]["whole"], profile["time"]["idle"]
        self.assertEqual(idle["threads"], 0)
        lives = [t["end_ns"] - t["begin_ns"] for p in profile["processes"] for t in p["threads"]]
        self.assertEqual((whole["threads"], whole["thread_time_ns"]), (len(lives), sum(lives)))
        self.assertEqual(whole["on_cpu_ns"] + sum(whole["off_cpu_ns"].values()), sum(lives))
        for group in ("on_cpu_ns", "thread_time_ns"):
            self.assertEqual(sum(p[group] for p in profile["time"]["processes"].values()), whole[group])

    def test_threads_that_sleep_from_start_to_end_are_idle(self):
        """As the pools of libraries do: they say nothing of where the job's time went."""
        for idle in (24, 0):
            with self.subTest(idle=idle):
                profile = self.script(f"""
                    import threading, time
                    def sleep_and_work():
                        for _ in range(10): time.sleep(.05)
                    stop = threading.Event()
                    pool = [threading.Thread(target=stop.wait) for _ in range({idle})]
                    for one in pool: one.start()
                    worker = threading.Thread(target=sleep_and_work)
                    worker.start()
                    end = time.monotonic() + .8
                    while time.monotonic() < end: pass
                    worker.join()
                    stop.set()
                    for one in pool: one.join()
                    """)
                seen, threads = profile["time"], profile["processes"][0]["threads"]
                self.assertEqual((seen["idle"]["threads"], seen["whole"]["threads"]), (idle, 2))
                lives = sum(t["end_ns"] - t["begin_ns"] for t in threads)
                self.assertEqual(seen["idle"]["thread_time_ns"] + seen["whole"]["thread_time_ns"], lives)
                self.assertIn("thread {0} of process {0}, which".format(profile["processes"][0]["pid"]), seen["evidence"])
                self.assertEqual(f"  {idle} threads were idle: asleep from the beginning to the end" in self.text, idle > 0)
                self.assertRegex(self.text, r"\n  [\d.]+ s of 2 threads: on CPU")
                drawn = self.mlbcc("timeline", self.out).stdout
                self.assertEqual("\n24 threads slept from their beginning to their end\n" in drawn, idle > 0, drawn)
                self.assertEqual(len(re.findall(r"^\d+/\d+ \S+$", drawn, re.M)), 2, drawn)
                top = profile["off_cpu"]["top_blocking_threads"]
                self.assertEqual(len(top), 2)
                self.assertAlmostEqual(sum(one["percentage"] for one in top), 100, places=3)
                self.assertNotRegex(self.text, r"lock [5-9]\d\.\d %")

    def test_a_job_that_computes_is_told_so(self):
        profile = self.script("""
            import time
            end = time.thread_time() + 1
            while time.thread_time() < end: pass
            """)
        whole, process = profile["time"]["whole"], profile["processes"][0]
        self.assertGreater(whole["on_cpu_ns"], 1_000_000_000)
        self.assertAlmostEqual(whole["on_cpu_ns"] / process["cpu_ns"], 1, delta=0.05)
        # Where others have the CPUs, it waits for one most of the time.
        waits = whole["off_cpu_ns"].get("to_run", 0)
        self.assertEqual(profile["time"]["classification"],
                         "compute_bound" if whole["on_cpu_ns"] * 2 >= whole["thread_time_ns"]
                         else "waiting_to_run" if waits * 2 >= whole["thread_time_ns"] else "mixed")
        self.assertIn(profile["time"]["evidence"], self.text)


def huge_pages():
    file = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return file.exists() and "[always]" in file.read_text()


def bytes_read(log, path):
    """What strace -y saw read() and pread64() return for a file."""
    call = re.compile(rf"\b(?:read|pread64)\(\d+<{re.escape(str(path))}>.*= (\d+)$")
    return sum(int(found[1]) for line in log.read_text(errors="replace").splitlines()
               if (found := call.search(line)))


class TorchJob(ProfileCase):
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

    def profile_of_job(self):
        """The profile, and the job's own times."""
        log = self.dir / "times.json"
        profile = self.profile(PYTHON, JOB, "run", self.weights, log)
        times = json.loads(log.read_text())
        self.assertEqual(len(times["repetitions"]), 50)
        return profile, times


class Torch(TorchJob):
    def test_weights_are_read_and_memory_is_as_the_kernel_says(self):
        profile, times = self.profile_of_job()
        weights = self.file(profile, self.weights)
        size = self.weights.stat().st_size
        self.assertGreater(size, 200_000_000)
        self.assertEqual((weights["size_bytes"], weights["group"]), (size, "weights"))
        # The archive's directory is read again: strace counts the very same bytes.
        log = self.dir / "strace.txt"
        again = subprocess.Popen(["strace", "-f", "-y", "-o", log, "-e", "trace=read,pread64", PYTHON, JOB, "run",
                                  self.weights, self.dir / "other.json"])
        _, again.returncode, used = os.wait4(again.pid, 0)
        self.assertEqual(again.returncode, 0)
        self.assertEqual(weights["read_bytes"], bytes_read(log, self.weights))
        self.assertAlmostEqual(weights["read_bytes"] / size, 1, delta=0.001)
        self.assertEqual(weights["access"], "sequential")
        process = profile["processes"][0]
        # wait4()'s figure for the largest of strace and the job, as /usr/bin/time shows it.
        self.assertAlmostEqual(process["peak_resident_bytes"] / (used.ru_maxrss << 10), 1, delta=0.02)
        self.assertGreater(process["duration_ns"], (times["repetitions"][-1] - times["begin"]) * 1e9)
        self.assertLess(weights["last_read_ns"] - weights["first_read_ns"],
                        (times["loaded"] - times["made"]) * 1e9)
