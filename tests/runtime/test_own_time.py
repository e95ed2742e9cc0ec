"""Of a sum of durations, the time without that of calls within: against the calls and parents that spans of the same calls tell."""

import collections
import subprocess

from harness import TracerCase, target
from harness.machine import attach_ways


def own_times(trace, inside=lambda begin: True):
    """{name: [whole, own]}, ns, by the calls that spans tell; `inside`: which ones are counted."""
    times = collections.defaultdict(lambda: [0, 0])
    for begin, end in trace.calls():
        if not inside(begin):
            continue
        took = round(end["duration_us"] * 1000)
        times[begin["name"]][0] += took
        times[begin["name"]][1] += took
        while "parent" in begin:
            begin = trace.parent(begin)
            if inside(begin):
                times[begin["name"]][1] -= took
                break
    return times


class OwnTime(TracerCase):
    def told(self, trace, label="time", of="stats"):
        return {one["by"]["function"]: [one["value" if of == "stats" else "sum"], one["own_ns"]]
                for one in trace.summary[of] if one["label"] == label}

    def test_calls_in_calls_of_many_threads_and_processes(self):
        tree = target("tree")
        for way in attach_ways():
            trace = self.trace(f"""
                int work(int thread, int child, int depth);
                int leaf(int thread, int child);
                on "{tree}":work, "{tree}":leaf {{ span user(args)   sum duration by function as "time"   hist duration by function as "spread" }}
                """, tree, options=("--attach", way))
            self.assertEqual(self.told(trace), own_times(trace), way)
            self.assertEqual(self.told(trace, "spread", "hists"), own_times(trace), way)
            for text in (self.last.stderr, self.mlbcc("report", self.out).stdout):
                self.assertRegex(text, r"(?m)^    work +[0-9.]+ [mu]?s in 200 calls, own [0-9.]+ [mu]?s$")
                self.assertRegex(text, r"(?m)^    work +200 values, sum [0-9.]+ [mu]?s, own [0-9.]+ [mu]?s, p50 ")
                self.assertRegex(text, r"(?m)^    leaf +[0-9.]+ [mu]?s in 40 calls$")

    def test_only_calls_of_the_same_clause_count(self):
        tree = target("tree")
        trace = self.trace(f"""
            int work(int thread, int child, int depth);
            int leaf(int thread, int child);
            on "{tree}":work, "{tree}":leaf {{ span user(args) }}
            on "{tree}":work {{ where depth % 2 == 1   sum duration by function as "odd" }}
            on "{tree}":work {{ where depth == 2       sum duration by function as "one" }}
            """, tree)
        odd = own_times(trace, lambda begin: begin["args"].get("depth", 0) % 2 == 1)
        self.assertEqual(self.told(trace, "odd"), odd)
        self.assertLess(odd["work"][1], odd["work"][0])
        whole, own = self.told(trace, "one")["work"]
        self.assertEqual(whole, own)

    def test_of_a_recursion_it_is_the_outermost_calls(self):
        """Nothing asks for a frame but this. Behind 64 open calls the kernel follows none."""
        deep = target("deep")
        for way in attach_ways():
            for depth in "60", "100":
                trace = self.trace(f"""
                    int down(int depth);
                    on "{deep}":down {{ sum duration as "all" }}
                    on "{deep}":down {{ where depth == {depth}   sum duration as "outermost" }}
                    """, deep, depth, "20", options=("--attach", way))
                stats = {one["label"]: one for one in trace.summary["stats"]}
                self.assertEqual((stats["outermost"]["calls"], stats["all"]["calls"]), (20, 20 * min(int(depth), 64)), way)
                self.assertEqual(stats["all"]["own_ns"], stats["outermost"]["value"], way)

    def test_calls_that_exceptions_leave(self):
        program = target("unwinds")
        functions = ", ".join(f'"{program}":f{i}' for i in range(10))
        trace = self.trace(f'on {functions} {{ span user   sum duration by function as "time" }}', program, "nested", stdout=subprocess.DEVNULL)
        told, expected = self.told(trace), own_times(trace)
        self.assertEqual({name: whole for name, (whole, _) in told.items()}, {name: whole for name, (whole, _) in expected.items()})
        for name, (whole, own) in told.items():
            # Of calls that have no end, those within are of the call around them.
            self.assertLessEqual(own, whole)
            self.assertGreater(own, 0)
        self.assertEqual(sum(own for _, own in told.values()), sum(own for _, own in expected.values()))

    def test_where_calls_of_a_thread_overlap_it_is_not_known(self):
        program = target("coroutines")
        functions = ", ".join(f'"{program}":f{i}' for i in range(10))
        trace = self.trace(f'on {functions} {{ sum duration by function as "time" }}', program, stdout=subprocess.DEVNULL)
        self.assertEqual([one for one in trace.summary["stats"] if "own_ns" in one], [])
        self.assertNotIn(", own", self.last.stderr)
