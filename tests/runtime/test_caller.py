"""Under sudo, or set-user-ID, the files that the caller names are opened with the caller's rights."""

import os
import subprocess
import time
from pathlib import Path

from harness import MLBCC, TracerCase
from test_trusted import CALLER, STRANGER, installed

RULES = 'on "libc.so.6":getenv { count by comm   event seen(ret) }\n'
SECRET = "root:$y$j9T$F5Jx5fExrKuPp53xLKQZ10$KlNk3Yx1:19000"
HEADER = 'header "{}"\nlibrary c = "libc.so.6"\non c:getenv {{ count by name }}\n'
GETENV = "char *getenv(const char *name);\n"


class Caller(TracerCase):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.env = {**os.environ, "SUDO_UID": str(CALLER), "SUDO_GID": str(CALLER)}
        self.mine = self.dir / "mine"
        self.mine.mkdir()
        os.chown(self.mine, CALLER, CALLER)

    def secret(self, name, text=SECRET):
        path = self.dir / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def run_as(self, *words, program=None, **options):
        if program:
            return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False, **options)
        return self.mlbcc(*words, env=self.env, **options)

    def assert_keeps(self, *words, said):
        """It fails at once, says why, and nothing of what only root may read."""
        start = time.monotonic()
        done = self.run_as(*words)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(said, done.stderr)
        self.assertNotIn("F5Jx5fExr", done.stdout + done.stderr)
        self.assertLess(time.monotonic() - start, 20)

    def test_files_that_are_made_are_the_caller_s(self):
        rules = self.rules(RULES)
        done = self.run_as("-q", "--rules", rules, "-o", "t.jsonl", "--format", "csv,html", "--folded", "t.folded", "--keep", "kept", "--", "/bin/ls", cwd=self.mine)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_as("profile", "-q", "--json", "p.json", "-o", "p.jsonl", "--", "/bin/true", cwd=self.mine)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_as("convert", "--to", "chrome", "-o", "t.json", "t.jsonl", cwd=self.mine)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_as("-q", "--rules", rules, "--", "/bin/true", cwd=self.mine)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = [path for path in self.mine.rglob("*") if path.is_file()]
        names = {path.name for path in made}
        self.assertLessEqual({"t.jsonl", "t.csv", "t.html", "t.folded", "p.json", "p.jsonl", "t.json", "README.txt"}, names)
        self.assertEqual({path.stat().st_uid for path in made}, {CALLER})
        self.assertIn("seen", (self.mine / "t.csv").read_text())

    def test_what_the_caller_may_not_write(self):
        rules, target = self.rules(RULES), self.secret("target")
        for option in (("-o", target), ("--folded", target), ("-o", self.dir / "new"), ("--keep", self.dir / "kept")):
            done = self.run_as("-q", "--rules", rules, *option, "--", "/bin/true", cwd=self.mine)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("Permission denied", done.stderr)
        self.assertIn("= help: files are opened with the rights of `nobody`, who called; in a root shell, `unset SUDO_UID` first\n", self.run_as("-q", "--rules", rules, "-o", target, "--", "/bin/true").stderr)
        self.assertEqual(target.read_text(), SECRET)
        self.assertFalse((self.dir / "new").exists())

    def test_what_the_caller_may_not_read(self):
        secret = self.secret("secret.rules")
        rules = self.rules(RULES)
        (self.dir / "own.h").write_text(f'struct s {{ int\n#include "{secret}"\n}};\n{GETENV}')
        own = self.rules(HEADER.format("own.h"), "own.rules")
        denied = "Permission denied"
        self.assert_keeps("check", "--rules", secret, said=denied)
        self.assert_keeps("check", "--no-cache", "--rules", own, said="error:")
        self.assert_keeps("check", "--no-cache", "--rules", self.rules(HEADER.format(secret), "whole.rules"), said="error:")
        self.assert_keeps("--config", secret, "check", "--rules", rules, said=str(secret))
        folder = self.dir / "closed"
        folder.mkdir(mode=0o700)
        (folder / "there.rules").write_text(RULES)
        for name in "absent.rules", "there.rules":  # which of them is there is not told
            self.assert_keeps("check", "--rules", folder / name, said=f"cannot open {folder / name}: Permission denied\n   = help: files are opened with the rights of `nobody`, who called")
        trace = self.secret("trace.jsonl")
        for words in (("report", trace), ("timeline", trace), ("convert", "--to", "csv", "-o", self.mine / "x.csv", trace)):
            self.assert_keeps(*words, said=denied)

    def test_options_of_another_s_file(self):
        victim = self.secret("victim", "precious")
        config = self.dir / "c.toml"
        config.write_text(f'root = true\noutput = "{victim}"\n')
        rules = self.rules(RULES)
        for owner, mode in ((STRANGER, 0o644), (0, 0o666), (STRANGER, 0o666)):
            os.chown(config, owner, owner)
            config.chmod(mode)
            done = self.run_as("-q", "--config", config, "--rules", rules, "--", "id", "-u")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("mlbcc runs with more rights than its caller", done.stderr)
            self.assertEqual(victim.read_text(), "precious")
        os.chown(config, CALLER, CALLER)
        config.chmod(0o644)
        config.write_text('quiet = true\noutput = "mine/t.jsonl"\n')
        done = self.run_as("--config", config, "--rules", rules, "--", "id", "-u")
        self.assertEqual((done.returncode, done.stdout), (0, f"{CALLER}\n"), done.stderr)

    def test_what_a_header_includes_is_a_file(self):
        os.mkfifo(self.dir / "pipe")
        for what in ("/dev/zero", "/dev/tty", "pipe"):
            (self.dir / "h.h").write_text(f'#include "{what}"\n{GETENV}')
            rules = self.rules(HEADER.format("h.h"))
            start = time.monotonic()
            for env in (self.env, os.environ):
                done = self.mlbcc("check", "--no-cache", "--rules", rules, env=env)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("No such device or address", done.stderr)
            self.assertLess(time.monotonic() - start, 20)

    def test_what_a_header_includes_is_no_larger_than_a_header(self):
        (self.dir / "h.h").write_text(f'#include "zeros"\n{GETENV}')
        (self.dir / "zeros").touch()
        os.truncate(self.dir / "zeros", 1 << 30)
        start = time.monotonic()
        done = self.mlbcc("check", "--no-cache", "--rules", self.rules(HEADER.format("h.h")))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("File too large", done.stderr)
        self.assertLess(time.monotonic() - start, 10)

    def test_a_set_user_id_program(self):
        program = installed(self.dir / "installed")
        program.chmod(0o4755)
        rules = self.rules(RULES)
        caller = {"user": CALLER, "group": CALLER, "extra_groups": [], "cwd": self.mine}
        done = self.run_as("-q", "--rules", rules, "-o", "t.jsonl", "--", "id", program=program, **caller)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"uid={CALLER}", done.stdout)
        self.assertNotIn("euid", done.stdout)
        self.assertNotIn("(root)", done.stdout)
        self.assertEqual((self.mine / "t.jsonl").stat().st_uid, CALLER)
        for option in (("--root",), ("--user", "root")):
            done = self.run_as("-q", *option, "--rules", rules, "-o", "u.jsonl", "--", "id", program=program, **caller)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("its commands run as who called it", done.stderr)
        done = self.run_as("check", "--rules", self.secret("secret.rules"), program=program, **caller)
        self.assertIn("Permission denied", done.stderr)

    def test_an_installed_program_uses_what_is_installed_with_it(self):
        program = installed(self.dir / "installed")
        (program.parent.parent / "share/mlbcc/rules").unlink()
        done = self.run_as("check", "--rules", "cuda", program=program)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"rule file `cuda` was not found; searched {program.parent}/../share/mlbcc/rules/cuda.rules\n", done.stderr)

    def test_a_name_is_a_bundled_file(self):
        (self.dir / "io").write_text("nonsense")
        self.assertEqual(self.mlbcc("check", "--rules", "io").returncode, 0)
        (self.dir / "mine.txt").write_text(RULES)
        done = self.mlbcc("check", "--rules", "mine.txt")
        self.assertEqual(done.returncode, 2)
        self.assertIn("`mine.txt` is no bundled rule file\n   = help: there is a file of that name: `./mine.txt` is its path", done.stderr)

    def test_traces_in_a_folder_of_another_s(self):
        """Who owns the folder puts links where the traces would be, and another's folder in the place of ours."""
        rules, victim = self.rules(RULES), self.secret("victim", "precious")
        for env in (self.env, os.environ):
            shared = self.dir / f"shared{len(env)}"
            shared.mkdir()
            (shared / "traces").symlink_to(self.dir)
            os.lchown(shared / "traces", STRANGER, STRANGER)
            os.chown(shared, STRANGER, STRANGER)
            shared.chmod(0o777)
            done = self.mlbcc("-q", "--rules", rules, "--", "/bin/true", env=env, cwd=shared)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"traces is a link that user {STRANGER} made", done.stderr)
            self.assertEqual([path.name for path in self.dir.glob("trace_*")], [])
            (shared / "t.jsonl").symlink_to(victim)
            os.lchown(shared / "t.jsonl", STRANGER, STRANGER)
            done = self.mlbcc("-q", "--rules", rules, "-o", "t.jsonl", "--", "/bin/true", env=env, cwd=shared)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("it is a link in a folder that others may write to", done.stderr)
            self.assertEqual(victim.read_text(), "precious")

    def test_the_helper_ends_with_the_tracer(self):
        """Also where it is in the middle of something long, and the tracer is killed."""
        text = "".join(f"int f{i}(int a, struct s{i} *b);\n" for i in range(300000))
        (self.dir / "long.h").write_text(text + GETENV)
        rules = self.rules(HEADER.format("long.h"))
        job = subprocess.Popen([MLBCC, "check", "--no-cache", "--rules", rules], stderr=subprocess.DEVNULL)
        helper = self.wait_for_child(job.pid)
        job.kill()
        job.wait()
        end = time.monotonic() + 5
        while Path(f"/proc/{helper}").exists() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse(Path(f"/proc/{helper}").exists())

    def wait_for_child(self, pid):
        while True:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if children and Path(f"/proc/{children[0]}/comm").read_text() == "mlbcc-bcc\n":
                return children[0]
            time.sleep(0.005)
