"""Rows about what is made of a saved trace of a million events: time from start to end, and resident memory."""

import json
import subprocess
import sys

import measure as m
from rows import Row

EVENTS = 1_000_000
MOST_MB = 200


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
    """(seconds, MB) of one run. What this process itself holds would count until the exec: `time` is small."""
    def one():
        used = m.SCRATCH / "time.txt"
        seconds, _ = m.used(("/usr/bin/time", "-f", "%M", "-o", used, m.MLBCC, *arguments))
        return seconds, int(used.read_text()) * 1024 / 1e6
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
        memory = {name: max(mb for _, mb in runs) for name, runs in results.items()}
        met = max(seconds.values()) < most_seconds and max(memory.values()) < MOST_MB
        details = "; ".join(f"`{name}` {seconds[name]:.2f} s, {memory[name]:.0f} MB" for name in results)
        size = path.stat().st_size / 1e6
        return Row.result(f"{max(seconds.values()):.1f} s, {max(memory.values()):.0f} MB", met,
                          f"{details}; the trace has {size:.0f} MB")
    return measure


def out(name):
    return ["-o", str(m.SCRATCH / name)]


def page(repetitions):
    """Frames while the timeline of a trace is dragged, in Debian's Chromium, drawn without a GPU. Also of a trace with a million
    calls, which are two million events: the timeline is to be smooth with as many."""
    kept = m.ROOT / "build" / "page"
    if subprocess.run([sys.executable, m.ROOT / "tests/npm_install.py", "page", "chromium"], check=False).returncode != 0:
        raise m.Unavailable("there is no browser to drive")
    pages = {"page": m.SCRATCH / "million.html", "calls": m.SCRATCH / "million-calls.html", "empty": m.write("empty.html", EMPTY_PAGE)}
    for name, events in (("page", EVENTS), ("calls", 2 * EVENTS)):
        m.run([m.MLBCC, "convert", trace(events), "--to", "html", "-o", pages[name]])

    def look(at):
        return lambda: json.loads(m.run(["node", "frames.mjs", at], cwd=kept).stdout)
    runs = m.interleave(repetitions, {name: look(at) for name, at in pages.items()})
    frames, slowest, opened, tab, part = {}, {}, {}, {}, {}
    for name, of_page in runs.items():
        zooms = [zoom for run in of_page for zoom in run["zooms"]]
        frames[name] = min(zoom["frames_a_second"] for zoom in zooms)
        slowest[name] = max(zoom["slowest_ms"] for zoom in zooms)
        opened[name] = m.median([run["open_ms"] for run in of_page]) / 1000
        tab[name], part[name] = (max(run[f"{size}_mb"] for run in of_page) for size in ("resident", "proportional"))
    met = min(frames["page"], frames["calls"]) >= 30 and tab["page"] < MOST_MB
    return Row.result(f"{min(frames['page'], frames['calls']):.0f} a second, {tab['page']:.0f} MB", met,
                      f"the slowest frame took {slowest['page']:.0f} ms, the page was open after {opened['page']:.1f} s; a page of "
                      f"1 000 000 calls: {slowest['calls']:.0f} ms, {opened['calls']:.1f} s, {tab['calls']:.0f} MB; an empty one: "
                      f"{tab['empty']:.0f} MB. Counted are all of the browser's own files that are in memory, too, which its processes "
                      f"share: without the others' part {part['page']:.0f}, {part['calls']:.0f} and {part['empty']:.0f} MB")


EMPTY_PAGE = """<!doctype html><html data-ready="yes"><title>Empty</title><canvas id="timeline" style="width:100%;height:300px"></canvas><i id="range"></i></html>"""

ROWS = [
    Row("report", "reports of a trace of 1 000 000 events", f"5 s, {MOST_MB} MB",
        row_of(5, ("report",), ("report", "--top", "20", "--json", "-"), ("timeline", "--width", "150"))),
    Row("convert", "the same trace for Perfetto and Chrome, and as a page", f"8 s, {MOST_MB} MB",
        row_of(8, ("convert", "--to", "perfetto", *out("million.pftrace")), ("convert", "--to", "chrome", *out("million.json")),
               ("convert", "--to", "html", *out("million.html")))),
    Row("page", "the same trace as a page in Chromium, dragged: frames and its tab's resident memory",
        f"30 a second, {MOST_MB} MB", page),
]
