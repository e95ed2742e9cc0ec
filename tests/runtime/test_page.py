"""What the page of a trace shows."""

import json
import os
import re
import subprocess
import unittest.mock
from collections import Counter

from harness import ROOT
from harness.inference import InferenceCase
from harness.machine import CUDA_SIM
from harness.page import PageCase

EVIL = "</script><script>alert(1)</script>"
META = {"event_id": 0, "type": "meta", "schema": 1, "tool": "mlbcc", "start": "2026-01-01T00:00:00.0Z",
        "host": {"kernel": "6", "arch": "x86_64"}, "command": ["a"], "rules": []}


class Page(PageCase, InferenceCase):
    def test_shows_the_trace(self):
        trace = self.inference()
        seen = self.page(self.out, "inference")
        summary = trace.summary
        self.assertEqual(seen["tiles"]["events"], summary["events"])
        self.assertEqual(seen["tiles"]["lost"], summary["lost"])
        self.assertEqual(seen["tiles"]["duration"], round(summary["ts"] * 1000000000))
        self.assertEqual(seen["tiles"]["processes"], summary["processes"])
        calls = Counter((end["name"], end["type"]) for _, end in trace.calls())
        distinct = {e["event_id"] for e in trace.distinct()}
        self.assertEqual(seen["tiles"]["calls"], sum(begin["event_id"] in distinct for begin, _ in trace.calls()))
        time = Counter()
        for _, end in trace.calls():
            time[end["name"], end["type"]] += round(end["duration_us"] * 1000)
        rows = {(row[0], row[1]): row for row in seen["rows"]}
        for key, count in calls.items():
            self.assertEqual(rows[key][2:4], [count, time[key]], key)
        self.check_use(seen)

    def check_use(self, seen):
        self.assertNotEqual(seen["zoomed"], seen["whole"])
        self.assertNotEqual(seen["dragged"], seen["zoomed"])
        self.assertEqual(seen["reset"], seen["whole"])
        self.assertTrue(seen["filtered"])
        self.assertEqual({row[0] for row in seen["filtered"]},
                         {row[0] for row in seen["rows"] if "launch" in f"{row[1]} {row[0]}".lower()})
        self.assertEqual(len(seen["sorted"]), len(seen["rows"]))
        self.assertNotEqual(seen["dark_back"], "rgb(251, 251, 250)")

    def test_names_are_harmless(self):
        lines = [{"event_id": 0, "type": "meta", "schema": 1, "tool": EVIL, "start": EVIL,
                  "host": {"kernel": EVIL, "arch": EVIL}, "command": [EVIL], "rules": []}]
        for i in range(1, 40):
            lines.append({"event_id": i, "ts": i / 1000, "type": "userspace", "phase": "X",
                          "name": ("launch" if i % 2 else "") + EVIL, "pid": 7, "tid": 7 + i % 3,
                          "comm": EVIL, "cpu": 0, "duration_us": 400.0, "ret": EVIL,
                          "args": {"a": EVIL}, "stack": [EVIL]})
        file = self.write("evil.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        seen = self.page(file, "names")
        self.assertEqual({row[0] for row in seen["rows"]}, {EVIL, "launch" + EVIL})

    def test_what_calls_were_given(self):
        """Each tip shows the arguments of its call, also of a trace whose arguments come in many pieces."""
        lines = [META]
        for i in range(1, 20001):
            lines.append({"event_id": i, "ts": i / 1000, "type": "userspace", "phase": "X", "name": "launch" if i % 7 else "other",
                          "pid": 7, "tid": 7, "comm": "a", "cpu": 0, "duration_us": 900.0, "ret": 0,
                          "args": {"n": i, "text": f"{i:x}" * 40}})
        file = self.write("many.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        seen = self.page(file, "many")
        self.assertGreater(len(seen["tips"]), 15)
        for tip in seen["tips"]:
            found = re.search(r"\A(\w+)\nuserspace, at ([0-9.]+) s.*\nn = (\d+)\ntext = (\w+)", tip, re.DOTALL)
            n = int(found[3])
            self.assertEqual(round(float(found[2]) * 1000), n, tip)
            self.assertEqual((found[1], found[4]), ("launch" if n % 7 else "other", f"{n:x}" * 40))
        self.assertGreater(len(set(seen["tips"])), 15)

    def test_calls_of_any_length(self):
        """Tips tell begin and length of each: also beyond 2^32 nanoseconds, and of calls about which no more is known."""
        lines, expected = [META], set()
        for i in range(24):
            begin, seconds = 6 * i + 1, 5.5 if i % 2 else 3
            call = {"event_id": i + 1, "ts": begin, "type": "userspace", "phase": "X", "name": "launch", "pid": 7, "tid": 7, "comm": "a",
                    "cpu": 0, "duration_us": seconds * 1e6}
            lines.append({**call, "args": {"n": i}} if i % 3 else call)
            more = f"\nn = {i}" if i % 3 else ""
            expected.add(f"launch\nuserspace, at {begin:.9f} s, {seconds:.2f} s{more}")
        file = self.write("long.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        seen = self.page(file, "long")
        self.assertEqual({tip for tip in seen["tips"] if tip not in expected}, set())
        self.assertGreater(len(set(seen["tips"])), 10)

    def test_a_job_on_a_gpu(self):
        """Launches, copies and waits for the device stand first; of its pool there is a button."""
        job = {"steps": 10, "threads": 6, "launches": 24, "copies": True, "modules": 2, "late": False}
        with unittest.mock.patch.dict(os.environ, LD_LIBRARY_PATH=str(CUDA_SIM), CUDA_SIM_QUIET="1"):
            done = self.mlbcc("profile", "-o", self.out, "--", "/usr/bin/python3",
                              ROOT / "tests/runtime/targets/gpu_pool.py", self.dir / "clock", json.dumps(job))
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = self.page(self.out, "gpu")
        self.assertEqual([lane.split(" · ")[1] for lane in seen["lanes"][:5]],
                         ["gpu_start", "gpu_load", "gpu_copy", "gpu_launch", "gpu_wait"])
        self.assertEqual(seen["idle"], "6 idle threads")
        self.assertEqual(seen["sections"][:3], ["phases-part", "time-part", "timeline-part"])
        with open(self.dir / "profile.json", "w+") as file:
            self.mlbcc("report", self.out, "--json", "-", stdout=file)
            file.seek(0)
            whole = json.load(file)["time"]["whole"]
        parts = sorted([("on CPU", whole["on_cpu_ns"])] + [(name.replace("_", " "), ns) for name, ns in whole["off_cpu_ns"].items()], key=lambda one: -one[1])
        self.assertEqual([row[0] for row in seen["time"]], [name for name, _ in parts])
        self.assertEqual([row[2] for row in seen["time"]], [f"{100 * ns / whole['thread_time_ns']:.1f} %" for _, ns in parts])

    def test_opens_where_something_happened(self):
        """Not at the start of a job that calls nothing for long, and as high as its lanes; counters that stand still are folded."""
        lines, number = [META], 0
        for i in range(11):
            for kind, more in (("userspace", {"phase": "X", "name": "launch", "duration_us": 500.0, "pid": 7}),
                               ("memory", {"phase": "i", "name": "process", "args": {"resident": 4096 * i}, "pid": 7}),
                               ("memory", {"phase": "i", "name": "process", "args": {"resident": 4096}, "pid": 8})):
                number += 1
                lines.append({"event_id": number, "ts": 10 + i / 1000, "type": kind, "tid": more["pid"], "comm": "a", "cpu": 0, **more})
        lines.append({"event_id": number + 1, "ts": 30.0, "type": "summary", "events": number, "lost": 0, "processes": 2, "threads": 2})
        seen = self.page(self.write("late.jsonl", "".join(json.dumps(line) + "\n" for line in lines)), "late")
        self.assertEqual(seen["tiles"]["duration"], 30000000000)
        self.assertEqual(seen["whole"], "9.999895 s to 10.010605 s, 10.7 ms")
        self.assertLess(seen["height"], 110, "pixels, of a lane in two processes")
        self.assertEqual(seen["folded"], ["1 that hardly change"])

    def test_what_works_comes_first(self):
        """Processes and threads that launch, then those that call anything; threads that slept all the time, and processes that do little, are folded."""
        lines, number = [META], 0

        def call(pid, tid, comm, kind, name, begin, seconds):
            nonlocal number
            number += 1
            lines.append({"event_id": number, "ts": begin, "type": kind, "phase": "X", "name": name, "pid": pid, "tid": tid,
                          "comm": comm, "cpu": 0, "duration_us": seconds * 1e6})
        for i in range(20):
            call(7, 7, "shell", "file", "open", .1 + i / 10, .01)
            call(8, 8, "train", "file", "open", .1 + i / 10, .01)
            call(8, 31, "train", "userspace", "cuLaunchKernel", .1 + i / 10, .001)
            call(8, 31, "train", "off_cpu", "wait", .12 + i / 10, .01)
            call(8, 30, "loader", "off_cpu", "wait", .1 + i / 10, .05)  # computes between its waits
        for tid in range(10, 29):
            call(8, tid, "pool", "off_cpu", "wait", .05, 2)
            call(8, tid, "pool", "memory", "map", .04, .001)  # as threads do first
        lines[1:] = sorted(lines[1:], key=lambda line: line["ts"])
        file = self.write("idle.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        seen = self.page(file, "idle")
        working = ["train 8/31 · userspace", "train 8/31 · off_cpu", "train 8 · file", "loader 8/30 · off_cpu"]
        self.assertEqual(seen["lanes"], working)
        self.assertEqual(seen["processes"], ["▾ train 8 · 22 threads, 118 calls", "▸ shell 7 · 1 thread, 20 calls"])
        self.assertEqual(seen["closed"], "1 process that does little")
        self.assertEqual(seen["lanes_opened"], working + ["shell 7 · file"])
        self.assertEqual(seen["lanes_without_first"], [])
        self.assertEqual(seen["idle"], "19 idle threads")
        self.assertEqual(sorted(seen["lanes_with_idle"]), sorted(working + [f"pool 8/{tid} · {kind}" for tid in range(10, 29) for kind in ("memory", "off_cpu")]))
        self.assertEqual(seen["lanes_again"], working)
