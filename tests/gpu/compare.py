"""Compares the traces that run.sh made with PyTorch's own numbers.

    compare.py FOLDER        writes FOLDER/result.json and FOLDER/result.md

Kernels run, by name, and bytes copied between the marks must be equal; the peak of device memory that
the trace saw is no less than what PyTorch's allocator had reserved.
"""

import collections
import json
import sys
from pathlib import Path


def between_the_marks(path):
    """(kernels by name, kernels of graphs, bytes copied by direction) and the summary."""
    kernels, of_graphs, copied = collections.Counter(), 0, collections.Counter()
    inside, summary = False, None
    with open(path) as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "summary":
                summary = record
            elif record.get("name") == "cuProfilerStart":
                inside = True
            elif record.get("name") == "cuProfilerStop":
                inside = False
            elif inside and record.get("phase") == "B" and record["name"].startswith("cuLaunchKernel"):
                kernels[record["args"]["kernel"]] += 1
            elif inside and record["type"] == "graph" and record["name"] == "launch":
                of_graphs += record["args"]["kernels"]
            elif inside and record.get("phase") == "B" and "ByteCount" in record.get("args", {}):
                copied[record["name"]] += record["args"]["ByteCount"]
    return kernels, of_graphs, copied, summary


def name_of(kernel):
    """A kernel's name without its parameters and template arguments, as both tools write it."""
    return kernel.removeprefix("void ").split("(")[0].split("<")[0]


def by_short_name(kernels):
    short = collections.Counter()
    for name, count in kernels.items():
        short[name_of(name)] += count
    return dict(short)


def compare(folder, job):
    profile = json.loads((folder / f"{job}.profile.json").read_text())
    facts = json.loads((folder / f"{job}.facts.json").read_text())
    kernels, of_graphs, copied, summary = between_the_marks(folder / f"{job}.jsonl")
    seen, expected = sum(kernels.values()) + of_graphs, sum(profile["kernels"].values())
    peak = sum(g["peak"] for g in summary["gauges"] if g["name"] == "gpu_bytes")
    rows = [("kernels run", expected, seen, expected == seen),
            ("bytes copied", sum(profile["copied"].values()), sum(copied.values()),
             sum(profile["copied"].values()) == sum(copied.values())),
            ("peak of device memory", facts["reserved"], peak, peak >= facts["reserved"]),
            ("events lost", 0, summary["lost"], summary["lost"] == 0)]
    if of_graphs == 0:
        names = by_short_name(kernels), by_short_name(profile["kernels"])
        rows.append(("kernels by name", len(names[1]), len(names[0]), names[0] == names[1]))
    return {"job": job, "facts": facts, "rows": rows,
            "kernels": {"traced": kernels, "profiled": profile["kernels"], "of graphs": of_graphs}}


def main():
    folder = Path(sys.argv[1])
    results = [compare(folder, path.name.split(".")[0])
               for path in sorted(folder.glob("*.facts.json"))]
    (folder / "result.json").write_text(json.dumps(results, indent=1))
    lines = ["| job | what | PyTorch | mlbcc | |", "| --- | --- | --- | --- | --- |"]
    for result in results:
        for what, expected, seen, holds in result["rows"]:
            verdict = "equal" if expected == seen else "as it should be" if holds else "DIFFERENT"
            lines.append(f"| {result['job']} | {what} | {expected} | {seen} | {verdict} |")
    (folder / "result.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    all_hold = results and all(row[3] for result in results for row in result["rows"])
    sys.exit(0 if all_hold else 1)


if __name__ == "__main__":
    main()
