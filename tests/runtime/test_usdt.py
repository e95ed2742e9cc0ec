"""Probes that programs bring along: Python's own, compared with what Python says itself, and those of targets/probes.c."""

import json
import os
import platform
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from harness import TracerCase, machine, target

FLOAT = {"x86_64": "8f@%xmm0", "aarch64": "8f@d0"}[platform.machine()]  # of targets/probes.c
PYTHON = Path("/usr/bin/python3")

# Writes down what its hook is told of between two marks; the hook makes no events itself.
AUDIT = """
import json, pickle, sys
seen = []
sys.addaudithook(lambda event, args: seen.append(event))
sys.audit("mlbcc.begin")
open("/etc/hostname").close()
import colorsys
pickle.loads(pickle.dumps(json.JSONDecoder))
compile("1 + 1", "x", "eval")
sys.audit("mlbcc.end")
print(json.dumps(seen))
"""

COLLECT = """
import gc, json, sys
gc.disable()
seen = []
def told(phase, info):
    if phase == "start": seen.append(["gc__start", info["generation"]])
    else: seen.append(["gc__done", info["collected"]])
gc.callbacks.append(told)
sys.audit("mlbcc.begin")
for generation in (0, 2, 1, 2):
    for i in range(generation * 10):
        ring = []
        ring.append(ring)
    ring = None
    gc.collect(generation)
sys.audit("mlbcc.end")
print(json.dumps(seen))
"""

CALLS = """
def inner(n): return n if n < 2 else inner(n - 1) + inner(n - 2)
def outer(): return inner(10)
for i in range(3): outer()
"""


# Debian's, whatever other Python comes first.
ENVIRONMENT = {**os.environ, "PATH": "/usr/bin:/bin"}


def need_python_probes():
    if not PYTHON.exists() or b"stapsdt" not in PYTHON.resolve().read_bytes():
        raise unittest.SkipTest(f"{PYTHON} has no probes of its own")


def between(events, get):
    """The events between the two marks, `get` of which gives a mark's name."""
    names = [get(e) for e in events]
    return events[names.index("mlbcc.begin"):names.index("mlbcc.end") + 1]


class Python(TracerCase):
    def setUp(self):
        super().setUp()
        need_python_probes()

    def test_audit_events_are_those_that_a_hook_sees(self):
        trace = self.trace("""
            on usdt:python3:python:audit { event python.audit(event = str(arg(0)))
                                           count by str(arg(0)) as "audit" }
            """, "python3", self.write("app.py", AUDIT), env=ENVIRONMENT)
        said = between(json.loads(self.last.stdout), lambda e: e)
        seen = [e["args"]["event"] for e in trace.events]
        self.assertEqual(between(seen, lambda e: e), said)
        self.assertLessEqual({"open", "import", "pickle.find_class", "compile"}, set(said))
        counts = {event: seen.count(event) for event in set(seen)}
        self.assertEqual({k[0]: v for k, v in trace.stats("audit").items()}, counts)
        self.assertEqual({e["phase"] for e in trace.events}, {"i"})

    def test_collections_have_their_arguments(self):
        """An argument on the stack, and one with a sign, of two probes that a pattern matches."""
        trace = self.trace("on usdt:python3:py*:gc__* { event gc(value = arg(0)) }\n"
                           "on usdt:python3:python:audit { event audit(value = str(arg(0))) }",
                           "python3", self.write("app.py", COLLECT), env=ENVIRONMENT)
        seen = between(trace.events, lambda e: e["args"]["value"])
        self.assertEqual([[e["name"], e["args"]["value"]] for e in seen if e["type"] == "gc"],
                         json.loads(self.last.stdout))

    def test_functions_are_counted_by_name(self):
        script = self.write("app.py", CALLS)
        trace = self.trace(f"""
            on usdt:"{PYTHON}":python:function__return {{
                where str(arg(0)) == "{script}"
                count by str(arg(1)) as "calls"
                event call(name = str(arg(1)))
                stack user
            }}
            """, PYTHON, script)
        self.assertEqual(trace.stats("calls"), {("<module>",): 1, ("outer",): 3, ("inner",): 3 * 177})
        self.assertEqual([e["args"]["name"] for e in trace.events][-2:], ["outer", "<module>"])
        self.assertIn("PyEval_EvalCode", " ".join(trace.events[-1]["stack"]))

    def test_a_program_that_runs_is_told_to_prepare_its_probes(self):
        program = subprocess.Popen([PYTHON, "-c", "import sys\nfor line in sys.stdin: sys.audit('mlbcc.line')"],
                                   stdin=subprocess.PIPE, text=True, bufsize=1, env=ENVIRONMENT)
        self.addCleanup(program.communicate)
        live = self.start("on usdt:python3:python:audit { event python.audit(event = str(arg(0))) }",
                          "--pid", program.pid)
        live.wait_for("mlbcc.line", poke=lambda: program.stdin.write("\n"), seconds=60)
        live.interrupt()
        self.assertEqual(live.wait(), 0)


class Probes(TracerCase):
    def hit(self, program, count):
        program.stdin.write(f"{count}\n")
        program.stdin.flush()
        return json.loads(program.stdout.readline())["semaphore"]

    def program(self, path=None):
        made = subprocess.Popen([path or target("probes")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(made.communicate)
        return made

    def test_each_place_has_arguments_of_its_own(self):
        for way in machine.attach_ways():
            with self.subTest(way):
                trace = self.trace(f"""
                    on usdt:"{target("probes")}":shop:sold {{
                        event shop.sold(what = str(arg(0)), count = arg(1), price = arg(2))
                        sum arg(1) by str(arg(0)) as "sold"
                    }}
                    on usdt:"{target("probes")}":shop:returned {{ event shop.returned(args) }}
                    """, target("probes"), input="3\n40\n", options=("--attach", way))
                sold = [tuple(e["args"].values()) for e in trace.events if e["name"] == "sold"]
                self.assertEqual(sold, [("apple", 3, 1), ("pear", -3, -5000000000),
                                        ("apple", 40, 1), ("pear", -40, -5000000000)])
                returned = [e["args"] for e in trace.events if e["name"] == "returned"]
                self.assertEqual(returned, [{"arg0": -7, "arg1": 203, "arg2": "0x2a", "arg3": None},
                                            {"arg0": -7, "arg1": 240, "arg2": "0x2a", "arg3": None}])
                self.assertEqual(trace.stats("sold"), {("apple",): 43, ("pear",): -43})

    def test_memory_that_nobody_has_touched(self):
        trace = self.trace(f"""on usdt:"{target("probes")}":shop:late {{
                                   event late(text = str(arg(0)), zero = arg(1)) }}""",
                           target("probes"), input="1\n")
        self.assertEqual(trace.args("late", "i"), [{"text": "melon", "zero": 0}])

    def test_semaphores_are_up_while_it_traces_and_down_after(self):
        own = shutil.copy(target("probes"), self.dir)  # other tests trace the one that all have
        early = self.program(own)
        self.assertEqual(self.hit(early, 1), 0)
        for way in machine.attach_ways():
            with self.subTest(way):
                self.out.unlink(missing_ok=True)
                live = self.start(f'on usdt:"{own}":shop:sold {{ event shop.sold(count = arg(1)) }}',
                                  "--pid", early.pid, "--attach", way)
                live.wait_for('"count":1}', poke=lambda: self.hit(early, 1), seconds=60)
                up = self.hit(early, 1)
                self.assertGreater(up, 0)
                late = self.program(own)
                self.assertEqual(self.hit(late, 1), up)
                live.interrupt()
                self.assertEqual(live.wait(), 0)
                self.until_down(early)
                self.until_down(late)
                self.assertEqual({e["pid"] for e in live.trace().events}, {early.pid})

    def until_down(self, program):
        end = time.monotonic() + 60
        while self.hit(program, 1) != 0:
            self.assertLess(time.monotonic(), end, "the semaphore stays up")
            time.sleep(0.05)

    def test_list_and_explain(self):
        rules = self.rules(f'on usdt:"{target("probes")}":*:sold, usdt:"{target("probes")}":*:returned '
                           '{ event e(arg(0)) }')
        listed = self.mlbcc("list", "--rules", rules)
        self.assertEqual(listed.stdout, f"""\
usdt:probes:shop:returned  void shop:returned(int32_t arg0, uint8_t arg1, uint64_t arg2, {FLOAT} arg3)  [test.rules:1]
usdt:probes:shop:sold (place 1 of 2)  void shop:sold(uint64_t arg0, int32_t arg1, int64_t arg2)  [test.rules:1]
usdt:probes:shop:sold (place 2 of 2)  void shop:sold(uint64_t arg0, int32_t arg1, int64_t arg2)  [test.rules:1]
""")
        told = self.mlbcc("explain", "--rules", rules).stdout
        self.assertRegex(told, r"probe   place 2 of 2, at 0x[0-9a-f]+ in \S+/probes, with a semaphore\n")
        self.assertRegex(told, r"record of 56 bytes: arg\(0\) \(8@\S+\)\n")


class Mistakes(TracerCase):
    def test_no_probe_of_that_name(self):
        program = target("probes")
        message = self.refused(f'on usdt:"{program}":shop:sole {{ count }}')
        self.assertEqual(message, f"""\
error: no probe matches `shop:sole`
 --> test.rules:1:4
  |
1 | on usdt:"{program}":shop:sole {{ count }}
  |    {"^" * (len(program) + 17)}
  = note: {program} has shop:late, shop:returned, shop:sold
  = help: there is one with a similar name: `shop:sold`
""")

    def test_an_argument_too_many_and_one_that_cannot_be_read(self):
        message = self.refused(f'on usdt:"{target("probes")}":shop:returned {{ event e(a = arg(3), b = arg(4)) }}')
        self.assertIn("error: `arg3` cannot be read by a probe", message)
        self.assertIn(f"= note: it is a `{FLOAT}`", message)
        self.assertIn("error: there is no `arg(4)`", message)
        self.assertIn("= note: `shop:returned` has 4 parameters, and they count from 0", message)

    def test_a_moment_has_no_duration(self):
        message = self.refused(f'on usdt:"{target("probes")}":shop:late {{ hist duration }}')
        self.assertIn("error: `late` has no `duration`", message)
