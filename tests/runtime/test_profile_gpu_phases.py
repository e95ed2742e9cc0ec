"""The phases of jobs that work on a GPU and read no weights: against the clocks of the jobs themselves."""

import json
import os
import re
import statistics
import subprocess
import unittest.mock

from harness import ROOT
from harness.lanes import quiet
from harness.machine import CUDA_SIM
from test_profile import PYTHON
from test_profile_phases import PhaseCase

JOB = ROOT / "tests/runtime/targets/gpu_pool.py"
NAMES = ["start_up", "import", "first_run", "steps", "end"]
USUAL = {"steps": 60, "threads": 24, "launches": 24, "copies": True, "modules": 8, "late": False}


@quiet
class Pool(PhaseCase):
    def setUp(self):
        super().setUp()
        self.log = self.dir / "clock.json"
        self.enterContext(unittest.mock.patch.dict(os.environ, LD_LIBRARY_PATH=str(CUDA_SIM), CUDA_SIM_QUIET="1"))

    def clocks(self):
        return {one["pid"]: one for one in map(json.loads, self.log.read_text().splitlines())}

    def run_pool(self, *python, names=NAMES, **other):
        """The profile, and the clock of the process that it is of."""
        self.log.write_text("")
        command = [*(python or (PYTHON,)), JOB, self.log, json.dumps({**USUAL, **other})]
        profile = self.profile(*command)
        clock = self.clocks()[profile["phases"]["pid"]]
        self.assertEqual(self.names(profile), names)
        self.check_lengths(profile, clock)
        self.check_steps(profile["phases"]["steps"], clock)
        return profile, clock

    def check_lengths(self, profile, clock):
        """Each boundary lies within 5 % of the shorter of its two phases; a process may have to wait for a CPU."""
        begins, wall = self.begins(profile), clock["wall"]
        lengths = {"first_run": wall["steps"] - wall["first_run"], "steps": wall["end"] - wall["steps"]}
        for name, seconds in lengths.items():
            phase, = [p for p in profile["phases"]["phases"] if p["name"] == name]
            self.assertAlmostEqual((phase["end_ns"] - phase["begin_ns"]) / 1e9 / seconds, 1, delta=.05, msg=name)
            self.assertAlmostEqual(begins[name], wall[name], delta=.05 * seconds, msg=name)
        if "import" in begins:
            self.assertAlmostEqual((begins["first_run"] - begins["import"]) / (wall["first_run"] - wall["script"]), 1,
                                   delta=.05)

    def check_steps(self, steps, clock, late=0):
        took = clock["took"][late:]
        self.assertEqual(steps["count"], len(took))
        self.assertAlmostEqual(steps["per_second"] * (clock["wall"]["end"] - clock["wall"]["steps"]) / len(took), 1,
                               delta=.05)
        self.assertAlmostEqual(steps["median_ns"] / 1e9 / statistics.median(took), 1, delta=.05)
        # Of the slow ones those are told that make up most of the time lost.
        slow = [i for i, seconds in enumerate(took) if seconds > .1]
        self.assertEqual(sorted(one["number"] for one in steps["slow"]), slow)

    def test_of_a_job_with_idle_threads(self):
        profile, _ = self.run_pool()
        self.assertEqual(profile["time"]["idle"]["threads"], 24)
        _, imports, first_run, steps, _ = profile["phases"]["phases"]
        self.assertGreater(imports["work"]["python_files"], 20)
        self.assertEqual((first_run["work"]["code_loads"], steps["work"]["code_loads"]), (8, 0))
        self.assertIn("cuMemcpyHtoD, cuCtxSynchronize come again and again, 60 times", self.text)
        self.assertRegex(self.text, r"60 repetitions, [\d.]+ a second: median [\d.]+ ms, longest 2\d\d ms")
        self.assertIn("slow ones, counted from 0: 14, 29, 44, 59 (20", self.text)
        self.assertIn("code loaded into the GPU 8 times", self.text)

    def test_launches_are_told_of_a_long_stretch(self):
        profile, clock = self.run_pool(steps=300, launches=50)
        rate = 300 * 50 / sum(clock["took"])
        self.assertAlmostEqual(profile["phases"]["launches_per_second"] / rate, 1, delta=.1)
        self.assertRegex(self.text, r"; \d+ launches a second\n")

        lines = self.mlbcc("timeline", "--width", 100, self.out).stdout.splitlines()
        rows = [line.split("│")[0].split() for line in lines if "│" in line]
        self.assertEqual([row[0] for row in rows[:5]], ["gpu_copy", "gpu_launch", "gpu_load", "gpu_start", "gpu_wait"])
        self.assertIn("24 threads slept from their beginning to their end", lines)
        # On each CPU the first launch, the 65th, ..., and it is said.
        launches, = [re.search(r"cuLaunchKernel \(1 in 64\) (\d+) in ", line) for line in lines if "cuLaunchKernel" in line]
        self.assertTrue(234 <= int(launches[1]) <= 236 + os.cpu_count(), launches[0])

    def test_without_idle_threads_and_with_31(self):
        for threads in (0, 31):
            profile, _ = self.run_pool(threads=threads)
            self.assertEqual(profile["time"]["idle"]["threads"], threads)

    def test_steps_without_launches(self):
        profile, _ = self.run_pool(launches=0)
        self.assertEqual(profile["phases"]["steps"]["count"], 60)

    def test_steps_of_launches_and_a_wait(self):
        """Where the first one began is told by how long the others took."""
        self.run_pool(copies=False)

    def test_a_first_step_that_loads_code_is_part_of_the_first_run(self):
        self.log.write_text("")
        profile = self.profile(PYTHON, JOB, self.log, json.dumps({**USUAL, "late": True}))
        clock = self.clocks()[profile["phases"]["pid"]]
        self.assertEqual(self.names(profile), NAMES)
        self.assertEqual(profile["phases"]["steps"]["count"], 59)
        seconds = clock["wall"]["steps"] + clock["took"][0]
        self.assertAlmostEqual(self.begins(profile)["steps"], seconds, delta=.02)
        self.assertEqual(profile["phases"]["phases"][2]["work"]["code_loads"], 9)
        self.assertEqual(sorted(s["number"] for s in profile["phases"]["steps"]["slow"]), [13, 28, 43, 58])

    def test_two_processes(self):
        self.log.write_text("")
        job = f"{PYTHON} {JOB} {self.log} '{json.dumps({**USUAL, 'threads': 2})}'"
        profile = self.profile("/bin/sh", "-c", f"{job} & {job}; wait")
        phases, clocks = profile["phases"], self.clocks()
        self.assertEqual(len(clocks), 2)
        self.assertEqual(self.names(profile), NAMES)
        other, = phases["other_steps"]
        self.assertEqual({phases["pid"], other["pid"]}, set(clocks))
        self.assertIsNone(phases["launches_per_second"])
        for steps in (phases["steps"], other):
            self.check_steps(steps, clocks[steps["pid"]])
        self.check_lengths(profile, clocks[phases["pid"]])
        self.assertRegex(self.text, rf"process {other['pid']}, from [\d.]+ m?s to [\d.]+ m?s: 60 repetitions, ")

    def test_by_a_virtual_environment_and_a_script_in_the_interpreters_place(self):
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", self.dir / "venv"], check=True)
        profile, _ = self.run_pool(self.dir / "venv/bin/python3")
        self.assertNotIn("started by", self.text)
        shim = self.write("python3", f'#!/bin/sh\n/bin/true; $(/bin/true); /bin/ls / >/dev/null; exec {PYTHON} "$@"\n')
        shim.chmod(0o755)
        profile, clock = self.run_pool(shim)
        self.assertEqual(len(profile["processes"]), 4)
        first = re.search(r"\nPROCESSES\n +(\d+) (\S+)", self.text)
        self.assertEqual((int(first[1]), first[2]), (clock["pid"], PYTHON))
        self.assertIn(f"started by {shim}: 3 processes", self.text)
