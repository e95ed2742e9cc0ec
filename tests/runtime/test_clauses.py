"""Each clause of a rule, alone and together, on the pool library."""

import itertools
import json

from harness import ROOT, TracerCase, target

HEADERS = ROOT / "tests/runtime/targets"


class Clauses(TracerCase):
    def pool(self, rules, **options):
        return self.trace(f"""
            library pool = "{target('libpool.so')}"
            header "{HEADERS}/pool.h"
            {rules}
            """, target("pool_client"), **options)

    def sizes(self, trace):
        return [event["args"]["size"] for event in trace.events]

    def test_span(self):
        trace = self.pool("on pool:pool_alloc { span memory(size) }")
        self.assertEqual([b["args"] for b, _ in trace.pairs("pool_alloc")],
                         [{"size": s} for s in (1000, 2000, 3000, 4096, 1 << 30, 500)])
        self.assertEqual({e["type"] for e in trace.events}, {"memory"})
        self.assertEqual([e["ret"] for _, e in trace.pairs("pool_alloc")],
                         ["POOL_OK"] * 4 + ["POOL_FULL", "POOL_OK"])

    def test_span_without_fields(self):
        trace = self.pool("on pool:pool_free { span memory }")
        self.assertEqual(len(trace.pairs("pool_free")), 5)
        self.assertNotIn("args", trace.events[0])

    def test_a_count_of_calls_that_never_return(self):
        trace = self.trace('void exit(int status);\nlibrary c = "libc.so.6"\non c:exit { count as "ends" sum status as "status" }\n'
                           'on c:exit { sum duration as "ended" }', "sh", "-c", "/bin/true; /bin/false; exit 4", status=4)
        self.assertEqual((trace.stats("ends"), trace.stats("status")), ({(): 2}, {(): 1}))
        self.assertEqual(trace.stats("ended"), {(): 0})

    def test_event_at_the_end(self):
        trace = self.pool("on pool:pool_alloc { event memory.alloc(address = *block, size) }")
        event = trace.events[0]
        self.assertEqual((event["phase"], event["type"], event["name"], event["function"]),
                         ("X", "memory", "alloc", "pool_alloc"))
        self.assertEqual(list(event["args"]), ["address", "size"])
        self.assertGreater(event["duration_us"], 0)

    def test_event_on_entry(self):
        trace = self.pool("on entry pool:pool_alloc { event memory.asked(size) }")
        self.assertEqual({e["phase"] for e in trace.events}, {"i"})
        self.assertEqual(self.sizes(trace), [1000, 2000, 3000, 4096, 1 << 30, 500])
        self.assertFalse({"ret", "duration_us", "begin"} & set(trace.events[0]))

    def test_where_on_arguments_and_results(self):
        trace = self.pool("on pool:pool_alloc { where size > 1000 where ret == POOL_OK event a.b(size) }")
        self.assertEqual(self.sizes(trace), [2000, 3000, 4096])
        trace = self.pool("on pool:pool_alloc { where ret != POOL_OK || size < 1KB event a.b(size) }")
        self.assertEqual(self.sizes(trace), [1 << 30, 500])
        trace = self.pool("on pool:pool_alloc { where duration > 10s event a.b(size) }")
        self.assertEqual(trace.events, [])

    def test_many_conditions_that_rules_share(self):
        """More of them than are decided one by one: each pair of six, and one that all rules have."""
        conditions = {"offset < 50": lambda at: at < 50, "offset > 20": lambda at: at > 20, "offset != 30": lambda at: at != 30,
                      "offset % 3 == 1": lambda at: at % 3 == 1, "offset >= 11": lambda at: at >= 11,
                      "(offset == 23 || offset == 31)": lambda at: at in (23, 31)}
        pairs = list(itertools.combinations(conditions, 2))
        trace = self.trace("\n".join(f'on syscall:lseek {{ where fd == 77 && {a} && {b}   count as "{a}, {b}" }}' for a, b in pairs),
                           "/usr/bin/python3", "-c", "import os\n"
                           "os.dup2(os.open('/dev/zero', os.O_RDONLY), 77)\n"
                           "for at in range(100): os.lseek(77, at, os.SEEK_SET)")
        expected = {f"{a}, {b}": sum(conditions[a](at) and conditions[b](at) for at in range(100)) for a, b in pairs}
        self.assertEqual({label: sum(trace.stats(label).values()) for label in expected}, expected)

    def test_where_keeps_spans_whole(self):
        trace = self.pool("on pool:pool_alloc { where size >= 3000 span memory(size) }")
        self.assertEqual([b["args"]["size"] for b, _ in trace.pairs("pool_alloc")],
                         [3000, 4096, 1 << 30])
        self.assertEqual(len(trace.events), 6)

    def test_count(self):
        trace = self.pool("""
            on pool:pool_* { count as "calls" count by function as "by function" }
            on pool:pool_alloc { where ret == POOL_OK count by ret, pid as "good" }
            """)
        self.assertEqual(trace.events, [])
        self.assertEqual(trace.stats("calls"), {(): 6 + 5 + 2 + 7 + 3})
        self.assertEqual(trace.stats("by function"), {
            ("pool_alloc",): 6, ("pool_free",): 5, ("pool_find",): 2, ("pool_launch",): 7,
            ("pool_queue",): 3})
        (_, pid), count = trace.stats("good").popitem()
        self.assertEqual(count, 5)
        self.assertGreater(pid, 1)

    def test_sum(self):
        trace = self.pool("""
            on pool:pool_alloc { where ret == POOL_OK sum size as "allocated" }
            on pool:pool_queue { sum change as "net" }
            on pool:pool_launch { sum blocks by ret as "blocks" }
            """)
        self.assertEqual(trace.stats("allocated"), {(): 10596})
        self.assertEqual(trace.stats("net"), {(): 1})
        self.assertEqual(trace.stats("blocks"), {("POOL_OK",): 27, ("POOL_NO_BLOCK",): 0})
        units = {s["label"]: s["unit"] for s in trace.summary["stats"]}
        self.assertEqual(units, {"allocated": "bytes", "net": None, "blocks": None})

    def test_hist(self):
        trace = self.pool("""
            on pool:pool_alloc { hist size as "sizes" hist duration by ret as "time" }
            """)
        sizes, = trace.hist("sizes")
        self.assertEqual((sizes["count"], sizes["sum"], sizes["min"], sizes["max"]),
                         (6, 10596 + (1 << 30), 500, 1 << 30))
        self.assertEqual(sizes["buckets"], [[256, 512, 1], [512, 1024, 1], [1024, 2048, 1],
                                            [2048, 4096, 1], [4096, 8192, 1], [1 << 30, 1 << 31, 1]])
        times = {h["by"]["ret"]: h["count"] for h in trace.hist("time")}
        self.assertEqual(times, {"POOL_OK": 5, "POOL_FULL": 1})
        self.assertEqual({h["unit"] for h in trace.hist("time")}, {"ns"})

    def test_gauge_with_a_key(self):
        trace = self.pool("""
            on pool:pool_alloc {
                where ret == POOL_OK
                gauge pool_bytes[*block] = size
                stack user
            }
            on pool:pool_free { where ret == POOL_OK gauge pool_bytes[block] = 0 }
            """)
        gauge, = trace.gauge("pool_bytes")
        self.assertEqual((gauge["value"], gauge["peak"]), (4096, 10096))
        held, = gauge["held"]
        self.assertEqual(held["value"], 4096)
        self.assertEqual(held["key"], json.loads(self.last.stdout)["leaked"])
        self.assertTrue(any("leaky" in frame for frame in held["stack"]), held)
        self.assertEqual(trace.events, [])

    def test_gauge_without_a_key(self):
        trace = self.pool("""
            on pool:pool_queue { gauge queue += change }
            on pool:pool_launch { where ret == POOL_OK gauge budget -= blocks }
            on pool:pool_alloc { gauge latest = size }
            """)
        values = {g["name"]: (g["value"], g["peak"]) for g in trace.summary["gauges"]}
        self.assertEqual(values["queue"], (1, 5))
        self.assertEqual(values["budget"][0], -27)
        self.assertEqual(values["latest"], (500, 1 << 30))

    def test_learn(self):
        trace = self.pool("""
            on pool:pool_find { learn names[*kernel] = name }
            on pool:pool_launch {
                event launch(kernel = names[kernel], blocks)
                count by names[kernel] as "launches"
            }
            """)
        launches = [e["args"]["kernel"] for e in trace.events]
        self.assertEqual(launches, ["gemm"] * 4 + ["softmax", "0xabc000", "gemm"])
        self.assertEqual(trace.stats("launches"), {("gemm",): 5, ("softmax",): 1, ("0xabc000",): 1})

    def test_stack(self):
        trace = self.pool("on pool:pool_alloc { event a.b(size) stack user }")
        stacks = {e["args"]["size"]: e["stack"] for e in trace.events}
        self.assertIn("leaky", " ".join(stacks[4096]))
        self.assertIn("allocate", " ".join(stacks[4096]))
        self.assertNotIn("leaky", " ".join(stacks[500]))

    def test_optional(self):
        trace = self.pool("""
            on optional pool:pool_nothing, "libnothing.so.9":x { event a.b }
            on pool:pool_find { count as "found" }
            """)
        self.assertEqual(trace.stats("found"), {(): 2})
        self.assertIn("pool_nothing", self.last.stderr)
        self.assertIn("libnothing.so.9", self.last.stderr)

    def test_except(self):
        trace = self.pool("on pool:pool_* except pool_f*, pool_queue { span call }")
        self.assertEqual({e["name"] for e in trace.events}, {"pool_alloc", "pool_launch"})

    def test_rules_add_up(self):
        trace = self.pool("""
            on pool:pool_alloc { span memory(size) count as "calls" }
            on pool:pool_alloc, pool:pool_free { span memory(block) }
            on pool:pool_alloc { where size > 2500 event memory.big(size) sum size as "big" }
            """)
        begins = trace.named("pool_alloc", "B")
        self.assertEqual(len(begins), 6)
        self.assertEqual(set(begins[0]["args"]), {"size", "block"})
        self.assertEqual([e["args"]["size"] for e in trace.named("big", "X")], [3000, 4096, 1 << 30])
        self.assertEqual(trace.stats("calls"), {(): 6})
        self.assertEqual(trace.stats("big"), {(): 7096 + (1 << 30)})

    def test_the_more_exact_rule_wins(self):
        trace = self.pool("""
            on pool:pool_alloc { event memory.block(what = size) }
            on pool:pool_*     { event memory.block(what = pid) }
            """)
        events = [e for e in trace.events if e.get("function") == "pool_alloc"]
        self.assertEqual([e["args"]["what"] for e in events], [1000, 2000, 3000, 4096, 1 << 30, 500])

    def test_import_and_several_rule_files(self):
        self.write("parts/lib.rules", f"""
            library pool = "{target('libpool.so')}"
            header "pool.h"
            """)
        (self.dir / "parts/pool.h").write_text((HEADERS / "pool.h").read_text())
        first = self.rules('import "parts/lib.rules"\non pool:pool_find { count as "found" }')
        second = self.rules('import "parts/lib.rules"\non pool:pool_free { span memory(args) }',
                            "second.rules")
        trace = self.trace(first, target("pool_client"), options=("--rules", second))
        self.assertEqual(trace.stats("found"), {(): 2})
        self.assertEqual(len(trace.pairs("pool_free")), 5)
        self.assertEqual(len(trace.meta["rules"]), 2)


class Sample(TracerCase):
    def test_one_call_in_n_and_whole_calls(self):
        trace = self.trace(f"""
            int hit(int thread, unsigned long i);
            on "{target('flood')}":hit {{ sample 1/10 span call(i) }}
            """, target("flood"), "2", "50000")
        begins = len(trace.named("hit", "B"))
        self.assertEqual(len(trace.pairs("hit")), begins)
        self.assertTrue(8000 < begins < 12000, begins)
        self.assertRegex(self.last.stderr, "1 call in 10")
