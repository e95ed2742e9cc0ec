"""rules/cuda.rules and cuda_all.rules on three drivers: the simulated one, the toolkit's stub, and NVIDIA's own."""

import json
import os
import re
import subprocess
from pathlib import Path

from harness import MLBCC, ROOT, TracerCase, target
from harness.machine import BUILD, CUDA_SIM, need_tool

RULES = ROOT / "rules" / "cuda_all.rules"
STUBS = ("/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/local/cuda/lib/stubs/libcuda.so",
         "/usr/lib/x86_64-linux-gnu/stubs/libcuda.so")
APP = ROOT / "examples" / "inference" / "app.py"
# What the app calls once each, and only asks by.
LAUNCHED = {"kernel", "blocks", "threads", "stream"}  # what rules say of a launch
ASKING = {"cuDeviceGet", "cuDeviceGetCount", "cuDeviceGetName", "cuDriverGetVersion"}


def functions(library):
    """The names of the functions that a library exports."""
    text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                          check=True).stdout
    return {line.split()[2].split("@")[0] for line in text.splitlines() if " T " in line}


def base(symbol):
    return re.sub(r"(_v[234]|_ptds|_ptsz)+$", "", symbol)


def own_args(begin):
    """Without what rules say of a launch besides."""
    more = LAUNCHED if begin["name"].startswith("cuLaunch") else set()
    return {name: value for name, value in begin.get("args", {}).items() if name not in more}


class Simulated(TracerCase):
    """The example job against its own log: every call, every argument, every byte."""

    def run_app(self, *arguments, options=(), rules=RULES):
        log = self.dir / "app.log"
        trace = self.trace(rules, "python3", str(APP), "--log", str(log), "--weights",
                           str(self.dir / "weights.bin"), *arguments, options=options,
                           env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM)})
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return trace, [line for line in lines if "call" in line], lines[-1]["totals"]

    def spans(self, trace):
        """(symbol, name, args, ret) of each call, by beginning; args without those read at return."""
        pairs = []
        for name in {e["name"] for e in trace.events if e["phase"] == "B"}:
            pairs += trace.pairs(name)
        pairs.sort(key=lambda pair: pair[0]["event_id"])
        return [(b.get("symbol", b["name"]), b["name"], own_args(b), e["ret"]) for b, e in pairs]

    def test_each_call_of_the_apps_log(self):
        trace, log, totals = self.run_app("--leak")
        spans = self.spans(trace)
        self.assertEqual(len(trace.named("cuInit", "B")), 1)
        self.assertEqual(len(spans), totals["calls"])
        for (symbol, name, args, ret), said in zip(spans, log):
            self.assertEqual((symbol, name), (said["call"], base(said["call"])))
            self.assertEqual(args, said["args"], symbol)
            self.assertEqual(ret, "CUDA_SUCCESS")
        self.assertEqual(trace.summary["lost"], 0)

    def test_calls_that_only_ask_are_left_out(self):
        trace, log, _ = self.run_app(rules=ROOT / "rules" / "cuda.rules")
        doing = [line for line in log if line["call"] not in ASKING]
        self.assertEqual(len(log) - len(doing), len(ASKING))
        self.assertEqual([(s, a) for s, _, a, _ in self.spans(trace)], [(c["call"], c["args"]) for c in doing])
        self.assertEqual(trace.stats("Total CUDA API calls"), {(): len(doing)})
        left_out, = trace.summary["left_out"]
        said = "calls that only ask (traced by --rules cuda_all)"
        self.assertEqual((left_out["library"], left_out["said"]), ("libcuda.so.1", said))
        self.assertGreater(left_out["functions"], 50)
        self.assertIn(f"{left_out['functions']} left out: {said}", self.last.stderr)
        self.assertIn(f"{left_out['functions']} left out: {said}", self.mlbcc("report", self.out).stdout)
        every, _, _ = self.run_app()
        self.assertNotIn("left_out", every.summary)

    def test_with_our_own_header(self):
        """The same where the toolkit's cuda.h is not to be had."""
        rules = self.dir / "rules"
        (rules / "types").mkdir(parents=True)
        for file in (*(ROOT / "rules" / "types").iterdir(), *(ROOT / "rules").glob("cuda*.rules"),
                     ROOT / "rules" / "gpu_asks.rules"):
            (rules / file.relative_to(ROOT / "rules")).write_text(file.read_text())
        library = rules / "cuda_library.rules"
        text = library.read_text()
        self.assertIn('header "types/cuda.h"', text)
        library.write_text(text.replace('"types/cuda.h"', '"types/cuda_driver.h"'))
        own = rules / "cuda_all.rules"
        log = self.dir / "app.log"
        trace = self.trace(own, "python3", str(APP), "--log", str(log),
                           env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM)})
        calls = [json.loads(line) for line in log.read_text().splitlines()][:-1]
        self.assertEqual([(s, a) for s, _, a, _ in self.spans(trace)],
                         [(c["call"], c["args"]) for c in calls])

    def test_rules_without_a_toolkit(self):
        """The bundled rules where no cuda.h is but our own."""
        hide = "[ ! -d /usr/local/cuda/ ] || mount -t tmpfs none /usr/local/cuda/; "
        environment = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "CUDA_HOME": "", "CUDA_PATH": ""}
        done = subprocess.run([need_tool("unshare"), "-m", "sh", "-c", f"{hide} exec {MLBCC} check --rules cuda"],
                              text=True, capture_output=True, check=False, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout + done.stderr, r"\d+ rules, \d+ functions, \d+ programs: no mistakes found")

    def test_memory(self):
        trace, log, totals = self.run_app("--leak")
        self.assertEqual(trace.stats("Total memory allocated"), {(): totals["bytes_allocated"]})
        allocs = [(c["out"]["dptr"], c["args"]["bytesize"]) for c in log if c["call"] == "cuMemAlloc_v2"]
        self.assertEqual([(a["address"], a["size"]) for a in trace.args("alloc", "X")], allocs)
        gauge, = trace.gauge("gpu_bytes")
        self.assertEqual(gauge["value"], totals["bytes_leaked"])
        self.assertEqual(totals["bytes_leaked"], 1 << 20)
        held, = gauge["held"]
        freed = {c["args"]["dptr"] for c in log if c["call"] == "cuMemFree_v2"}
        self.assertEqual({a for a, _ in allocs} - freed, {held["key"]})
        self.assertRegex(" ".join(held["stack"]), "ffi|ctypes")
        self.assertIn("1.00 MiB", self.last.stderr)

    def test_no_leak_without_the_flag(self):
        trace, _, totals = self.run_app()
        self.assertEqual(totals["bytes_leaked"], 0)
        self.assertEqual([(g["value"], g["held"]) for g in trace.gauge("gpu_bytes")], [(0, [])])

    def test_a_launch_is_one_pair(self):
        trace, _, totals = self.run_app(rules=ROOT / "rules" / "cuda.rules")
        launches = [e for e in trace.events if e["name"] == "cuLaunchKernel"]
        self.assertEqual([(e["type"], e["phase"]) for e in launches],
                         [("userspace", "B"), ("userspace", "E")] * totals["launches"])
        for begin in launches[::2]:
            args = begin["args"]
            self.assertEqual(args["blocks"], args["gridDimX"] * args["gridDimY"] * args["gridDimZ"])
            self.assertEqual(args["threads"], args["blockDimX"] * args["blockDimY"] * args["blockDimZ"])
            self.assertEqual(args["stream"], args["hStream"])

    def test_launches_by_name(self):
        trace, log, totals = self.run_app("--batches", "7")
        names = {c["out"]["hfunc"]: c["args"]["name"] for c in log if c["call"] == "cuModuleGetFunction"}
        launched = [names[c["args"]["f"]] for c in log if c["call"] == "cuLaunchKernel"]
        self.assertEqual([begin["args"]["kernel"] for begin, _ in trace.pairs("cuLaunchKernel")], launched)
        counts = trace.stats("Kernel launches")
        self.assertEqual(counts, {(name,): launched.count(name) for name in set(launched)})
        self.assertEqual(sum(counts.values()), totals["launches"])

    def test_transfers(self):
        trace, _, totals = self.run_app()
        to_device = (trace.stats("Copied to the device"),
                     trace.stats("Copied to the device in stream order"))
        self.assertEqual(sum(sum(one.values()) for one in to_device),
                         totals["bytes_host_to_device"])
        self.assertEqual(trace.stats("Copied to the host"),
                         {("pageable",): totals["bytes_device_to_host"]})

    def test_by_the_name_of_the_bundled_rules(self):
        done = self.mlbcc("--rules", "cuda", "-o", self.out, "--", "python3", APP,
                          env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("USERSPACE (libcuda.so.1)", done.stderr)
        self.assertRegex(done.stderr, r"Total CUDA API calls +\d+")

    def test_exact_entry_sees_the_same(self):
        first, log, _ = self.run_app()
        second, _, _ = self.run_app(options=("--exact-entry",))
        def calls(trace):
            return [(s, r) for s, _, _, r in self.spans(trace)]
        self.assertEqual(calls(first), calls(second))
        self.assertEqual(len(calls(first)), len(log))


class Other(TracerCase):
    """Drivers that are not ours, through a folder where they are called libcuda.so.1."""

    def folder(self, library):
        path = self.dir / "driver"
        path.mkdir()
        (path / "libcuda.so.1").symlink_to(library)
        return path

    def client(self, library, calls):
        folder = self.folder(library)
        environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
        trace = self.trace(RULES, target("cuda_client"), str(folder / "libcuda.so.1"), str(calls),
                           env=environment)
        listed = self.mlbcc("list", "--rules", RULES, env=environment)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        return trace, set(re.findall(r"\bcu\w+", listed.stdout))

    def test_the_toolkits_stub(self):
        library = next((path for path in STUBS if Path(path).exists()), None)
        if library is None:
            self.skipTest("no CUDA toolkit is installed, so there is no stub libcuda.so")
        trace, listed = self.client(library, 5)
        begin, end = trace.pairs("cuInit")[0]
        self.assertEqual((begin["args"], end["ret"]), ({"Flags": 0}, "CUDA_ERROR_STUB_LIBRARY"))
        self.assertEqual([e["ret"] for _, e in trace.pairs("cuDriverGetVersion")],
                         ["CUDA_ERROR_STUB_LIBRARY"] * 5)
        left_out = {"cuGetErrorName", "cuGetErrorString"}
        missing = {f for f in functions(library) if f.startswith("cu")} - listed - left_out
        self.assertEqual(missing, set())
        self.assertGreater(len(listed), 500)

    def test_nvidias_own(self):
        fetched = subprocess.run([str(ROOT / "scripts/fetch-nvidia.sh"), str(BUILD / "nvidia")],
                                 capture_output=True, text=True, timeout=300)
        if fetched.returncode != 0:
            reason = (fetched.stderr.strip().splitlines() or ["no reason given"])[-1]
            self.skipTest(f"NVIDIA's library cannot be had here: {reason}")
        library = fetched.stdout.strip()
        trace, listed = self.client(library, 100_000)
        begin, end = trace.pairs("cuInit")[0]
        self.assertEqual((begin["args"], end["ret"]), ({"Flags": 0}, "CUDA_ERROR_NO_DEVICE"))
        versions = trace.pairs("cuDriverGetVersion")
        self.assertEqual(len(versions), 100_000)
        self.assertEqual({e["ret"] for _, e in versions}, {"CUDA_SUCCESS"})
        self.assertEqual(len(trace.events), 2 * 100_001)
        self.assertEqual(trace.summary["lost"], 0)
        left_out = {"cuGetErrorName", "cuGetErrorString"}
        exported = {f for f in functions(library) if f.startswith("cu")}
        self.assertGreater(len(exported), 550)
        self.assertEqual(exported - listed - left_out, set())
