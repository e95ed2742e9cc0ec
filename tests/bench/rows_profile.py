"""Rows about what `mlbcc profile` costs a whole job: time from start to end, and CPU time of all that takes part."""

import json
import os
import subprocess
from dataclasses import dataclass

import measure as m
from rows import Row

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's torch
JOB = m.HERE.parent / "runtime/targets/torch_inference.py"
BATCH = os.environ.get("MLBCC_BENCH_BATCH", "4")  # makes the job some ten seconds long


@dataclass
class Cost:
    """Seconds of one run."""
    wall: float      # from the start of the command to its end
    cpu: float       # user and system, of the job and of all processes of the tracer
    job: float       # from the job's first line to its last inference
    job_cpu: float   # of the job, for that
    events: int = 0


def weights():
    path = m.SCRATCH / "model.pt"
    if not path.exists():
        m.SCRATCH.mkdir(parents=True, exist_ok=True)
        m.run([PYTHON, JOB, "make", path])
    return path


def timed(command):
    """(wall, CPU) of a command with all that it waits for."""
    wall, usage = m.used(command)
    return wall, usage.ru_utime + usage.ru_stime


def one_run(*before):
    log = m.SCRATCH / "job.json"
    wall, cpu = timed([*before, PYTHON, JOB, "run", weights(), log, BATCH])
    times = json.loads(log.read_text())
    return Cost(wall, cpu, times["repetitions"][-1] - times["begin"], times["cpu"])


def tracer():
    return m.MLBCC, "profile", "--quiet", "--json", m.SCRATCH / "profile.json", "-o", m.SCRATCH / "profile.jsonl"


def profiled():
    cost = one_run(*tracer(), "--")
    profile = json.loads((m.SCRATCH / "profile.json").read_text())
    if profile["lost"]:
        raise AssertionError(f"{profile['lost']} records were lost")
    cost.events = profile["events"]
    return cost


def start_alone():
    """What the tracer takes for a command that does nothing."""
    wall, cpu = timed([*tracer(), "--", "true"])
    return Cost(wall, cpu, 0, 0)


def summary(runs):
    def of(way, field):
        return m.median([getattr(cost, field) for cost in runs[way]])

    def more(field):
        """Of each repetition by itself: the machine's speed changes from one to the next."""
        ratios = [getattr(ours, field) / getattr(bare, field) for bare, ours in zip(runs["bare"], runs["profile"])]
        return (m.median(ratios) - 1) * 100
    beside = of("profile", "cpu") - of("bare", "cpu") - of("start", "cpu")
    return more("job"), (
        f"{of('bare', 'job'):.2f} s alone, {of('profile', 'job'):.2f} s under the profile; the job's CPU time "
        f"{of('bare', 'job_cpu'):.2f} s alone, {more('job_cpu'):+.1f} % under the profile; the job, the tracer and what both "
        f"start use {beside:+.2f} s more of CPU time ({beside / of('bare', 'cpu') * 100:+.1f} %) than the job alone and the start; "
        f"the tracer's start and end alone take {of('start', 'wall'):.2f} s, {of('start', 'cpu'):.2f} s of CPU time; "
        f"{of('profile', 'events'):.0f} events")


def of_job(repetitions):
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        raise m.Unavailable("python3-torch is not installed (scripts/setup.sh --tests)")
    weights()
    start_alone()  # what is compiled is kept
    slower, details = summary(m.interleave(repetitions, {"bare": one_run, "profile": profiled, "start": start_alone}))
    return Row.result(f"{slower:.1f} % slower", slower < 5, details)


ROWS = [
    Row("profile", "`mlbcc profile` of a torch job: weights of 218 MB, 50 inferences, from its first line to its last",
        "less than 5 % slower", of_job),
]
