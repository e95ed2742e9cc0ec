"""mlbcc report of some of a trace's calls: compared with what Python finds in the same file."""

import fnmatch
import json
import os
import re
import subprocess
import unittest

from harness import ROOT
from harness.inference import InferenceCase
from harness.machine import MLBCC
from harness.schema import faults
from harness.terminal import shown_on_terminal

SCHEMA = ROOT / "docs/calls.schema.json"


def ns(seconds):
    return int(seconds * 1000000000)


def calls_of(trace):
    """Calls that are over, as the report has them."""
    return [{"event_id": begin["event_id"], "begin_ns": ns(begin["ts"]), "duration_ns": int(end["duration_us"] * 1000), "type": end["type"],
             "name": end["name"], "function": end.get("function", "")} for begin, end in trace.calls()]


class Report(InferenceCase):
    def report(self, *options, file=None, **run):
        done = self.mlbcc("report", file or self.out, "--json", "-", *options, **run)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self, report, trace, wanted, top=10):
        chosen = [call for call in calls_of(trace) if wanted(call)]
        instants = [one for one in trace.events if one["phase"] == "i" and
                    wanted({"begin_ns": ns(one["ts"]), "type": one["type"], "name": one["name"],
                            "function": one.get("function", "")})]
        ids = {one["event_id"] for one in chosen + instants}
        distinct = {one["event_id"] for one in trace.distinct([e for e in trace.events if e["event_id"] in ids])}
        self.assertEqual(report["chosen"], len(distinct))
        self.assertEqual(report["all"], len(trace.distinct()))
        by_name = {}
        for call in chosen:
            by_name.setdefault((call["type"], call["name"]), []).append(call["duration_ns"])
        self.assertEqual({(row["type"], row["name"]) for row in report["calls"] if row["timed"]}, set(by_name))
        for row in report["calls"]:
            times = sorted(by_name.get((row["type"], row["name"]), []))
            if not times:
                continue
            self.assertEqual((row["timed"], row["total_ns"], row["min_ns"], row["max_ns"]),
                             (len(times), sum(times), times[0], times[-1]))
            for share, key in ((50, "p50_ns"), (90, "p90_ns"), (99, "p99_ns")):
                true = times[-(-len(times) * share // 100) - 1]
                self.assertLessEqual(abs(row[key] - true), true * 0.016 + 1, (row, key))
        longest = sorted((one for one in chosen if one["event_id"] in distinct), key=lambda call: (-call["duration_ns"], call["event_id"]))[:top]
        keys = ("event_id", "begin_ns", "duration_ns", "type", "name")
        self.assertEqual([[one[key] for key in keys] for one in report["slowest"]], [[one[key] for key in keys] for one in longest])

    def test_some_of_the_calls(self):
        trace = self.inference()
        self.check(self.report("--top", "7"), trace, lambda call: True, top=7)
        self.check(self.report("--name", "cuMem*"), trace,
                   lambda call: any(fnmatch.fnmatchcase(call[key], "cuMem*") for key in ("name", "function")))
        kinds = sorted({call["type"] for call in calls_of(trace)})
        self.assertGreater(len(kinds), 0)
        self.check(self.report("--type", ",".join(kinds[:2])), trace, lambda call: call["type"] in kinds[:2])
        begins = sorted(call["begin_ns"] for call in calls_of(trace))
        low, high = (begins[at] // 1000 * 1000 for at in (len(begins) // 4, len(begins) // 2))
        self.check(self.report("--from", f"{low // 1000}us", "--to", f"{high // 1000}us"), trace, lambda call: low <= call["begin_ns"] < high)
        slow = self.report("--top", "3")["slowest"][0]
        line, = [one for one in trace.events if one["event_id"] == slow["event_id"]]
        self.assertEqual((slow["pid"], slow["tid"], slow["comm"]), (line["pid"], line["tid"], line["comm"]))
        for name, value in line.get("args", {}).items():
            self.assertEqual(slow["args"][name], value)

    def gaps(self, trace, wanted, begin=0, end=None):
        """(begin, duration) of the times without such calls, the longest first."""
        end = ns(trace.summary["ts"]) if end is None else end
        spans = [(call["begin_ns"], call["begin_ns"] + call["duration_ns"]) for call in calls_of(trace) if wanted(call)]
        spans += [(ns(one["ts"]), ns(one["ts"])) for one in trace.events if one["phase"] == "i" and wanted({"name": one["name"], "type": one["type"]})]
        found, reach = [], begin
        for low, high in sorted(spans):
            if high < begin or low >= end:
                continue
            if low > reach:
                found.append((reach, low - reach))
            reach = max(reach, high)
        if end > reach:
            found.append((reach, end - reach))
        return sorted(found, key=lambda gap: (-gap[1], gap[0]))

    def test_gaps(self):
        trace = self.inference()
        for options, wanted in (((), lambda call: True), (("--type", "file"), lambda call: call["type"] == "file")):
            shown = [(gap["begin_ns"], gap["duration_ns"]) for gap in self.report("--top", "6", *options)["gaps"]]
            self.assertEqual(shown, self.gaps(trace, wanted)[:6])
        middle = ns(trace.summary["ts"]) // 2000 * 1000
        shown = [(gap["begin_ns"], gap["duration_ns"]) for gap in self.report("--from", f"{middle // 1000}us", "--top", "6")["gaps"]]
        self.assertEqual(shown, self.gaps(trace, lambda call: True, begin=middle)[:6])
        done = self.mlbcc("report", self.out, "--top", "4")
        longest = self.gaps(trace, lambda call: True)[0]
        self.assertIn(f"from {longest[0] / 1e9:.6f} s to {sum(longest) / 1e9:.6f} s\n", done.stdout.split("LONGEST GAPS")[1])

    def test_the_summary_and_the_schema(self):
        trace = self.inference()
        report = self.report()
        with open(self.out, encoding="utf-8") as file:
            self.assertEqual(report["summary"], [json.loads(line) for line in file if '"type":"summary"' in line][0])
        self.assertGreater(len(report["summary"]["gauges"]), 0)
        self.assertEqual(trace.summary["lost"], 0)
        self.assertEqual(faults(SCHEMA, report), "")
        lines = self.out.read_text().splitlines(keepends=True)
        cut = self.report(file=self.write("cut.jsonl", "".join(lines[:len(lines) // 2])))
        self.assertIsNone(cut["summary"])
        self.assertEqual(faults(SCHEMA, cut), "")

    def test_forms(self):
        """A packed trace and standard input; the text; nothing chosen."""
        trace = self.inference()
        subprocess.run(["zstd", "-q", str(self.out)], check=True)
        plain = self.report("--top", "4")
        self.assertEqual(self.report("--top", "4", file=str(self.out) + ".zst"), plain)
        self.assertEqual(self.report("--top", "4", file="-", input=self.out.read_text()), plain)
        done = self.mlbcc("report", self.out, "--top", "4")
        self.assertRegex(done.stdout, r"=== CALLS ===  [0-9.]+ s, \d+ of \d+ calls, 0 lost\n")
        row = plain["calls"][0]
        self.assertRegex(done.stdout, rf"\n{row['type']}  {row['name']} +{row['calls']} ")
        self.assertIn(f" {plain['slowest'][0]['name']}", done.stdout.split("SLOWEST CALLS")[1])
        nothing = self.mlbcc("report", self.out, "--name", "absent*")
        self.assertEqual(nothing.returncode, 0)
        self.assertIn("no call in", nothing.stderr)
        self.assertEqual(trace.summary["lost"], 0)

    def test_on_a_terminal(self):
        """Titles and headings are bold there; what is written is the same."""
        self.inference()
        for options, headings in ((("--top", "4"), ("=== CALLS ===", "SLOWEST CALLS")), ((), ("=== TRACE SUMMARY ===", "USERSPACE (libcuda.so.1)"))):
            plain = self.mlbcc("report", self.out, "-q", *options).stdout
            self.assertNotIn("\x1b", plain)
            for none in ("", "1"):
                shown, status = shown_on_terminal([MLBCC, "report", self.out, "-q", *options], env={**os.environ, "NO_COLOR": none})
                text = shown.decode().replace("\r\n", "\n")
                self.assertEqual(status, 0)
                self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", text), plain)
                for heading in headings:
                    self.assertEqual(f"\x1b[1m{heading}" in text, none == "", text)

    def test_mistakes(self):
        for options, said in ((["--from", "soon"], "`soon` is not a time"), (["--from", "2s", "--to", "1s"], "--from is not before --to"),
                              (["--top", "0"], "--top")):
            done = self.mlbcc("report", "x.jsonl", *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
