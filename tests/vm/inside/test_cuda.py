"""rules/cuda_all.rules on this kernel: probes are in user space, how they attach is the kernel's."""

import json
import re

from harness import ROOT
from harness.machine import attach_ways
from inside.case import VmCase

RULES = ROOT / "rules" / "cuda_all.rules"


class Cuda(VmCase):
    def test_each_call_of_the_apps_log(self):
        log = self.dir / "app.log"
        with self.counted() as books:
            trace = self.trace(RULES, *self.APP, "--log", str(log), options=("-v",))
        *calls, end = [json.loads(line) for line in log.read_text().splitlines()]
        self.check_calls(trace, calls)
        self.check_accounts(trace, end["totals"])
        self.assertEqual(books.calls("nvidia_unlocked_ioctl"), 4 + 2 * 10)
        way = {"perf": "by perf events", "multi": "by uprobe_multi", "session": "by uprobe session"}[attach_ways()[-1]]
        self.assertRegex(self.last.stderr, way, "the best way of this kernel")

    def check_calls(self, trace, calls):
        """The spans of the trace are the lines of the log."""
        spans = sorted((pair for name in {e["name"] for e in trace.events if e["phase"] == "B"}
                        for pair in trace.pairs(name)), key=lambda pair: pair[0]["event_id"])
        for begin, _ in spans:
            if begin["name"].startswith("cuLaunch"):  # what rules say besides
                for name in ("kernel", "blocks", "threads", "stream"):
                    begin["args"].pop(name)
        self.assertEqual([(b.get("symbol", b["name"]), b.get("args", {})) for b, _ in spans],
                         [(call["call"], call["args"]) for call in calls])
        self.assertEqual({e["ret"] for _, e in spans}, {"CUDA_SUCCESS"})

    def check_accounts(self, trace, totals):
        self.assertEqual(trace.stats("Total CUDA API calls"), {(): totals["calls"]})
        self.assertEqual(trace.stats("Total memory allocated"), {(): totals["bytes_allocated"]})
        self.assertEqual(sum(trace.stats("Kernel launches").values()), totals["launches"])
        self.assertEqual([(g["value"], g["held"]) for g in trace.gauge("gpu_bytes")], [(0, [])])
        self.assertEqual(trace.summary["lost"], 0)
        for loss in trace.summary["losses"]:
            self.assertEqual((loss["unmatched_begin"], loss["unmatched_end"]), (0, 0), loss["rule"])
        said = re.findall(r"^(?:warning|error|note).*", self.last.stderr, re.MULTILINE)
        self.assertEqual(said, [])
