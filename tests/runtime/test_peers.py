"""Counts equal to bpftrace's, on the same run of programs that nobody here wrote."""

import re

from harness import TracerCase
from harness.machine import need_tool
from harness.peers import Bpftrace


def libc():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return re.search(r"\S+/libc\.so\.6", maps.read()).group()


class Malloc(TracerCase):
    def compare(self, *command, least):
        peer = Bpftrace(self, f"uprobe:{libc()}:malloc {{ @[pid, comm] = count(); }}")
        trace = self.trace(f'on "{libc()}":malloc {{ count by pid, comm as "malloc" }}', *command)
        counts, ours = peer.stop()["@"], trace.stats("malloc")
        pids = {pid for pid, _ in ours}
        split = {tuple(key.split(",", 1)): n for key, n in counts.items()}
        theirs = {(int(pid), comm): n for (pid, comm), n in split.items() if int(pid) in pids and comm != "mlbcc"}
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
