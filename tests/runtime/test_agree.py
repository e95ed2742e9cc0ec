"""Every number twice: what is shown of one trace, here and there, is one number, and the program's own books have it.

A mixed job (targets/mixed.py: a GPU that is simulated, files, a pool of threads, processes, a server) is traced with each
bundled rule file. Compared are the summary on the terminal, `report`, its calls, CSV, the page, Prometheus, the lines of the
trace themselves, and, for the rules that tell them, the job's own counts.
"""

import csv
import io
import json
import os
import re
import subprocess
import time
from collections import Counter, defaultdict

from harness import MLBCC, ROOT, TracerCase
from harness.machine import CUDA_SIM, TARGETS
from harness.trace import Trace
from test_prometheus import free_port, read

PYTHON = "/usr/bin/python3"
JOB = ROOT / "tests/runtime/targets/mixed.py"
SAMPLE = re.compile(r'^(mlbcc_\w+)(?:\{(.*)\})? ([-+.\deE]+)$', re.MULTILINE)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
# What only `mlbcc profile` and `mlbcc serve` show.
OTHER_COMMANDS = ("profile", "serve")


def names():
    return sorted(path.stem for path in (ROOT / "rules").glob("*.rules"))


class Agree(TracerCase):
    def job(self, rules):
        """(trace, the job's books, what mlbcc said, Prometheus's page when the job had done its work)"""
        port = free_port()
        folder = self.dir / "files"
        folder.mkdir(exist_ok=True)
        environment = {**os.environ, "LD_LIBRARY_PATH": f"{CUDA_SIM}:{TARGETS}", "CUDA_SIM_QUIET": "1"}
        self.out.unlink(missing_ok=True)
        live = subprocess.Popen([MLBCC, "--rules", rules, "-o", self.out, "--prometheus", f":{port}", "--", PYTHON, JOB, folder, "hold"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir, env=environment)
        self.addCleanup(live.kill)
        books = json.loads(live.stdout.readline())
        time.sleep(0.3)  # several looks at the rings
        page = read(f"http://127.0.0.1:{port}/metrics")
        said = live.communicate("\n")[1]
        self.assertEqual(live.returncode, 0, said)
        return Trace(self.out), books, said, page

    def agree(self, trace, said, page):
        self.lines_and_summary(trace)
        self.terminal_and_report(said)
        self.calls(trace)
        self.rows(trace)
        self.page(trace)
        self.functions(trace)
        self.prometheus(trace, page)

    def lines_and_summary(self, trace):
        summary = trace.summary
        self.assertEqual(sum("event_id" in line for line in trace.records) - 2, summary["events"], "but for `meta` and `summary`")
        self.assertEqual(summary["lost"], 0)
        for loss in summary["losses"]:
            self.assertEqual((loss["lost"], loss["received"]), (0, loss["submitted"]), loss)
            self.assertLessEqual(loss.get("without_stack", 0), loss["received"])  # no number is made of stacks
        for one in summary["stats"] + summary["hists"] + summary["gauges"] + summary.get("largest", []):
            self.assertNotIn("lost", one)
        for one in summary["hists"]:
            self.assertEqual(sum(count for _, _, count in one["buckets"]), one["count"], one)
            if one["count"]:
                self.assertLessEqual(one["min"] * one["count"], one["sum"], one)
                self.assertLessEqual(one["sum"], one["max"] * one["count"], one)
        cost = summary.get("cost", {})
        self.assertLessEqual(cost.get("ns", 0), cost.get("cpu_ns", 1 << 62))
        self.assertGreaterEqual(summary["processes"], len({e["pid"] for e in trace.events if e["pid"]}))

    def terminal_and_report(self, said):
        """The same text, live and of the file."""
        live = said[said.index("=== TRACE SUMMARY"):said.index("mlbcc: trace written")]
        self.assertEqual(self.mlbcc("report", self.out).stdout.strip(), live.strip())

    def calls(self, trace):
        done = self.mlbcc("report", self.out, "--top", "5", "--json", "-")
        report = json.loads(done.stdout) if done.stdout else None
        if report is None:  # there are no calls
            self.assertEqual([e for e in trace.events if e["phase"] != "E"], [], done.stderr)
            return
        self.assertEqual((report["all"], report["chosen"]), (len(trace.distinct()),) * 2)
        seen, timed, total = Counter(), Counter(), Counter()
        for e in trace.events:
            if e["phase"] != "E":
                seen[e["type"], self.shown(e)] += 1
        for begin, end in trace.calls():
            key = begin["type"], self.shown(begin)
            timed[key] += 1
            total[key] += int((end["duration_us"] or 0) * 1000)
        self.assertEqual({(row["type"], row["name"]): row["calls"] for row in report["calls"]}, dict(seen))
        for row in report["calls"]:
            self.assertEqual((row["timed"], row["total_ns"]), (timed[row["type"], row["name"]], total[row["type"], row["name"]]), row)

    @staticmethod
    def shown(event):
        return f"{event['name']} (1 in {event['sample']})" if event.get("sample", 1) > 1 else event["name"]

    def rows(self, trace):
        """CSV: a row for each call, of which one is counted, and each moment."""
        rows = list(csv.DictReader(io.StringIO(self.mlbcc("convert", self.out, "--to", "csv", "-o", "-").stdout, newline="")))
        kinds = Counter(row["kind"] for row in rows)
        phases = Counter(e["phase"] for e in trace.events)
        instants = [e for e in trace.events if e["phase"] == "i"]
        counters = sum(e["type"] == "counter" for e in instants)
        self.assertEqual(kinds["instant"] + kinds["counter"], len(instants))
        self.assertEqual(kinds["counter"], counters)
        self.assertEqual(kinds["call"] + kinds["event"], phases["B"] + phases["X"])
        distinct = sum(e["phase"] != "i" for e in trace.distinct([e for e in trace.events if e["phase"] in "BX"]))
        self.assertEqual(kinds["call"], distinct)
        self.assertEqual(kinds["lost"], len(trace.lost))

    def page(self, trace):
        """The numbers on its tiles, without a browser: they stand in its data."""
        html = self.mlbcc("convert", self.out, "--to", "html", "-o", "-").stdout
        data = {name: int(re.search(rf'"{name}":(\d+)', html)[1]) for name in ("events", "lost", "processes", "calls_seen", "instants")}
        summary, distinct = trace.summary, trace.distinct()
        self.assertEqual((data["events"], data["lost"], data["processes"]), (summary["events"], summary["lost"], summary["processes"]))
        self.assertEqual(data["calls_seen"] + data["instants"], len(distinct))

    def functions(self, trace):
        """`functions` of the summary: the calls whose end is known, of each function; one, whatever rules say of it."""
        ends = defaultdict(set)
        for begin, end in trace.calls():
            ends[begin.get("function", begin["name"])].add((begin["tid"], begin["ts"], end["duration_us"]))
        said = defaultdict(int)
        for one in trace.summary["functions"]:
            said[one["function"]] += one["calls"]
        self.assertEqual(dict(said), {name: len(calls) for name, calls in ends.items()})

    def prometheus(self, trace, page):
        """At the end of the job's work no counter had more than at the end of all; of the GPU's calls, as many."""
        finals = defaultdict(int)
        for stat in trace.summary["stats"]:
            finals[stat["rule"], stat["label"], stat["kind"]] += stat["value"]
        seen = defaultdict(float)
        for name, labels, value in SAMPLE.findall(page):
            labels = dict(LABEL.findall(labels))
            kind = {"mlbcc_rule_calls_total": "count"}.get(name, "sum" if re.match(r"mlbcc_rule_sum_(bytes_|)total$", name) else None)
            if kind:
                seen[labels["rule"], labels["name"], kind] += float(value)
            elif name == "mlbcc_events_total":
                self.assertLessEqual(float(value), trace.summary["events"])
            elif name == "mlbcc_lost_events_total":
                self.assertEqual(float(value), 0)
        for key, value in seen.items():
            self.assertIn(key, finals)
            self.assertLessEqual(value, finals[key], key)
            if key[0].startswith("cuda"):
                self.assertEqual(value, finals[key], key)

    def books(self, name, trace, books):
        """What the job says itself."""
        def values(label):
            sums = Counter()  # what rules give one name is one
            for stat in trace.summary["stats"]:
                if stat["label"] == label:
                    sums[tuple(stat["by"].values())] += stat["value"]
            return dict(sums)

        def of_job(type_, name_):
            return [e for e in trace.events if e["type"] == type_ and e["name"] == name_ and "mixed-" in str(e["args"].get("path"))]
        if name == "cuda":
            self.assertEqual(values("Kernels run"), {(kernel,): count for kernel, count in books["launches"].items()})
            self.assertEqual(values("Total memory allocated"), {(): books["allocated"]})
            self.assertEqual(sum(values("Copied to the device").values()), books["copied"])
            held, = [one for one in trace.summary["gauges"] if one["name"] == "gpu_bytes"]
            self.assertEqual((held["value"], held["peak"]), (books["held"], books["allocated"]))
        elif name == "io":
            self.assertEqual(len(of_job("file", "open")), books["files"])
            self.assertEqual(sum(e["args"]["bytes"] for e in of_job("file", "write")), books["written"])
            self.assertEqual(len(of_job("file", "sync")), books["synced"])
        elif name == "network":
            made = [e for e in trace.named("connect") if e["args"]["port"] == books["port"]]
            self.assertEqual((len(made), {e["args"]["error"] for e in made}), (books["connections"], {0}))
            sent = sum(e["args"]["bytes"] for e in trace.named("send") if e["args"]["port"] != books["port"])
            received = sum(e["args"]["bytes"] for e in trace.named("receive") if e["args"]["port"] == books["port"])
            self.assertEqual(sent, received, "what the server sends its clients receive")
            self.assertGreater(sent, books["body"])
        self.assertEqual(trace.summary["processes"], books["processes"])

    def check(self, wanted):
        for name in names():
            if name.split("_")[0] in OTHER_COMMANDS or not wanted(name):
                continue
            with self.subTest(rules=name):
                trace, books, said, page = self.job(name)
                self.agree(trace, said, page)
                self.books(name, trace, books)

    def test_rules_of_the_gpu(self):
        self.check(lambda name: name.startswith(("cu", "gpu", "nvidia", "nccl", "hip", "torch")))

    def test_rules_of_the_system(self):
        self.check(lambda name: not name.startswith(("cu", "gpu", "nvidia", "nccl", "hip", "torch")))


if __name__ == "__main__":
    print(names())
