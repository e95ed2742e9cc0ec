"""With more rights than its caller, mlbcc believes only files that nobody else could have written."""

import os
import shutil
import subprocess

from harness import MLBCC, ROOT, TracerCase

WHY = "and mlbcc runs with more rights than its caller"
CALLER, STRANGER = 65534, 4711
TEMPLATE = ROOT / "probe_templates" / "probes" / "mem_page_fault.bpf.c"


def installed(folder):
    """A program of its own, with all that is installed with it; it may be given other rights."""
    for place in "bin", "libexec/mlbcc", "share/mlbcc":
        (folder / place).mkdir(parents=True)
    shutil.copy(MLBCC, folder / "bin")
    shutil.copy(MLBCC.parent / "mlbcc-bcc", folder / "libexec/mlbcc")
    for what in "rules", "probe_templates":
        (folder / "share/mlbcc" / what).symlink_to(ROOT / what)
    return folder / "bin/mlbcc"


class Trusted(TracerCase):
    RULES = 'on "libc.so.6":getenv { count }\n'

    def setUp(self):
        super().setUp()
        self.sudo = {**os.environ, "SUDO_UID": str(CALLER), "SUDO_GID": str(CALLER)}

    def check(self, *options, **environment):
        return self.mlbcc("check", *options, env={**self.sudo, **environment})

    def assert_admitted(self, *options, **environment):
        done = self.check(*options, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)

    def assert_refused(self, reason, repair, *options, status=2):
        done = self.check(*options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(f"{reason}, {WHY}\n", done.stderr)
        self.assertIn(f"= help: {repair}\n", done.stderr)

    def assert_writable(self, path, *options, status=2):
        """Refused as long as everybody may write to `path`, with the repair that helps."""
        path.chmod(0o777 if path.is_dir() else 0o666)
        self.assert_refused(f"everybody may write to {path}", f"chmod go-w {path}", *options, status=status)
        without = {key: value for key, value in self.sudo.items() if key != "SUDO_UID"}
        done = self.mlbcc("check", *options, env=without)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.system(f"chmod go-w {path}"), 0)
        self.assert_admitted(*options)

    def test_the_message_in_full(self):
        rules = self.rules(self.RULES)
        rules.chmod(0o602)
        self.assertEqual(self.check("--rules", rules).stderr, f"""\
error: everybody may write to {rules}, {WHY}
   = help: chmod go-w {rules}
""")

    def test_a_rule_file(self):
        rules = self.rules(self.RULES)
        self.assert_writable(rules, "--rules", rules)

    def test_its_folder(self):
        rules = self.rules(self.RULES, "shared/my.rules")
        self.assert_writable(rules.parent, "--rules", rules)

    def test_an_imported_file(self):
        imported = self.rules(self.RULES, "imported.rules")
        self.assert_writable(imported, "--rules", self.rules('import "imported.rules"\n'))

    def test_a_header(self):
        header = self.write("my.h", "char *getenv(const char *name);\n")
        rules = self.rules('header "my.h"\non "libc.so.6":getenv { count }\n')
        self.assert_writable(header, "--rules", rules)

    def test_a_header_that_a_header_includes(self):
        included = self.write("deep/inner.h", "char *getenv(const char *name);\n")
        self.write("my.h", '#include "deep/inner.h"\n')
        rules = self.rules('header "my.h"\non "libc.so.6":getenv { count by name }\n')
        self.assert_writable(included, "--rules", rules)

    def test_a_template(self):
        template = self.dir / "templates" / "probes" / TEMPLATE.name
        template.parent.mkdir(parents=True)
        shutil.copy(TEMPLATE, template)
        rules = self.rules(self.RULES)
        self.assert_writable(template, "--rules", rules, "--templates", self.dir / "templates", status=1)

    def test_a_header_of_templates(self):
        templates = self.dir / "templates"
        shutil.copytree(ROOT / "probe_templates", templates)
        self.assert_writable(templates / "include/kernel/include/linux/types.h", "--rules",
                             self.rules(self.RULES), "--templates", templates, status=1)

    def test_files_of_the_caller(self):
        rules = self.rules(self.RULES, "mine/my.rules")
        for path in (rules, rules.parent):
            os.chown(path, CALLER, CALLER)
        self.assert_admitted("--rules", rules)

    def test_files_of_somebody_else(self):
        rules = self.rules(self.RULES)
        os.chown(rules, STRANGER, 0)
        self.assert_refused(f"{rules} belongs to user {STRANGER}",
                            f"chown root {rules}, or use a copy of your own", "--rules", rules)
        self.assert_admitted("--rules", rules, SUDO_UID=str(STRANGER))

    def test_bundled_rules(self):
        self.assert_admitted("--rules", "syscalls")

    def test_a_trace_begins_no_sooner(self):
        rules = self.rules(self.RULES)
        rules.chmod(0o666)
        done = self.mlbcc("--rules", rules, "-o", self.out, "--", "touch", "ran.txt", env=self.sudo)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse((self.dir / "ran.txt").exists())
        self.assertFalse(self.out.exists())

    def test_a_program_with_rights_of_its_own(self):
        """Set-user-ID root: the real user is another one than the effective one."""
        program = installed(self.dir)
        program.chmod(0o4755)
        rules = self.rules(self.RULES)
        rules.chmod(0o666)
        as_caller = {"user": CALLER, "group": CALLER, "extra_groups": []}
        done = subprocess.run([program, "check", "--rules", rules], capture_output=True, text=True,
                              timeout=60, cwd=self.dir, **as_caller)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(f"everybody may write to {rules}, {WHY}", done.stderr)
        rules.chmod(0o644)
        done = subprocess.run([program, "check", "--rules", rules], capture_output=True, text=True,
                              timeout=60, cwd=self.dir, **as_caller)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_doctor_says_so(self):
        rules = self.rules(self.RULES)
        rules.chmod(0o666)
        done = self.mlbcc("doctor", "--rules", rules, env=self.sudo)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"everybody may write to {rules}, {WHY}\n{' ' * 30}repair: chmod go-w {rules}\n",
                      done.stdout)
