"""Pairs, parents and order, through threads, forks, recursion, longjmp, exec and threads that end."""

import collections
import json

from harness import TracerCase, target
from harness.machine import attach_ways


class Tree(TracerCase):
    RULES = """
        int work(int thread, int child, int depth);
        int leaf(int thread, int child);
        on "{tree}":work, "{tree}":leaf {{ span user(args) count by function as "calls" }}
        """

    def test_every_call_every_pair_every_parent(self):
        trace = self.trace(self.RULES.format(tree=target("tree")), target("tree"))
        said = json.loads(self.last.stdout)
        works, leaves = trace.pairs("work"), trace.pairs("leaf")
        self.assertEqual((len(works), len(leaves)), (said["work"], said["leaf"]))
        self.assertEqual(len(trace.events), 2 * (said["work"] + said["leaf"]))
        self.assertEqual(trace.stats("calls"), {("work",): said["work"], ("leaf",): said["leaf"]})
        self.assertEqual(trace.loss("unmatched_begin") + trace.loss("unmatched_end"), 0)
        seen = collections.Counter()
        for begin, end in works + leaves:
            self.check_parent(trace, begin)
            self.assertLessEqual(begin["ts"], end["ts"])
            seen[tuple(begin["args"].values())] += 1
        self.assertEqual(set(seen.values()), {1}, "a call came twice")
        self.assertEqual(len({b["pid"] for b, _ in works}), said["processes"])
        self.assertEqual(len({b["tid"] for b, _ in works}), said["threads"] - 1)

    def check_parent(self, trace, begin):
        args, parent = begin["args"], trace.parent(begin)
        depth = args.get("depth", 6)
        if depth == 1:
            self.assertIsNone(parent)
            return
        self.assertEqual(parent["name"], "work")
        self.assertEqual(parent["args"], {"thread": args["thread"], "child": args["child"],
                                          "depth": depth - 1})
        self.assertEqual(parent["tid"], begin["tid"])

    def test_again_and_again(self):
        for _ in range(5):
            self.test_every_call_every_pair_every_parent()


class Depth(TracerCase):
    def down(self, depth, times):
        return self.trace(f"""
            int down(int depth);
            on "{target('deep')}":down {{ span user(depth) count as "calls" }}
            """, target("deep"), str(depth), str(times))

    def test_60_levels(self):
        trace = self.down(60, 50)
        self.assertEqual(len(trace.pairs("down")), 60 * 50)
        for begin, end in trace.pairs("down"):
            depth = begin["args"]["depth"]
            self.assertEqual(end["ret"], depth)
            parent = trace.parent(begin)
            self.assertEqual(parent and parent["args"]["depth"], None if depth == 60 else depth + 1)

    def test_deeper_than_the_kernel_follows(self):
        trace = self.down(200, 3)
        self.assertEqual(self.last.stdout, "600\n")
        begins = trace.named("down", "B")
        self.assertEqual(len(begins), 600)
        self.assertEqual(trace.loss("unmatched_begin"), 600 - len(trace.pairs("down")))
        self.assertGreaterEqual(len(trace.pairs("down")), 3 * 60)
        self.assertEqual(trace.summary["too_deep"], {"down": 600 - len(trace.pairs("down"))})

    def test_calls_that_are_too_deep_are_counted(self):
        """The kernel awaits the ends of 64 calls of a thread: so many of each descent are seen, whatever the clause."""
        clauses = ('hist duration as "h"', 'where ret > 1  count as "c"', "event a.b(ret)", 'count as "bare"  hist ret as "r"')
        for way in attach_ways():
            for clause in clauses:
                with self.subTest(way=way, clause=clause):
                    trace = self.trace(f"""int down(int depth);
                        on "{target('deep')}":down {{ {clause} }}""", target("deep"), "100", "10", options=("--attach", way))
                    self.assertEqual(trace.summary["too_deep"], {"down": 10 * 36})
                    seen = [h["count"] for h in trace.summary["hists"]] + [s["value"] for s in trace.summary["stats"]]
                    self.assertLessEqual(set(seen + [len(trace.named("down", "X"))]), {640, 1000, 0})
                    note = "360 calls of down: their ends were not seen"
                    self.assertIn(note, self.last.stderr)
                    self.assertIn(note, self.mlbcc("report", self.out).stdout)
        trace = self.trace(f"""on "{target('deep')}":down {{ count }}""", target("deep"), "100", "10")
        self.assertNotIn("too_deep", trace.summary)

    def test_more_open_calls_than_a_thread_has_frames(self):
        """Each frame holds 240 bytes of text here: there are 32. Many rules share programs."""
        rules = f"""
            library c = "libc.so.6"
            int down(const char *depth);
            void *malloc(unsigned long size); char *getenv(const char *name); int puts(const char *s);
            on "{target('deep')}":down {{ event a(text = str(depth, 240), ret) }}
            on c:malloc, c:getenv {{ span m(args) }}
            on c:puts {{ span p(args) event q(text = str(s, 8), ret) }}
            """
        for way in attach_ways():
            with self.subTest(way=way):
                trace = self.trace(rules, target("deep"), "60", "5", options=("--attach", way))
                self.assertEqual([e["ret"] for e in trace.named("down")], list(range(60, 28, -1)) * 5)
                self.assertEqual(trace.loss("lost"), 5 * 28)
                self.assertEqual(trace.loss("submitted"), trace.loss("received") + 5 * 28)


class Jumps(TracerCase):
    N = 40

    def setUp(self):
        super().setUp()
        program = target("jumps")
        names = "inner middle after outer handled interrupted abandoned settled".split()
        self.tracer = self.trace("".join(f"int {n}(int i);\n" for n in names) + "on "
                                 + ", ".join(f'"{program}":{n}' for n in names)
                                 + " { span user(i) }", program, str(self.N))

    def test_what_returned_is_paired(self):
        for name in ("outer", "after", "interrupted", "settled"):
            self.assertEqual(len(self.tracer.pairs(name)), self.N, name)
        self.assertEqual(len(self.tracer.named("handled", "B")), 2 * self.N)

    def test_what_was_left_has_no_end(self):
        for name in ("inner", "middle", "abandoned"):
            self.assertEqual(len(self.tracer.named(name, "B")), self.N, name)
            self.assertEqual(len(self.tracer.named(name, "E")), 0, name)
        self.assertEqual(self.tracer.loss("unmatched_begin"), 3 * self.N)
        self.assertEqual(self.tracer.loss("unmatched_end"), 0)

    def test_parents(self):
        expected = {"outer": None, "middle": "outer", "inner": "middle", "interrupted": None}
        for name, parent in expected.items():
            found = {(self.tracer.parent(b) or {}).get("name") for b in self.tracer.named(name, "B")}
            self.assertEqual(found, {parent}, name)
        handled = collections.Counter(self.tracer.parent(b)["name"]
                                      for b in self.tracer.named("handled", "B"))
        self.assertEqual(handled, {"interrupted": self.N, "abandoned": self.N})

    def test_the_frame_that_was_jumped_to_is_the_parent_again(self):
        for begin in self.tracer.named("after", "B"):
            parent = self.tracer.parent(begin)
            self.assertEqual((parent["name"], parent["args"]), ("outer", begin["args"]))


class Ends(TracerCase):
    def test_exec_and_vfork(self):
        program = target("replaced")
        trace = self.trace(f"""
            int step(int number); int replacing(const char *self); int borrowed(const char *self);
            on "{program}":step, "{program}":replacing, "{program}":borrowed {{ span user(args) }}
            """, program, status=7)
        parent, child, child_status = map(int, self.last.stdout.split())
        self.assertEqual(child_status, 5)
        self.assertEqual([(b["pid"], b["args"]["number"]) for b, _ in trace.pairs("step")],
                         [(parent, 1), (child, 2), (parent, 3)])
        for name, pid in (("replacing", parent), ("borrowed", child)):
            self.assertEqual([(e["phase"], e["pid"]) for e in trace.named(name)], [("B", pid)])
        self.assertEqual(trace.loss("unmatched_begin"), 2)
        for begin, _ in trace.pairs("step"):
            self.assertIsNone(trace.parent(begin), "the image that called is gone")

    def test_a_thread_that_ends_in_a_call(self):
        program = target("leaving")
        trace = self.trace(f"""
            int leaving(int number); int staying(int number); int quit(int status);
            on "{program}":leaving, "{program}":staying, "{program}":quit {{ span user(args) }}
            """, program, status=9)
        self.assertEqual(len(trace.pairs("staying")), 5)
        self.assertEqual([e["phase"] for e in trace.named("leaving")], ["B"] * 4)
        self.assertEqual([e["phase"] for e in trace.named("quit")], ["B"])
        self.assertEqual(trace.loss("unmatched_begin"), 5)
        for begin, _ in trace.pairs("staying"):
            self.assertIsNone(trace.parent(begin))
