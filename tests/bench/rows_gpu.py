"""Rows about what tracing costs a job that launches kernels as a framework does: decode_step.c."""

import subprocess
import time

import measure as m
from rows import Row

SECONDS = 1.5  # of steps that count: the last ones
BEFORE = 2.5   # and of those before, where the tracer comes while the job runs
LAUNCHES = f"""
import "{m.ROOT}/rules/cuda_library.rules"
on cuda:cuLaunchKernel, cuda:cuLaunchKernelEx {{ count by function as "Launches" }}
"""


def environment():
    return {**m.environment(f"{m.CUDA_SIM}:{m.TARGETS / 'bench'}"), "CUDA_SIM_QUIET": "1"}


def job(kind, seconds):
    return [m.target("bench/decode_step"), kind, str(seconds)]


def step(text):
    """The median ms of the steps in the last SECONDS."""
    rows = [tuple(map(float, line.split())) for line in text.splitlines() if line[:1].isdigit()]
    return m.median([ms for end, ms in rows if end > rows[-1][0] - SECONDS])


def alone(kind):
    return lambda: step(m.run(job(kind, SECONDS), env=environment()).stdout)


def from_the_start(kind, rules):
    command = [m.MLBCC, "--quiet", "--rules", rules, "-o", m.SCRATCH / "step.jsonl", "--", *job(kind, SECONDS)]
    return lambda: step(m.run(command, env=environment()).stdout)


def by_pid(kind, rules):
    def one():
        process = subprocess.Popen(job(kind, BEFORE + SECONDS), env=environment(), text=True, stdout=subprocess.PIPE)
        time.sleep(0.3)
        with subprocess.Popen([str(m.MLBCC), "--quiet", "--rules", rules, "-o", str(m.SCRATCH / "step.jsonl"),
                               "--pid", str(process.pid)]):
            text = process.communicate()[0]
        return step(text)
    return one


def added(repetitions, kind, way, most):
    results = m.interleave(repetitions, {"alone": alone(kind), "traced": way})
    base, traced = m.median(results["alone"]), m.median(results["traced"])
    return Row.result(f"{traced - base:+.2f} ms", traced - base <= most, f"{base:.2f} ms a step alone, {traced:.2f} ms")


def row(key, what, kind, most, way):
    return Row(key, what, f"{most} ms", lambda repetitions: added(repetitions, kind, way(), most))


STEP = "a decode step of 128 launches in 3.4 ms, with what torch asks of the driver for each"
ROWS = [
    row("step_cuda", f"{STEP}: `--rules cuda`", "driver", 0.3, lambda: from_the_start("driver", "cuda")),
    row("step_pid", "the same, by `--pid`, after its first second", "driver", 0.3, lambda: by_pid("driver", "cuda")),
    row("step_launches", "the same: `--rules cuda_kernels`", "driver", 0.3,
        lambda: from_the_start("driver", "cuda_kernels")),
    row("step_counts", "the same: launches counted", "driver", 0.15,
        lambda: from_the_start("driver", m.write("launches.rules", LAUNCHES))),
    row("step_runtime", "the same of the runtime, 96 % of whose calls are `cudaGetDevice`: `--rules cudart`", "runtime", 0.3,
        lambda: from_the_start("runtime", "cudart")),
]
