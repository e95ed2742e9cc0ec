"""Rows about what a traced call costs the traced program."""

import os
import subprocess
import time

import measure as m
from rows import Row

FUNCTIONS = {"entry_push": "begins with push", "entry_trampoline": "begins as NVIDIA's library",
             "entry_endbr": "begins with endbr64"}


def rule_file(name, function, clauses):
    return m.write(name, f"""library e = "{m.target('libentries.so')}"
header "{m.ROOT}/tests/runtime/targets/entries.h"
on e:{function} {{ {clauses} }}
""")


def event_rules(function):
    return rule_file(f"event_{function}.rules", function, "event call(a, b)")


def added(results):
    """{way: median ns added to a call} against the untraced loop."""
    base = m.median([r.ns for r in results["untraced"]])
    return {way: m.median([r.ns for r in runs]) - base for way, runs in results.items()
            if way != "untraced"}


def losses(results, way):
    return max(r.lost for r in results[way])


def cost_of_an_event(function, repetitions):
    return m.interleave(repetitions, {
        "untraced": m.untraced(function),
        "pair": m.bare("pair", function),
        "mlbcc": m.mlbcc(event_rules(function), function),
        "bpftrace 0.17": m.bpftrace(function, new=False),
        "bpftrace 0.23": m.bpftrace(function, new=True),
        "BCC Python": m.bcc_python(function),
    })


def describe(results, ns):
    """`mlbcc 1 510 ns = 1.20 x, 0 lost; bpftrace ...`"""
    parts = []
    for way in ns:
        text = f"{way} {ns[way]:.0f} ns"
        if way != "pair":
            text += f" = {ns[way] / ns['pair']:.2f} x, {losses(results, way) * 100:.1f} % lost"
        parts.append(text)
    return "; ".join(parts)


def event_on_push(repetitions):
    results = cost_of_an_event("entry_push", repetitions)
    ns = added(results)
    ratio = ns["mlbcc"] / ns["pair"]
    met = ratio <= 1.35 and losses(results, "mlbcc") == 0
    return Row.result(f"{ratio:.2f} x the bare pair", met, describe(results, ns))


def event_on_dear_entries(repetitions):
    shown, details, met = [], [], True
    for function in ("entry_trampoline", "entry_endbr"):
        results = cost_of_an_event(function, repetitions)
        ns = added(results)
        pair = ns["mlbcc"] / ns["pair"]
        peers = [way for way in ns if way.startswith("bpftrace")]
        peer = min((ns["mlbcc"] / ns[way] for way in peers), default=None)
        worst = max((ns["mlbcc"] / ns[way] for way in peers), default=0)
        met = met and pair <= 0.3 and worst <= 0.25 and losses(results, "mlbcc") == 0
        text = f"{FUNCTIONS[function]}: {pair:.2f} x the bare pair"
        shown.append(text + (f", {worst:.2f} x bpftrace" if peer is not None else ""))
        details.append(f"{FUNCTIONS[function]}: {describe(results, ns)}")
    return Row.result("; ".join(shown), met, ". ".join(details))


def count_and_hist(repetitions):
    rules = rule_file("count.rules", "entry_push", "count hist duration")
    results = m.interleave(repetitions, {
        "untraced": m.untraced("entry_push"), "pair": m.bare("pair", "entry_push"),
        "mlbcc": m.mlbcc(rules, "entry_push")})
    ns = added(results)
    ratio = ns["mlbcc"] / ns["pair"]
    return Row.result(f"{ratio:.2f} x the bare pair", ratio <= 1.15,
                      f"pair {ns['pair']:.0f} ns, mlbcc {ns['mlbcc']:.0f} ns")


class Tracing:
    """mlbcc, tracing a process that sleeps, so that others can be measured beside it."""

    def __init__(self, rules):
        self.sleeper = subprocess.Popen(["sleep", "600"])
        self.out = m.SCRATCH / "other.jsonl"
        self.out.unlink(missing_ok=True)
        self.process = subprocess.Popen([str(m.MLBCC), "--quiet", "--rules", str(rules), "-o", str(self.out),
                                         "--pid", str(self.sleeper.pid)])
        end = time.monotonic() + 20
        while not self.out.exists() and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.3)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(2)
        self.process.wait(30)
        self.sleeper.kill()
        self.sleeper.wait()


def not_traced(repetitions):
    rules = event_rules("entry_push")

    def beside():
        with Tracing(rules):
            return m.untraced("entry_push")()
    results = m.interleave(repetitions, {
        "untraced": m.untraced("entry_push"), "pair": m.bare("pair", "entry_push"),
        "entry": m.bare("entry", "entry_push"), "mlbcc": beside})
    ns = added(results)
    ratio = ns["mlbcc"] / ns["entry"]
    return Row.result(f"{ratio:.2f} x the bare entry probe", ratio <= 1.10,
                      f"bare entry probe {ns['entry']:.0f} ns ({ns['entry'] / ns['pair']:.2f} of the pair), "
                      f"mlbcc {ns['mlbcc']:.0f} ns; up to 10 % above is taken for noise")


def resident_memory(repetitions):
    def one():
        with Tracing(event_rules("entry_push")) as tracing:
            with open(f"/proc/{tracing.process.pid}/smaps_rollup", encoding="ascii") as file:
                fields = {line.split(":")[0]: line.split()[1] for line in file if line.count(":") == 1}
        return int(fields["Pss"]) / 1024
    sizes = m.interleave(min(repetitions, 5), {"mlbcc": one})["mlbcc"]
    buffers = os.cpu_count() * 16
    own = m.median(sizes) - buffers
    return Row.result(f"{own:.1f} MB plus its buffers", own <= 25,
                      f"the proportional set size less the buffers, {buffers} MB; they are mapped "
                      "twice in a row, so that the resident size has them twice")


ROWS = [
    Row("push", "added time per call, one `event` record written to a file, function that begins with push",
        "at most 1.35 x the bare pair, 0 lost", event_on_push),
    Row("dear", "the same, function that begins as NVIDIA's library or with endbr64",
        "at most 0.3 x the bare pair, and at most 0.25 x bpftrace", event_on_dear_entries),
    Row("count", "added time per call, `count` and `hist` only", "at most 1.15 x the bare pair",
        count_and_hist),
    Row("other", "cost for a process that is not traced and calls the same function",
        "no more than the bare entry probe", not_traced),
    Row("memory", "resident memory of the tracer while tracing", "25 MB plus its buffers",
        resident_memory),
]
