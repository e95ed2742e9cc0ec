"""Ways to measure: interleaved repetitions, the programs under test, and the peers."""

import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "runtime")]

from harness.machine import BUILD, CUDA_SIM, MLBCC, TARGETS, target  # noqa: E402

SCRATCH = BUILD / "bench"
TRIXIE = Path(os.environ.get("MLBCC_TRIXIE", SCRATCH / "trixie"))
CUDA_RULES = ROOT / "rules" / "cuda.rules"
STUBS = ("/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/local/cuda/lib/stubs/libcuda.so",
         "/usr/lib/x86_64-linux-gnu/stubs/libcuda.so")


class Unavailable(Exception):
    """A peer or a library that this machine does not have; its text is the reason."""


def interleave(repetitions, ways):
    """Runs each of `ways` ({name: function}) in turn, `repetitions` times; {name: [results]}. A way
    that is not available is left out, its reason printed once."""
    results = {name: [] for name in ways}
    missing = set()
    for _ in range(repetitions):
        for name, function in ways.items():
            if name in missing:
                continue
            try:
                results[name].append(function())
            except Unavailable as reason:
                print(f"    left out: {name}: {reason}", flush=True)
                missing.add(name)
    return {name: values for name, values in results.items() if values}


def median(values):
    return statistics.median(values)


def spread(values):
    """`1234 (1180 to 1302)`: median, smallest and largest."""
    return f"{median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def run(command, **options):
    """Runs a command that must succeed; its CompletedProcess with text."""
    options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          errors="replace", timeout=600, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr}")
    return done


def used(command):
    """(seconds, what was used as getrusage(2) has it) of a command that must succeed, with all that it waits for."""
    begin = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {process.returncode}")
    return time.monotonic() - begin, usage


def write(name, text):
    SCRATCH.mkdir(parents=True, exist_ok=True)
    path = SCRATCH / name
    path.write_text(text)
    return path


def driver_folder():
    """(folder with a libcuda.so.1, what it is): the toolkit's stub, else the simulated driver."""
    for stub in STUBS:
        if Path(stub).exists():
            folder = SCRATCH / "stub"
            folder.mkdir(parents=True, exist_ok=True)
            link = folder / "libcuda.so.1"
            if not link.is_symlink():
                link.symlink_to(stub)
            return folder, "the toolkit's stub library"
    return CUDA_SIM, "the simulated driver (no toolkit is installed)"


def environment(folder):
    return {**os.environ, "LD_LIBRARY_PATH": str(folder)}


@dataclass
class Loop:
    """What one run of targets/loop under a tracer gave."""
    ns: float  # a call
    lost: float  # share of the events, 0 to 1


CALLS = int(os.environ.get("MLBCC_BENCH_CALLS", "300000"))


def loop_command(function, calls=CALLS):
    return [target("loop"), target("libentries.so"), function, str(calls)]


def first_number(text):
    return float(re.search(r"^\d+\.\d+$", text, re.MULTILINE).group())


def untraced(function):
    return lambda: Loop(first_number(run(loop_command(function)).stdout), 0)


def bare(kind, function):
    command = [target("bare_pair"), kind, target("libentries.so"), function, *loop_command(function)]
    return lambda: Loop(first_number(run(command).stdout), 0)


def mlbcc(rules, function, *options):
    """The loop under mlbcc with this rule file; the trace goes to a file."""
    def one():
        out = SCRATCH / "loop.jsonl"
        done = run([MLBCC, "--rules", rules, "-o", out, *options, "--", *loop_command(function)])
        with open(out, "rb") as file:
            lines = sum(1 for line in file if b'"phase":' in line)
        wanted = CALLS if b"event" in rules.read_bytes() else 0
        return Loop(first_number(done.stdout), 1 - lines / wanted if wanted else 0)
    return one


BPFTRACE = """
uprobe:%(lib)s:%(f)s { @start[tid] = nsecs; @a[tid] = arg0; @b[tid] = arg1; }
uretprobe:%(lib)s:%(f)s /@start[tid]/ {
    printf("{\\"ts\\":%%llu,\\"name\\":\\"%(f)s\\",\\"pid\\":%%d,\\"tid\\":%%d,\\"comm\\":\\"%%s\\",\\"duration\\":%%llu,\\"args\\":{\\"a\\":%%llu,\\"b\\":%%llu},\\"ret\\":%%llu}\\n",
        @start[tid], pid, tid, comm, nsecs - @start[tid], @a[tid], @b[tid], retval);
    delete(@start[tid]); delete(@a[tid]); delete(@b[tid]);
}
"""


def bpftrace_command(new):
    """How to run bpftrace: Debian 12's, or trixie's in a root of its own."""
    if not new:
        if not shutil.which("bpftrace"):
            raise Unavailable("bpftrace is not installed")
        return ["bpftrace"]
    if not shutil.which("mmdebstrap"):
        raise Unavailable("mmdebstrap is not installed (scripts/setup.sh --bench)")
    made = subprocess.run([str(HERE / "trixie-bpftrace.sh"), str(TRIXIE)], capture_output=True,
                          text=True)
    if made.returncode != 0:
        raise Unavailable("no trixie root can be made: " + made.stderr.strip().splitlines()[-1])
    return [str(HERE / "bpftrace-in-root.sh"), str(TRIXIE), str(BUILD)]


def bpftrace(function, new):
    """The loop under bpftrace, which prints a JSON line an event to a file."""
    def one():
        program = BPFTRACE % {"lib": target("libentries.so"), "f": function}
        out = SCRATCH / "bpftrace.jsonl"
        SCRATCH.mkdir(parents=True, exist_ok=True)
        done = run([*bpftrace_command(new), "-o", out, "-e", program, "-c",
                    " ".join(loop_command(function))])
        with open(out, "rb") as file:
            lines = sum(1 for line in file if line.startswith(b'{"ts"'))
        return Loop(first_number(done.stdout), 1 - lines / CALLS)
    return one


def kernel_headers():
    """A tree of Debian's kernel headers as BCC wants it: its two packages laid over one another."""
    parts = sorted(Path("/usr/src").glob("linux-headers-*-common"))
    parts += sorted(Path("/usr/src").glob("linux-headers-*-a[mr]*64"))
    if len(parts) < 2 or not Path("/usr/lib/python3/dist-packages/bcc").exists():
        raise Unavailable("python3-bpfcc and kernel headers are not installed (scripts/setup.sh --bench)")
    tree = SCRATCH / "headers"
    if not tree.exists():
        tree.mkdir(parents=True)
        for part in (parts[-2], parts[-1]):
            run(["cp", "-rsn", f"{part}/.", tree])
    return tree


def bcc_python(function):
    def one():
        out = SCRATCH / "bcc.jsonl"
        done = run(["/usr/bin/python3", HERE / "bcc_loop.py", target("libentries.so"), function, out,
                    *loop_command(function)],
                   env={**os.environ, "BCC_KERNEL_SOURCE": str(kernel_headers())})
        with open(out, "rb") as file:
            lines = sum(1 for _ in file)
        return Loop(first_number(done.stdout), 1 - lines / CALLS)
    return one


def seconds(command, **options):
    begin = time.monotonic()
    run(command, **options)
    return time.monotonic() - begin


def milliseconds(step, text):
    """The time that --verbose gives for a step: `attach   11.5 ms`."""
    found = re.search(rf"(?im)^.*\b{step}\b\D*?(\d+(?:\.\d+)?) ms", text)
    if found is None:
        raise RuntimeError(f"--verbose gave no time for `{step}`:\n{text}")
    return float(found.group(1))


__all__ = ["BUILD", "CALLS", "CUDA_RULES", "CUDA_SIM", "MLBCC", "SCRATCH", "TARGETS"]
