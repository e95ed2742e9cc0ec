"""Rows about what a traced call costs the traced program."""

import contextlib
import json
import os
import shlex
import subprocess
import time
from pathlib import Path

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


def without_own_stack():
    """Templates whose programs do not begin with what keeps them on the thread's stack."""
    folder = m.SCRATCH / "no_own_stack"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("entry.bpf.c", "return.bpf.c"):
        text = (m.ROOT / "probe_templates" / name).read_text()
        assert "{{own_stack}}" in text
        (folder / name).write_text(text.replace("{{own_stack}}", ""))
    return folder


def time_in_programs(rules, *options):
    """ns of a hit in the programs of functions, as the kernel counts it (kernel.bpf_stats_enabled)."""
    shown = m.SCRATCH / "programs.json"
    command = f"{shlex.join(map(str, m.loop_command('entry_push')))} && bpftool -j prog show > {shown}"
    def one():
        m.run([m.MLBCC, "--rules", rules, "-o", m.SCRATCH / "loop.jsonl", *options, "--", "sh", "-c", command])
        programs = [one for one in json.loads(shown.read_text()) if one.get("name", "").startswith("shape_")]
        return sum(one["run_time_ns"] for one in programs) / sum(one["run_cnt"] for one in programs)
    return one


@contextlib.contextmanager
def times_of_programs():
    setting = Path("/proc/sys/kernel/bpf_stats_enabled")
    before = setting.read_text()
    setting.write_text("1")
    try:
        yield
    finally:
        setting.write_text(before)


def copies_alike():
    """Templates that copy the same part of each stack, and no returns that probes await."""
    folder = m.SCRATCH / "stack_alike"
    folder.mkdir(parents=True, exist_ok=True)
    text = (m.ROOT / "probe_templates" / "stack.bpf.c").read_text()
    for old, new in (("u64 more, first = mlbcc_measure(stack, &more);", "u64 more = 0, first = MLBCC_STACK_BYTES;"),
                     ("    mlbcc_copy_returns(stack);\n", "")):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / "stack.bpf.c").write_text(text)
    return folder


def time_of_a_stack(where, *options):
    """ns in programs of one event with a stack of ten functions."""
    shown, calls = m.SCRATCH / "programs.json", 100_000
    rules = m.write("stack.rules", "on syscall:getppid { event a.b(ret)  stack user }\n")
    command = f"{m.target('ten_frames')} {calls} {where} && bpftool -j prog show > {shown}"
    def one():
        m.run([m.MLBCC, "--rules", rules, "-o", m.SCRATCH / "loop.jsonl", *options, "--", "sh", "-c", command])
        return sum(one.get("run_time_ns", 0) for one in json.loads(shown.read_text())) / calls
    return one


def short_stacks(repetitions):
    with times_of_programs():
        results = {where or "main": m.interleave(repetitions, {
            "as deep": time_of_a_stack(where), "alike": time_of_a_stack(where, "--templates", copies_alike())})
            for where in ("", "thread")}
    ratios = {where: m.median(one["as deep"]) / m.median(one["alike"]) for where, one in results.items()}
    return Row.result(", ".join(f"{ratio:.2f} x in {where}" for where, ratio in ratios.items()), max(ratios.values()) <= 1.05,
                      "; ".join(f"{where}: {m.spread(one['as deep'])} ns in programs an event, {m.spread(one['alike'])} "
                                "where 4 KiB are copied of each" for where, one in results.items()))


def own_stack(repetitions):
    rules = rule_file("count.rules", "entry_push", "count hist duration")
    way = ("--attach", "multi")  # an entry and a return program, each with it
    with times_of_programs():
        results = m.interleave(repetitions, {
            "with": time_in_programs(rules, *way),
            "without": time_in_programs(rules, *way, "--templates", without_own_stack())})
    hit = m.median(results["with"]) - m.median(results["without"])
    return Row.result(f"{hit:+.1f} ns a hit", hit <= 10,
                      f"in the programs of both ends {m.spread(results['with'])} ns a hit with it, "
                      f"{m.spread(results['without'])} without")


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
    Row("own_stack", "what keeps a program of a uprobe on its thread's stack (docs/decisions/014)",
        "10 ns a hit", own_stack),
    Row("short_stacks", "an event with a stack of ten functions, in programs: copied as deep as it is, with the returns that "
        "probes await", "at most 1.05 x the first 4 KiB of each stack", short_stacks),
    Row("other", "cost for a process that is not traced and calls the same function",
        "no more than the bare entry probe", not_traced),
    Row("memory", "resident memory of the tracer while tracing", "25 MB plus its buffers",
        resident_memory),
]
