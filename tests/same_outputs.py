#!/usr/bin/env python3
"""Whether two builds of mlbcc make the same of saved traces, byte for byte: by hand, where code is moved and
nothing is to change.

    tests/same_outputs.py --before OLD/mlbcc --after build/release/mlbcc [--traces DIR]

The traces are made first, by the old one, where DIR lacks them: of ten kinds, as many as this machine can give
(those of the NVIDIA driver and of PyTorch need one that has these: put them into DIR as nvidia.jsonl and
torch.jsonl). Ends with 0 where all is the same; else each file that differs is named, and both are kept.
Needs root, and a build with the runtime tests' programs (MLBCC_BUILD).
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/runtime"))

from harness import target  # noqa: E402
from harness.machine import CUDA_SIM  # noqa: E402
from harness.server import free_port  # noqa: E402

PYTHON = "/usr/bin/python3"
APP = ROOT / "examples/inference/app.py"
FORMS = ("chrome", "perfetto", "folded", "csv", "html")
KINDS = ("cuda", "profile", "serve", "torch", "offcpu", "network", "nvidia", "reload", "losses", "cut")
GIVEN = ("torch", "nvidia")  # that are not made here
LIMIT = 120

# Files, a child, threads, memory, and time off the CPU.
JOB = """
import json, subprocess, tempfile, threading, time
def work():
    blocks = [bytearray(1 << 20) for _ in range(20)]
    time.sleep(0.05)
    return len(blocks)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
with tempfile.NamedTemporaryFile("w+") as file:
    for i in range(200): file.write(json.dumps({"i": i}))
    file.flush(); file.seek(0); file.read()
subprocess.run(["/bin/sh", "-c", "sleep 0.05; cat /etc/passwd >/dev/null"])
for thread in threads: thread.join()
"""


class Recorder:
    """Makes each kind of trace in a folder, by one build of mlbcc."""

    def __init__(self, mlbcc, folder):
        self.mlbcc, self.folder = str(mlbcc), folder
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM)}

    def path(self, kind):
        return self.folder / f"{kind}.jsonl"

    def start(self, kind, arguments, command):
        """mlbcc with these arguments, of `command`."""
        return subprocess.Popen([self.mlbcc, *map(str, arguments), "-q", "-o", str(self.path(kind)), "--", *map(str, command)],
                                env=self.environment, stdout=subprocess.DEVNULL)

    def run(self, kind, arguments, command):
        self.end(self.start(kind, arguments, command))

    @staticmethod
    def end(tracer):
        if tracer.wait(LIMIT) != 0:
            raise SystemExit(f"{' '.join(tracer.args)} ended with status {tracer.returncode}")

    def cuda(self):
        self.run("cuda", ["--rules", ROOT / "rules/cuda.rules", "--rules", ROOT / "rules/io.rules"], [PYTHON, APP])

    def profile(self):
        self.run("profile", ["profile"], [PYTHON, "-c", JOB])

    def serve(self):
        port = free_port()
        tracer = self.start("serve", ["serve", "--stacks"], http_server(port))
        ask(port, ("", "cuda.rules", "nothing", "io.rules") * 20)
        tracer.send_signal(signal.SIGINT)
        tracer.wait(LIMIT)

    def offcpu(self):
        self.run("offcpu", ["--rules", ROOT / "rules/offcpu.rules"], [target("waits")])

    def network(self):
        port = free_port()
        server = subprocess.Popen(http_server(port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ask(port, ("",))
        asks = f"import urllib.request\nfor _ in range(20): urllib.request.urlopen('http://127.0.0.1:{port}/').read()"
        self.run("network", ["--rules", ROOT / "rules/network.rules"], [PYTHON, "-c", asks])
        server.kill()
        server.wait()

    def reload(self):
        rules = self.folder / "reload.rules"
        rules.write_text("on syscall:clock_nanosleep { event slept(ret) }\n")
        tracer = self.start("reload", ["--rules", rules, "--reloadable"], [PYTHON, "-c", "import time\nfor _ in range(300): time.sleep(0.01)"])
        time.sleep(1)
        rules.write_text('on syscall:clock_nanosleep { count as "Sleeps"   hist duration as "Slept" }\n')
        tracer.send_signal(signal.SIGHUP)
        self.end(tracer)

    def losses(self):
        flood = target("flood")
        rules = f'int hit(int thread, unsigned long i);\non "{flood}":hit {{ event hit(thread, i)  count as "calls" }}\n'
        tracer = self.start("losses", ["-e", rules, "--buffer", "64KiB"], [flood, "2", "30000"])
        for _ in range(20):  # it reads nothing meanwhile
            time.sleep(0.05)
            tracer.send_signal(signal.SIGSTOP)
            time.sleep(0.1)
            tracer.send_signal(signal.SIGCONT)
        self.end(tracer)

    def cut(self):
        whole = self.path("profile").read_bytes()
        self.path("cut").write_bytes(whole[:len(whole) * 7 // 10])


def http_server(port):
    return [PYTHON, "-m", "http.server", str(port), "-d", str(ROOT / "rules")]


def ask(port, paths):
    """An HTTP server that may not listen yet."""
    end = time.monotonic() + LIMIT
    for path in paths:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}").read()
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)


def make_missing(mlbcc, folder):
    recorder = Recorder(mlbcc, folder)
    for kind in KINDS:
        if kind not in GIVEN and not recorder.path(kind).exists():
            getattr(recorder, kind)()
            print(f"made {recorder.path(kind)}: {recorder.path(kind).stat().st_size} bytes", flush=True)


def outputs(mlbcc, trace, folder):
    """All that is made of a trace, by the name of the file: with the exit status and what is said."""
    folder.mkdir()
    views = {"report": ["report"], "top": ["report", "--top", "5"], "type": ["report", "--type", "*", "--from", "10ms"],
             "json": ["report", "--json", folder / "report.json"], "stacks": ["report", "--folded", folder / "stacks.folded"],
             "timeline": ["timeline", "--width", "120"], "ascii": ["timeline", "--width", "80", "--ascii", "--top", "3"],
             **{form: ["convert", "--to", form, "-o", folder / f"trace.{form}"] for form in FORMS},
             "durations": ["convert", "--to", "folded", "--folded-by", "duration", "-o", folder / "durations.folded"]}
    for name, arguments in views.items():
        done = subprocess.run([str(mlbcc), *map(str, arguments), str(trace)], capture_output=True, timeout=LIMIT, check=False,
                              stdin=subprocess.DEVNULL)
        said = done.stdout + b"\n---\n" + done.stderr + f"\n---\n{done.returncode}\n".encode()
        (folder / f"{name}.said").write_bytes(said.replace(str(folder).encode(), b"OUT").replace(str(mlbcc).encode(), b"MLBCC"))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def differing(before, after):
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def compare(options, folder):
    found, compared = [], 0
    for trace in sorted(options.traces.glob("*.jsonl")):
        before, after = (outputs(mlbcc, trace, folder / side / trace.stem)
                         for side, mlbcc in (("before", options.before), ("after", options.after)))
        compared += len(before)
        found += [f"{trace.stem}/{name}" for name in differing(before, after)]
    return found, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, metavar="MLBCC")
    parser.add_argument("--after", type=Path, required=True, metavar="MLBCC")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="where the traces are kept (default: made anew, and removed)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mlbcc-traces-") as made:
        options.traces = options.traces or Path(made)
        options.traces.mkdir(exist_ok=True)
        make_missing(options.before, options.traces)
        for kind in KINDS:
            if not (options.traces / f"{kind}.jsonl").exists():
                print(f"left out: there is no {kind}.jsonl in {options.traces}")
        folder = Path(tempfile.mkdtemp(prefix="mlbcc-outputs-"))
        for side in ("before", "after"):
            (folder / side).mkdir()
        found, compared = compare(options, folder)
        for name in found:
            print(f"differs: {folder}/before/{name} and {folder}/after/{name}")
        print(f"{compared} outputs of {len(list(options.traces.glob('*.jsonl')))} traces, {len(found)} differ")
    if not found:
        shutil.rmtree(folder)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
