"""Rows about what is made of a saved trace of a million events: time from start to end, and resident memory."""

import measure as m
from rows import Row

EVENTS = 1_000_000
MOST_MIB = 200


def trace():
    """A trace by mlbcc itself: each call has two records."""
    path = m.SCRATCH / "million.jsonl"
    if not path.exists():
        rules = m.write("million.rules", f"int hit(int thread, unsigned long i);\n"
                        f'on "{m.target("flood")}":hit {{ span userspace(thread, i) }}\n')
        made = path.with_suffix(".part")
        m.run([m.MLBCC, "--quiet", "--buffer", "64MiB", "--rules", rules, "-o", made, "--",
               m.target("flood"), "2", str(EVENTS // 4)])
        with open(made, "rb") as file:
            found = sum(b'"phase":' in line for line in file)
        if found != EVENTS:
            raise AssertionError(f"the trace has {found} events")
        made.rename(path)
    return path


def of(*arguments):
    """(seconds, MiB) of one run."""
    def one():
        seconds, usage = m.used((m.MLBCC, *arguments))
        return seconds, usage.ru_maxrss / 1024
    return one


def row_of(most_seconds, *ways):
    """Each way is the arguments behind `mlbcc` and before the trace, and those behind it."""
    def measure(repetitions):
        path = trace()
        results = m.interleave(repetitions, {" ".join((before, *after)): of(before, path, *after) for before, *after in ways})
        seconds = {name: m.median([took for took, _ in runs]) for name, runs in results.items()}
        memory = {name: max(mib for _, mib in runs) for name, runs in results.items()}
        met = max(seconds.values()) < most_seconds and max(memory.values()) < MOST_MIB
        details = "; ".join(f"`{name}` {seconds[name]:.2f} s, {memory[name]:.0f} MiB" for name in results)
        size = path.stat().st_size / 1e6
        return Row.result(f"{max(seconds.values()):.1f} s, {max(memory.values()):.0f} MiB", met,
                          f"{details}; the trace has {size:.0f} MB")
    return measure


def out(name):
    return ["-o", str(m.SCRATCH / name)]


ROWS = [
    Row("report", "reports of a trace of 1 000 000 events", f"5 s, {MOST_MIB} MiB",
        row_of(5, ("report",), ("report", "--top", "20", "--json", "-"), ("timeline", "--width", "150"))),
    Row("convert", "the same trace for Perfetto and Chrome, and as a page", f"8 s, {MOST_MIB} MiB",
        row_of(8, ("convert", "--to", "perfetto", *out("million.pftrace")), ("convert", "--to", "chrome", *out("million.json")),
               ("convert", "--to", "html", *out("million.html")))),
]
