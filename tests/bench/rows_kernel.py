"""Rows about what traced system calls and switches of threads cost."""

import json
import shutil
import sys

import measure as m
from rows import Row

ROUND_NS = 2000  # 500 000 calls a second
SLOW_CALLS = 20_000  # under peers that take many microseconds a call


def loop(work, calls=m.CALLS):
    return [m.target("syscall_loop"), str(calls), str(work)]


def work_of_a_round():
    """How much work makes a round of syscall_loop take ROUND_NS."""
    def ns(work):
        return min(m.first_number(m.run(loop(work, 50_000)).stdout) for _ in range(5))
    none, much = ns(0), ns(2000)
    return max(0, round((ROUND_NS - none) / (much - none) * 2000))


def peer(name, command, work, calls=SLOW_CALLS):
    def one():
        if not shutil.which(name):
            raise m.Unavailable(f"{name} is not installed")
        return m.first_number(m.run([*command, *loop(work, calls)]).stdout)
    return one


def counted(repetitions):
    work = work_of_a_round()
    rules = m.write("syscalls.rules", "on syscall:* { count by function }\n")
    out = m.SCRATCH / "syscalls.jsonl"
    ours = [m.MLBCC, "--quiet", "--rules", rules, "-o", out, "--", *loop(work)]
    results = m.interleave(repetitions, {
        "untraced": lambda: m.first_number(m.run(loop(work)).stdout),
        "mlbcc": lambda: m.first_number(m.run(ours).stdout),
        # What the kernel takes as soon as anybody listens: it counts, and no program runs.
        "perf stat": peer("perf", ["perf", "stat", "-o", "/dev/null", "-e", "raw_syscalls:sys_exit"],
                          work, m.CALLS),
        "strace -c -f": peer("strace", ["strace", "-c", "-f", "-o", m.SCRATCH / "strace.txt"], work),
        "perf trace -s": peer("perf", ["perf", "trace", "-s", "-o", m.SCRATCH / "perf.txt"], work)})
    ns = {way: m.median(times) for way, times in results.items()}
    base = ns["untraced"]
    added = {way: time - base for way, time in ns.items() if way != "untraced"}
    slower = added["mlbcc"] / base * 100
    ratios = {way: added[way] / added["mlbcc"] for way in ("strace -c -f", "perf trace -s")
              if way in added}
    met = slower < 10 and all(ratio >= 5 for ratio in ratios.values())
    shown = f"{slower:.1f} % slower" + "".join(f", {way} costs {r:.0f} x" for way, r in ratios.items())
    return Row.result(shown, met, f"a round takes {base:.0f} ns; added: " +
                      ", ".join(f"{way} {time:.0f} ns" for way, time in added.items()))


def off_cpu(repetitions):
    program = [sys.executable, m.HERE / "busy_threads.py", "300"]
    rules = m.write("off_cpu.rules", "on sched:off_cpu { event sched.off_cpu(state, waker)   stack user }\n")
    out = m.SCRATCH / "off_cpu.jsonl"
    ours = [m.MLBCC, "--quiet", "--rules", rules, "-o", out, "--", *program]
    events = []

    def traced():
        time = m.first_number(m.run(ours).stdout)
        summary = json.loads(out.read_text().splitlines()[-1])
        if summary["lost"]:
            raise AssertionError(f"{summary['lost']} events were lost")
        events.append(summary["events"])
        return time

    results = m.interleave(repetitions, {
        "untraced": lambda: m.first_number(m.run(program).stdout), "mlbcc": traced})
    base, ours_ns = (m.median(results[way]) for way in ("untraced", "mlbcc"))
    slower = (ours_ns / base - 1) * 100
    each = m.median(events)
    return Row.result(f"{slower:.1f} % slower", slower < 5,
                      f"it takes {base / 1e9:.2f} s; {each:.0f} events with stacks, "
                      f"{each / (ours_ns / 1e9):.0f} a second")


ROWS = [
    Row("syscalls", "`on syscall:* { count by function }`, a program with 500 000 calls a second",
        "less than 10 % slower, a fifth of `strace -c -f` and `perf trace -s`", counted),
    Row("off_cpu", "`on sched:off_cpu { event ... stack user }`, a Python program of 4 threads that compute, wait and sleep",
        "less than 5 % slower", off_cpu),
]
