"""Rows about the tracer itself: how fast it starts, attaches, writes, counts and ends."""

import json
import re
import subprocess
import sys
import time

import measure as m
from rows import Row

RATES = (500_000, 1_000_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000)
EVENTS_A_CALL = 8


def attach(repetitions):
    folder, what = m.driver_folder()
    rules = m.write("attach.rules", 'library cuda = "libcuda.so.1"\non cuda:cu* { span call }\n')
    functions = 0

    def one():
        nonlocal functions
        done = m.run([m.MLBCC, "--verbose", "--rules", rules, "-o", m.SCRATCH / "attach.jsonl", "--", "true"],
                     env=m.environment(folder))
        found = re.search(r"(\d+) (?:functions|probes)", done.stderr)
        functions = int(found.group(1)) if found else 0
        return m.milliseconds("attach", done.stderr), m.milliseconds("detach", done.stderr)
    results = m.interleave(repetitions, {"mlbcc": one, "bpftrace 0.23": new_bpftrace_attach(folder)})
    times = results["mlbcc"]
    first, last = m.median([a for a, _ in times]), m.median([d for _, d in times])
    peer = results.get("bpftrace 0.23")
    details = f"{what}, {functions} functions" + (
        f"; bpftrace 0.23 from start to end {m.median(peer) * 1000:.0f} ms" if peer else "")
    return Row.result(f"{first:.1f} ms / {last:.1f} ms", first <= 25 and last <= 80, details)


def new_bpftrace_attach(folder):
    def one():
        library = m.SCRATCH / "libcuda-copy.so"
        library.write_bytes((folder / "libcuda.so.1").read_bytes())
        program = f"uprobe:{library}:cu* {{ }} uretprobe:{library}:cu* {{ }}"
        return m.seconds([*m.bpftrace_command(new=True), "-e", program, "-c", m.target("started")])
    return one


def first_instruction(folder, *options):
    """Seconds from mlbcc's start to that of the program that it traces."""
    def one():
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        done = m.run([m.MLBCC, "--quiet", *options, "--rules", m.CUDA_RULES, "-o", m.SCRATCH / "start.jsonl",
                      "--", m.target("started")], env=m.environment(folder))
        return (int(done.stdout) - begin) / 1e9
    return one


def start_again(repetitions):
    folder, what = m.driver_folder()
    one = first_instruction(folder)
    one()
    times = [one() for _ in range(repetitions)]
    return Row.result(f"{m.median(times):.3f} s", m.median(times) <= 0.08,
                      f"{what}; {min(times):.3f} to {max(times):.3f} s")


def start(repetitions):
    folder, what = m.driver_folder()
    results = m.interleave(repetitions, {"mlbcc": first_instruction(folder, "--no-cache"),
                                         "bpftrace 0.23": new_bpftrace_attach(folder)})
    times, peer = results["mlbcc"], results.get("bpftrace 0.23")
    details = f"{what}; {min(times):.3f} to {max(times):.3f} s" + (
        f"; bpftrace 0.23 from start to end {m.median(peer):.2f} s" if peer else "")
    return Row.result(f"{m.median(times):.3f} s", m.median(times) <= 0.25, details)


def stream(repetitions):
    """The highest rate at which 8 records a call are written with none lost, in 3 runs of 2 s."""
    events = " ".join(f"event kind{i}.record(thread, i)" for i in range(EVENTS_A_CALL))
    rules = m.write("stream.rules", f"int hit(int thread, unsigned long i);\n"
                                    f'on "{m.target("flood")}":hit {{ {events} }}\n')
    out = m.SCRATCH / "stream.jsonl"
    reached, notes = 0, []
    for rate in RATES:
        written, lost = [], 0
        for _ in range(max(3, repetitions // 2)):
            done = m.run([m.MLBCC, "--rules", rules, "-o", out, "--", m.target("flood"), "1", "0", "2",
                          str(rate // EVENTS_A_CALL)])
            end = json.loads(out.read_bytes().rsplit(b"\n", 2)[-2])
            lost += end["lost"]
            written.append(int(done.stdout) * EVENTS_A_CALL / 2)
        notes.append(f"{m.median(written) / 1e6:.2f} M/s: {lost} lost")
        if lost == 0:
            reached = max(reached, m.median(written))
        out.unlink()
    return Row.result(f"{reached / 1e6:.2f} million", reached >= 1.95e6, "; ".join(notes))


def accounting(repetitions):
    runs = 200 if repetitions >= 7 else 20
    rules = m.write("account.rules", "int hit(int thread, unsigned long i);\n"
                                     f'on "{m.target("flood")}":hit {{ event hit(thread, i) count as "calls" }}\n')
    out, exact, overloaded = m.SCRATCH / "account.jsonl", 0, 0
    for _ in range(runs):
        done = m.run([m.MLBCC, "--rules", rules, "--buffer", "8KiB", "-o", out, "--", m.target("flood"),
                      "4", "20000"])
        lines = out.read_bytes().split(b"\n")
        end = json.loads(lines[-2])
        received = sum(1 for line in lines if b'"phase":' in line)
        made = int(done.stdout)
        loss, = end["losses"]
        counted = sum(s["value"] for s in end["stats"])
        exact += (made == counted == loss["submitted"] and received == loss["received"]
                  and loss["received"] + loss["lost"] == made and loss["lost"] == end["lost"])
        overloaded += end["lost"] > 0
    return Row.result(f"exact in {exact} of {runs}", exact == runs and overloaded > runs // 2,
                      f"{overloaded} of the runs lost events (4 threads, 80 000 calls, 8 KiB a CPU)")


def quick(repetitions):
    empty = m.write("empty.jsonl", "")
    m.run([m.MLBCC, "--quiet", "--rules",
           m.write("none.rules", f'on "{m.target("flood")}":hit {{ count }}'), "-o", empty, "--", "true"])
    results = m.interleave(repetitions * 3, {
        "--help": lambda: m.seconds([m.MLBCC, "--help"]),
        "report": lambda: m.seconds([m.MLBCC, "report", empty]),
        "true": lambda: m.seconds(["true"])})
    times = {name: m.median(values) * 1000 for name, values in results.items()}
    return Row.result(f"{times['--help']:.1f} ms / {times['report']:.1f} ms",
                      max(times["--help"], times["report"]) <= 15,
                      f"with the start of a process, which takes {times['true']:.1f} ms here")


def old_bpftrace(_repetitions):
    """Debian 12's bpftrace over the whole library, once: it takes minutes."""
    folder, what = m.driver_folder()
    library = folder / "libcuda.so.1"
    program = f"uprobe:{library}:cu* {{ }} uretprobe:{library}:cu* {{ }}"
    begin = time.monotonic()
    done = subprocess.run(["bpftrace", "-e", program, "-c", m.target("started")], capture_output=True,
                          text=True, env={**m.environment(folder), "BPFTRACE_MAX_PROBES": "2000",
                                          "BPFTRACE_MAX_BPF_PROGS": "2000"})
    taken = time.monotonic() - begin
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
    return Row.result(f"{taken:.0f} s", True, f"bpftrace 0.17 from start to end, {what}, one run")


ROWS = [
    Row("attach", "637 functions of the toolkit's stub libcuda.so, entry and return: attach / detach",
        "25 ms / 80 ms", attach),
    Row("start", "start of mlbcc to the traced program's first instruction, `rules/cuda.rules` on that "
        "library, nothing cached", "0.25 s", start),
    Row("start_again", "the same, started before", "0.08 s", start_again),
    Row("stream", "events per second written as JSONL, none lost, default buffer", "2 million", stream),
    Row("accounting", "accounting: submitted = received + lost, to the event", "200 of 200 overloaded runs",
        accounting),
    Row("quick", "`mlbcc --help` / `mlbcc report` of an empty trace", "15 ms", quick),
]
SLOW = [Row("old", "for comparison: the same functions with bpftrace 0.17", "", old_bpftrace)]
