"""Functions that return in two processes, for the process forks in them: one call is one."""

from harness import TracerCase, target

HEAD = "int work(int n); int spawn(int n); int outer(int n); int lend(int n);\n"
CALLS = {"spawn": 3, "outer": 3, "lend": 3, "work": 16}
ON = f'on "{target("forks")}":spawn, "{target("forks")}":outer, "{target("forks")}":lend, "{target("forks")}":work '
WAYS = "session", "multi", "perf"


class ForksInside(TracerCase):
    def of(self, stats, label, key="value"):
        return {one["by"]["function"]: one[key] for one in stats if one["label"] == label}

    def test_counts_sums_and_distributions(self):
        for way in WAYS:
            trace = self.trace(HEAD + ON + '{ count by function as "n"   sum duration by function as "s"   hist duration by function as "h" }',
                               target("forks"), options=("--attach", way))
            stats = trace.summary["stats"]
            self.assertEqual(self.of(stats, "n"), CALLS, way)
            self.assertEqual(self.of(stats, "s", "calls"), CALLS, way)
            self.assertEqual(self.of(trace.summary["hists"], "h", "count"), CALLS, way)

    def test_a_count_without_groups(self):
        for way in WAYS:
            trace = self.trace('library c = "libc.so.6"\non c:fork { count as "forks"   where duration > 0 }', target("forks"),
                               options=("--attach", way))
            self.assertEqual([one["value"] for one in trace.summary["stats"]], [3], way)

    def test_events_and_spans(self):
        """What the call was given is known at its end, which is the caller's."""
        for way in WAYS:
            for clause in "event whole(n, ret)", "event bare(ret)", "span both(n)", "span plain":
                trace = self.trace(HEAD + ON + f"{{ {clause} }}", target("forks"), options=("--attach", way))
                ends = [event for event in trace.events if event["phase"] in "XE"]
                told = {name: sum(event.get("function", event["name"]) == name for event in ends) for name in CALLS}
                self.assertEqual(told, CALLS, (way, clause))
                self.assertEqual(trace.loss("unmatched_end") + trace.loss("unmatched_begin"), 0, (way, clause))
                returned = [event["ret"] for event in ends if event.get("function", event["name"]) == "outer"]
                self.assertEqual(returned, [2, 2, 2], (way, clause))
