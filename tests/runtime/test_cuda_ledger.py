"""The memory ledger, the kernels and the copies of rules/cuda*.rules against the simulated driver's own
books."""

import json
import os
import subprocess
import sys

from harness import ROOT, TracerCase
from harness.machine import CUDA_SIM

OPERATIONS = 100_000
HERE = ROOT / "tests" / "runtime"
PRELUDE = f"""
import ctypes, json, sys
sys.path.insert(0, {str(HERE)!r})
from harness.simulated import Node, Simulated, pointers
cu = Simulated()
"""


class Books(TracerCase):
    ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_SIM_QUIET": "1"}

    def run_rules(self, rules, *command, **environment):
        """The trace, and what the program printed: JSON."""
        printed = self.dir / "printed"
        with open(printed, "w") as file:
            trace = self.trace(ROOT / "rules" / f"{rules}.rules", *command, stdout=file,
                               env={**self.ENVIRONMENT, **environment})
        self.assertEqual(trace.summary["lost"], 0)
        for what in ("not_learnt", "not_held", "not_tallied", "no_stack"):
            self.assertNotIn(what, trace.summary)
        return trace, json.loads(printed.read_text())

    def script(self, text):
        return sys.executable, self.write("job.py", PRELUDE + text)


class Ledger(Books):
    def by_device(self, trace):
        """{device: gauge} of the memory of devices."""
        return {str(g["by"]["device"]): g for g in trace.gauge("gpu_bytes") if g.get("by")}

    def test_a_hundred_thousand_operations(self):
        trace, books = self.run_rules(
            "cuda_memory", sys.executable, HERE / "targets" / "cuda_ledger.py", str(OPERATIONS), "7",
            CUDA_SIM_DEVICES="2", CUDA_SIM_MEMORY="64G")
        gauges = self.by_device(trace)
        self.assertEqual({device: (g["value"], g["peak"]) for device, g in gauges.items()},
                         {device: (one["current"], one["peak"])
                          for device, one in books["devices"].items()})
        self.assertGreater(books["device"]["current"], 0)
        self.assertEqual(sum(held["value"] for g in gauges.values() for held in g["held"]),
                         books["device"]["current"])
        for gauge in gauges.values():
            self.assertLessEqual({gauge["peak_in"]}, {"cuMemAlloc", "cuMemAllocManaged", "cuMemCreate",
                                                      "cuMemAllocPitch", "cuMemAllocAsync",
                                                      "cuMemAllocFromPoolAsync"})
            self.assertTrue(gauge["peak_stack"])
            self.assertLessEqual(gauge["peak_ts"], trace.summary["ts"])
        pinned, = trace.gauge("pinned_bytes")
        self.assertEqual((pinned["value"], pinned["peak"]),
                         (books["host"]["current"], books["host"]["peak"]))
        self.assertEqual(trace.stats("Total memory allocated"), {(): books["device"]["bytes"]})
        self.assertEqual(trace.stats("Pinned host memory allocated"), {(): books["host"]["bytes"]})
        failed = sum(count for name, count in books["failures"].items() if "Alloc" in name)
        self.assertEqual(trace.stats("Allocations that failed"), {(): failed})
        self.assertGreater(failed, 0)

    def test_a_failed_allocation_says_what_was_held(self):
        trace, _ = self.run_rules("cuda_memory", *self.script("""
cu.start()
a = cu.out("cuMemAlloc_v2", 1 << 20)
cu.out("cuMemAlloc_v2", 3 << 20)
assert cu.result("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), 1 << 30) == 2
cu.cuMemFree_v2(a)
assert cu.result("cuMemAllocAsync", ctypes.byref(ctypes.c_uint64()), 1 << 29, 0) == 2
print("null")
"""), CUDA_SIM_MEMORY="16M")
        failed = [e for e in trace.events if e["name"] == "failed"]
        self.assertEqual([e["args"] for e in failed],
                         [{"size": 1 << 30, "held": 4 << 20}, {"size": 1 << 29, "held": 3 << 20}])
        self.assertEqual([e["ret"] for e in failed], ["CUDA_ERROR_OUT_OF_MEMORY"] * 2)
        self.assertTrue(all(e["stack"] for e in failed))


class Kernels(Books):
    def test_a_graph_of_412_kernels_launched_ten_times(self):
        trace, books = self.run_rules("cuda_kernels", *self.script("""
kernels = cu.start()
stream, side = cu.out("cuStreamCreate", 0), cu.out("cuStreamCreate", 0)
fork, join = cu.out("cuEventCreate", 0), cu.out("cuEventCreate", 0)
cu.launch(kernels["nothing"], stream)
cu.cuStreamBeginCapture_v2(stream, 0)
for _ in range(400):
    cu.launch(kernels["nothing"], stream)
cu.cuEventRecord(fork, stream)
cu.cuStreamWaitEvent(side, fork, 0)      # the other stream takes part in the capture
params = pointers(1)
for _ in range(12):
    cu.launch(kernels["busy_wait"], side, "cuLaunchKernel_ptsz", params)
cu.cuEventRecord(join, side)
cu.cuStreamWaitEvent(stream, join, 0)
graph = ctypes.c_uint64()
cu.cuStreamEndCapture(stream, ctypes.byref(graph))
run = cu.out("cuGraphInstantiateWithFlags", graph.value, 0)
for _ in range(10):
    cu.cuGraphLaunch(run, stream)
cu.launch(kernels["busy_wait"], side, params=params)     # no capture goes on any more
cu.cuCtxSynchronize()
print(json.dumps(cu.books()))
"""))
        self.assertEqual(trace.stats("Kernels run"), {("nothing",): 4001, ("busy_wait",): 121})
        self.assertEqual(books["kernels"], {"nothing": 4001, "busy_wait": 121})
        self.assertEqual(books["graph_kernels"], 4120)
        launches = [e["args"] for e in trace.events if e["type"] == "graph"]
        self.assertEqual([(one["kernels"], one["names"]) for one in launches],
                         [(412, "nothing x400, busy_wait x12")] * 10)
        self.assertEqual(sum(trace.stats("Kernel launches").values()), books["launches"])
        self.assertEqual(trace.stats("Launch calls by form"),
                         {("cuLaunchKernel",): 402, ("cuLaunchKernel_ptsz",): 12,
                          ("cuGraphLaunch",): 10})
        self.assertRegex(self.last.stderr, r"\n    cuLaunchKernel +402 \(94\.8 %\)\n"
                                           r"    cuLaunchKernel_ptsz +12 \(2\.8 %\)\n"
                                           r"    cuGraphLaunch +10 \(2\.4 %\)\n")
        gaps, = trace.hist("Time between launches of a thread")
        self.assertEqual((gaps["count"], gaps["unit"]), (423, "ns"))

    def test_a_graph_built_of_nodes_and_of_graphs(self):
        trace, books = self.run_rules("cuda_kernels", *self.script("""
kernels = cu.start()
inner, outer = cu.out("cuGraphCreate", 0), cu.out("cuGraphCreate", 0)
node = Node(func=kernels["nothing"], gridDimX=1, gridDimY=1, gridDimZ=1, blockDimX=1, blockDimY=1,
            blockDimZ=1)
for graph, times in ((inner, 3), (outer, 2)):
    for _ in range(times):
        cu.out("cuGraphAddKernelNode_v2", graph, None, 0, ctypes.byref(node))
for _ in range(4):
    cu.out("cuGraphAddChildGraphNode", outer, None, 0, inner)
copy = cu.out("cuGraphClone", outer)
run = cu.out("cuGraphInstantiateWithFlags", copy, 0)
cu.cuGraphDestroy(outer)
cu.cuGraphLaunch(run, 0)
print(json.dumps(cu.books()))
"""))
        self.assertEqual(trace.stats("Kernels run"), {("nothing",): 14})
        self.assertEqual(books["kernels"], {"nothing": 14})

    def test_launches_by_each_form(self):
        trace, _ = self.run_rules("cuda_kernels", *self.script("""
nothing = cu.start()["nothing"]
config = (ctypes.c_uint32 * 14)(2, 1, 1, 32, 1, 1, 0)
cu.launch(nothing)
cu.launch(nothing, form="cuLaunchKernel_ptsz")
cu.cuLaunchKernelEx(config, nothing, None, None)
cu.cuLaunchKernelEx_ptsz(config, nothing, None, None)
cu.cuLaunchCooperativeKernel(nothing, 1, 1, 1, 32, 1, 1, 0, 0, None)
run = cu.out("cuGraphInstantiateWithFlags", cu.out("cuGraphCreate", 0), 0)
for _ in range(3):
    cu.cuGraphLaunch(run, 0)
cu.cuGraphLaunch_ptsz(run, 0)
print("null")
"""))
        self.assertEqual(trace.stats("Launch calls by form"), {
            ("cuLaunchKernel",): 1, ("cuLaunchKernel_ptsz",): 1, ("cuLaunchKernelEx",): 1,
            ("cuLaunchKernelEx_ptsz",): 1, ("cuLaunchCooperativeKernel",): 1, ("cuGraphLaunch",): 3,
            ("cuGraphLaunch_ptsz",): 1})

    UNNAMED = "Launches of kernels without a name"
    ENUMERATED, BEFORE = "enumerated, its name never asked for", "obtained before the trace began"

    def test_kernels_that_were_enumerated(self):
        trace, printed = self.run_rules("cuda_kernels", *self.script("""
cu.start()
module = cu.out("cuModuleLoadData", b"cuda_sim image\\nnothing\\nsoftmax\\n")
functions = (ctypes.c_uint64 * 2)()
cu.cuModuleEnumerateFunctions(functions, 2, module)
library = cu.out("cuLibraryLoadData", b"cuda_sim image\\nnothing\\n", None, None, 0, None, None, 0)
kernels = (ctypes.c_uint64 * 1)()
cu.cuLibraryEnumerateKernels(kernels, 1, library)
function = cu.out("cuKernelGetFunction", kernels[0])
cu.launch(functions[0])
cu.launch(function)
cu.launch(function)
name = ctypes.c_char_p()
cu.cuFuncGetName(ctypes.byref(name), functions[0])
cu.launch(functions[0])
print(json.dumps([name.value.decode(), hex(functions[0]), hex(function)]))
"""))
        name, first, second = printed
        self.assertEqual(trace.stats(self.UNNAMED), {(first, self.ENUMERATED): 1,
                                                     (second, self.ENUMERATED): 2})
        self.assertEqual([begin["args"]["kernel"] for begin, _ in trace.pairs("cuLaunchKernel")],
                         [first, second, second, name])

    def test_kernels_of_a_long_list(self):
        trace, printed = self.run_rules("cuda_kernels", *self.script("""
cu.start()
module = cu.out("cuModuleLoadData", b"cuda_sim image\\n" + b"nothing\\n" * 12)
functions = (ctypes.c_uint64 * 12)()
cu.cuModuleEnumerateFunctions(functions, 12, module)
cu.launch(functions[7])
cu.launch(functions[11])
print(json.dumps([hex(functions[7]), hex(functions[11])]))
"""))
        self.assertEqual(trace.stats(self.UNNAMED),
                         {(handle, self.ENUMERATED): 1 for handle in printed})

    def test_kernels_of_a_process_that_runs_already(self):
        job = subprocess.Popen(self.script("""
nothing = cu.start()["nothing"]
module = cu.out("cuModuleLoadData", b"cuda_sim image\\nnothing\\nnothing\\n")
functions = (ctypes.c_uint64 * 2)()
for line in sys.stdin:
    if line.startswith("ping"):
        cu.cuDriverGetVersion(ctypes.byref(ctypes.c_int()))
    else:
        cu.launch(nothing)
        cu.launch(nothing)
        cu.cuModuleEnumerateFunctions(functions, 2, module)
        cu.launch(functions[1])
        named = cu.out("cuModuleGetFunction", module, b"nothing")
        cu.launch(named)
        cu.cuFuncGetName(ctypes.byref(ctypes.c_char_p()), nothing)
        cu.launch(nothing)
        break
print(json.dumps([hex(nothing), hex(functions[1])]))
"""), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.ENVIRONMENT, text=True, bufsize=1)
        for clean_up in (job.stdout.close, job.stdin.close, job.wait, job.kill):
            self.addCleanup(clean_up)
        live = self.start("""
import "cuda_kernels.rules"
on cuda:cuDriverGetVersion { event ping }
""", "--pid", job.pid, env=self.ENVIRONMENT)
        live.wait_for("ping", poke=lambda: job.stdin.write("ping\n"))
        job.stdin.write("launch\n")
        first, second = json.loads(job.stdout.readline())
        job.stdin.close()
        self.assertEqual(job.wait(60), 0)
        self.assertEqual(live.wait(60), 0)
        trace = live.trace()
        self.assertEqual(trace.stats(self.UNNAMED), {(first, self.BEFORE): 2,
                                                     (second, self.ENUMERATED): 1})
        self.assertEqual([begin["args"]["kernel"] for begin, _ in trace.pairs("cuLaunchKernel")],
                         [first, first, second, "nothing", "nothing"])


class Copies(Books):
    def test_by_direction_and_kind(self):
        trace, books = self.run_rules("cuda_copies", *self.script("""
cu.start()
size = 1 << 16
device = cu.out("cuMemAlloc_v2", size)
pageable = (ctypes.c_char * size)()
pinned = cu.out("cuMemHostAlloc", size, 0)
registered = (ctypes.c_char * size)()
cu.cuMemHostRegister_v2(ctypes.addressof(registered), size, 0)
cu.cuMemcpyHtoD_v2(device, pageable, 100)
cu.cuMemcpyHtoD_v2(device, pinned + 1000, 2000)
cu.cuMemcpyHtoD_v2(device, ctypes.addressof(registered) + size - 7, 7)
cu.cuMemcpyDtoH_v2(pinned, device, 30)
cu.cuMemcpyDtoHAsync_v2(pageable, device, 4, 0)
cu.cuMemcpyHtoDAsync_v2(device, pinned, 50, 0)
cu.cuMemFreeHost(pinned)
cu.cuMemHostUnregister(ctypes.addressof(registered))
cu.cuMemcpyHtoD_v2(device, registered, 3)
print(json.dumps(cu.books()))
"""))
        self.assertEqual(trace.stats("Copied to the device"), {("pageable",): 103, ("pinned",): 2007})
        self.assertEqual(trace.stats("Copied to the host"), {("pinned",): 30})
        self.assertEqual(trace.stats("Copied to the device in stream order"), {("pinned",): 50})
        self.assertEqual(trace.stats("Copied to the host in stream order"), {("pageable",): 4})
        self.assertEqual(books["host_side"], {"pinned": 2087, "pageable": 107})
        blocking = [s for s in trace.summary["stats"] if s["label"] == "Copied to the device"]
        self.assertTrue(all(s["over_ns"] > 0 for s in blocking))
        queued = [s for s in trace.summary["stats"] if "stream order" in s["label"]]
        self.assertTrue(all("over_ns" not in s for s in queued))


