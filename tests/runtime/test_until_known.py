"""Rules `until_known`: probes that learn what a process knew before the trace, and are taken off then."""

import json
import os
import shutil
import subprocess
import sys
import time

from harness import TracerCase
from harness.machine import CUDA_SIM, SLOWNESS
from test_cuda_ledger import PRELUDE

# Two threads, each in a context of a device of its own; `busy` asks for both all the time, `idle` when it is told to.
# Lines of standard input: "THREAD alloc BYTES", "THREAD ask", "main text FUNCTION" (its first bytes, as they are in memory).
JOB = PRELUDE + """
import queue, threading
cu.cuInit(0)
contexts = [cu.out("cuDevicePrimaryCtxRetain", device) for device in range(2)]
def ask():
    return cu.out("cuCtxGetCurrent"), cu.out("cuCtxGetDevice", kind=ctypes.c_int)
def work(device, tasks, is_busy):
    cu.cuCtxSetCurrent(contexts[device])
    while True:
        try:
            what, *arguments = tasks.get(timeout=.002) if is_busy else tasks.get()
            if what == "alloc":
                cu.out("cuMemAlloc_v2", int(arguments[0]))
            print(json.dumps(ask()[1] if what == "ask" else what), flush=True)
        except queue.Empty:
            ask()
threads = {name: queue.Queue() for name in ("busy", "idle")}
for (name, tasks), device in zip(threads.items(), (1, 0)):
    threading.Thread(target=work, args=(device, tasks, name == "busy"), daemon=True).start()
def text(name):
    return ctypes.string_at(ctypes.cast(getattr(cu.library, name), ctypes.c_void_p), 16).hex()
for line in sys.stdin:
    name, *task = line.split()
    if name == "ping":
        cu.cuDriverGetVersion(ctypes.byref(ctypes.c_int()))
    elif name == "main":
        print(json.dumps(text(task[1])), flush=True)
    else:
        threads[name].put(task)
"""
RULES = 'import "cuda_memory.rules"\non cuda:cuDriverGetVersion { event ping }\n'


class UntilKnown(TracerCase):
    LEFT_ALONE = "functions that only tell what is known are left alone"

    def setUp(self):
        """A driver of this test's own: what other tests probe is in every program's text."""
        super().setUp()
        driver = self.dir / "examples/cuda_sim"
        shutil.copytree(CUDA_SIM, driver, symlinks=True)
        self.environment = {**os.environ, "MLBCC_BUILD": str(self.dir), "LD_LIBRARY_PATH": str(driver),
                            "CUDA_SIM_QUIET": "1", "CUDA_SIM_DEVICES": "2"}

    def begin(self, job=JOB):
        self.job = subprocess.Popen([sys.executable, self.write("job.py", job)], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, env=self.environment, text=True, bufsize=1)
        for clean_up in (self.job.stdout.close, self.job.stdin.close, self.job.wait, self.job.kill):
            self.addCleanup(clean_up)
        self.plain = {name: self.ask(f"main text {name}") for name in ("cuCtxGetDevice", "cuMemAlloc_v2")}

    def ask(self, line):
        self.job.stdin.write(line + "\n")
        return json.loads(self.job.stdout.readline())

    def is_probed(self, name):
        """A probe is an instruction in the program's own memory."""
        return self.ask(f"main text {name}") != self.plain[name]

    def until(self, fact, what, seconds=30):
        end = time.monotonic() + seconds * SLOWNESS
        while time.monotonic() < end:
            if fact():
                return
            time.sleep(0.05)
        self.fail(f"never: {what}")

    def attach(self, rules=RULES, way=None):
        options = ("--attach", way) if way else ()
        live = self.start(rules, "-v", *options, "--pid", self.job.pid, env=self.environment)
        live.wait_for('"ping"', poke=lambda: self.job.stdin.write("ping\n"))
        return live

    def by_device(self, trace):
        """Bytes held; of None: it is not known which."""
        gauges = [((g.get("by") or {}).get("device"), g["value"]) for g in trace.gauge("gpu_bytes")]
        return {device: value for device, value in gauges if value}

    def test_taken_off_and_back_when_something_is_not_known(self):
        self.check_taken_off_and_back()

    def test_by_perf_events(self):
        self.check_taken_off_and_back("perf")

    def check_taken_off_and_back(self, way=None):
        self.begin()
        live = self.attach(way=way)
        self.until(lambda: self.LEFT_ALONE in live.said(), "the probe is taken off")
        self.until(lambda: not self.is_probed("cuCtxGetDevice"), "its instruction is gone")
        self.assertTrue(self.is_probed("cuMemAlloc_v2"))
        self.ask("busy alloc 1000")
        time.sleep(2)  # what is known brings nothing back
        self.assertFalse(self.is_probed("cuCtxGetDevice"))
        self.ask("idle alloc 300")
        self.until(lambda: self.is_probed("cuCtxGetDevice"), "the probe comes back")
        self.assertEqual(self.ask("idle ask"), 0)
        self.until(lambda: not self.is_probed("cuCtxGetDevice"), "the probe is taken off again")
        self.ask("idle alloc 20")
        self.ask("busy alloc 5000")
        live.interrupt()
        self.assertEqual(live.wait(30), 0, live.said())
        trace = live.trace()
        self.assertEqual(self.by_device(trace), {0: 20, 1: 6000, None: 300})
        self.assertEqual(trace.summary["lost"], 0)
        said = live.said()
        self.assertEqual(said.count("3 functions until what they tell is known"), 2, said)
        self.assertEqual(said.count(self.LEFT_ALONE), 2, said)
        for name in self.plain:
            self.assertFalse(self.is_probed(name))

    def test_it_stays_where_nobody_calls_it(self):
        self.begin(JOB.replace('name == "busy"', "False"))
        live = self.attach()
        time.sleep(1.5)
        self.assertTrue(self.is_probed("cuCtxGetDevice"))
        self.assertEqual(self.ask("busy ask"), 1)
        self.ask("busy alloc 70")
        self.until(lambda: not self.is_probed("cuCtxGetDevice"), "the probe is taken off")
        live.interrupt()
        self.assertEqual(live.wait(30), 0, live.said())
        self.assertEqual(self.by_device(live.trace()), {1: 70})

    def test_with_another_rule_on_the_function_it_stays(self):
        self.begin()
        live = self.attach(RULES + 'on cuda:cuCtxGetDevice { count as "Asked" }\n')
        time.sleep(2)
        self.assertTrue(self.is_probed("cuCtxGetDevice"))
        live.interrupt()
        self.assertEqual(live.wait(30), 0, live.said())
        self.assertGreater(live.trace().stats("Asked")[()], 100)

    def test_a_program_from_its_start_has_none(self):
        job = JOB.split("threads = {")[0] + """
cu.cuCtxSetCurrent(contexts[1])
ask()
cu.out("cuMemAlloc_v2", 40)
names = ("cuCtxGetDevice", "cuCtxGetCurrent", "cuMemAlloc_v2")
print(json.dumps([ctypes.string_at(ctypes.cast(getattr(cu.library, n), ctypes.c_void_p), 16).hex() for n in names]))
"""
        script = self.write("job.py", job)
        plain = json.loads(subprocess.run([sys.executable, script], env=self.environment, check=True, text=True,
                                          capture_output=True).stdout)
        trace = self.trace(RULES, sys.executable, script, env=self.environment)
        probed = [one != other for one, other in zip(plain, json.loads(self.last.stdout))]
        self.assertEqual(probed, [False, False, True])
        self.assertEqual(self.by_device(trace), {1: 40})

    def test_explain_names_them(self):
        text = self.mlbcc("explain", "--rules", "cuda_memory", "cuda:cuCtxGet*", env=self.environment).stdout
        names = [line.split()[0] for line in text.splitlines() if line.startswith("libcuda")]
        self.assertEqual(names, [f"libcuda.so.1:{name}" for name in ("cuCtxGetCurrent", "cuCtxGetDevice", "cuCtxGetDevice_v2")])
        self.assertEqual(text.count("  when    in processes that ran before the trace, until it tells nothing new\n"), 3)
