"""mlbcc timeline: what it draws, against the trace itself."""

import os
import re
import unittest

from harness.inference import InferenceCase
from harness.machine import MLBCC
from harness.terminal import shown_on_terminal

LABEL = re.compile(r"^(  \S+ +| +)\|(.*)\|$")


class Timeline(InferenceCase):
    def timeline(self, *options, file=None, **run):
        done = self.mlbcc("timeline", file or self.out, "--ascii", *options, **run)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def lanes(self, text):
        """(thread, type) to the rows of its lane."""
        found, thread, kind = {}, None, None
        for line in text.splitlines():
            if re.match(r"^\d+/\d+ ", line):
                thread = line.split()[0]
            elif (match := LABEL.match(line)) and thread:
                kind = match[1].strip() or kind
                found.setdefault((thread, kind), []).append(match[2])
        return found

    def test_every_call_is_where_it_was(self):
        trace = self.inference()
        text = self.timeline("--width", "150")
        lanes = self.lanes(text)
        width = {len(row) for rows in lanes.values() for row in rows}
        self.assertEqual(len(width), 1)
        width = width.pop()
        calls = list(trace.calls())
        start, end = min(float(begin["ts"]) for begin, _ in calls), max(float(begin["ts"]) + float(over["duration_us"]) / 1e6 for begin, over in calls)
        said = re.match(r"=== TIMELINE ===  ([\d.]+) ms to ([\d.]+) ms of [\d.]+ m?s, (\d+) threads?, ([\d ]+) calls, 0 lost", text)
        for shown, when in zip(said.groups(), (start, end)):
            self.assertAlmostEqual(float(shown), 1000 * when, delta=(end - start))  # a thousandth of it
        used = set()
        for begin, over in calls:
            key = (f"{begin['pid']}/{begin['tid']}", begin["type"])
            used.add(key)
            first, last = (int((when - start) / (end - start) * width) for when in (float(begin["ts"]), float(begin["ts"]) + float(over["duration_us"]) / 1e6))
            near = [row[max(first - 1, 0):last + 2] for row in lanes[key]]
            self.assertTrue(any(piece.strip() for piece in near), (begin, near))
        drawn = {key for key in lanes if key[1] not in ("lost",)}
        self.assertLessEqual(used, drawn)
        self.assertEqual(int(said[4].replace(" ", "")), len(trace.distinct()))
        longest, over = max(calls, key=lambda pair: pair[1]["duration_us"])
        rows = lanes[f"{longest['pid']}/{longest['tid']}", longest["type"]]
        columns = float(over["duration_us"]) / 1e6 / (end - start) * width
        self.assertTrue(any(f"[{longest['name'][:3]}" in row for row in rows) or columns < 6, rows)

    def test_a_window(self):
        trace = self.inference()
        begin, over = max(trace.calls(), key=lambda pair: pair[1]["duration_us"])
        low = int(begin["ts"] * 1000000) + 1
        high = low + int(over["duration_us"]) - 2
        text = self.timeline("--width", "100", "--from", f"{low}us", "--to", f"{high}us", "--name", begin["name"])
        rows = self.lanes(text)[f"{begin['pid']}/{begin['tid']}", begin["type"]]
        self.assertTrue(rows[0].startswith("[" + begin["name"]), rows)
        self.assertTrue(rows[0].endswith("-]"), rows)

    def test_colors_only_on_a_terminal(self):
        self.inference()
        self.assertNotIn("\x1b", self.timeline())
        for none, expected in (("", True), ("1", False)):
            shown, status = shown_on_terminal([MLBCC, "timeline", self.out, "-q"],
                                              env={**os.environ, "NO_COLOR": none, "LC_ALL": "C.UTF-8"})
            self.assertEqual(status, 0)
            self.assertEqual("\x1b[" in shown.decode(), expected)
            self.assertIn("│", shown.decode())

    def test_mistakes(self):
        for options, said in ((["--from", "2s", "--to", "1s"], "--from is not before --to"), (["--width", "7"], "--width"),
                              (["--from", "soon"], "`soon` is not a time")):
            done = self.mlbcc("timeline", "x.jsonl", *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        self.assertEqual(self.mlbcc("timeline", self.dir / "none.jsonl").returncode, 1)


if __name__ == "__main__":
    unittest.main()
