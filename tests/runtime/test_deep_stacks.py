"""Stacks deeper than what a record has room for: whole as far as they are copied, and behind that said to be cut."""

from harness import TracerCase, target
from harness.machine import attach_ways

CUT = "... (beyond the copied stack)"
# Functions, and what each has on its stack: from less than the first copy to nearly all of the second.
WHOLE = [(3, 16), (10, 64), (1, 3600), (1, 4096), (1, 9000), (30, 200), (50, 240), (4, 6000), (40, 700)]
DEEPER = [(1, 1 << 20), (50, 1000)]


class DeepStacks(TracerCase):
    def own(self, stack):
        """The program's own functions, innermost first, each as often as it is there."""
        return [frame.split(":")[1].split("+0x")[0] for frame in stack if frame.startswith("deep_stack:")]

    def stacks(self, where, functions, size, more="", **how):
        rules = f"""
            int leaf(int x);
            on syscall:getppid {{ event inside.kernel(ret) stack user }}
            on entry "{target("deep_stack")}":leaf {{ event inside.entry(x) stack user }}
            on "{target("deep_stack")}":leaf {{ event inside.end(ret) stack user }}
            {more}"""
        trace = self.trace(rules, target("deep_stack"), where, functions, size, **how)
        return {event["name"]: event["stack"] for event in trace.events if "stack" in event}

    def check(self, where, functions, size, *more, **how):
        stacks = self.stacks(where, functions, size, *more, **how)
        expected = ["deeper"] * functions + ["work"] + (["main", "_start"] if where == "main" else [])
        found = {name: self.own(stack) for name, stack in stacks.items()}
        self.assertEqual(found, {"kernel": ["leaf", *expected], "entry": expected, "end": expected}, (where, functions, size))
        for stack in stacks.values():
            self.assertFalse(stack[-1].startswith("..."), stack)

    def test_of_the_first_thread(self):
        for functions, size in WHOLE:
            self.check("main", functions, size)

    def test_of_another_thread(self):
        for functions, size in WHOLE:
            self.check("thread", functions, size)

    def test_each_way_to_attach(self):
        for way in attach_ways():
            self.check("main", 30, 200, options=("--attach", way))
            self.check("thread", 4, 6000, options=("--attach", way))

    def test_through_functions_that_return_probes_await(self):
        count = f'on "{target("deep_stack")}":* {{ count by symbol }}'
        for functions, size in WHOLE:
            self.check("main", functions, size, count)

    def test_what_lies_deeper_is_said(self):
        for where in ("main", "thread"):
            for functions, size in DEEPER:
                for stack in self.stacks(where, functions, size).values():
                    self.assertEqual(stack[-1], CUT)
                    self.assertIn("deeper", self.own(stack))

    def test_of_a_thread_that_waits(self):
        """Kept until the thread goes on, and so in the first copy alone."""
        rules = "on sched:off_cpu { event wait.off(state) stack user }"
        for functions, size, whole in (3, 16, True), (30, 200, False):
            trace = self.trace(rules, target("deep_stack"), "main", functions, size)
            stack = next(event["stack"] for event in trace.events if "leaf" in self.own(event.get("stack", [])))
            self.assertEqual(stack[-1] == CUT, not whole, stack)
            if whole:
                self.assertEqual(self.own(stack), ["leaf", *["deeper"] * functions, "work", "main", "_start"])
