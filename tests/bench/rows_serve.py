"""Rows about what `mlbcc serve` costs a server under load, seen by the load generator, and what it takes itself."""

import contextlib
import csv
import io
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import measure as m
from rows import Row

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's servers
TARGETS = m.HERE.parent / "runtime/targets"
# Of a pair of runs, one alone and one traced, p99 differs by some percent for no reason: many short pairs tell more than a few long ones.
SECONDS = int(os.environ.get("MLBCC_BENCH_SERVE_SECONDS", "3"))
PAIRS = 4  # a repetition
MINUTES = float(os.environ.get("MLBCC_BENCH_LOAD_MINUTES", "10"))
RATE, CONNECTIONS = 2000, 16
LOOKS = 30  # of the long run


@dataclass
class Load:
    """What hey saw, and what the tracer used for that."""
    requests: int
    seconds: float
    p50: float  # seconds
    p99: float
    tracer_cpu: float = 0


@contextlib.contextmanager
def server(kind="flask", log="/dev/null", data="/dev/null", **more):
    """The port of Flask under gunicorn with two workers, or of FastAPI under uvicorn, and the process; `more` of its environment."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    m.SCRATCH.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "SERVE_LOG": str(log), "SERVE_KIND": kind, "SERVE_DATA": str(data), **more}
    command = {"flask": ["gunicorn", "-w", "2", "-b", f"127.0.0.1:{port}", "--chdir", TARGETS, "serve_app:flask_app"],
               "fast": ["uvicorn", "--port", str(port), "--app-dir", TARGETS, "--log-level", "warning", "serve_app:fast_app"]}[kind]
    process = subprocess.Popen([PYTHON, "-m", *command], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/fast", timeout=10).read(), "the server")
        yield port, process
    finally:
        process.terminate()
        process.wait()


def wait_for(is_there, what):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if is_there():
                return
        except OSError:
            pass
        time.sleep(0.02)
    raise RuntimeError(f"{what} did not come")


def load(port, seconds=SECONDS):
    begin = time.monotonic()
    done = m.run(["hey", "-z", f"{seconds}s", "-c", str(CONNECTIONS), "-q", str(RATE // CONNECTIONS), "-o", "csv",
                  f"http://127.0.0.1:{port}/fast"])
    took = time.monotonic() - begin
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    bad = [row["status-code"] for row in rows if row["status-code"] != "200"]
    if bad:
        raise AssertionError(f"{len(bad)} requests failed: {bad[0]}")
    times = sorted(float(row["response-time"]) for row in rows)
    return Load(len(times), took, times[len(times) // 2], times[len(times) * 99 // 100])


@contextlib.contextmanager
def tracer(pid, *options):
    """mlbcc serve of a running server; what it found is in SCRATCH/serve.json when it is over."""
    said = m.SCRATCH / "serve.txt"
    with open(said, "wb") as to:
        process = subprocess.Popen([m.MLBCC, "serve", "--pid", str(pid), "--json", m.SCRATCH / "serve.json", *options],
                                   stdin=subprocess.DEVNULL, stdout=to, stderr=to)
    try:
        wait_for(lambda: "Ctrl-C ends" in said.read_text(), "the tracer")
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def cpu_of(pid):
    fields = open(f"/proc/{pid}/stat", encoding="utf-8").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def served(port, process):
    with tracer(process.pid) as one:
        before = cpu_of(one.pid)
        seen = load(port)
        seen.tracer_cpu = cpu_of(one.pid) - before
    report = json.loads((m.SCRATCH / "serve.json").read_text())
    counted = sum(endpoint["requests"] for endpoint in report["endpoints"])
    if report["lost"] or counted != seen.requests:
        raise AssertionError(f"{counted} of {seen.requests} requests, {report['lost']} events lost")
    return seen


def need_programs():
    if shutil.which("hey") is None:
        raise m.Unavailable("hey is not installed (scripts/setup.sh --bench)")
    if subprocess.run([PYTHON, "-c", "import flask, gunicorn"], capture_output=True, check=False).returncode != 0:
        raise m.Unavailable("python3-flask and gunicorn are not installed (scripts/setup.sh --tests)")


def cost(repetitions):
    need_programs()
    with server() as (port, process):
        load(port, 2)
        runs = m.interleave(PAIRS * repetitions, {"bare": lambda: load(port), "serve": lambda: served(port, process)})
    bare, ours = runs["bare"], runs["serve"]

    def changes(value):
        """Percent, of each pair by itself: the machine's speed changes from one to the next. First quartile, median, third."""
        return [(one - 1) * 100 for one in statistics.quantiles([value(with_it) / value(without) for without, with_it in zip(bare, ours)], n=4)]
    slower, (low, tail, high) = -changes(lambda one: one.requests / one.seconds)[1], changes(lambda one: one.p99)
    return Row.result(
        f"{round(slower, 1) + 0:.1f} % fewer, p99 {tail:+.0f} %", slower < 5 and tail < 10,
        f"{m.median([one.requests / one.seconds for one in bare]):.0f} a second alone, "
        f"{m.median([one.requests / one.seconds for one in ours]):.0f} with `mlbcc serve`; median "
        f"{m.median([one.p50 for one in bare]) * 1e3:.2f} and {m.median([one.p50 for one in ours]) * 1e3:.2f} ms, p99 "
        f"{m.median([one.p99 for one in bare]) * 1e3:.2f} and {m.median([one.p99 for one in ours]) * 1e3:.2f} ms; of {len(ours)} pairs of {SECONDS} s "
        f"half changed p99 by {low:+.0f} to {high:+.0f} %; the tracer used "
        f"{m.median([one.tracer_cpu / one.seconds for one in ours]) * 100:.1f} % of a CPU; none lost, each request counted")


def anonymous_mib(pid):
    for line in open(f"/proc/{pid}/status", encoding="utf-8"):
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no RssAnon")


HASHES = (1, 5, 9, 10)  # bpf_map_type: by key, for all CPUs or for each, and those that drop the oldest


def entries_of(pid):
    """In the hash tables that the process has of the kernel."""
    found, maps = 0, set()
    for file in Path(f"/proc/{pid}/fdinfo").iterdir():
        fields = dict(re.findall(r"^(map_type|map_id):\s+(\d+)$", file.read_text(), re.MULTILINE))
        if int(fields.get("map_type", 0)) in HASHES:
            maps.add(fields["map_id"])
    for one in maps:
        found += len(json.loads(m.run(["bpftool", "--json", "map", "dump", "id", one]).stdout))
    return found


def long_run(_):
    need_programs()
    if shutil.which("bpftool") is None:
        raise m.Unavailable("bpftool is not installed (scripts/setup.sh --bench)")
    memory, entries, seen = [], [], 0
    with server() as (port, process), tracer(process.pid, "--interval", "10s") as one:
        for _ in range(LOOKS):
            seen += load(port, MINUTES * 60 / LOOKS).requests
            memory.append(anonymous_mib(one.pid))
            entries.append(entries_of(one.pid))
    report = json.loads((m.SCRATCH / "serve.json").read_text())
    counted = sum(endpoint["requests"] for endpoint in report["endpoints"])
    third = LOOKS // 3
    more_memory = max(memory[-third:]) - max(memory[:third])
    more_entries = m.median(entries[-third:]) - m.median(entries[:third])
    return Row.result(
        f"{more_memory:+.1f} MiB, {more_entries:+.0f} entries, {report['lost']} lost",
        more_memory < 1 and more_entries < 10 and (counted == seen or report["lost"] > 0),
        f"{seen} requests, {counted} of them counted; {max(memory):.1f} MiB at most; {max(entries)} entries in the hash tables of the kernel")


ROWS = [
    Row("serve", f"`mlbcc serve` of Flask under gunicorn, {RATE} requests a second by hey on {CONNECTIONS} connections",
        "5 % fewer, p99 10 % longer", cost),
    Row("serve_long", f"the same for {MINUTES:.0f} minutes: memory and tables of the last third against the first",
        "1 MiB, 10 entries", long_run),
]
