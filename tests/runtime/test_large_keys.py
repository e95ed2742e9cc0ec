"""Keys and texts that BPF's stack of 512 bytes has no room for: such rules load, and count right."""

from harness import TracerCase

# Opens, and renames to and fro, files with long names that differ at the end.
JOB = """
import os, sys
os.chdir(sys.argv[1])
def name(i): return "n" * 150 + str(i)
for i in range(3):
    for _ in range(i + 1): os.close(os.open(name(i), os.O_CREAT | os.O_RDWR))
for i in range(3):
    os.rename(name(i), "to-" + name(i))
    os.rename("to-" + name(i), name(i))
"""
NAMES = ["n" * 150 + str(i) for i in range(3)]
# Of as many shapes that what they share is not inlined.
OTHERS = """
on syscall:close { span call(fd) }
on syscall:read { where fd > 2  span call(fd, n = ret) }
on syscall:fstat, syscall:newfstatat { event call.x(e = ret) }
"""


class LargeKeys(TracerCase):
    def setUp(self):
        super().setUp()
        (self.dir / "files").mkdir()
        self.job = ("/usr/bin/python3", "-S", self.write("job.py", JOB), str(self.dir / "files"))

    def each_way(self, rules):
        """With few shapes and with many."""
        for others in ("", OTHERS):
            with self.subTest(others=bool(others)):
                self.out.unlink(missing_ok=True)
                yield self.trace(rules + others, *self.job)

    def test_a_long_text(self):
        rules = 'on syscall:openat { count by str(filename, 200) as "opened"  span file(filename) }\n' \
                'on entry syscall:openat { count by str(filename, 160) as "asked" }'
        for trace in self.each_way(rules):
            for label in ("opened", "asked"):
                counts = trace.stats(label)
                self.assertEqual([counts.get((name,)) for name in NAMES], [1, 2, 3], label)

    def test_two_texts_and_a_number(self):
        rules = """on syscall:rename {
                       count by str(oldname, 200), str(newname, 200) as "renamed"
                       hist duration by str(newname, 200), ret as "took"
                       sum ret + 2 by str(oldname, 200), str(newname, 200), pid as "sums"
                       event file.rename(oldname, newname, ret)
                   }"""
        for trace in self.each_way(rules):
            there = {(name, "to-" + name): 1 for name in NAMES}
            back = {("to-" + name, name): 1 for name in NAMES}
            self.assertEqual(trace.stats("renamed"), there | back)
            self.assertEqual({key[:2]: value for key, value in trace.stats("sums").items()},
                             {key: 2 for key in there | back})

    def test_texts_that_are_compared(self):
        rules = f"""
            on syscall:openat {{ where str(filename, 200) == "{NAMES[1]}"  count by str(filename, 200) as "equal" }}
            on syscall:openat {{ where starts_with(str(filename, 200), "{NAMES[0][:-1]}")
                                 count by str(filename, 200), str(filename, 200) == "{NAMES[2]}" as "begins" }}
            on entry syscall:openat {{ where starts_with(str(filename, 200), "{NAMES[0][:-1]}") && str(filename, 200) != "{NAMES[2]}"
                                       event file.other(filename) }}
        """
        for trace in self.each_way(rules):
            self.assertEqual(trace.stats("equal"), {(NAMES[1],): 2})
            begins = trace.stats("begins")
            self.assertEqual({key[0]: value for key, value in begins.items()}, dict(zip(NAMES, [1, 2, 3])))
            self.assertEqual([key[0] for key in begins if key[1] in (True, 1, "true")], [NAMES[2]])
            self.assertEqual(len(trace.named("other")), 3)

    def test_of_functions_tracepoints_and_probes_of_templates(self):
        rules = """library c = "libc.so.6"
                   int rename(const char *from, const char *to);
                   on c:rename { count by str(from, 200), str(to, 200) as "function"  hist duration by str(to, 200) as "took" }
                   on tracepoint:sched:sched_process_exec { count by str(filename, 200) as "programs" }
                   on sched:off_cpu { count by comm, pid, tid as "waits" }
                   """
        for trace in self.each_way(rules):
            self.assertEqual(sum(trace.stats("function").values()), 6)
            self.assertEqual(trace.stats("function")[(NAMES[0], "to-" + NAMES[0])], 1)
            self.assertEqual(trace.stats("programs"), {(self.job[0],): 1})


class Buckets(TracerCase):
    def test_numbers_of_which_the_compiler_knows_more_than_older_verifiers(self):
        rules = 'on syscall:close { hist 1 as "one"   hist ((fd & 4096) / 4096) as "bit" }\n' \
                'on syscall:openat { hist ((dfd | 4096) | duration) by function as "negative" }'
        trace = self.trace(rules, "/usr/bin/python3", "-S", "-c", "import os\nfor _ in range(70): os.close(os.open('/', 0))")
        hists = {one["label"]: one for one in trace.summary["hists"]}
        closed, opened = hists["one"]["count"], hists["negative"]["count"]
        self.assertGreaterEqual(min(closed, opened), 70)
        self.assertEqual(hists["one"]["buckets"], [[1, 2, closed]])
        self.assertEqual(hists["bit"]["buckets"], [[0, 1, closed]])
        self.assertEqual(sum(bucket[2] for bucket in hists["negative"]["buckets"]), opened)


class Beside(TracerCase):
    """Each of these beside bundled files: what `check` takes compiles and loads."""

    RULES = {
        "files": "on syscall:openat { count by filename }",
        "two": "on syscall:rename { count by oldname, newname  event file.rename(oldname, newname) }",
        "where": """on syscall:openat {
                        where ret == -ENOENT && starts_with(filename, "/nonexistent")
                        count by filename  event n.open(filename, ret)  largest 3 by duration as "slow" (filename)
                    }""",
    }

    def test_they_load(self):
        for name, rules in self.RULES.items():
            file = self.write(f"{name}.rules", rules)
            for bundled in ("io", "memory", "profile", "serve"):
                with self.subTest(name, bundled=bundled):
                    done = self.mlbcc("check", "--compile", "--no-cache", "--rules", file, "--rules", bundled)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn("compiled and loaded", done.stdout)

    def test_profile_and_serve(self):
        done = self.mlbcc("check", "--compile", "--no-cache", "--rules", "profile", "--rules", "serve")
        self.assertEqual(done.returncode, 0, done.stderr)
