"""What tests/gpu does on a machine with a GPU, as far as one without lets it: its job on the CPU, its comparison of
recorded traces, and its bundle in a root that has nothing else."""

import json
import os
import shutil
import stat
import subprocess
import sys

from harness import ROOT, TracerCase
from harness.lanes import thorough
from harness.machine import BUILD, CUDA_SIM, MLBCC, need_tool
from test_torch import PYTHON, why_not_torch

GPU = ROOT / "tests/gpu"


class Job(TracerCase):
    def job(self, *arguments):
        if reason := why_not_torch():
            self.skipTest(reason)
        return subprocess.run([PYTHON, GPU / "job.py", *arguments], cwd=self.dir, capture_output=True, text=True)

    def test_a_training_step_on_the_cpu(self):
        for option in ("--profile", "--facts"):
            done = self.job("train", "--device", "cpu", "--steps", "1", option, "out.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            made = json.loads((self.dir / "out.json").read_text())
            self.assertEqual(made["steps"], 1)
            if option == "--profile":
                self.assertEqual((made["kernels"], made["copied"]), ({}, {}))
            else:
                self.assertEqual((made["device"], made["reserved"]), ("cpu", 0))

    def test_what_can_run_here(self):
        can = {work: self.job(work, "--device", "cpu", "--can-run").returncode for work in ("train", "triton", "graph")}
        self.assertEqual(can, {"train": 0, "triton": 1, "graph": 1})
        done = self.job("triton", "--can-run")  # where there is no GPU, and perhaps no Triton
        self.assertEqual((done.returncode, done.stderr), (1, ""))


class Cost(TracerCase):
    def test_of_a_decode_loop_on_the_cpu(self):
        """Which calls no driver: tracing takes nothing, but the measuring itself is tried."""
        if reason := why_not_torch():
            self.skipTest(reason)
        done = subprocess.run([PYTHON, GPU / "cost.py", self.dir / "out", "--mlbcc", MLBCC, "--device", "cpu", "--seconds", "1.5",
                               "--rounds", "1", "--rules", "cuda"], capture_output=True, text=True,
                              env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = json.loads((self.dir / "out/cost.json").read_text())
        self.assertEqual([(row["rules"], row["way"]) for row in rows], [("cuda", "from the start"), ("cuda", "by --pid")])
        for row in rows:
            (alone, traced), = row["pairs"]
            self.assertTrue(alone > 1 and traced > 1, row)
            self.assertEqual(row["ratio"], traced / alone)
        self.assertEqual((self.dir / "out/cost.md").read_text(), done.stdout)


KERNEL = "void add<float, 4>(float*, int)"


class Compare(TracerCase):
    """Of a job that ran two kernels thrice and copied 4096 bytes thrice between the marks."""

    def record(self, launches=3, reserved=1 << 20, lost=0):
        calls = [{"type": "userspace", "name": "cuMemcpyHtoD", "phase": "B", "args": {"ByteCount": 4096}}]
        calls += [{"type": "userspace", "name": "cuLaunchKernel", "phase": "B", "args": {"kernel": name}} for name in (KERNEL, "relu(float*)")]
        lines = [*calls, {"type": "userspace", "name": "cuProfilerStart", "phase": "B"}, *calls * launches,
                 {"type": "userspace", "name": "cuProfilerStop", "phase": "B"}, *calls,
                 {"type": "summary", "lost": lost, "gauges": [{"name": "gpu_bytes", "peak": 2 << 20}]}]
        self.write("train.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        self.write("train.profile.json", json.dumps({"kernels": {"void add<float, 8>(float*, int)": 3, "relu(float*)": 3},
                                                     "copied": {"Memcpy HtoD (Pageable -> Device)": 3 * 4096}}))
        self.write("train.facts.json", json.dumps({"reserved": reserved}))

    def compare(self):
        done = subprocess.run([sys.executable, GPU / "compare.py", self.dir], capture_output=True, text=True)
        self.assertEqual(done.stdout, (self.dir / "result.md").read_text())
        return done

    def test_what_is_equal(self):
        self.record()
        done = self.compare()
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in ("| train | kernels run | 6 | 6 | equal |", "| train | bytes copied | 12288 | 12288 | equal |",
                     "| train | peak of device memory | 1048576 | 2097152 | as it should be |",
                     "| train | events lost | 0 | 0 | equal |", "| train | kernels by name | 2 | 2 | equal |"):
            self.assertIn(line + "\n", done.stdout)

    def test_what_differs(self):
        for change, line in (({"launches": 2}, "| train | kernels run | 6 | 4 | DIFFERENT |"),
                             ({"reserved": 4 << 20}, "| train | peak of device memory | 4194304 | 2097152 | DIFFERENT |"),
                             ({"lost": 7}, "| train | events lost | 0 | 7 | DIFFERENT |")):
            self.record(**change)
            done = self.compare()
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(line + "\n", done.stdout)

    def test_nothing_to_compare(self):
        self.assertEqual(self.compare().returncode, 1)


class Bundle(TracerCase):
    @thorough
    def test_in_a_root_that_has_nothing_else(self):
        need_tool("patchelf")
        busybox = need_tool("busybox")
        file = self.dir / "bundle.tar.xz"
        done = subprocess.run([GPU / "bundle.sh", BUILD, file], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        root = self.dir / "root"
        (root / "tmp").mkdir(parents=True)
        subprocess.run(["tar", "-C", root / "tmp", "-xJf", file], check=True)
        shutil.copy(busybox, root / "busybox")
        for kind, folder in (("proc", "proc"), ("sysfs", "sys")):  # of their own: nothing of the machine is under `root`
            (root / folder).mkdir()
            subprocess.run(["mount", "-t", kind, kind, root / folder], check=True)
            self.addCleanup(subprocess.run, ["umount", "-l", root / folder])
        (root / "dev").mkdir()
        os.mknod(root / "dev/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        (root / "test.rules").write_text('on syscall:getppid { count as "calls" }\n')
        done = subprocess.run(["chroot", root, "/tmp/mlbcc-bundle/bin/mlbcc", "--rules", "/test.rules", "-o", "/trace.jsonl",
                               "--no-cache", "--", "/busybox", "sh", "-c", "echo $PPID"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads((root / "trace.jsonl").read_text().splitlines()[-1])
        self.assertEqual([(one["label"], one["value"]) for one in summary["stats"]], [("calls", 1)])
