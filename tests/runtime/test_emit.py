"""What is generated, for those who look into it: emit, check --compile, refused programs, --keep."""

import os
import platform
import re
import shutil
import unittest

from harness import ROOT, TracerCase, target

RULES = """library pool = "%s"
void *pool_alloc(unsigned long size, int *block);
on pool:pool_alloc {
    where size > 16
    event memory.alloc(size)
    count by tid
}
on syscall:getppid { count }
"""

TEMPLATE = """// Asked for the parent.
//= probe family:ask moment
//= raw_tracepoint sys_enter family_ask
//= fields
struct family_ask { int parent; };
//= programs
int family_ask(struct bpf_raw_tracepoint_args *at) {
    struct call call MLBCC_UNSET;
    if (at->args[1] != NUMBER || !mlbcc_admit(&call)) return 0;
    struct family_ask fields = {};
    WORK
    return fire_family_ask(at, &call, &fields);
}
"""
GETPPID = {"x86_64": 110, "aarch64": 173}.get(platform.machine(), 0)
WORK_LINE = TEMPLATE.splitlines().index("    WORK") + 1
UNCHECKED = "fields.parent = *(volatile int *)at->args[0];"
ASKING = "on family:ask {\n    event f.ask(parent)\n}\n"


class EmitCase(TracerCase):
    def setUp(self):
        super().setUp()
        self.file = self.rules(RULES % target("libpool.so"))

    def ok(self, *arguments, **run):
        done = self.mlbcc(*arguments, **run)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def template(self, work):
        """A template with this statement; options to use it."""
        text = TEMPLATE.replace("NUMBER", str(GETPPID)).replace("WORK", work)
        self.write("mine/probes/family_ask.bpf.c", text)
        return "--templates", self.dir / "mine"

    def failed(self, *arguments, status=1):
        """Standard error of a failure, without the folder's name."""
        done = self.mlbcc(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr.replace(f"{self.dir}/", "")


class Emit(EmitCase):
    def test_annotated(self):
        text = self.ok("emit", "--annotate", "--rules", self.file)
        comments = [line.strip() for line in text.splitlines() if f"// {self.file}:" in line]
        for line, part in ((3, "on pool:pool_alloc"), (4, "size > 16"), (5, "event memory.alloc(size)"),
                           (6, "count by tid"), (6, "tid"), (8, "on syscall:getppid"), (8, "count")):
            self.assertIn(f"// {self.file}:{line}: {part}", comments)
        self.assertRegex(text, rf'// {self.file}:4: size > 16\n#line 4 "{self.file}"\n +s64 v0 = ')
        # The templates that are the same for all rules are left out before and behind, and counted.
        own = [line for line in text.splitlines(True) if f"// {self.file}:" not in line]
        (before, behind), own = (int(re.match(r"// (\d+) lines of templates", own[at]).group(1)) for at in (0, -1)), own[1:-1]
        whole = self.ok("emit", "--rules", self.file).splitlines(True)
        self.assertEqual(own, whole[before:len(whole) - behind])
        self.assertGreater(before, 1000)
        self.assertLess(text.count("\n", 0, text.index("size > 16")), 100)  # a newcomer sees one's own on the first screens

    def test_instructions(self):
        text = self.ok("emit", "--asm", "--rules", self.file)
        programs = dict(re.findall(r"^(\w+): (\d+) instructions$", text, re.M))
        self.assertIn("raw_tracepoint__sched_process_exit", programs)
        for name, count in programs.items():
            steps = re.search(rf"^{name}: .*\n((?:[ ;].*\n)*)", text, re.M).group(1)
            numbers = [int(n) for n in re.findall(r"^ *(\d+): \S", steps, re.M)]
            self.assertEqual(numbers[0], 0)
            self.assertEqual(numbers[-1], int(count) - 1, name)
            self.assertEqual(numbers, sorted(set(numbers)))
        self.assertRegex(text, rf"\n; {self.file}:4: size > 16\n;   s64 v0 = .*\n *\d+: ")
        self.assertRegex(text, r"\n;   /\S+/probe_templates/call\.bpf\.c:\d+: .*\n *\d+: ")
        self.assertRegex(text, r"\n *\d+: r\d = map accounts\n")
        self.assertRegex(text, r"\n *\d+: call bpf_map_lookup_elem\n")
        self.assertRegex(text, r"\n *\d+: exit\n")

    def test_needs_no_root(self):
        for option in ("--asm", "--annotate"):
            text = self.ok("emit", option, "--rules", self.file, user=65534, group=65534, extra_groups=[])
            self.assertIn(f"{self.file}:4: size > 16", text)

    def test_both_ways_at_once(self):
        self.assertIn("leave one out", self.failed("emit", "--asm", "--annotate", "--rules", self.file, status=2))


class CheckCompile(EmitCase):
    def test_says_what_there_is_to_load(self):
        first, second = self.ok("check", "--compile", "--rules", self.file).splitlines()
        self.assertEqual(first, "2 rules, 2 functions, 3 programs: no mistakes found")
        found = re.fullmatch(r"([\d ]+) programs of ([\d ]+) instructions: compiled and loaded in \d+ ms", second)
        listed = self.ok("emit", "--asm", "--rules", self.file)
        counts = [int(n) for n in re.findall(r"^\w+: (\d+) instructions$", listed, re.M)]
        self.assertEqual([int(n.replace(" ", "")) for n in found.groups()], [len(counts), sum(counts)])

    def test_the_same_from_what_was_kept(self):
        run = {"env": {**os.environ, "MLBCC_CACHE": str(self.dir / "cache")}}
        said = [re.sub(r"\d+ ms", "", self.ok("check", "--compile", "--rules", self.file, **run)) for _ in range(2)]
        self.assertEqual(said[0], said[1])
        self.assertIn("instructions: compiled and loaded", said[1])

    def test_without_rights(self):
        done = self.mlbcc("check", "--compile", "--rules", self.file, user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, r"error: .*(not permitted|Permission denied)")


@unittest.skipUnless(GETPPID, "the number of getppid() is known on x86-64 and arm64 only")
class Refused(EmitCase):
    def place(self, path, line, column, text, carets, label=""):
        """As a diagnostic shows it."""
        width = len(str(line))
        return (f"{'':{width}}--> {path}:{line}:{column}\n{'':{width}} |\n{line} | {text}\n"
                f"{'':{width}} | {'':{column - 1}}{carets}{label and ' ' + label}\n")

    def check(self, work, *options):
        return self.failed("check", "--compile", *self.template(work), "--rules", self.rules(ASKING), *options)

    def test_the_verifier_and_a_template(self):
        said = self.check(UNCHECKED)
        self.assertRegex(said, r"^error: R\d+ invalid mem access '(scalar|inv)'\n")
        self.assertIn(self.place("mine/probes/family_ask.bpf.c", WORK_LINE, 5, f"    {UNCHECKED}",
                                 "^" * len(UNCHECKED), "the kernel's verifier gave up here"), said)
        self.assertIn("note: what the rule asks for\n", said)
        self.assertIn("--> test.rules:1:1\n", said)
        steps = said[said.index("the last instructions it verified:\n"):].splitlines()
        self.assertIn(f"; {UNCHECKED}", [step.strip() for step in steps])
        self.assertRegex(said, r"\n +\d+: \([0-9a-f]{2}\) r\d+ = \*\(u32 \*\)\(r\d+ \+0\).*\n +R\d+ invalid mem access")
        self.assertIn("error: the kernel refuses the program `family_ask`: what is wrong is in a template of "
                      "--templates\n   = help: correct the template at the place that the message names\n", said)

    def test_a_loop_without_end(self):
        loop = "while (at->args[1]) asm volatile(\"\" ::: \"memory\");"
        said = self.check(loop)
        self.assertRegex(said, r"^error: (infinite loop detected at|back-edge from) insn \d+")
        self.assertIn(f"--> mine/probes/family_ask.bpf.c:{WORK_LINE}:5\n", said)

    def test_clang_and_a_template(self):
        said = self.check("fields.parent = parnt;")
        self.assertIn("error: use of undeclared identifier 'parnt'\n" +
                      self.place("mine/probes/family_ask.bpf.c", WORK_LINE, 21, "    fields.parent = parnt;", "^"), said)
        self.assertIn("error: the program cannot be compiled: what is wrong is in a template of --templates\n", said)

    def test_a_trace_says_the_same(self):
        options = self.template(UNCHECKED)
        said = self.refused(ASKING, status=1, options=options)
        self.assertIn(f"--> mine/probes/family_ask.bpf.c:{WORK_LINE}:5\n", said)
        self.assertFalse(self.out.exists())

    def test_a_template_of_ours_in_a_rules_work(self):
        """What a rule's own line calls: the rule's line is shown, and it is no mistake of the user's."""
        templates = self.dir / "templates"
        shutil.copytree(ROOT / "probe_templates", templates)
        submit = templates / "call.bpf.c"
        text = submit.read_text()
        put = "static __always_inline void mlbcc_head(struct call *call, struct record_header *header) {\n"
        broken = text.replace(put, put + "    call->now += *(volatile u64 *)call->now;\n")
        self.assertNotEqual(text, broken)
        submit.write_text(broken)
        file = self.rules("on syscall:getppid {\n    event p.asked(pid)\n    stack user\n}\n")
        said = self.failed("check", "--compile", "--rules", file, "--no-cache",
                           "--templates", templates)
        self.assertRegex(said, r"^error: R\d+ invalid mem access")
        done = self.mlbcc("check", "--compile", "--no-cache", "--rules", file,
                          env={**os.environ, "MLBCC_TEMPLATES": str(templates)})
        said = done.stderr.replace(f"{self.dir}/", "")
        self.assertEqual(done.returncode, 1, said)
        self.assertIn(self.place("test.rules", 2, 5, "    event p.asked(pid)", "^" * 18,
                                 "the kernel's verifier gave up here"), said)
        line = 1 + broken[:broken.index("    call->now += *(volatile")].count("\n")
        self.assertIn(f"note: in this template\n --> templates/call.bpf.c:{line}:5\n", said)
        self.assertIn("note: in the C: call->now += *(volatile u64 *)call->now;\n", said)
        self.assertIn("this is a defect of mlbcc, not of your rules", said)


class Keep(EmitCase):
    def kept(self):
        return {str(path.relative_to(self.dir / "kept")): path.read_text()
                for path in (self.dir / "kept").rglob("*") if path.is_file()}

    def assert_listed(self, files):
        listed = re.findall(r"^  (\S+)  ", files["README.txt"], re.M)
        self.assertEqual(sorted([*listed, "README.txt"]), sorted(files))

    def test_a_trace(self):
        self.write("more.rules", "on syscall:getppid { count }\n")
        file = self.rules('import "more.rules"\n' + (RULES % target("libpool.so")), "main.rules")
        trace = self.trace(file, target("pool_client"), options=("--keep", self.dir / "kept"),
                           env={**os.environ, "MY_SECRET": "xyzzy"})
        self.assertTrue(trace.events)
        files = self.kept()
        self.assert_listed(files)
        self.assertEqual(set(files) - {"compiler.log", "messages.txt"},
                         {"README.txt", "command.txt", "system.txt", "rules/0-main.rules", "rules/1-more.rules",
                          "plan.txt", "features.txt", "program.bpf.c", "program.annotated.c", "lines.tsv"})
        self.assertEqual(files["rules/1-more.rules"], "on syscall:getppid { count }\n")
        self.assertIn("MY_SECRET\n", files["command.txt"])
        self.assertIn(f"--keep\n{self.dir}/kept\n", files["command.txt"])
        self.assertNotIn("xyzzy", "".join(files.values()))
        self.assertIn(f"kernel {platform.release()}\n", files["system.txt"])
        self.assertRegex(files["system.txt"], r"(?m)^mlbcc \d[\s\S]*^build id ([0-9a-f]{40}|not known.*)$"
                                              r"[\s\S]*^clang .*\d[\s\S]*^libbcc \d")
        self.assertIn("pool_alloc", files["plan.txt"])
        self.assertIn("uprobe session: ", files["features.txt"])
        self.assertIn(f"// {file}:5: size > 16\n", files["program.annotated.c"])
        self.assertIn(f"mlbcc: what a bug report needs is in {self.dir}/kept\n", self.last.stderr)
        number, = {int(n) for n in re.findall(rf"(?m)^(\d+)\t{file}:5:11$", files["lines.tsv"])}
        self.assertEqual(files["program.bpf.c"].splitlines()[number - 1], f'#line 5 "{file}"')

    def test_rules_that_are_wrong(self):
        file = self.rules("on syscall:getppid { cuont }")
        self.failed("--keep", self.dir / "kept", "--rules", file, "--", "true", status=2)
        files = self.kept()
        self.assert_listed(files)
        self.assertIn("`cuont`", files["messages.txt"])
        self.assertEqual(files["rules/0-test.rules"], "on syscall:getppid { cuont }")
        self.assertNotIn("program.bpf.c", files)

    @unittest.skipUnless(GETPPID, "the number of getppid() is known on x86-64 and arm64 only")
    def test_a_program_that_is_refused(self):
        options = self.template(UNCHECKED)
        file = self.rules(ASKING)
        said = self.failed("check", "--compile", "--keep", self.dir / "kept", *options, "--rules", file)
        files = self.kept()
        self.assert_listed(files)
        self.assertIn("invalid mem access", files["verifier.log"])
        self.assertEqual(files["compiler.log"], "")
        self.assertIn(UNCHECKED, files["templates/family_ask.bpf.c"])
        self.assertTrue(files["refused.asm"].startswith("family_ask\n"))
        line, = [n for n, text in enumerate(files["program.bpf.c"].splitlines(), 1) if UNCHECKED in text]
        self.assertRegex(files["refused.asm"], rf"(?m)^ *\d+: r\d+ = \*\(u32 \*\)\(r\d+ \+ 0\) *; line {line}$")
        told = files["refused.txt"].replace(f"{self.dir}/", "")
        self.assertIn(told.splitlines()[0], said)
        self.assertIn("what is wrong is in a template", told)

    def test_emit_and_again(self):
        for _ in range(2):
            self.ok("emit", "--keep", self.dir / "kept", "--rules", self.file)
        files = self.kept()
        self.assert_listed(files)
        self.assertEqual(files["program.bpf.c"], self.ok("emit", "--rules", self.file))

    def test_a_folder_of_somebody_else(self):
        self.write("kept/notes.txt", "mine")
        said = self.failed("emit", "--keep", self.dir / "kept", "--rules", self.file, status=2)
        self.assertEqual(said, "error: --keep kept: the folder holds notes.txt, which mlbcc has not put there\n"
                               "   = help: name a folder that is empty, or not there yet\n")
        self.assertEqual(self.kept(), {"notes.txt": "mine"})

    def test_what_keeps_nothing(self):
        for command, said in (("list", "`mlbcc list` has no option `--keep`"), ("check", "--keep is for a trace, `check --compile` and `emit`")):
            self.assertIn(said, self.failed(command, "--keep", self.dir / "kept", "--rules", self.file, status=2))
        self.assertFalse((self.dir / "kept").exists())
