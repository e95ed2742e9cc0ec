"""Traces in Perfetto's form, decoded by protoc and compared slice by slice."""

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

from harness import ROOT
from harness.inference import InferenceCase

# MLBCC_PERFETTO_PROTO: the format's own perfetto_trace.proto, to be sure of names and numbers.
PROTO = Path(os.environ.get("MLBCC_PERFETTO_PROTO", ROOT / "tool" / "view" / "perfetto.proto"))
CLEARED = 1  # of sequence_flags


def parse(lines):
    """protoc's text form: {field: [values]}, messages likewise."""
    out = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            return out
        if line.endswith("{"):
            out.setdefault(line[:-2], []).append(parse(lines))
            continue
        name, _, value = line.partition(": ")
        if value.startswith('"'):
            value = re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]),
                           value[1:-1].encode()).decode()
            value = value.replace('\\"', '"').replace("\\\\", "\\")
        elif re.fullmatch(r"-?\d+", value):
            value = int(value)
        out.setdefault(name, []).append(value)
    return out


def decode(file):
    text = subprocess.run(["protoc", f"--proto_path={PROTO.parent}",
                           "--decode=perfetto.protos.Trace", PROTO.name],
                          stdin=open(file, "rb"), capture_output=True, text=True, check=True).stdout
    return parse(iter(text.splitlines()))["packet"]


class Reader:
    """What a viewer makes of the packets: interned names, then slices on tracks, by time."""

    TABLES = {"event_categories": "name", "event_names": "name", "debug_annotation_names": "name",
              "debug_annotation_string_values": "str"}

    def __init__(self, packets):
        self.tables, self.tracks, self.slices, self.instants, self.counters = {}, {}, [], [], []
        events = []
        for packet in packets:
            if packet["sequence_flags"][0] & CLEARED if "sequence_flags" in packet else False:
                self.tables = {}
            for field, entries in packet.get("interned_data", [{}])[0].items():
                for entry in entries:
                    table = self.tables.setdefault(field, {})
                    assert entry["iid"][0] not in table
                    table[entry["iid"][0]] = entry[self.TABLES[field]][0]
            for track in packet.get("track_descriptor", []):
                self.tracks[track["uuid"][0]] = track
            for event in packet.get("track_event", []):
                assert event["track_uuid"][0] in self.tracks
                events.append((packet["timestamp"][0], event, self.read(event)))
        self.play(sorted(events, key=lambda one: one[0]))  # stable, as a trace processor sorts

    def read(self, event):
        def named(field, table, key="iid"):
            return self.tables[table][event[field][0]] if field in event else None
        if "name" in event:
            return None, event["name"][0], {}
        values = {}
        for one in event.get("debug_annotations", []):
            values[self.tables["debug_annotation_names"][one["name_iid"][0]]] = self.value(one)
        return named("category_iids", "event_categories"), named("name_iid", "event_names"), values

    def value(self, one):
        if "array_values" in one:
            return [self.value(each) for each in one["array_values"]]
        if "string_value_iid" in one:
            return self.tables["debug_annotation_string_values"][one["string_value_iid"][0]]
        return next((one[kind][0] for kind in ("uint_value", "int_value", "string_value",
                                               "bool_value") if kind in one), [])

    def play(self, events):
        open_slices = {}
        for ts, event, what in events:
            track, kind = event["track_uuid"][0], event["type"][0]
            if kind == "TYPE_SLICE_BEGIN":
                open_slices.setdefault(track, []).append((ts, what))
            elif kind == "TYPE_SLICE_END":
                begin, what = open_slices[track].pop()
                self.slices.append((track, begin, ts - begin, *what))
            elif kind == "TYPE_INSTANT":
                self.instants.append((track, ts, *what))
            else:
                self.counters.append((track, ts, event["counter_value"][0]))
        self.still_open = [one for lane in open_slices.values() for one in lane]

    def thread(self, track):
        thread = self.tracks[track]["thread"][0]
        return thread["pid"][0], thread["tid"][0]


def nanoseconds(number, unit):
    return int(number * unit)


class Perfetto(InferenceCase):
    def perfetto(self, *options):
        file = self.dir / "trace.pftrace"
        done = self.mlbcc("convert", self.out, "--to", "perfetto", "-o", file, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return file

    def calls(self, trace):
        return {begin["event_id"]: (end["pid"], end["tid"], nanoseconds(begin["ts"], 10**9),
                                    nanoseconds(end["duration_us"], 1000), end["type"], end["name"])
                for begin, end in trace.calls()}

    def test_every_slice(self):
        trace = self.inference()
        reader = Reader(decode(self.perfetto()))
        made = {values["[event]"]: (*reader.thread(track), begin, duration, category, name)
                for track, begin, duration, category, name, values in reader.slices}
        self.assertEqual(made, self.calls(trace))
        self.assertEqual(len(made), len(reader.slices))
        self.assertGreater(len(made), 100)
        self.assertEqual(reader.still_open, [])
        self.assertEqual(Counter((*reader.thread(track), ts, name)
                                 for track, ts, _, name, _ in reader.instants),
                         Counter((e["pid"], e["tid"], nanoseconds(e["ts"], 10**9), e["name"])
                                 for e in trace.events if e["phase"] == "i"))

    def test_a_trace_without_events(self):
        self.trace("on syscall:getppid { event a.b(ret) }", "true")
        [packet] = decode(self.perfetto())
        self.assertEqual(packet["track_descriptor"][0]["name"], ["no events"])

    def test_values_and_names(self):
        trace = self.inference()
        reader = Reader(decode(self.perfetto()))
        by_id = {one[5]["[event]"]: one[5] for one in reader.slices}
        for begin, end in trace.pairs("cuLaunchKernel"):
            values = by_id[begin["event_id"]]
            self.assertEqual({name: values[name] for name in begin["args"]}, begin["args"])
            self.assertEqual(values["[returned]"], end["ret"])
        threads = {reader.thread(uuid): track["thread"][0]["thread_name"][0]
                   for uuid, track in reader.tracks.items() if "thread" in track}
        self.assertEqual(threads, {(e["pid"], e["tid"]): e["comm"] for e in trace.events})
        for track in reader.tracks.values():
            if "thread" in track:
                process = reader.tracks[track["parent_uuid"][0]]["process"][0]
                self.assertEqual(process["pid"], track["thread"][0]["pid"])

    def test_flows_from_launch_to_what_waited(self):
        trace = self.inference()
        events = [event for packet in decode(self.perfetto()) for event in packet.get("track_event", [])]
        begun = [flow for event in events for flow in event.get("flow_ids", [])]
        ended = [flow for event in events for flow in event.get("terminating_flow_ids", [])]
        self.assertEqual(len(begun), len(trace.named("cuLaunchKernel", "B")))
        self.assertEqual((len(set(begun)), len(set(ended))), (len(begun), len(ended)))
        self.assertGreater(len(ended), 0)
        self.assertLessEqual(set(ended), set(begun))

    def test_it_is_smaller(self):
        self.inference()
        self.assertLess(self.perfetto().stat().st_size, self.out.stat().st_size / 2)

    def test_a_ring_of_the_latest(self):
        trace = self.trace("""
            library c = "libc.so.6"
            int getppid();
            on c:getppid { span call }
            """, "python3", "-c", "import os\nfor i in range(20000): os.getppid()")
        file = self.perfetto("--max-size", "256KiB")
        self.assertLessEqual(file.stat().st_size, 256 << 10)
        self.assertGreater(file.stat().st_size, 192 << 10)
        reader = Reader(decode(file))
        kept = [one[5]["[event]"] for one in reader.slices]
        begins = [b["event_id"] for b, _ in trace.pairs("getppid")]
        self.assertEqual(kept, begins[-len(kept):])
        self.assertLess(len(kept), 20000)
        cut = [one for one in reader.instants if one[3].startswith("cut: ")]
        self.assertEqual([one[1] for one in cut], [reader.slices[0][1]])

    def test_counters(self):
        trace = self.trace("""
            library c = "libc.so.6"
            void *malloc(size_t size);
            on entry c:malloc { where size > 4000000   event counter.asked(bytes = size) }
            """, "python3", "-c", "[bytearray(n * 1000000) for n in (5, 6, 7)]")
        reader = Reader(decode(self.perfetto()))
        self.assertEqual([(ts, value) for _, ts, value in reader.counters],
                         [(nanoseconds(e["ts"], 10**9), e["args"]["bytes"])
                          for e in trace.named("asked")])
        track = reader.tracks[reader.counters[0][0]]
        self.assertEqual(track["name"], ["asked.bytes"])
        self.assertIn("counter", track)

    def test_max_size_is_of_perfetto(self):
        self.write("trace.jsonl", json.dumps({"event_id": 0, "type": "meta", "schema": 1}) + "\n")
        for options, message in (
                (("--to", "csv", "--max-size", "1MiB"), "--max-size is for `--to perfetto`"),
                (("--to", "perfetto", "--max-size", "1KiB"), "`1KiB` is too small a file"),
                (("--to", "perfetto", "--max-size", "large"), "`large` is not a size")):
            done = self.mlbcc("convert", self.out, *options)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
