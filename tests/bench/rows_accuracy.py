"""Rows about whether `mlbcc serve` is right: its quantiles against those that the server measures itself."""

import json
import math
import os
import shutil
import subprocess
from collections import defaultdict

import measure as m
import rows_serve
from rows import Row

CONNECTIONS = 16
EACH = int(os.environ.get("MLBCC_BENCH_REQUESTS", "1250"))  # of an endpoint
HOTSPOTS = {"GET /fast": None, "GET /cpu": "cpu", "GET /disk": "disk", "GET /lock": "lock"}
SHARE, TIME = 0.03, 0.2e-3  # either may be off by this
MIDDLEWARE, BYTES = 0, 1  # the server's clocks, by what they begin with


def ours_and_own(kind, marks):
    """What serve found, and {endpoint: [sorted seconds for each of the server's clocks]}. `marks`: the server tells whose work it does."""
    log, data = m.SCRATCH / "serve.log", m.SCRATCH / "serve.data"
    m.SCRATCH.mkdir(parents=True, exist_ok=True)
    data.write_bytes(os.urandom(16 << 20))
    marker = m.TARGETS / "librequest_mark.so"
    environment, options = ({"SERVE_MARKER": str(marker)}, ["--marker", f"{marker}:works_for"]) if marks else ({}, [])
    with rows_serve.server(kind, log, data, **environment) as (port, process):
        log.write_bytes(b"")  # the request that waited for the server is in it
        with rows_serve.tracer(process.pid, *options):
            for path in HOTSPOTS:
                done = m.run(["ab", "-q", "-n", str(EACH), "-c", str(CONNECTIONS), f"http://127.0.0.1:{port}{path.split()[1]}"])
                if "Failed requests:        0\n" not in done.stdout:
                    raise AssertionError(f"requests failed: {done.stdout}")
    own = defaultdict(list)
    for line in log.read_text().splitlines():
        path, *seconds = line.split()
        own["GET " + path].append([float(one) for one in seconds])
    return json.loads((m.SCRATCH / "serve.json").read_text()), {
        name: [sorted(clock) for clock in zip(*times)] for name, times in own.items()}


def compare(endpoint, times, clock):
    """Whether both quantiles of `times` are right, and how far they are off."""
    right, said = True, []
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        own, ours = clock[math.ceil(share * len(clock)) - 1], endpoint[times][name] / 1e9
        right &= abs(ours - own) <= max(SHARE * own, TIME)
        said.append(f"{name} {own * 1e3:.2f} ms {(ours - own) * 1e3:+.2f}")
    return right, f"{endpoint['endpoint'].split()[1]} {', '.join(said)}"


def accuracy(kind, marks):
    def measured(_):
        rows_serve.need_programs()
        if shutil.which("ab") is None:
            raise m.Unavailable("ab is not installed (scripts/setup.sh --tests)")
        if subprocess.run([rows_serve.PYTHON, "-c", "import fastapi, uvicorn"], capture_output=True, check=False).returncode != 0:
            raise m.Unavailable("python3-fastapi and uvicorn are not installed (scripts/setup.sh --tests)")
        report, own = ours_and_own(kind, marks)
        endpoints = {one["endpoint"]: one for one in report["endpoints"]}
        counts = {name: one["requests"] for name, one in endpoints.items()}
        if report["lost"] or counts != dict.fromkeys(HOTSPOTS, EACH):
            raise AssertionError(f"{counts}, {report['lost']} lost")
        for name, part in HOTSPOTS.items():
            if part and endpoints[name]["hotspot"] != part:
                raise AssertionError(f"{name}: the hotspot is {endpoints[name]['hotspot']}")

        def compared(times, clock):
            found = [compare(endpoints[name], times, own[name][clock]) for name in HOTSPOTS]
            return [right for right, _ in found], "; ".join(said for _, said in found)
        checked = "work_latency_ns" if marks else "latency_ns"
        right, said = compared(checked, MIDDLEWARE if marks else BYTES)
        other = "since it had the bytes" if marks else "in its middleware, which begins later"
        return Row.result(f"{sum(right)} of {len(right)} endpoints", all(right),
                          f"the server's own, and how far off: {said}; {other}: {compared('latency_ns', BYTES if marks else MIDDLEWARE)[1]}; "
                          "each request counted once, hotspots " + ", ".join(endpoints[name]["hotspot"] for name in HOTSPOTS))
    return measured


SERVERS = {"flask": "Flask under gunicorn", "fast": "FastAPI under uvicorn"}
LOAD = f"{len(HOTSPOTS)} x {EACH} requests by ab on {CONNECTIONS} connections: p50 and p99"
ROWS = [Row(f"accuracy_{kind}{'_marker' if marks else ''}",
            f"{SERVERS[kind]}{' with `--marker`' if marks else ''}, {LOAD} {'as its middleware has them' if marks else 'since it had the bytes'}",
            "3 % or 0.2 ms", accuracy(kind, marks))
        for kind in SERVERS for marks in (False, True)]
