"""Threads that take turns on one CPU, where the kernel likes, also in the middle of a probe's program:
each record's values belong together, each end has its beginning, and all are counted
(targets/one_cpu.c). On a kernel that preempts programs this is where they could disturb each other."""

from collections import Counter

from harness import ROOT, TracerCase, target

THREADS = 4
ARGUMENTS = ("a = (long)arg(0), b = (long)arg(1), c = (long)arg(2), thread = (long)arg(3), "
             "text = str(arg(4))")
ONE_SHAPE = f'on "{{program}}":first {{{{ span call({ARGUMENTS})  sum (long)arg(3) as "threads" }}}}\n'
MANY_SHAPES = f"""
on "{{program}}":first {{{{ span call({ARGUMENTS})  sum (long)arg(3) as "threads" }}}}
on "{{program}}":second {{{{ span call({ARGUMENTS})  stack user }}}}
on "{{program}}":third {{{{ event whole.call({ARGUMENTS}, returned = (long)ret)  count by (long)arg(3) as "by number" }}}}
on "{{program}}":fourth {{{{ where (long)ret != 1  event whole.call({ARGUMENTS}, returned = (long)ret)  stack user
    hist duration by str(arg(4), 3) as "times"  sum (long)arg(3) by str(arg(4), 3) as "by text" }}}}
on entry "{{program}}":turn {{{{ count as "turns" }}}}
"""
PROBES = """
on usdt:"{program}":one_cpu:turn {{ event probe.turn(a = arg(0), b = arg(1), thread = arg(2), text = str(arg(3)))
    stack user  sum arg(2) as "threads" }}
"""
BETWEEN = """
on "{program}":second {{ span call(ARGUMENTS)  stack user }}
on "{program}":fourth {{ event whole.call(ARGUMENTS)  stack user }}
on tracepoint:timer:hrtimer_expire_entry {{ event timer.expires(now)  stack user }}
""".replace("ARGUMENTS", ARGUMENTS)
CALLS = """
on syscall:pread64 {{ where count > 4096  span read(count) }}
on "{program}":first {{ count as "first" }}
"""
PYTHON = """
on "{program}":first {{ span call(a = (long)arg(0), thread = (long)arg(3))  stack python }}
on "{program}":second {{ event whole.call(a = (long)arg(0), thread = (long)arg(3))  stack python  stack user }}
"""


class OneCpu(TracerCase):
    ROUNDS = 1500
    WAYS = ("auto", "multi", "perf")

    def check_all(self, check, rules, program=None, command=None):
        """Each way to attach, with which `check` looks at the trace."""
        program = program or target("one_cpu")
        for way in self.WAYS:
            with self.subTest(way=way):
                check(self.trace(rules.format(program=program), *(command or (program, str(self.ROUNDS))),
                                 options=("--attach", way)))

    def check(self, trace, name, phase):
        """One event for each round of each thread, whose values follow from the two."""
        threads, seen = {}, Counter()
        for event in trace.named(name, phase):
            args = event["args"]
            thread, i = divmod(args["a"], 1000000)
            expected = {"a": args["a"], "b": args["a"] * 3 + 1, "c": ~args["a"], "thread": thread,
                        "text": f"t{thread}-{i}-{'x' * 24}"}
            if "returned" in args:
                expected["returned"] = args["a"] ^ args["b"] ^ args.get("c", 0) ^ thread ^ ord("t")
            self.assertEqual(args, {key: expected[key] for key in args}, event)
            self.assertEqual(threads.setdefault(event["tid"], thread), thread, event)
            seen[thread] += 1
        self.assertEqual(seen, {thread: self.ROUNDS for thread in range(1, THREADS + 1)})

    def check_ends(self, trace, name):
        self.assertEqual(len(trace.pairs(name)), THREADS * self.ROUNDS)
        for begin, end in trace.pairs(name):
            self.assertEqual(begin["tid"], end["tid"], (begin, end))

    def check_stacks(self, trace, name):
        for event in trace.named(name):
            if "stack" in event:
                self.assertIn("one_cpu:turn", event["stack"][0], event)
                self.assertTrue(any("one_cpu:run" in frame for frame in event["stack"]), event)

    def check_losses(self, trace):
        for key in ("lost", "unmatched_begin", "unmatched_end"):
            self.assertEqual(trace.loss(key), 0, key)

    def test_functions_of_one_shape(self):
        def check(trace):
            self.check(trace, "first", "B")
            self.check_ends(trace, "first")
            self.check_losses(trace)
            self.assertEqual(trace.stats("threads"), {(): self.ROUNDS * (1 + 2 + 3 + 4)})
        self.check_all(check, ONE_SHAPE)

    def test_functions_of_many_shapes(self):
        def check(trace):
            for name, phase in (("first", "B"), ("second", "B"), ("third", "X"), ("fourth", "X")):
                self.check(trace, name, phase)
            for name in ("first", "second"):
                self.check_ends(trace, name)
            for name in ("second", "fourth"):
                self.check_stacks(trace, name)
            self.check_losses(trace)
            self.check_aggregates(trace)
        self.check_all(check, MANY_SHAPES)

    def check_aggregates(self, trace):
        n, threads = self.ROUNDS, range(1, THREADS + 1)
        self.assertEqual(trace.stats("threads"), {(): n * (1 + 2 + 3 + 4)})
        self.assertEqual(trace.stats("turns"), {(): n * THREADS})
        self.assertEqual(trace.stats("by number"), {(thread,): n for thread in threads})
        self.assertEqual(trace.stats("by text"), {(f"t{thread}",): n * thread for thread in threads})
        self.assertEqual({tuple(h["by"].values()): h["count"] for h in trace.hist("times")},
                         {(f"t{thread}",): n for thread in threads})

    def test_in_the_middle_of_which_a_timer_expires(self):
        """Its record is of the same thread, and as large."""
        def check(trace):
            for name, phase in (("second", "B"), ("fourth", "X")):
                self.check(trace, name, phase)
            self.check_stacks(trace, "second")
            self.check_stacks(trace, "fourth")
            self.check_losses(trace)
            self.assertGreater(len(trace.named("expires")), 100)
        self.check_all(check, BETWEEN)

    def test_probes_that_the_program_brings_along(self):
        def check(trace):
            self.check(trace, "turn", "i")
            self.check_stacks(trace, "turn")
            self.check_losses(trace)
            self.assertEqual(trace.stats("threads"), {(): self.ROUNDS * (1 + 2 + 3 + 4)})
        self.check_all(check, PROBES)

    def test_system_calls(self):
        def check(trace):
            self.check_reads(trace, "pread64")
            self.assertEqual(trace.stats("first"), {(): self.ROUNDS * THREADS})
        self.check_all(check, CALLS)

    def check_reads(self, trace, name):
        threads, seen = {}, Counter()
        for begin, end in trace.pairs(name):
            count = begin["args"]["count"]
            self.assertEqual((end["ret"], end["tid"]), (count, begin["tid"]))
            self.assertEqual(threads.setdefault(begin["tid"], count), count)
            seen[count - 4096] += 1
        self.assertEqual(seen, {thread: self.ROUNDS for thread in range(1, THREADS + 1)})
        self.check_losses(trace)

    def test_python_functions(self):
        script = ROOT / "tests" / "runtime" / "targets" / "one_cpu.py"
        command = ("/usr/bin/python3", "-I", str(script), str(target("libone_cpu.so")), str(self.ROUNDS // 4))
        def check(trace):
            expected = Counter({f"thread_{thread}": self.ROUNDS // 4 for thread in range(1, THREADS + 1)})
            for name, phase in (("first", "B"), ("second", "X")):
                said = Counter()
                for event in trace.named(name, phase):
                    thread, _ = divmod(event["args"]["a"], 1000000)
                    self.assertEqual(event["args"]["thread"], thread, event)
                    python = [frame for frame in event["stack"] if frame.startswith("one_cpu.py:")]
                    self.assertEqual(python, ["one_cpu.py:call", f"one_cpu.py:thread_{thread}"], event)
                    said[f"thread_{thread}"] += 1
                self.assertEqual(said, expected, trace.summary)
            self.check_losses(trace)
        self.check_all(check, PYTHON, target("libone_cpu.so"), command)
