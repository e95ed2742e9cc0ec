"""Chrome's form in chrome://tracing: what it draws is what the trace has. Debian's Chromium no longer has that page, Chromium 92
from npm does. Screenshots are kept in build/page/tracing."""

import json
import platform
import subprocess

from harness import ROOT
from harness.inference import InferenceCase

KEPT = ROOT / "build" / "page"
NUMBER = "[event]"


class ChromeTracing(InferenceCase):
    def setUp(self):
        super().setUp()
        if platform.machine() != "x86_64":
            self.skipTest("npm has the Chromium with chrome://tracing for x86-64 only")
        self.need_npm("page", "chromium")

    def shown(self):
        """(What is in the file, what the page makes of it)."""
        chrome, pictures = self.dir / "trace.json", KEPT / "tracing"
        pictures.mkdir(exist_ok=True)
        self.assertEqual(self.mlbcc("convert", self.out, "--to", "chrome", "-o", chrome).returncode, 0)
        done = subprocess.run(["node", "tracing.mjs", chrome, pictures / f"{self._testMethodName}.png"],
                              cwd=KEPT, text=True, capture_output=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        model = json.loads(done.stdout)
        self.assertEqual((model["url"], model["errors"]), ("chrome://tracing/", []))
        self.assertEqual(model["warnings"], [])
        for process in model["processes"]:
            self.assertIn(f"{process['name']} (pid {process['pid']})", model["text"])
        self.assertGreater(model["colors"], 5)
        return json.loads(chrome.read_text())["traceEvents"], model

    def test_calls_threads_and_flows(self):
        trace = self.inference()
        events, model = self.shown()
        calls = {(end if begin["phase"] == "X" else begin)["event_id"]: (begin, end) for begin, end in trace.calls()}
        drawn = {one["args"][NUMBER]: (process["pid"], thread["tid"], thread["name"], one) for process in model["processes"]
                 for thread in process["threads"] for one in thread["slices"]}
        self.assertEqual(set(drawn), set(calls))
        for number, (begin, end) in calls.items():
            pid, tid, thread, one = drawn[number]
            self.assertEqual((pid, tid, thread, one["name"]), (begin["pid"], begin["tid"], begin["comm"], begin["name"]))
            self.assertAlmostEqual(one["begin"], float(begin["ts"]) * 1e3, places=5)  # milliseconds
            self.assertAlmostEqual(one["duration"], float(end["duration_us"]) / 1e3, places=5)
        flows = [(calls[one["from"][NUMBER]][0]["name"], calls[one["to"][NUMBER]][0]["name"]) for one in model["flows"]]
        self.assertEqual(len(flows), len([event for event in events if event["ph"] == "s"]))
        self.assertGreater(len(flows), 0)
        for launch, wait in flows:
            self.assertRegex(launch, "^cuLaunch")
            self.assertIn(wait, ("cuCtxSynchronize", "cuStreamSynchronize"))

    def test_counters(self):
        trace = self.trace(ROOT / "rules" / "memory.rules", "python3", "-c", "import time; held = bytearray(60 << 20); time.sleep(0.5)")
        _, model = self.shown()
        drawn = {series["name"]: series["samples"] for process in model["processes"] for counter in process["counters"]
                 for series in counter["series"]}
        looks = [event for event in trace.named("process") if event["type"] == "memory"]
        self.assertGreater(len(looks), 0)
        for line in ("resident", "anonymous"):
            self.assertEqual([value for _, value in drawn[line]], [look["args"][line] for look in looks])
            for (at, _), look in zip(drawn[line], looks):
                self.assertAlmostEqual(at, float(look["ts"]) * 1e3, places=5)
