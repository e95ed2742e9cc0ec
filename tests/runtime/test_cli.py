"""Subcommands: check, list, explain, emit, report; help and version; the summary on the terminal."""

import re
import subprocess
import time

from harness import MLBCC, ROOT, Trace, TracerCase, target
from harness.lanes import quiet

POOL_H = ROOT / "tests/runtime/targets/pool.h"


class Subcommands(TracerCase):
    def rules(self, text=None, name="pool.rules"):
        return super().rules(text or f"""
            library pool = "{target('libpool.so')}"
            header "{POOL_H}"
            on pool:pool_alloc {{ where ret == POOL_OK event memory.alloc(size) sum size as "Total" }}
            on pool:pool_free {{ span memory(block) }}
            """, name)

    def ok(self, *arguments):
        done = self.mlbcc(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_version(self):
        self.assertRegex(self.ok("--version"), r"^mlbcc \d+\.\d+\.\d+\n$")

    def test_help_shows_every_option(self):
        text = self.ok("--help")
        for word in ("--rules", "--pid", "--all", "--duration", "--user", "--root", "--attach",
                     "--exact-entry", "--late-anywhere", "--no-cache", "--buffer", "--templates", "--folded", "--keep", "--quiet",
                     "--verbose", "check", "list", "explain", "emit", "report", "doctor", "--version"):
            self.assertIn(word, text)

    @quiet
    def test_help_is_quick(self):
        best = min(self.time(str(MLBCC), "--help") for _ in range(10))
        self.assertLess(best, 0.05)

    def time(self, *command):
        begin = time.monotonic()
        subprocess.run(command, capture_output=True, check=True)
        return time.monotonic() - begin

    def test_check(self):
        self.mlbcc("check", "--rules", self.rules())
        self.assertEqual(self.last.returncode, 0, self.last.stderr)
        self.mlbcc("check", "--rules", self.rules('on "libc.so.6":malloc { cuont }'))
        self.assertEqual(self.last.returncode, 2)
        self.assertIn("`cuont`", self.last.stderr)

    def test_check_needs_no_root(self):
        rules = self.rules()
        done = self.mlbcc("check", "--rules", rules, user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_list(self):
        text = self.ok("list", f"{target('libpool.so')}:pool_*")
        for name in ("pool_alloc", "pool_find", "pool_free", "pool_launch", "pool_queue"):
            self.assertIn(name, text)
        self.assertNotIn("malloc", text)
        text = self.ok("list", "pool:pool_f*", "--rules", self.rules())
        self.assertIn("pool_free", text)
        self.assertNotIn("pool_alloc", text)

    def test_list_what_matches_nothing(self):
        done = self.mlbcc("list", f"{target('libpool.so')}:nothing*")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("0 of 5 functions", done.stderr)

    def test_explain(self):
        text = self.ok("explain", "--rules", self.rules())
        for word in ("pool_alloc", "pool_free", "size", "block", "pool.rules:4"):
            self.assertIn(word, text)

    def test_emit_is_the_program(self):
        text = self.ok("emit", "--rules", self.rules())
        self.assertRegex(text, r'#line \d+ "[^"]*pool.rules"')
        self.assertIn("_Static_assert", text)

    def test_verbose_gives_the_time_of_each_step(self):
        self.trace(self.rules(), target("pool_client"), options=("--verbose",))
        for step in ("parse", "resolve", "plan", "compile", "attach", "first record", "detach"):
            self.assertRegex(self.last.stderr, rf"(?i){step}[^\n]*\d+(\.\d+)? ms")

    def test_quiet_says_nothing(self):
        self.trace(self.rules(), target("pool_client"), options=("--quiet",))
        self.assertEqual(self.last.stderr, "")


class Words(TracerCase):
    """Rules without a file or an option, and what was probably meant."""

    RULES = 'library c = "libc.so.6"\non c:getenv { count as "calls" }\n'

    def check_count(self, *arguments, **run):
        done = self.mlbcc("-o", self.out, *arguments, "--", "true", **run)
        self.assertEqual(done.returncode, 0, done.stderr)
        labels = [one["label"] for one in Trace(self.out).summary["stats"]]
        self.assertEqual(labels, ["calls"])
        return done

    def said(self, *arguments):
        done = self.mlbcc(*arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_rules_on_the_command_line(self):
        self.check_count("-e", self.RULES)
        mistake = self.said("check", "-e", "library c = \"libc.so.6\"", "-e", "on d:getenv { count }")
        self.assertIn(" --> -e':1:4", mistake)

    def test_rules_from_standard_input(self):
        self.check_count("--rules", "-", input=self.RULES)

    def test_a_rule_file_needs_no_option(self):
        file = self.write("my.rules", self.RULES)
        self.check_count(file)
        for command in "check", "list", "explain", "emit":
            done = self.mlbcc(command, file)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("getenv", self.mlbcc("list", file, "get*").stdout)
        self.assertEqual(self.mlbcc("list", file, "put*").returncode, 1)

    def test_a_command_without_dashes(self):
        self.assertEqual(self.said("--rules", "io", "python3", "app.py", "--epochs", "3"),
                         "error: `python3` is not an option, a rule file or a command of mlbcc\n"
                         "   = help: a program to trace goes behind `--`: mlbcc --rules io -- python3 app.py --epochs 3\n")
        self.assertIn("mlbcc profile -- python3 'a b.py'", self.said("profile", "python3", "a b.py"))
        self.assertIn("`more` is one word too many for `mlbcc report`", self.said("report", "trace.jsonl", "more"))

    def test_misspelt(self):
        for words, name in ((("profle", "--", "true"), "profile"), (("--rule", "io", "--", "true"), "--rules"),
                            (("serve", "--intervall", "5s", "--pid", "1"), "--interval"), (("report", "x", "--tpo=3"), "--top"),
                            (("--rules", "sysclls", "--", "true"), "syscalls")):
            self.assertIn(f"did you mean `{name}`?", self.said(*words))

    def test_options_that_a_command_does_not_take(self):
        for words, option in ((("report", "x", "--pid", "3"), "--pid"), (("--watch", "report", "x"), "--watch"), (("list", "--user=nobody"), "--user"),
                              (("timeline", "x", "-d5s"), "--duration"), (("serve", "--live", "--pid", "1"), "--live"), (("rules", "-o", "x"), "--output")):
            self.assertIn(f"` has no option `{option}`\n", self.said(*words))
        (self.dir / "all.toml").write_text("live = true\nbuffer = \"1MiB\"\n")
        self.assertEqual(self.mlbcc("--config", "all.toml", "rules").returncode, 0, "a file has the options of all commands")

    def test_the_help_of_each_command_is_whole(self):
        whole = self.mlbcc("--help").stdout
        headings = re.findall(r"(?m)^([A-Z][\w ]*):$", whole)
        self.assertEqual(headings, ["What to trace", "Rules", "Probes", "Output", "While tracing", "General", "Subcommands"])
        self.assertEqual(whole.count("Usage:"), 1)
        for command in re.findall(r"(?m)^  (\w+) {5,}", whole[whole.index("Subcommands:"):whole.index("Rules are files")]):
            text = self.mlbcc(command, "--help").stdout
            self.assertIn(f"\nUsage: mlbcc {command} [OPTIONS]", text)
            self.assertEqual(len(re.findall(rf"(?m)^  mlbcc {command}", text[text.index("Examples:"):])), 2, command)
            self.assertIn("--quiet", text)
            self.assertEqual("--pid" in text, command in ("top", "profile", "serve", "doctor"), command)
            self.assertEqual("-- COMMAND" in text, command in ("top", "profile", "serve"), command)
            for leak in "{", "POSITIVE", "TEXT:":
                self.assertNotIn(leak, text, command)

    def test_processes_by_number_and_name(self):
        sleeps = [subprocess.Popen(["/bin/bash", "-c", "exec -a other sleep 60"]) for _ in range(2)]
        for one in sleeps:
            self.addCleanup(one.wait)
            self.addCleanup(one.kill)
        for words in (("--pid", ",".join(str(one.pid) for one in sleeps)), ("--pid-of", "sleep")):
            done = self.mlbcc("-e", "on interval:50ms { event look.at(resident) }", "-o", self.out, "-d", "200ms", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLessEqual({one.pid for one in sleeps}, {one["pid"] for one in Trace(self.out).events}, words)
        for text in "1,x", "", "0":
            self.assertIn("is not a process id\n   = help: write --pid 4711,4712, or --pid-of NAME", self.said("-e", self.RULES, "--pid", text))
        done = self.mlbcc("-e", self.RULES, "--pid-of", "no-such-name")
        self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (1, "error: no process is called `no-such-name`"))

    def test_lists_without_rules(self):
        for pattern, name, known in (("syscall:openat*", "openat2", "system calls"), ("tracepoint:sched:*", "sched:sched_switch", "tracepoints"),
                                     ("tracepoint:sched", "sched:sched_switch", "tracepoints"), (f"usdt:{target('probes')}", "shop:sold", "probes in")):
            done = self.mlbcc("list", pattern)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(name, done.stdout.split())
            self.assertRegex(done.stderr, rf"^\d+ of \d+ {known}")
        self.assertEqual(self.mlbcc("list", "syscall:nothing*").returncode, 1)

    def test_bundled_rules(self):
        done = self.mlbcc("rules")
        self.assertEqual(done.returncode, 0)
        files = sorted(file.stem for file in (ROOT / "rules").glob("*.rules"))
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], files)
        self.assertRegex(done.stdout, r"(?m)^io +which files are opened, and what is read from and written to each$")
        self.assertIn(str(ROOT / "rules"), done.stderr)


class Summary(TracerCase):
    def test_on_the_terminal_and_from_a_saved_trace(self):
        self.trace(f"""
            library pool = "{target('libpool.so')}"
            header "{POOL_H}"
            on pool:pool_alloc {{
                where ret == POOL_OK
                count as "Allocations"
                sum size as "Total memory allocated"
                gauge held[*block] = size
            }}
            on pool:pool_free {{ span userspace }}
            on pool:pool_free {{ where ret == POOL_OK gauge held[block] = 0 hist duration as "Time to free" }}
            """, target("pool_client"))
        text = self.last.stderr
        self.assertRegex(text, r"=== TRACE SUMMARY ===  [\d.]+ m?s, 1 process, 1 thread, 10 events, 0 lost")
        self.assertRegex(text, r"Allocations +5\n")
        self.assertRegex(text, r"Total memory allocated +10\.35 KiB")
        self.assertRegex(text, r"4\.00 KiB")  # still held
        self.assertIn("Time to free", text)
        report = self.mlbcc("report", self.out)
        self.assertEqual(report.returncode, 0, report.stderr)
        shown = [line for line in text[text.index("=== TRACE"):].splitlines()
                 if not line.startswith("trace")]
        self.assertEqual(shown[:4], (report.stdout + report.stderr).splitlines()[:4])

    def test_report_of_a_broken_file(self):
        for content in ("", "not json\n", '{"event_id":0,"type":"meta","schema":99}\n'):
            path = self.write("broken.jsonl", content)
            done = self.mlbcc("report", path)
            self.assertNotEqual(done.returncode, 0, content)
            self.assertIn("broken.jsonl", done.stderr)
        self.assertEqual(self.mlbcc("report", self.dir / "none.jsonl").returncode, 1)

    def test_report_of_a_cut_file(self):
        self.trace('int tick(int tag, int i);\n'
                   f'on "{target("driver")}":tick {{ event tick(tag, i) }}',
                   target("driver"), input="call 100 1\n")
        data = self.out.read_text()
        cut = self.write("cut.jsonl", data[:len(data) // 2])
        done = self.mlbcc("report", cut)
        self.assertIn("cut.jsonl", done.stderr)
        self.assertTrue(re.search(r"\d+ events", done.stdout + done.stderr))


class DefaultFile(TracerCase):
    def test_traces_of_one_second_have_files_of_their_own(self):
        rules = self.rules("on entry syscall:getppid { event a.call }")
        command = [str(MLBCC), "-q", "--rules", str(rules), "--", "python3", "-c", "import os; os.getppid()"]
        tracers = [subprocess.Popen(command, cwd=self.dir) for _ in range(4)]
        self.assertEqual([one.wait() for one in tracers], [0] * 4)
        files = sorted((self.dir / "traces").iterdir())
        self.assertEqual(len(files), 4, files)
        for file in files:
            self.assertRegex(file.name, r"^trace_\d{8}_\d{6}(_\d)?\.jsonl$")
            self.assertEqual(len(Trace(file).events), 1, file)
