"""Numbers of system calls equal to strace's, on the same run of programs that nobody here wrote."""

from collections import Counter

from harness import TracerCase
from harness.machine import need_tool

NOT_OURS = 'where comm != "strace"'  # nor what its child does before it runs the program
COUNTS = f"""
on syscall:* {{ {NOT_OURS} count by function as "calls" }}
on syscall:* {{ {NOT_OURS} where ret < 0 && ret >= -4095 count by function as "errors" }}
"""
ALL = COUNTS + f"""
on syscall:* {{ {NOT_OURS} hist duration by function as "time"   event call(ret) }}
"""


def table(text):
    """Of each line `3 1 openat`: calls, errors where there are any, name: (calls, errors)"""
    calls, errors = Counter(), Counter()
    for line in text.splitlines()[2:]:
        words = line.split()
        if len(words) < 2 or words[-1] == "total" or not words[0].isdigit():
            continue
        calls[words[-1]] = int(words[0])
        if len(words) > 2:
            errors[words[-1]] = int(words[1])
    return calls, errors


def by_name(stats):
    return {by[0]: n for by, n in stats.items()}


class Strace(TracerCase):
    def compare(self, *command, least):
        """Once with counts alone, which look at the ends of calls, and once with both ends."""
        trace, calls, errors = self.one(COUNTS, command)
        self.assertGreater(sum(calls.values()), least)
        self.assertEqual(by_name(trace.stats("calls")), dict(calls))
        self.assertEqual(by_name(trace.stats("errors")), dict(errors))

        trace, calls, errors = self.one(ALL, command)
        # Judged at its beginning, the first execve is not the program's but strace's own.
        self.assertEqual(by_name(trace.stats("calls")), dict(calls))
        self.assertEqual(by_name(trace.stats("errors")), dict(errors))
        self.assertEqual(Counter(e["name"] for e in trace.events), calls)
        self.assertEqual({h["by"]["function"]: h["count"] for h in trace.hist("time")}, calls)

    def one(self, rules, command):
        theirs = self.dir / "strace.txt"
        trace = self.trace(rules, need_tool("strace"), "-f", "-c", "-U", "calls,errors,name",
                           "-o", theirs, "--", *command, options=("--buffer", "32M"))
        self.assertEqual(trace.summary["lost"], 0)
        return trace, *table(theirs.read_text())

    def test_git(self):
        git = need_tool("git")
        self.compare("sh", "-c", f"cd {self.dir} && {git} init -q work; cd work && echo text >>file &&"
                                 f" {git} add file && {git} status", least=300)

    def test_python(self):
        self.compare("/usr/bin/python3", "-c", "import json", least=300)

    def test_sqlite3(self):
        self.compare(need_tool("sqlite3"), self.dir / "data.db", """
            create table if not exists t(a integer primary key, b text);
            with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
            insert into t(b) select hex(i * 7919) from n; select count(*) from t;""", least=100)

    def test_tar(self):
        self.compare("tar", "-cf", self.dir / "all.tar", "/usr/lib/python3/dist-packages", least=200)

    def test_dd(self):
        self.compare("dd", "if=/dev/zero", f"of={self.dir}/zeros", "bs=512", "count=1000", "status=none",
                     least=2000)

    def test_a_pipeline(self):
        self.compare("sh", "-c", "seq 20000 | sort -rn | head -n 5 | tr 0-9 a-j >/dev/null; (true; exit 3) | cat",
                     least=200)
