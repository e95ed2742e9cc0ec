"""Rows about what is made of a saved trace of a million events: time from start to end, and resident memory."""

import json
import shutil
import subprocess
import sys

import measure as m
from rows import Row

EVENTS = 1_000_000
MOST_MIB = 200


def trace(events=EVENTS):
    """A trace by mlbcc itself: each call has two records."""
    path = m.SCRATCH / f"events-{events}.jsonl"
    if not path.exists():
        rules = m.write("million.rules", f"int hit(int thread, unsigned long i);\n"
                        f'on "{m.target("flood")}":hit {{ span userspace(thread, i) }}\n')
        made = path.with_suffix(".part")
        m.run([m.MLBCC, "--quiet", "--buffer", "64MiB", "--rules", rules, "-o", made, "--",
               m.target("flood"), "2", str(events // 4)])
        with open(made, "rb") as file:
            found = sum(b'"phase":' in line for line in file)
        if found != events:
            raise AssertionError(f"the trace has {found} events")
        made.rename(path)
    return path


def of(*arguments):
    """(seconds, MiB) of one run. What this process itself holds would count until the exec: `time` is small."""
    def one():
        used = m.SCRATCH / "time.txt"
        seconds, _ = m.used(("/usr/bin/time", "-f", "%M", "-o", used, m.MLBCC, *arguments))
        return seconds, int(used.read_text()) / 1024
    return one


def shown(way):
    """Its arguments but for where it writes."""
    return " ".join(way[:way.index("-o")] if "-o" in way else way)


def row_of(most_seconds, *ways):
    """Each way is the arguments behind `mlbcc` and before the trace, and those behind it."""
    def measure(repetitions):
        path = trace()
        results = m.interleave(repetitions, {shown(way): of(way[0], path, *way[1:]) for way in ways})
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


def page(repetitions):
    """Frames while the timeline of a trace with a million calls is dragged, in Debian's Chromium, drawn without a GPU."""
    kept = m.ROOT / "build" / "page"
    if subprocess.run([sys.executable, m.ROOT / "tests/npm_install.py", "page", "chromium"], check=False).returncode != 0:
        raise m.Unavailable("there is no browser to drive")
    shutil.copy(m.ROOT / "tests/page/frames.mjs", kept)
    shown, empty = m.SCRATCH / "million-calls.html", m.write("empty.html", EMPTY_PAGE)
    m.run([m.MLBCC, "convert", trace(2 * EVENTS), "--to", "html", "-o", shown])

    def look(at):
        return json.loads(m.run(["node", "frames.mjs", at], cwd=kept).stdout)
    runs = m.interleave(repetitions, {"page": lambda: look(shown), "empty": lambda: look(empty)})
    frames = min(zoom["frames_a_second"] for run in runs["page"] for zoom in run["zooms"])
    slowest = max(zoom["slowest_ms"] for run in runs["page"] for zoom in run["zooms"])
    opened = m.median([run["open_ms"] for run in runs["page"]])
    (tab, part), (nothing, its_part) = ([max(run[f"{size}_mib"] for run in runs[way]) for size in ("resident", "proportional")]
                                        for way in ("page", "empty"))
    return Row.result(f"{frames:.0f} a second, {part:.0f} MiB", frames >= 30 and part < MOST_MIB,
                      f"the slowest frame took {slowest:.0f} ms; the page was open after {opened / 1000:.1f} s; at most {part:.0f} MiB were its "
                      f"tab's ({its_part:.0f} MiB an empty one's), and with all of the browser's own files, which its processes share, "
                      f"{tab:.0f} MiB ({nothing:.0f} MiB)")


EMPTY_PAGE = """<!doctype html><html data-ready="yes"><canvas id="timeline" style="width:100%;height:300px"></canvas><i id="range"></i></html>"""

ROWS = [
    Row("report", "reports of a trace of 1 000 000 events", f"5 s, {MOST_MIB} MiB",
        row_of(5, ("report",), ("report", "--top", "20", "--json", "-"), ("timeline", "--width", "150"))),
    Row("convert", "the same trace for Perfetto and Chrome, and as a page", f"8 s, {MOST_MIB} MiB",
        row_of(8, ("convert", "--to", "perfetto", *out("million.pftrace")), ("convert", "--to", "chrome", *out("million.json")),
               ("convert", "--to", "html", *out("million.html")))),
    Row("page", "a page of 1 000 000 calls in Chromium, dragged: frames and its tab's resident memory, of what is shared its part",
        f"30 a second, {MOST_MIB} MiB", page),
]
