"""A trace file, read strictly: whatever a line says that docs/events.md does not allow is an error,
for each trace that any test makes."""

import json
import re
from decimal import Decimal

TS = re.compile(r'"ts":\d+\.\d{9}[,}]')
DURATION = re.compile(r'"duration_us":(\d+\.\d{3}|null)[,}]')


class Malformed(AssertionError):
    """A line that is not what docs/events.md says."""


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise Malformed(f"a key stands twice: {keys}")
    return dict(pairs)


def no_constant(text):
    raise Malformed(f"{text} is not JSON")


def parse_line(line):
    try:
        return json.loads(line, object_pairs_hook=unique, parse_float=Decimal,
                          parse_constant=no_constant)
    except ValueError as error:
        raise Malformed(f"{error}: {line!r}") from None


class Trace:
    """The records of a trace: meta, events (those with a phase), lost, and the summary."""

    def __init__(self, path, whole=True):
        """`whole`: the trace has ended, so it is checked as a whole. Otherwise a last line without
        a newline is left out, and a summary may be missing."""
        data = path.read_bytes().decode("utf-8", errors="strict")
        self.lines = data.split("\n")
        last = self.lines.pop()
        if whole and last != "":
            raise Malformed(f"the file does not end with a newline: {last!r}")
        self.records = [parse_line(line) for line in self.lines]
        self.meta = self.records[0] if self.records else None
        self.events = [r for r in self.records if "phase" in r]
        self.lost = [r for r in self.records if r["type"] == "lost" and "phase" not in r]
        ends = [r for r in self.records if r["type"] == "summary" and "phase" not in r]
        self.summary = ends[0] if ends else None
        self.by_id = {r["event_id"]: r for r in self.records}
        check(self, whole)

    def named(self, name, phase=None):
        """The events of this name, or of this function where the rule gave another name."""
        return [e for e in self.events if name in (e["name"], e.get("function"))
                and phase in (None, e["phase"])]

    def pairs(self, name):
        """(begin, end) of each span of this name that has both ends, by beginning."""
        ends = {e["begin"]: e for e in self.events if e["phase"] == "E" and "begin" in e}
        return [(b, ends[b["event_id"]]) for b in self.named(name, "B") if b["event_id"] in ends]

    def calls(self):
        """(begin, end) of each call that has both ends, by its end; an X is both."""
        for event in self.events:
            if event["phase"] == "X":
                yield event, event
            elif event["phase"] == "E" and "begin" in event:
                yield self.by_id[event["begin"]], event

    def distinct(self, records=None):
        """Of beginnings, calls and instants, the first of each call: a span and an event of one function are two records."""
        first = {}
        for one in self.events if records is None else records:
            if one["phase"] != "E":
                first.setdefault((one["tid"], one["ts"], one.get("function", one["name"])), one)
        return list(first.values())

    def args(self, name, phase):
        """The args of each event of this name."""
        return [e.get("args", {}) for e in self.named(name, phase)]

    def parent(self, event):
        """The event that `event` happened in, or None."""
        return self.by_id[event["parent"]] if "parent" in event else None

    def loss(self, key):
        """A number of the losses, over all rules."""
        return sum(entry[key] for entry in self.summary["losses"])

    def stats(self, label):
        """{by: value} of counts or sums with this label, those of several rules added up; `by` as
        a tuple of its values."""
        values = {}
        for stat in self.summary["stats"]:
            if stat["label"] == label:
                group = tuple(stat["by"].values())
                values[group] = values.get(group, 0) + stat["value"]
        return values

    def hist(self, label):
        return [h for h in self.summary["hists"] if h["label"] == label]

    def gauge(self, name):
        return [g for g in self.summary["gauges"] if g["name"] == name]


def check(trace, whole):
    if not trace.records:
        raise Malformed("the trace is empty")
    check_meta(trace.meta)
    for number, record in enumerate(trace.records):
        expect(record["event_id"] == number, record, f"event_id should be {number}")
        if number > 0:
            line = trace.lines[number]
            expect(TS.search(line), record, "ts needs nine decimals")
            expect("duration_us" not in record or DURATION.search(line), record,
                   "duration_us needs three decimals")
    check_order(trace)
    spans = check_spans(trace)
    if whole:
        check_summary(trace, spans)


def expect(condition, record, message):
    if not condition:
        raise Malformed(f"{message}: {record}")


def check_meta(meta):
    expect(meta["type"] == "meta" and meta["schema"] == 1, meta, "the first line is meta, schema 1")
    expect(re.fullmatch(r"mlbcc \d+\.\d+\.\d+", meta["tool"]), meta, "tool")
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", meta["start"]), meta, "start")
    expect({"kernel", "arch"} <= set(meta["host"]), meta, "host")
    expect(isinstance(meta["rules"], list) and meta["rules"], meta, "rules")


LATE_US = 40_000  # a call written whole that took longer may come after its time


def is_late(record, last):
    """Whether an X stands after its time because it was a long call."""
    return record["ts"] < last and record.get("phase") == "X" and (record["duration_us"] or 0) >= LATE_US


def check_order(trace):
    """What else is late, for its thread was preempted in a probe, is counted."""
    last, late = Decimal(0), 0
    for record in trace.records[1:]:
        if record["type"] == "reload" and "phase" not in record:
            last = record["ts"]  # calls that were open then may end later, and stand before it
        if is_late(record, last):
            continue
        late += record["ts"] < last
        expect(late <= (trace.summary or {}).get("late", 0), record, f"out of order: the record before is of {last}")
        last = max(last, record["ts"])


def check_spans(trace):
    """Begins, ends and parents fit; returns how many begins have no end."""
    begins, stacks = {}, {}
    for event in trace.events:
        phase = event["phase"]
        expect(phase in ("B", "E", "X", "i"), event, "phase")
        expect({"type", "name", "pid", "tid", "comm", "cpu"} <= set(event), event, "a key is missing")
        expect(("duration_us" in event) == (phase in "EX"), event, "duration_us is of E and X")
        thread = (event["pid"], event["tid"])
        if phase == "B":
            check_parent(event, stacks.get(thread, []))
            begins[event["event_id"]] = event
            stacks.setdefault(thread, []).append(event["event_id"])
        elif phase == "X" and (event["duration_us"] or 0) >= LATE_US:
            continue
        elif phase == "E" and "begin" in event:
            begin = begins.pop(event["begin"], None)
            expect(begin is not None, event, "begin names no open B")
            same = all(begin[key] == event[key] for key in ("type", "name", "pid", "tid"))
            expect(same, event, f"the begin is of another call: {begin}")
            expect(event["ts"] >= begin["ts"], event, "ends before it begins")
            stack = stacks[thread]
            del stack[stack.index(event["begin"]):]
        else:
            check_parent(event, stacks.get(thread, []))
    return len(begins)


def check_parent(event, stack):
    """A parent is an open span of the same thread (left ones may still stand below)."""
    if "parent" in event:
        expect(event["parent"] in stack, event, f"parent is none of the open spans {stack}")


def check_summary(trace, open_spans):
    end = trace.records[-1]
    expect(end is trace.summary, end, "the last line is the summary")
    expect({"events", "lost", "stats", "hists", "gauges", "losses"} <= set(end), end, "summary keys")
    reloads = [r for r in trace.records if r["type"] == "reload" and "phase" not in r]
    sums = [r for r in trace.records if r["type"] == "sums" and "phase" not in r]
    lines = len(trace.events) + len(trace.lost) + len(reloads) + len(sums)
    expect(end["events"] == lines, end, f"there are {lines} events")
    expect(end["lost"] == sum(l["count"] for l in trace.lost), end, "lost is not what lines say")
    losses = [loss for one in [*(r["before"] for r in reloads), end] for loss in one["losses"]]
    for loss in losses:
        fits = loss["submitted"] == loss["lost"] + loss["received"]
        expect(fits, loss, "submitted is not received + lost")
    if end["lost"] == 0:
        unmatched = sum(loss["unmatched_begin"] for loss in losses)
        expect(unmatched == open_spans, end, f"{open_spans} spans have no end")
    for hist in end["hists"]:
        expect(sum(b[2] for b in hist["buckets"]) == hist["count"], hist, "buckets add up")
