"""Rows about what tracing costs a job that launches kernels as a framework does: decode_step.c."""

import json
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


def cost_of(trace):
    """(what the tracer says that tracing took, all CPU time of the job), ns."""
    cost = json.loads(trace.read_text().splitlines()[-1])["cost"]
    return cost["ns"], cost["cpu_ns"]


def said_of_steps(rules):
    """The share of a job's time that tracing takes: as said, and as the steps show it."""
    def one():
        trace = m.SCRATCH / "cost.jsonl"
        base = alone("driver")()
        traced = step(m.run([m.MLBCC, "--quiet", "--rules", rules, "-o", trace, "--", *job("driver", SECONDS)],
                            env=environment()).stdout)
        ns, cpu_ns = cost_of(trace)
        return ns / cpu_ns / (1 - base / traced)
    return one


def said_of_short_calls():
    trace, calls = m.SCRATCH / "cost.jsonl", 1_000_000
    loop = m.loop_command("entry_push", calls)
    base = m.first_number(m.run(loop).stdout)
    rules = m.write("short.rules", f'on "{m.target("libentries.so")}":entry_push {{ span call }}\n')
    traced = m.first_number(m.run([m.MLBCC, "--quiet", "--rules", rules, "-o", trace, "--", *loop]).stdout)
    return cost_of(trace)[0] / ((traced - base) * calls)


def said(repetitions, way):
    ratios = sorted(way() for _ in range(repetitions))
    middle = m.median(ratios)
    return Row.result(f"{middle:.2f} x what it took", 0.7 <= middle <= 1.3, f"{ratios[0]:.2f} to {ratios[-1]:.2f}")


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
    Row("cost_step", "what the summary says that tracing cost, of those steps under `--rules cuda`", "0.7 to 1.3 x",
        lambda repetitions: said(repetitions, said_of_steps("cuda"))),
    Row("cost_launches", "what it says of those steps under `--rules cuda_kernels`", "0.7 to 1.3 x",
        lambda repetitions: said(repetitions, said_of_steps("cuda_kernels"))),
    Row("cost_all", "what it says of those steps under `--rules cuda_all`", "0.7 to 1.3 x",
        lambda repetitions: said(repetitions, said_of_steps("cuda_all"))),
    Row("cost_short", "what it says of 1 000 000 short calls", "0.7 to 1.3 x",
        lambda repetitions: said(repetitions, said_of_short_calls)),
]
