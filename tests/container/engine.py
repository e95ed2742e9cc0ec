"""Containers of the image: by docker where there is an engine, else by podman with runc. Both take the
flags that the documents give; what podman needs beside them is this machine's matter, and stands here."""

import json
import os
import resource
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENGINE = os.environ.get("MLBCC_ENGINE", "podman")
FOLDER = Path(os.environ.get("MLBCC_CONTAINERS", "/var/tmp/mlbcc-containers"))
IMAGE = "mlbcc-test"
PODMAN_FILTER = Path("/usr/share/containers/seccomp.json")
TRACING = ("--cap-add", "BPF", "--cap-add", "PERFMON")
LIMIT = 200  # seconds for one container


def filter_as_dockers():
    """Podman's filter, but bpf and perf_event_open as in Docker's from 23 on: by capability."""
    profile = json.loads(PODMAN_FILTER.read_text())
    for name, capability in (("bpf", "CAP_BPF"), ("perf_event_open", "CAP_PERFMON")):
        for entry in profile["syscalls"]:
            if name in entry["names"] and entry["action"] == "SCMP_ACT_ERRNO":
                entry["names"].remove(name)
        rule = {"names": [name], "args": [], "comment": "", "includes": {}, "excludes": {}}
        profile["syscalls"] += [
            {**rule, "action": "SCMP_ACT_ALLOW", "includes": {"caps": [capability]}},
            {**rule, "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "excludes": {"caps": [capability]}}]
    file = FOLDER / "filter-as-dockers.json"
    file.write_text(json.dumps(profile))
    return file


def machine_flags(flags):
    if ENGINE == "docker":
        return []
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    own = ["--runtime", "runc", "run", "--network", "host", "--ulimit", f"nofile={files}:{files}",
           "--ulimit", "nproc=32768:32768"]
    if not any("seccomp" in flag for flag in flags):
        own += ["--security-opt", f"seccomp={filter_as_dockers()}"]
    return own


def run_command(*flags):
    """Of a container that is removed when it ends: `docker run --rm FLAGS`."""
    own = machine_flags(flags)
    return [ENGINE, *(own or ["run"]), "--rm", *flags]


class ContainerCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="mlbcc-container-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.dir.chmod(0o755)

    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path

    def run_image(self, flags, *arguments):
        """`mlbcc ARGUMENTS` in a container, with this test's folder as /work."""
        return subprocess.run(run_command(*flags, "-v", f"{self.dir}:/work", IMAGE, *map(str, arguments)), text=True,
                              capture_output=True, check=False, timeout=LIMIT, stdin=subprocess.DEVNULL)

    def records(self, name="trace.jsonl"):
        return [json.loads(line) for line in (self.dir / name).read_text().splitlines()]


def extracted():
    """The folder with what the image adds to Debian: /usr/local and /opt, to be run outside."""
    folder = FOLDER / "outside"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = subprocess.run(run_command("--entrypoint", "tar", IMAGE, "-C", "/", "-c", "usr/local", "opt"),
                             stdout=subprocess.PIPE, check=True, timeout=LIMIT).stdout
    subprocess.run(["tar", "-C", str(folder), "-x"], input=archive, check=True)
    return folder


class Caller:
    """caller.py, on this machine or in a container: calls on demand, and ends with its input."""

    def __init__(self, case, command, **options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                                        **options)
        self.pid = self.process.pid
        case.addCleanup(self.end)
        case.assertEqual(self.process.stdout.readline(), "ready\n")

    def call(self, times):
        self.process.stdin.write(f"{times}\n")
        assert self.process.stdout.readline() == "done\n"

    def end(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
            self.process.wait(60)
            self.process.stdout.close()


def inspect(name, what):
    return subprocess.run([ENGINE, "inspect", "-f", what, name], text=True, capture_output=True,
                          check=True).stdout.strip()
