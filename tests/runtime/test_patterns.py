"""Text in conditions: ends, parts and patterns, beside Python's fnmatch; and names that `let` gives."""

import fnmatch
import os
from collections import Counter

from harness import TracerCase, target

NAMES = ["a.json", "b.json", "data.json.gz", ".json", "json", "cache", "x-cache-y.json", "acaca.txt", "aba", "abba", "ab-ba",
         "p" * 120 + ".json", "p" * 200 + "/" + "q" * 100 + ".json", "ümlaut.json", "CACHE.JSON", "a*b", "a.jsonx"]


class Patterns(TracerCase):
    def setUp(self):
        super().setUp()
        self.files = [self.dir / name for name in NAMES]
        for file in self.files:
            file.parent.mkdir(exist_ok=True)
            file.touch()
        # Twice each: a text in a page that has not been touched is read at the end of the call.
        self.job = ["/usr/bin/python3", "-S", "-c", f"import os\nfor name in {[os.fsencode(file) for file in self.files]} * 2: os.close(os.open(name, 0))"]

    def matched(self, condition, clause='count by filename = str(filename, 400) as "Opened"', options=()):
        trace = self.trace(f"on syscall:openat {{ where starts_with(filename, \"{self.dir}/\") && {condition}\n{clause} }}", *self.job, options=options)
        return {one["by"]["filename"].removeprefix(f"{self.dir}/"): one["value"] for one in trace.summary["stats"]}

    def test_beside_fnmatch(self):
        short = [name for name in NAMES if len(str(self.dir / name)) < 255]
        self.assertEqual(len(short), len(NAMES) - 1)
        for pattern in ("*.json", "*cache*", "*/a*.json", "*/ab*ba", "*", "*/?.json", "*/[ab].json", "*/*c*c*", "*/a[*]b", "*ü*", f"{self.dir}/json"):
            with self.subTest(pattern=pattern):
                expected = Counter({name: 2 for name in short if fnmatch.fnmatchcase(str(self.dir / name), pattern)})
                found = Counter(self.matched(f'filename ~ "{pattern}"'))
                found.pop(NAMES[-5], None)  # longer than what is read of a name: its end is not known
                self.assertEqual(found, expected)

    def test_ends_and_parts(self):
        self.assertEqual(set(self.matched('ends_with(filename, ".json")')), {name for name in NAMES if name.endswith(".json") and len(name) < 200})
        self.assertEqual(set(self.matched('ends_with(str(filename, 512), ".json")')), {name for name in NAMES if name.endswith(".json")})
        self.assertEqual(set(self.matched('contains(filename, "cac")')), {name for name in NAMES if "cac" in name})
        self.assertEqual(set(self.matched('!ends_with(filename, ".json") && !(filename ~ "*cac*")')),
                         {name for name in NAMES if not (name.endswith(".json") and len(name) < 200) and "cac" not in name})

    def test_on_a_span(self):
        rules = f'on syscall:openat {{ where filename ~ "{self.dir}/*.json"\nspan file(filename = str(filename, 400)) }}'
        trace = self.trace(rules, *self.job)
        opened = Counter(begin["args"]["filename"].removeprefix(f"{self.dir}/") for begin, end in trace.pairs("openat"))
        self.assertEqual(opened, Counter({name: 2 for name in NAMES if name.endswith(".json") and len(name) < 200}))

    def test_what_the_tracer_decides_begins_no_span(self):
        done = self.mlbcc("check", "-e", 'on syscall:openat { where contains(filename, "x")  span file }')
        self.assertEqual(done.returncode, 2)
        self.assertIn("a `span` begins in the kernel, and this is known to the tracer", done.stderr)

    def test_name_of_a_process(self):
        for condition, count in (('comm ~ "py*n3"', 34), ('comm ~ "py*n2"', 0), ('ends_with(comm, "3")', 34), ('comm ~ "p?th*"', 34)):
            with self.subTest(condition=condition):
                self.assertEqual(sum(self.matched(condition).values()), count)

    def test_functions(self):
        rules = 'on "libc.so.6":getpid, "libc.so.6":getppid { where function ~ "getp[a-i]*"  count by function as "Calls" }'
        trace = self.trace(rules, "/usr/bin/python3", "-S", "-c", "import os; os.getpid(); os.getppid(); os.getpid()")
        self.assertEqual({one["by"]["function"]: one["value"] for one in trace.summary["stats"]}, {"getpid": 2})


class Let(TracerCase):
    def test_a_name_for_an_expression(self):
        rules = (f'uint64_t hit(int thread, uint64_t i);\non "{target("flood")}":hit {{\n'
                 "    where is_wanted\n    let half = i / 2\n    let is_wanted = half % 10 == 3 && i % 2 == 1\n"
                 '    event flood.hit(half, i)\n    sum half as "Halves"\n    count by tens = half / 10 as "Calls"\n}')
        trace = self.trace(rules, target("flood"), "1", "100", stdout=-3)
        wanted = [i for i in range(100) if i // 2 % 10 == 3 and i % 2 == 1]
        self.assertEqual([e["args"] for e in trace.named("hit")], [{"half": i // 2, "i": i} for i in wanted])
        stats = {(one["label"], one["by"].get("tens") if one.get("by") else None): one["value"] for one in trace.summary["stats"]}
        self.assertEqual(stats.pop(("Halves", None)), sum(i // 2 for i in wanted))
        self.assertEqual(stats, {("Calls", tens): 1 for tens in range(5)})
