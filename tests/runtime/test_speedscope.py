"""Chrome's form in speedscope, a viewer that no one here wrote: it has each call where the trace has it."""

import json
import re
import subprocess

from harness import ROOT
from harness.inference import InferenceCase

KEPT = ROOT / "build" / "page"


class Speedscope(InferenceCase):
    def test_each_call_is_read(self):
        self.need_npm("page", "chromium")
        trace = self.inference()
        chrome, saved = self.dir / "trace.json", self.dir / "saved.json"
        self.assertEqual(self.mlbcc("convert", self.out, "--to", "chrome", "-o", chrome).returncode, 0)
        done = subprocess.run(["node", "speedscope.mjs", str(chrome), str(saved), str(KEPT / "speedscope.png")],
                              cwd=KEPT, text=True, capture_output=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "[]"), done.stderr)

        calls = {(end if begin["phase"] == "X" else begin)["event_id"]: (begin, end) for begin, end in trace.calls()}
        read = self.slices(json.loads(saved.read_text()))
        self.assertEqual(set(read), set(calls))
        firsts = {}  # of a thread: when it began its first call, as both have it
        for number, (begin, end) in sorted(calls.items(), key=lambda one: one[1][0]["ts"]):
            name, at, took = read[number]
            self.assertEqual(name, begin["name"])
            self.assertAlmostEqual(took, float(end["duration_us"]), delta=0.002)
            first = firsts.setdefault(begin["tid"], (begin["ts"], at))
            self.assertAlmostEqual(at - first[1], float(begin["ts"] - first[0]) * 1e6, delta=0.01)

    def slices(self, saved):
        """{event: (name, begin, duration)}, in microseconds; a frame's name holds its arguments."""
        found, frames = {}, saved["shared"]["frames"]
        for profile in saved["profiles"]:
            self.assertEqual((profile["type"], profile["unit"]), ("evented", "microseconds"))
            opened = []
            for event in profile["events"]:
                if event["type"] == "O":
                    opened.append(event)
                    continue
                begun = opened.pop()
                self.assertEqual(begun["frame"], event["frame"])
                name = frames[event["frame"]]["name"]
                number = int(re.search(r'"\[event\]":(\d+)', name)[1])
                self.assertNotIn(number, found)
                found[number] = name.split(" ")[0], begun["at"], event["at"] - begun["at"]
            self.assertEqual(opened, [])
        return found
