"""What tracing costs a decode loop (decode.py): steps a second alone and traced, in turn.

    cost.py OUT [--mlbcc PATH] [--device cpu] [--seconds N] [--rounds N] [--rules NAME ...]

From the program's start, each run against one alone before it; and by --pid, against the same process before. Of the
latter the first second is left out. Writes OUT/cost.json and OUT/cost.md.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

DECODE = Path(__file__).resolve().parent / "decode.py"
RULES = ("cuda", "cuda_kernels", "cuda_all")


class Jobs:
    def __init__(self, options):
        self.options, self.out = options, Path(options.out)

    def decode(self, seconds, *more):
        return [sys.executable, DECODE, "--device", self.options.device, "--seconds", str(seconds), *more]

    def mlbcc(self, rules, *more):
        return [self.options.mlbcc, "--rules", rules, "-o", self.out / "cost.jsonl", *more]

    def rate(self, command):
        """Steps a second that a whole run says."""
        done = subprocess.run([*map(str, command)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"cost.py: {' '.join(map(str, command))}: {done.stderr}")
        return float(done.stdout)

    def from_the_start(self, rules):
        alone = self.rate(self.decode(self.options.seconds))
        return alone, self.rate(self.mlbcc(rules, "--", *self.decode(self.options.seconds)))

    def by_pid(self, rules):
        log, length = self.out / "windows.txt", self.options.seconds
        log.unlink(missing_ok=True)
        job = subprocess.Popen([*map(str, self.decode(3 * length + 6, "--log", log))], stdout=subprocess.DEVNULL)
        while not log.exists() or not log.read_text():
            if job.poll() is not None:
                sys.exit(f"cost.py: decode.py ended with {job.returncode}")
            time.sleep(0.1)
        time.sleep(length)
        before = time.monotonic()
        with open(self.out / "cost.txt", "w") as said:
            tracer = subprocess.Popen([*map(str, self.mlbcc(rules, "-v", "--pid", job.pid))], stderr=said)
            while "tracing" not in (self.out / "cost.txt").read_text() and tracer.poll() is None:
                time.sleep(0.05)
            begin = time.monotonic()
            time.sleep(1 + length)
            end = time.monotonic()
            tracer.terminate()
            if tracer.wait() != 0:
                sys.exit(f"cost.py: mlbcc: {(self.out / 'cost.txt').read_text()}")
        job.terminate()
        job.wait()
        windows = [tuple(map(float, line.split())) for line in log.read_text().splitlines() if line.count(" ") == 1]
        return rate_between(windows, before - length, before), rate_between(windows, begin + 1, end)


def rate_between(windows, begin, end):
    """The median of the windows there, as decode.py itself says it."""
    inside = [window for window in windows if begin <= window[0] <= end]
    if len(inside) < 2:
        sys.exit("cost.py: too few steps: give more --seconds")
    return statistics.median((s - r) / (b - a) for (a, r), (b, s) in zip(inside, inside[1:]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--mlbcc", default="mlbcc")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rules", nargs="+", default=RULES)
    options = parser.parse_args()
    Path(options.out).mkdir(exist_ok=True)
    jobs, rows = Jobs(options), []
    for rules in options.rules:
        for way, measure in (("from the start", jobs.from_the_start), ("by --pid", jobs.by_pid)):
            pairs = [measure(rules) for _ in range(options.rounds)]
            alone, traced = (statistics.median(one) for one in zip(*pairs))
            rows.append({"rules": rules, "way": way, "alone": alone, "traced": traced, "pairs": pairs,
                         "ratio": statistics.median(b / a for a, b in pairs)})
    text = "| rules | | steps/s alone | traced | ratio |\n| --- | --- | --- | --- | --- |\n"
    for row in rows:
        text += "| {rules} | {way} | {alone:.1f} | {traced:.1f} | {ratio:.3f} |\n".format(**row)
    (Path(options.out) / "cost.json").write_text(json.dumps(rows, indent=1))
    (Path(options.out) / "cost.md").write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
