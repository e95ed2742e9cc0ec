"""What a person sees who made a mistake: the place, the reason, the repair, and exit status 2. The
command is never run."""

from harness import ROOT, TracerCase, target

HEADER = ROOT / "tests/runtime/targets/pool.h"


class Mistakes(TracerCase):
    def message(self, body, status=2, **options):
        text = self.refused(f'library pool = "{target("libpool.so")}"\nheader "{HEADER}"\n{body}\n',
                            status, command=("touch", "ran.txt"), **options)
        self.assertFalse((self.dir / "ran.txt").exists(), "the command ran")
        self.assertFalse(self.out.exists(), "a trace was begun")
        return text

    def test_an_unknown_name(self):
        text = self.message("on pool:pool_alloc {\n    sum   sise as \"Total\"\n}")
        self.assertEqual(text.replace(f"{ROOT}/", ""), """\
error: `sise` is not a parameter of `pool_alloc`
 --> test.rules:4:11
  |
4 |     sum   sise as "Total"
  |           ^^^^ not known here
note: the prototype is here
 --> tests/runtime/targets/pool.h:13:13
  = help: a parameter with a similar name exists: `size`
""")

    def test_not_known_at_entry(self):
        text = self.message("on entry pool:pool_alloc { event a.b(*block) }")
        self.assertIn("error: `*block` is not known at entry", text)
        self.assertIn("`pool_alloc` may write it before it returns: it is not `const`", text)
        self.assertIn("help: remove `entry`, use `block` without `*`, or declare or cast it as a pointer to const", text)
        self.assertIn("test.rules:3:", text)

    def test_no_function_matches(self):
        text = self.message("on pool:pool_aloc { count }")
        self.assertIn(f"error: no function in `{target('libpool.so')}` matches `pool_aloc`", text)
        self.assertIn("`pool_alloc`", text)
        self.assertIn("test.rules:3:9", text)

    def test_of_what_is_optional_only_who_asks_is_told(self):
        rules = self.write("optional.rules", 'library c = "libc.so.6"\non optional c:no_such_thing { count }\n'
                                             "on c:getpid { count }\n")
        missing = "no function in `libc.so.6` matches `no_such_thing`"
        traced = self.mlbcc("--rules", rules, "-o", self.out, "--", "/bin/true")
        self.assertEqual((traced.returncode, "no_such_thing" in traced.stderr), (0, False), traced.stderr)
        self.assertIn(missing, self.mlbcc("--verbose", "--rules", rules, "-o", self.out, "--", "/bin/true").stderr)
        for command in ("check", "explain"):
            self.assertIn(missing, self.mlbcc(command, "--rules", rules).stderr)

    def test_no_library(self):
        text = self.refused('library gone = "libgone.so.4"\non gone:f { count }')
        self.assertIn("libgone.so.4", text)
        self.assertIn("/etc/ld.so.cache", text)
        self.assertIn("test.rules:1:", text)

    def test_one_by_one(self):
        for body, message in (
                ("on pool:pool_alloc { ", "test.rules:"),
                ("on pool:pool_alloc { cuont }", "`cuont`"),
                ("on nosuch:pool_alloc { count }", "`nosuch`"),
                ("on pool:pool_free { count as 5 }", "test.rules:3:"),
                ("on pool:pool_free { event a.b(*block) }", "`block`"),
                ("on pool:pool_free { event a.b(block->x) }", "`block`"),
                ("on pool:pool_free { where \"text\" event a.b }", "test.rules:3:"),
                ("on pool:pool_free { learn function_at[block] = 1 }", "`function_at` is built in"),
                ("on pool:pool_free { sample 2/3 count }", "sample"),
                ("on pool:pool_free { sample 1/0 count }", "sample"),
                ("on entry pool:pool_free { hist duration }", "`duration`"),
                ("on entry pool:pool_free { event a.b(ret) }", "`ret`"),
                ("on pool:pool_queue { event a.b(ret) }", "`pool_queue` returns nothing"),
                ("on pool:pool_free { event a.b(t[block]) }", "`t`"),
                ("on pool:pool_free { count by nope }", "`nope`"),
                ("on pool:pool_free { event a.b(\"unterminated) }", "test.rules:3:"),
                ("on pool:pool_free { count } }", "test.rules:3:"),
                ("on kernel:vfs_read { count }", "kernel"),
                ("on syscall:opnat { count }", "`opnat`"),
                ("on tracepoint:sched:nowhere { count }", "`sched:nowhere`"),
                ("on tracepoint:sched:sched_switch { count by ret }", "`ret`"),
                ("on interval:100 { count }", "found `100`"),
                ("on interval:100ms { stack user event a.b }", "a `stack` is a thread's"),
                ("on usdt:python3:python:audit { count }", "usdt"),
                ("on pool:pool_free { stack kernel event a.b }", "no kernel stack"),
                ("int broken(int;\non pool:pool_free { count }", "test.rules:3:"),
                ("int pool_free(struct nowhere x);\non pool:pool_free { count }", "test.rules:3:")):
            with self.subTest(body=body):
                (self.dir / "ran.txt").unlink(missing_ok=True)
                text = self.message(body)
                self.assertTrue(text.startswith("error: "), text)
                self.assertIn(message, text)
                self.assertNotIn("terminate called", text)

    def test_floating_point(self):
        header = ROOT / "tests/runtime/targets/target.h"
        text = self.refused(f'library t = "{target("libtarget.so")}"\nheader "{header}"\n'
                            "on t:half { event a.b(x) }")
        self.assertIn("`x`", text)
        self.assertIn("floating", text)

    def test_all_mistakes_are_shown(self):
        body = "\n".join(f"on pool:pool_free {{ event a.b(wrong{i}) }}" for i in range(30))
        text = self.message(body)
        self.assertEqual(text.count("error: `wrong"), 20)
        self.assertIn("10 more errors", text)

    def test_cycle_of_imports(self):
        self.write("b.rules", 'import "test.rules"\n')
        text = self.refused('import "b.rules"\n')
        self.assertIn("b.rules:1:", text)
        self.assertIn("test.rules", text)

    def test_missing_import_and_header(self):
        self.assertIn("none.rules", self.refused('import "none.rules"\n'))
        self.assertIn("none.h", self.refused('header "none.h"\non "libc.so.6":malloc { count }'))


class Files(TracerCase):
    """--rules on things that are no rule file."""

    def refuse(self, path, *parts, status=2):
        done = self.mlbcc("--rules", path, "-o", self.out, "--", "true")
        self.assertEqual(done.returncode, status, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        return done.stderr

    def test_missing(self):
        self.refuse(self.dir / "none.rules", "none.rules", "was not found")
        self.refuse("no_bundled_name", "no_bundled_name")

    def test_a_folder(self):
        self.refuse(self.dir, "is a directory")

    def test_rubbish(self):
        path = self.dir / "rubbish.rules"
        path.write_bytes(bytes(range(256)) * 64)
        text = self.refuse(path, "rubbish.rules")
        self.assertLess(len(text), 20000)
        with open("/proc/self/exe", "rb") as binary:
            path.write_bytes(binary.read(200000))
        self.refuse(path, "rubbish.rules")

    def test_ten_megabytes(self):
        path = self.write("big.rules", "# a comment that is long\n" * 400_000
                          + 'on "libc.so.6":malloc { count as "calls" }\n')
        done = self.mlbcc("check", "--rules", path, timeout=20)
        self.assertIn(done.returncode, (0, 2))
        self.assertLess(len(done.stderr), 20000)
        path.write_text("on " * 3_000_000)
        self.assertEqual(self.mlbcc("check", "--rules", path, timeout=20).returncode, 2)
        path.write_text("(" * 9_000_000)
        self.assertEqual(self.mlbcc("check", "--rules", path, timeout=20).returncode, 2)
        path.write_text('on "libc.so.6":malloc { where ' + "(" * 1_000_000 + "1")
        self.assertEqual(self.mlbcc("check", "--rules", path, timeout=20).returncode, 2)

    def test_templates_that_are_not_there(self):
        done = self.mlbcc("--templates", self.dir / "none", "--rules",
                          self.rules('on "libc.so.6":malloc { count }'), "--", "true")
        self.assertIn(done.returncode, (1, 2))
        self.assertIn(str(self.dir / "none"), done.stderr)


class Options(TracerCase):
    def test_mistakes_on_the_command_line(self):
        rules = self.rules('on "libc.so.6":malloc { count }')
        for arguments in ((), ("--rules", rules), ("--nonsense",), ("--rules", rules, "--pid", "x"),
                          ("--rules", rules, "--pid", "1", "--", "true"),
                          ("--rules", rules, "--all", "--pid", "1"),
                          ("--rules", rules, "--buffer", "lots", "--", "true"),
                          ("--rules", rules, "--duration", "soon", "--all"), ("--", "true"),
                          ("check",), ("report",), ("frobnicate",)):
            with self.subTest(arguments=arguments):
                done = self.mlbcc(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertNotEqual(done.stderr.strip(), "")
