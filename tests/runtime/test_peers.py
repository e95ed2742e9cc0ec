"""Counts equal to bpftrace's, on the same run of programs that nobody here wrote."""

import json
import re
import subprocess
import tempfile
import time

from harness import TracerCase
from harness.machine import need_tool


def libc():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return re.search(r"\S+/libc\.so\.6", maps.read()).group()


class Bpftrace:
    """A bpftrace that counts malloc by process and command name for all processes."""

    PROGRAM = 'uprobe:%s:malloc { @[pid, comm] = count(); } interval:ms:100 { printf("armed\\n"); }'

    def __init__(self, case):
        self.output = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [need_tool("bpftrace"), "-f", "json", "-B", "line", "-e", self.PROGRAM % libc()],
            stdout=self.output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        case.addCleanup(self.stop)
        end = time.monotonic() + 60
        while "armed" not in self.text():  # its first output: all of its probes are attached
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"bpftrace did not start:\n{self.text()}")
            time.sleep(0.05)

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def stop(self):
        """{(pid, comm): calls}"""
        if self.process.poll() is None:
            self.process.send_signal(2)
            self.process.wait(60)
        counts = {}
        for line in self.text().splitlines():
            record = json.loads(line) if line.startswith("{") else {}
            if record.get("type") == "map":
                for key, value in record["data"]["@"].items():
                    pid, comm = key.split(",", 1)
                    counts[int(pid), comm] = value
        return counts


class Malloc(TracerCase):
    def compare(self, *command, least):
        peer = Bpftrace(self)
        trace = self.trace(f'on "{libc()}":malloc {{ count by pid, comm as "malloc" }}', *command)
        theirs, ours = peer.stop(), trace.stats("malloc")
        pids = {pid for pid, _ in ours}
        theirs = {key: n for key, n in theirs.items() if key[0] in pids and key[1] != "mlbcc"}
        self.assertEqual(ours, theirs)
        self.assertGreater(sum(ours.values()), least)

    def test_git(self):
        git = need_tool("git")
        script = f"""
            cd {self.dir} && {git} init -q work && cd work && echo text >file && {git} add file &&
            {git} -c user.name=a -c user.email=a@example.org commit -q -m message && {git} status &&
            {git} log --stat"""
        self.compare("sh", "-c", script, least=500)

    def test_sqlite3(self):
        self.compare(need_tool("sqlite3"), ":memory:", """
            create table t(a integer primary key, b text);
            with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
            insert into t select i, hex(i * 7919) from n;
            create index x on t(b); select count(*), max(b) from t;""", least=500)

    def test_python(self):
        self.compare("/usr/bin/python3", "-c", "import json, re; print(len(json.dumps(list(range(9999)))))",
                     least=1000)
