"""What of a trace must not depend on where it was taken: events in order, with types, names, phases,
arguments, results, nesting, and the numbers of the summary. Times are left out; process and thread ids,
and addresses that name something (memory, a stream), are numbered in the order in which they first
appear; other addresses are only told from null. Of a stack the first modules remain: Python is another one, and its stack
is cut where the kernel's copy of it ends."""

import json
import re
import sys

TIMES = {"ts", "duration_us", "start", "cpu"}  # and all that ends in _ns or _ts
IDS = {"pid", "tid"}
NAMING = {"address", "stream", "hStream", "f", "hfunc", "hmod", "ctx"}
ADDRESS = re.compile(r"0x[0-9a-f]+")


def modules(stack):
    """["libffi.so.8:ffi_call+0xcd", "python3.11+0x53f633", "0x7f"] -> ["libffi.so.8", "python3.11"]"""
    found = []
    for frame in stack:
        module = re.split(r"[:+]", frame)[0]
        if not ADDRESS.fullmatch(module) and module not in found[-1:]:
            found.append(module)
    return found[:3]


class Essence:
    def __init__(self, root=""):
        self.root, self.numbers = root, {}

    def number(self, kind, value):
        return f"{kind} {self.numbers.setdefault((kind, value), len(self.numbers))}"

    def of(self, value, key=None):
        if isinstance(value, dict):
            if value.get("unit") == "ns":  # a sum or a distribution of times: how many, and of what
                value = {k: v for k, v in value.items() if k not in ("value", "buckets", "min", "max", "sum")}
            return {k: self.of(v, k) for k, v in value.items() if k not in TIMES and not k.endswith(("_ns", "_ts"))}
        if key in ("stack", "peak_stack"):
            return modules(value)
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if key in IDS:
            return self.number(key, value)
        if isinstance(value, str) and ADDRESS.fullmatch(value) and int(value, 16) != 0:
            return self.number("address", value) if key in NAMING else "an address"
        if isinstance(value, str) and self.root and value.startswith(self.root):
            return value[len(self.root):]
        return value


def essence(path, root=""):
    """`root`: a folder that stands for / in that trace's paths."""
    own = Essence(str(root))
    records = [json.loads(line) for line in open(path, encoding="utf-8")]
    found = [own.of(record) for record in records if record["type"] != "meta"]
    found[-1].pop("cost", None)  # what probes take is measured
    for key, value in found[-1].items():  # the summary's tables are in the order of times
        if isinstance(value, list):
            found[-1][key] = sorted(value, key=json.dumps)
    return found


if __name__ == "__main__":
    print("\n".join(json.dumps(record) for record in essence(*sys.argv[1:3])))
