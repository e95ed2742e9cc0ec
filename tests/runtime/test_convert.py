"""A trace in the forms of other programs, and packed ones; read by other code than ours."""

import csv
import io
import json
import os
import re
import subprocess
from collections import Counter
from decimal import Decimal

from harness import ROOT, target
from harness.inference import APP, InferenceCase


def microseconds(seconds):
    return seconds * 1000000


def calls_of(trace):
    """(pid, tid, begin in us, duration in us, type, name) of each call that has both ends."""
    return Counter((end["pid"], end["tid"], microseconds(begin["ts"]), end["duration_us"],
                    end["type"], end["name"]) for begin, end in trace.calls())


def overlaps(slices):
    """Pairs of slices of one thread of which neither is in the other."""
    bad, around = [], []
    for begin, end in sorted(slices, key=lambda one: (one[0], -one[1])):
        while around and around[-1][1] <= begin:
            around.pop()
        if around and end > around[-1][1]:
            bad.append((around[-1], (begin, end)))
        around.append((begin, end))
    return bad


class Convert(InferenceCase):
    def convert(self, form, *options, file=None, to="-", **run):
        done = self.mlbcc("convert", file or self.out, "--to", form, "-o", to, *options, **run)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def chrome(self, **run):
        return json.loads(self.convert("chrome", **run), parse_float=Decimal)

    def test_chrome_has_every_call(self):
        trace = self.inference()
        made = self.chrome()
        events = made["traceEvents"]
        calls = Counter((e["pid"], e["tid"], e["ts"], e["dur"], e["cat"], e["name"])
                        for e in events if e["ph"] == "X")
        self.assertEqual(calls, calls_of(trace))
        self.assertGreater(len({key[5] for key in calls}), 10)
        instants = Counter((e["tid"], e["ts"], e["name"]) for e in events if e["ph"] == "i")
        self.assertEqual(instants, Counter((e["tid"], microseconds(e["ts"]), e["name"])
                                           for e in trace.events if e["phase"] == "i"))
        self.assertEqual(made["otherData"]["lost"], 0)
        self.assertIs(made["otherData"]["complete"], True)
        self.assertEqual(made["otherData"]["command"][:2], ["python3", str(APP)])

    def test_pprof_has_calls_and_time_by_stack(self):
        """As Go's own pprof reads it."""
        trace = self.trace('on "libc.so.6":malloc { span heap  stack user }', "/bin/ls", "/")
        self.convert("pprof", to=self.dir / "trace.pb")
        said = subprocess.run(["go", "tool", "pprof", "-raw", self.dir / "trace.pb"], capture_output=True, text=True, check=True,
                              env={**os.environ, "HOME": str(self.dir)}).stdout
        samples = [(int(calls), int(time)) for calls, time in re.findall(r"^ +(\d+) +(\d+): [\d ]+$", said, re.M)]
        durations = [round(end["duration_us"] * 1000) for _, end in trace.calls()]
        self.assertGreater(len(samples), 5)
        self.assertEqual((sum(calls for calls, _ in samples), sum(time for _, time in samples)),
                         (len(durations), sum(durations)))
        self.assertRegex(said, r"(?m)^ +1: 0x0 (M=1 )?malloc ")
        folded = [int(line.rsplit(" ", 1)[1]) for line in self.convert("folded").splitlines()]
        self.assertEqual(sorted(calls for calls, _ in samples), sorted(folded), "by the same stacks")

    def test_chrome_flows_from_launch_to_what_waited(self):
        trace = self.inference()
        events = self.chrome()["traceEvents"]
        ends = {phase: {e["id"]: e for e in events if e["ph"] == phase} for phase in "sf"}
        self.assertEqual(ends["s"].keys(), ends["f"].keys())
        spans = {(b["pid"], b["tid"], microseconds(b["ts"])): (b, e) for b, e in trace.calls() if e is not b}
        waits = [b for b, e in spans.values() if b["name"] in ("cuCtxSynchronize", "cuStreamSynchronize")]
        launches = [b for b, e in spans.values() if b["name"].startswith("cuLaunch")]
        waited = [one for one in launches if any(
            wait["pid"] == one["pid"] and wait["ts"] > one["ts"] and
            wait["args"].get("hStream") in (None, one["args"]["hStream"]) for wait in waits)]
        self.assertGreater(len(waited), 0)
        self.assertEqual(len(ends["s"]), len(waited))
        for flow, begin in ends["s"].items():
            end = ends["f"][flow]
            launch, _ = spans[begin["pid"], begin["tid"], begin["ts"]]
            wait, _ = spans[end["pid"], end["tid"], end["ts"]]
            self.assertIn(launch, waited)
            self.assertIn(wait, waits)
            self.assertEqual(end["bp"], "e")

    def test_directly_while_tracing(self):
        rules = self.write("a.rules", 'on "libc.so.6":getppid { span user }\n')
        program = "import os, sys; os.getppid(); sys.exit(7)"
        done = self.mlbcc("--rules", rules, "-o", self.out, "--format", "chrome,csv", "--format", "perfetto", "--", "python3", "-c", program)
        self.assertEqual(done.returncode, 7, done.stderr)
        for form, ending in (("chrome", "json"), ("csv", "csv")):
            file = self.out.with_suffix("." + ending)
            self.assertIn(f"{file} was written", done.stderr)
            self.assertEqual(file.read_text(), self.convert(form))
        self.assertGreater(self.out.with_suffix(".pftrace").stat().st_size, 100)
        for options, said in ((["-o", "-"], "--format needs a trace file"), (["-o", self.dir / "none" / "x.jsonl"], "none")):
            done = self.mlbcc("--rules", rules, *options, "--format", "csv", "--", "true")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
        done = self.mlbcc("serve", "--format", "csv", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--format needs a trace file", done.stderr)
        done = self.mlbcc("report", self.out, "--format", "csv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("`mlbcc report` has no option `--format`", done.stderr)

    def test_chrome_calls_are_in_one_another(self):
        self.inference()
        by_thread = {}
        for event in self.chrome()["traceEvents"]:
            if event["ph"] == "X":
                by_thread.setdefault((event["pid"], event["tid"]), []).append(
                    (event["ts"], event["ts"] + event["dur"]))
        self.assertTrue(by_thread)
        for thread, slices in by_thread.items():
            self.assertEqual(overlaps(slices), [], thread)

    def test_chrome_names_threads_and_values(self):
        trace = self.inference()
        events = self.chrome()["traceEvents"]
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
                 if e["ph"] == "M" and e["name"] == "thread_name"}
        self.assertEqual(names, {(e["pid"], e["tid"]): e["comm"] for e in trace.events})
        by_id = {e["args"]["[event]"]: e for e in events if "[event]" in e["args"]}
        for begin, end in trace.pairs("cuLaunchKernel"):
            args = by_id[begin["event_id"]]["args"]
            self.assertEqual({name: args[name] for name in begin["args"]}, begin["args"])
            self.assertEqual(args["[returned]"], end["ret"])
        self.assertGreater(len(trace.pairs("cuLaunchKernel")), 0)

    def test_counters(self):
        trace = self.trace("""
            library c = "libc.so.6"
            void *malloc(size_t size);
            on entry c:malloc { where size > 4000000   event counter.asked(bytes = size) }
            """, "python3", "-c", "[bytearray(n * 1000000) for n in (5, 6, 7)]")
        counters = [(e["ts"], e["args"]) for e in self.chrome()["traceEvents"] if e["ph"] == "C"]
        self.assertEqual(counters, [(microseconds(e["ts"]), e["args"])
                                    for e in trace.named("asked")])
        self.assertEqual([args["bytes"] // 1000000 for _, args in counters], [5, 6, 7])

    def test_memory_over_time(self):
        """What memory.rules finds at each look is a counter: its bytes, and nothing else."""
        trace = self.trace(ROOT / "rules" / "memory.rules", "python3", "-c",
                           "import time; held = bytearray(60 << 20); time.sleep(0.5)")
        counters = [(e["ts"], e["name"], e["args"]) for e in self.chrome()["traceEvents"] if e["ph"] == "C"]
        lines = "resident", "anonymous", "file_mapped", "shared", "swap"
        self.assertEqual(counters, [(microseconds(e["ts"]), "memory", {name: e["args"][name] for name in lines if name in e["args"]})
                                    for e in trace.named("process") if e["type"] == "memory"])
        self.assertGreater(max(args["resident"] for _, _, args in counters), 60 << 20)

    def test_csv(self):
        trace = self.inference()
        rows = list(csv.DictReader(io.StringIO(self.convert("csv"), newline="")))
        calls = Counter((int(r["pid"]), int(r["tid"]), microseconds(Decimal(r["start_s"])),
                         Decimal(r["duration_us"]), r["type"], r["name"])
                        for r in rows if r["kind"] in ("call", "event"))
        self.assertEqual(calls, calls_of(trace))
        distinct = {e["event_id"] for e in trace.distinct()}
        self.assertEqual({int(r["event_id"]): r["kind"] for r in rows if r["kind"] in ("call", "event")},
                         {begin["event_id"]: "call" if begin["event_id"] in distinct else "event" for begin, _ in trace.calls()})
        by_id = {int(row["event_id"]): row for row in rows}
        for event in trace.events:
            if event["phase"] == "E":
                continue
            row = by_id[event["event_id"]]
            self.assertEqual(json.loads(row["args"] or "{}", parse_float=Decimal),
                             {**event.get("args", {}), **self.args_of_end(trace, event)})
            self.assertEqual(json.loads(row["stack"] or "[]"), event.get("stack", []))

    def args_of_end(self, trace, event):
        ends = getattr(trace, "ends", None)
        if ends is None:
            ends = {e["begin"]: e for e in trace.events if e["phase"] == "E" and "begin" in e}
            trace.ends = ends
        return ends.get(event["event_id"], {}).get("args", {})

    def test_folded(self):
        self.trace('library c = "libc.so.6"\nint getppid();\non c:getppid { span a stack user }',
                   "python3", "-c", "import os; os.getppid()")
        reported = self.mlbcc("report", "--folded", "-", self.out).stdout
        self.assertEqual(self.convert("folded"), reported)
        self.assertRegex(reported, r";getppid 1\n$")
        by_time = self.convert("folded", "--folded-by", "duration")
        self.assertEqual(by_time, self.mlbcc("report", "--folded", "-", "--folded-by", "duration",
                                             self.out).stdout)

    def test_packed_and_piped(self):
        self.trace(ROOT / "rules" / "io.rules", "cat", "/etc/passwd")
        packed = self.dir / "trace.jsonl.zst"
        subprocess.run(["zstd", "-q", self.out, "-o", packed], check=True)
        summary = self.mlbcc("report", self.out).stdout
        self.assertIn("TRACE SUMMARY", summary)
        self.assertEqual(self.mlbcc("report", packed).stdout, summary)
        chrome = self.convert("chrome")
        self.assertEqual(self.convert("chrome", file=packed), chrome)
        for file in (self.out, packed):
            with open(file, "rb") as stdin:
                self.assertEqual(self.convert("chrome", file="-", stdin=stdin), chrome)
            piped = subprocess.Popen(["cat", file], stdout=subprocess.PIPE)
            done = self.mlbcc("report", "-", stdin=piped.stdout)
            piped.stdout.close()
            self.assertEqual((piped.wait(), done.stdout), (0, summary), done.stderr)

    def test_a_cut_trace(self):
        trace = self.trace(ROOT / "rules" / "io.rules", "cat", "/etc/passwd")
        whole = self.out.read_bytes()
        lines = whole.splitlines(keepends=True)
        self.out.write_bytes(b"".join(lines[:-2]) + lines[-2][:20])
        made = self.chrome()
        self.assertIn("its last line is cut; what is before it was taken", self.last.stderr)
        self.assertIs(made["otherData"]["complete"], False)
        kept = {e["event_id"] for e in trace.events[:-1]}
        self.assertEqual({e["args"]["[event]"] for e in made["traceEvents"] if "[event]" in e["args"]},
                         {e["event_id"] for e in trace.events
                          if e["event_id"] in kept and e["phase"] != "E"})

    def test_the_file_that_is_made(self):
        self.trace('library c = "libc.so.6"\nint getppid();\non c:getppid { span a }',
                   target("driver"), stdin=subprocess.DEVNULL)
        self.assertEqual(self.mlbcc("convert", self.out, "--to", "csv").returncode, 0)
        self.assertIn(f"{self.dir}/trace.csv was written", self.last.stderr)
        self.assertTrue((self.dir / "trace.csv").read_text().startswith("kind,start_s,"))

    def test_mistakes(self):
        self.write("trace.jsonl", "no trace\n")
        for options, status, message in (
                (("trace.jsonl",), 2, "--to is required"),
                (("trace.jsonl", "--to", "tree"), 2, "tree not in {chrome,perfetto,folded,pprof,csv,html}"),
                (("trace.jsonl", "--to", "csv", "-o", "trace.jsonl"), 2,
                 "convert would overwrite trace.jsonl"),
                (("trace.jsonl", "--to", "csv", "-o", "-"), 1,
                 "trace.jsonl: not a trace: its first line is not a JSON object"),
                (("none.jsonl", "--to", "csv", "-o", "-"), 1,
                 "none.jsonl: No such file or directory"),
                (("trace.jsonl", "--to", "chrome", "--folded-by", "duration"), 2,
                 "--folded-by says how --folded FILE is written")):
            done = self.mlbcc("convert", *options)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)
        self.assertEqual(self.out.read_text(), "no trace\n")
