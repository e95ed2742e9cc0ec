"""What `mlbcc profile` says of GPUs, long waits and counters of the CPU."""

import json
import os
import textwrap
import unittest.mock

from harness.machine import CUDA_SIM
from test_profile import PYTHON, ProfileCase


class Gpu(ProfileCase):
    JOB = """
        import ctypes, json, os, time
        os.dup2(os.open(os.devnull, os.O_WRONLY), 9)
        cuda = ctypes.CDLL("{library}")
        made = 0
        def call(name, *arguments):
            global made
            made += 1
            return getattr(cuda, name)(*arguments)
        def mark(name):
            time.sleep(.2)  # looks are 50 and 100 ms apart
            os.write(9, name)
            time.sleep(.2)
        call("cuInit", 0)
        context, blocks = ctypes.c_void_p(), [ctypes.c_uint64() for _ in range(4)]
        call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
        mark(b"loads")
        for one in blocks: call("cuMemAlloc_v2", ctypes.byref(one), ctypes.c_size_t(1 << 20))
        mark(b"computes")
        for _ in range(50): call("cuCtxSynchronize")
        assert call("cuMemFree_v2", ctypes.c_uint64(12345)) != 0
        mark(b"frees")
        for one in blocks[1:]: call("cuMemFree_v2", one)
        time.sleep(.2)
        with open("{log}", "w") as out: json.dump(made, out)
        """

    def run_job(self):
        log = self.dir / "made.json"
        job = self.write("job.py", textwrap.dedent(self.JOB.format(library=CUDA_SIM / "libcuda.so.1", log=log)))
        profile = self.profile(PYTHON, "-S", job, options=("--marks", 9))
        return profile, json.loads(log.read_text())

    def check(self, profile, made):
        gpu = profile["gpu"]
        self.assertEqual((gpu["calls"], gpu["errors"]), (made, 1))
        by_name = {one["name"]: one["calls"] for one in gpu["by_name"]}
        self.assertEqual(by_name, {"cuInit": 1, "cuCtxCreate": 1, "cuMemAlloc": 4, "cuCtxSynchronize": 50, "cuMemFree": 4})
        start_up, loads, computes, frees = profile["phases"]["phases"]
        self.assertEqual([p["name"] for p in (loads, computes, frees)], ["loads", "computes", "frees"])
        parts = [*profile["phases"]["phases"], profile["phases"]["outside"]]
        for name in ("calls", "total_time_ns", "errors"):
            self.assertEqual(sum(p["gpu_calls"][name] for p in parts), gpu[name], name)
        self.assertEqual([p["gpu_calls"]["calls"] for p in (start_up, loads, computes, frees)], [2, 4, 51, 3])
        self.assertEqual(computes["gpu_calls"]["errors"], 1)
        self.assertEqual([p["gpu_memory"]["growth_bytes"] for p in (start_up, loads, computes)], [0, 4 << 20, 0])
        self.assertEqual([p["gpu_memory"]["peak_bytes"] for p in (start_up, loads, computes, frees)],
                         [0, 4 << 20, 4 << 20, 4 << 20])
        memory, = gpu["memory"]
        self.assertEqual((memory["device"], memory["peak_bytes"], memory["held_bytes"]), ("0", 4 << 20, 1 << 20))
        self.assertEqual(memory["peak_function"], "cuMemAlloc")
        self.assertTrue(loads["begin_ns"] < memory["peak_ns"] < loads["end_ns"])
        self.assertNotIn("cuda", [c["category"] for c in profile["system_calls"]["categories"]])
        self.assertRegex(self.text, rf"calls of the driver +{made} calls")
        self.assertIn("GPU memory +4.00 MiB, 4.00 MiB at most", self.text)

    def test_calls_and_memory_by_phase(self):
        """Of a driver that is there before the job begins."""
        with unittest.mock.patch.dict(os.environ, LD_LIBRARY_PATH=str(CUDA_SIM), CUDA_SIM_QUIET="1"):
            self.check(*self.run_job())

    def test_without_a_driver_there_is_nothing(self):
        profile = self.script("import time; time.sleep(.1)")
        self.assertIsNone(profile["gpu"])
        self.assertTrue(all(p["gpu_memory"] is None for p in profile["phases"]["phases"]))
        self.assertNotIn("cuda", self.text)
        self.assertNotIn("\nGPU\n", self.text)


class LongWaits(ProfileCase):
    def test_by_where(self):
        profile = self.script("""
            import time
            def rest():
                time.sleep(.1)
            def doze():
                time.sleep(.05)
            def work():
                for _ in range(3): rest()
                doze()
            time.sleep(.2)  # a Python that has just begun need not be known yet
            work()
            time.sleep(.001)  # the end of a wait that was not seen is found when the thread leaves again
            """)
        self.assertEqual(profile["off_cpu"]["long_waits_left_out"], 0)
        waits = {}
        for one in profile["off_cpu"]["long_waits"]:
            inner = next((frame for frame in one["stack"] if frame.startswith("script.py:")), None)
            waits.setdefault(inner, []).append(one)
        rest, = waits["script.py:rest"]
        self.assertEqual((rest["waits"], rest["threads"]), (3, 1), waits)
        self.assertGreater(rest["total_time_ns"], 300_000_000)
        self.assertGreaterEqual(rest["max_time_ns"], 100_000_000)
        self.assertLess(rest["max_time_ns"], rest["total_time_ns"])
        begin, = [p["begin_ns"] for p in profile["processes"]]
        self.assertGreater(rest["longest_end_ns"], begin + 300_000_000)
        self.assertEqual([frame for frame in rest["stack"] if frame.startswith("script.py:")],
                         ["script.py:rest", "script.py:work", "script.py:<module>"])
        doze, = waits["script.py:doze"]
        self.assertEqual(doze["waits"], 1)
        self.assertGreater(doze["total_time_ns"], 50_000_000)
        self.assertRegex(self.text, r"3 times, 3\d\d ms, longest 1\d\d ms: .*script.py:rest < script.py:work")


class Counters(ProfileCase):
    def test_what_the_machine_has(self):
        profile = self.script("sum(range(10_000_000))")
        run, = profile["phases"]["phases"]
        counters = run["used"]["counters"]
        if counters is None:
            self.assertIn("counters of the CPU (instructions a cycle, misses): not available here", self.text)
            return
        self.assertGreater(counters["instructions"], 10_000_000)
        self.assertIn("instructions a cycle", self.text)
