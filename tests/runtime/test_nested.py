"""Where the time of calls went: what the summary says is what the events of the trace say."""

from harness import TracerCase

RULES = """
on "libc.so.6":clock_nanosleep { span user }
on syscall:clock_nanosleep { span kernel }
on sched:off_cpu { event sched.off_cpu }
"""
PROGRAM = "import time\nfor _ in range(5): time.sleep(0.02)"


def ns(microseconds):
    return int(microseconds * 1000)


def intervals(trace):
    """[(begin, end, layer, depth)] of one thread's calls and waits, the outermost first."""
    found = []
    for event in trace.events:
        if event["phase"] == "E" and "begin" in event:
            end = int(event["ts"] * 10**9)
            found.append((end - ns(event["duration_us"]), end, event["type"]))
        elif event["phase"] == "X" and "parent" in event:
            begin = int(event["ts"] * 10**9)
            found.append((begin, begin + ns(event["duration_us"]), "sched.off_cpu"))
    return [(begin, end, layer, sum(b <= begin and end <= e for b, e, _ in found))
            for begin, end, layer in found]


def expected(trace):
    """{layer: ns}: between two neighbouring times each moment is the deepest call's."""
    calls = intervals(trace)
    edges = sorted({time for begin, end, _, _ in calls for time in (begin, end)})
    times = {}
    for begin, end in zip(edges, edges[1:]):
        inside = [(depth, layer) for b, e, layer, depth in calls if b <= begin and end <= e]
        if inside:
            layer = max(inside)[1]
            times[layer] = times.get(layer, 0) + end - begin
    return times


class Nested(TracerCase):
    def test_each_moment_counts_once(self):
        trace = self.trace(RULES, "python3", "-c", PROGRAM)
        nested, = trace.summary["nested"]
        self.assertEqual((nested["function"], nested["library"], nested["layer"], nested["calls"]),
                         ("clock_nanosleep", "libc.so.6", "user", 5))
        self.assertEqual({"user": nested["itself_ns"], **nested["inside"]}, expected(trace))
        self.assertEqual(nested["total_ns"], nested["itself_ns"] + sum(nested["inside"].values()))
        self.assertGreater(nested["inside"]["sched.off_cpu"], 5 * 19_000_000)
        self.assertIn("WHERE THE TIME OF CALLS WENT", self.last.stderr)
        done = self.mlbcc("report", self.out)
        saved = done.stdout + done.stderr
        self.assertIn("WHERE THE TIME OF CALLS WENT\n  clock_nanosleep", saved)

    def test_without_calls_in_calls_there_is_none(self):
        trace = self.trace('on "libc.so.6":clock_nanosleep { span user }', "sleep", "0")
        self.assertNotIn("nested", trace.summary)
