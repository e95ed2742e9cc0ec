"""The phases of `mlbcc profile`: against the times that jobs log themselves, and how memory grows."""

import datetime
import json
import os
import statistics
import subprocess
import textwrap
import unittest.mock

from test_profile import PYTHON, ProfileCase, TorchJob

AGREE = 0.05  # seconds
RUNS = 3      # a job that has to wait for a CPU between a step and its log line agrees in another run


class PhaseCase(ProfileCase):
    def names(self, profile):
        return [p["name"] for p in profile["phases"]["phases"]]

    def begins(self, profile):
        """Seconds of the wall clock at which each phase begins."""
        start = datetime.datetime.fromisoformat(profile["start"].replace("Z", "+00:00")).timestamp()
        return {p["name"]: start + p["begin_ns"] / 1e9 for p in profile["phases"]["phases"]}

    def check_whole(self, profile):
        """One phase after another, from the process's begin to its end."""
        phases, process = profile["phases"]["phases"], profile["processes"][0]
        self.assertEqual(profile["phases"]["pid"], process["pid"])
        self.assertEqual((phases[0]["begin_ns"], phases[-1]["end_ns"]), (process["begin_ns"], process["end_ns"]))
        for one, following in zip(phases, phases[1:]):
            self.assertEqual((one["end_ns"], one["end_evidence"]), (following["begin_ns"], following["begin_evidence"]))
        self.assertTrue(all(p["begin_evidence"] in self.text for p in phases))

    def agree(self, run):
        """`run` gives the begins of phases, and the job's own times of them."""
        for _ in range(RUNS):
            seen, logged = run()
            self.assertEqual(set(seen), set(logged))
            differences = {name: seen[name] - logged[name] for name in seen}
            if max(map(abs, differences.values())) <= AGREE:
                return
        self.fail(f"phases do not agree with the job's log: {differences}")


class Torch(PhaseCase, TorchJob):
    def run_job(self):
        profile, times = self.profile_of_job()
        self.assertEqual(self.names(profile), ["start_up", "loading", "inference", "cleanup"])
        self.check_whole(profile)
        self.check_use(profile)
        begins = self.begins(profile)
        del begins["start_up"]  # before Python runs
        wall = {"loading": times["made"], "inference": times["loaded"], "cleanup": times["repetitions"][-1]}
        return begins, {name: when + times["clock"] for name, when in wall.items()}

    def check_use(self, profile):
        start_up, loading, inference, _ = [p["used"] for p in profile["phases"]["phases"]]
        size = self.weights.stat().st_size
        self.assertGreater(size, 200_000_000)
        read = sum(p["used"]["read_bytes"] for p in profile["phases"]["phases"])
        self.assertGreater(loading["read_bytes"], size * 0.5)  # looks are 50 ms apart
        self.assertGreaterEqual(read, size)
        self.assertLess(inference["read_bytes"], size * 0.5)
        self.assertGreater(inference["cpu_ns"], 0)
        self.assertGreater(start_up["memory_growth_bytes"], size)  # the model is made there
        self.assertIn("zip", profile["phases"]["phases"][1]["begin_evidence"])
        # The file's copy and the model's weights are there at once.
        self.assertEqual(profile["peak_phase"], "loading")
        # What is computed calls nobody.
        self.assertEqual(profile["phases"]["repetitions"], [])
        self.assertIn("no repetition is seen", profile["phases"]["repetition_evidence"])

    def test_phases_are_those_that_the_job_logs(self):
        self.agree(self.run_job)


class Numpy(PhaseCase):
    def setUp(self):
        super().setUp()
        if subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True, check=False).returncode != 0:
            self.skipTest("python3-numpy is not installed (scripts/setup.sh --tests)")

    def test_phases_of_an_npz_job(self):
        weights, log = self.dir / "weights.npz", self.dir / "times.json"
        subprocess.run([PYTHON, "-c", textwrap.dedent(f"""
            import numpy
            random = numpy.random.default_rng(1)
            numpy.savez("{weights}", **{{f"w{{i}}": random.random((10, 1 << 20)) for i in range(2)}})
            """)], check=True)
        job = self.write("job.py", textwrap.dedent(f"""
            import json, time, numpy
            times = {{"loading": time.time()}}
            with numpy.load("{weights}") as file: layers = [file[name] for name in file.files]
            times["inference"] = time.time()
            for _ in range(20):
                row = sum(float((layer * 0.5).sum()) for layer in layers)
            times["cleanup"] = time.time()
            del layers
            with open("{log}", "w") as out: json.dump(times, out)
            """))

        def run():
            profile = self.profile(PYTHON, job)
            repetitions = profile["phases"]["repetitions"]
            lengths = [one["end_ns"] - one["begin_ns"] for one in repetitions]
            # Where memory that is used first takes that long.
            is_slow_first = lengths[0] >= 2 * statistics.median(lengths[1:])
            warm_up = ["warm_up"] if is_slow_first else []
            self.assertEqual(self.names(profile), ["start_up", "loading", *warm_up, "inference", "cleanup"])
            self.check_whole(profile)
            # Each layer's product is a block of its own: two to an inference.
            self.assertEqual(len(repetitions), 40)
            self.assertFalse(profile["phases"]["growth"]["grows"])
            begins = self.begins(profile)
            del begins["start_up"]
            if is_slow_first:
                begins["inference"] = begins.pop("warm_up")
            return begins, json.loads(log.read_text())

        self.agree(run)


class Marks(PhaseCase):
    LEAK = """
        import os, sys, time
        os.dup2(os.open(os.devnull, os.O_WRONLY), 9)
        kept = []
        os.write(9, b"prepare\\n")
        time.sleep(.1)
        for i in range(40):
            os.write(9, b"step\\n")
            block = bytearray({size})
            for place in range(0, {size}, 4096): block[place] = 1
            if {leaks}: kept.append(block)
            time.sleep(.02)
        os.write(9, b"finish\\n")
        """

    def marked(self, leaks, size=1_000_000):
        script = self.write("leak.py", textwrap.dedent(self.LEAK.format(leaks=leaks, size=size)))
        profile = self.profile(PYTHON, "-S", script, options=("--marks", "9"))
        self.assertEqual(self.names(profile), ["start_up", "prepare", "step", "finish"])
        self.check_whole(profile)
        phases = profile["phases"]
        self.assertEqual(len(phases["repetitions"]), 40)
        self.assertEqual(phases["repetitions"][-1]["end_ns"], phases["phases"][2]["end_ns"])
        self.assertEqual(phases["repetition_evidence"], "the same mark comes 40 times")
        return phases["growth"]

    def test_a_leak_of_a_megabyte_a_repetition(self):
        growth = self.marked(leaks=True)
        self.assertTrue(growth["grows"])
        self.assertEqual(growth["repetitions"], 38)
        self.assertAlmostEqual(growth["bytes_a_repetition"] / 1e6, 1, delta=0.05)
        self.assertIn(f"memory grows by {growth['bytes_a_repetition'] / 1e6:.2f} MB a repetition", self.text)

    def test_a_job_that_does_not_leak(self):
        self.assertFalse(self.marked(leaks=False)["grows"])
        self.assertIn("memory does not grow from one to the next", self.text)

    def test_a_descriptor_is_a_number(self):
        done = self.mlbcc("profile", "--marks", "-3", "--", "/bin/true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--marks", done.stderr)


class Plain(PhaseCase):
    def test_nothing_is_made_up(self):
        profile = self.script("import time; time.sleep(.2)")
        self.check_whole(profile)
        self.assertEqual(self.names(profile), ["run"])
        self.assertEqual(profile["phases"]["phases"][0]["begin_evidence"], "the process begins; no weights are seen")
        self.assertEqual((profile["phases"]["repetitions"], profile["phases"]["growth"]), ([], None))
        self.assertEqual(profile["peak_phase"], "run")

    def test_weights_by_how_they_begin(self):
        """A file that no name tells, of each format, and one that is none."""
        begins = {"GGUF": b"GGUF", "HDF5": b"\x89HDF", "NumPy": b"\x93NUMPY",
                  "safetensors": (64).to_bytes(8, "little") + b'{"'}
        for name, first in {**begins, "": b"none of them"}.items():
            file = self.dir / f"blob-{name}"
            file.write_bytes(first + os.urandom(8 << 20))
            profile = self.script(f"""
                import os
                fd = os.open("{file}", os.O_RDONLY)
                while os.read(fd, 1 << 20): pass
                """)
            if not name:
                self.assertEqual(self.names(profile), ["run"])
                continue
            self.assertEqual(self.names(profile), ["start_up", "loading", "inference"], name)
            self.assertIn(f"{file} (8.00 MiB, {name}) is opened",
                          profile["phases"]["phases"][1]["begin_evidence"])


class Shares(PhaseCase):
    """What each phase used of system calls and waits."""

    JOB = """
        import os, time
        os.dup2(os.open(os.devnull, os.O_WRONLY), 9)
        os.write(9, b"calls\\n")
        end = time.monotonic() + 0.6
        made = 0
        while time.monotonic() < end:
            for _ in range(100):
                os.getppid()
                try: os.stat("/nowhere")
                except OSError: pass
            made += 100
            time.sleep(0.01)
        os.write(9, b"sleeps\\n")
        time.sleep(0.7)
        os.write(9, b"computes\\n")
        end = time.process_time() + 0.5
        while time.process_time() < end: sum(range(100_000))
        """

    def check_sums(self, profile):
        """The phases and what is outside add up to the whole."""
        parts = [*profile["phases"]["phases"], profile["phases"]["outside"]]
        whole = profile["system_calls"]
        for name in ("calls", "total_time_ns", "errors"):
            self.assertEqual(sum(p["system_calls"][name] for p in parts), whole[name], name)
            for category in whole["categories"]:
                shares = [c[name] for p in parts for c in p["system_calls"]["categories"]
                          if c["category"] == category["category"]]
                self.assertTrue(all(share >= 0 for share in shares))
                self.assertEqual(sum(shares), category[name], (category["category"], name))
        for reason, ns in profile["off_cpu"]["reasons_ns"].items():
            self.assertEqual(sum(p["off_cpu_ns"].get(reason, 0) for p in parts), ns, reason)
        for part in [*parts, profile]:
            time = part["time"].get("whole", part["time"])
            self.assertEqual(time["on_cpu_ns"] + sum(time["off_cpu_ns"].values()), time["thread_time_ns"])
        self.assertEqual(sum(p["time"]["thread_time_ns"] for p in parts), profile["time"]["whole"]["thread_time_ns"])

    def test_of_a_job_that_says_what_it_does(self):
        profile = self.profile(PYTHON, "-c", textwrap.dedent(self.JOB), options=("--marks", 9))
        self.assertEqual(self.names(profile), ["start_up", "calls", "sleeps", "computes"])
        self.check_sums(profile)
        _, calls, sleeps, computes = profile["phases"]["phases"]
        by_category = {c["category"]: c for c in calls["system_calls"]["categories"]}
        missing = [c for c in profile["system_calls"]["by_name"] if c["name"] in ("stat", "newfstatat")]
        # A tenth of a second, over which a look may reach, is a sixth of the phase.
        self.assertGreater(by_category["file_io"]["errors"], 0.75 * max(c["errors"] for c in missing))
        self.assertLess(sleeps["system_calls"]["calls"], calls["system_calls"]["calls"] / 3)
        slept = [p["off_cpu_ns"].get("sleep", 0) / 1e9 for p in (calls, sleeps, computes)]
        self.assertAlmostEqual(slept[1], 0.7, delta=0.15)
        self.assertLess(slept[2], 0.15)
        times = computes["time"]
        waited = times["off_cpu_ns"].get("to_run", 0)  # others may want the CPU, too
        self.assertGreater(times["on_cpu_ns"] / (times["thread_time_ns"] - waited), 0.7, times)
        self.assertLess(sleeps["time"]["on_cpu_ns"] / sleeps["time"]["thread_time_ns"], 0.25)
        self.assertIn("system calls in", self.text)

    def test_names_of_variables(self):
        environment = {"OMP_NUM_THREADS": "secret-7", "API_TOKEN": "secret-8"}
        with unittest.mock.patch.dict(os.environ, environment):
            profile = self.profile("/bin/true")
        self.assertLessEqual(set(environment), set(profile["environment"]))
        self.assertIn("OMP_NUM_THREADS", self.text)
        self.assertNotIn("API_TOKEN", self.text)
        self.assertNotIn("secret-", self.text + self.out.read_text() + json.dumps(profile))
