"""What `--changed` runs for a changed file, and that its table covers the tree."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from testing import changed
from testing.steps import ROOT, STEPS, patterns

# What everything depends on.
EVERYTHING = {".ci/run", ".clang-format", ".clang-tidy", ".dockerignore", "CMakeLists.txt", "CMakePresets.json",
              "cmake/arm64.cmake", "scripts/setup.sh", "tests/CMakeLists.txt", "tests/npm_install.py",
              "tests/sanitize.ignore"}


def plan(*files):
    return changed.plan(files, ROOT)


class Table(unittest.TestCase):
    rows = changed.read_table((ROOT / "tests/touches.txt").read_text())

    def test_what_no_row_covers_runs_everything(self):
        made = plan("tool/view/view.h", "a/new/folder.xyz")
        self.assertEqual(made.uncovered, ["a/new/folder.xyz"])
        self.assertEqual(list(made.said("v1")), [
            "2 files changed since v1", "everything runs: tests/touches.txt has no row for a/new/folder.xyz"])

    def test_files_of_the_tree_that_have_no_row(self):
        done = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True)
        if done.returncode != 0:
            self.skipTest("not a git checkout")
        self.assertEqual(set(plan(*done.stdout.splitlines()).uncovered), EVERYTHING)

    def test_all_tests_that_it_names_are_there(self):
        for folder, key in (("tests/runtime", "runtime"), ("tests/vm", "vm")):
            text = {}
            for path in [*(ROOT / folder).rglob("test_*.py"), *(ROOT / "tests/runtime").glob("test_*.py")]:
                text[path.stem] = text.get(path.stem, "") + path.read_text()  # of one name they share tests
            for pattern, row in self.rows:
                for name in set(row[key]) - {"all", "itself"}:
                    module, *parts = name.split(".")
                    self.assertIn(module, text, pattern)
                    for part in parts:
                        self.assertTrue(re.search(rf"(class|def) {part}", text[module]), f"{pattern}: {name}")

    def test_each_module_of_runtime_tests_has_a_row(self):
        named = {name.split(".")[0] for _, row in self.rows for name in row["runtime"]}
        self.assertEqual({path.stem for path in (ROOT / "tests/runtime").glob("test_*.py")} - named, set())

    def test_each_folder_of_the_tool_has_a_row_of_its_own(self):
        patterns = [pattern for pattern, _ in self.rows]
        for folder in (ROOT / "tool").iterdir():
            if folder.is_dir():
                self.assertIn(f"tool/{folder.name}/*", patterns)

    def test_mistakes(self):
        with self.assertRaisesRegex(changed.CannotSay, r"touches.txt:2: no pattern, nor one of .*: runs  all"):
            changed.read_table("tool/*\n    runs  all\n")


class Plans(unittest.TestCase):
    def test_a_source_of_one_folder(self):
        made = plan("tool/view/view.cpp", "tool/view/html.cpp")
        self.assertEqual(made.units, {"view", "commands"})
        self.assertIn("test_page.", made.runtime)
        self.assertEqual(made.vm, set())
        self.assertNotIn("vm", made.steps())

    def test_a_template(self):
        made = plan("probe_templates/call.bpf.c")
        self.assertEqual(made.units, {"codegen", "plan"})
        self.assertTrue(made.vm)
        self.assertIn("vm", made.steps())

    def test_a_test(self):
        made = plan("tests/runtime/test_late.py", "tests/unit/rules/parse_test.cpp")
        self.assertEqual((made.runtime, made.units, made.vm), ({"test_late."}, {"rules"}, set()))

    def test_words_only(self):
        made = plan("LICENSE", "tests/arm64/run.sh")
        self.assertEqual(made.steps(), list(changed.ALWAYS))
        self.assertEqual(list(made.said("v1"))[-1], "to be run by hand: tests/arm64/run.sh")

    def test_all_beside_others_is_all(self):
        self.assertEqual(patterns({"test_late.", "test_args."}), ["-k", "test_args.", "-k", "test_late."])
        self.assertEqual(patterns({"all", "test_late."}), [])

    def test_steps_are_there(self):
        self.assertLessEqual(set(plan("tool/codegen/codegen.h").steps()), set(STEPS))

    def test_what_includes_a_header_is_tidied(self):
        made = plan("tool/host/guardian.h")
        self.assertEqual(made.tidy, {"tool/host/guardian.cpp", "tool/host/open_guard.cpp"})


class Since(unittest.TestCase):
    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=self.root, check=True,
                       capture_output=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.git("init", "-q", "-b", "main")
        for name in ("first", "second"):
            (self.root / name).write_text(name)
            self.git("add", "-A")
            self.git("commit", "-qm", name)

    def test_the_last_commit_and_what_is_not_committed(self):
        (self.root / "new").write_text("new")
        (self.root / "first").write_text("another")
        self.assertEqual(changed.since(self.root, ""), ("HEAD~1", ["first", "new", "second"]))
        self.assertEqual(changed.since(self.root, "HEAD"), ("HEAD", ["first", "new"]))

    def test_what_the_remote_has(self):
        self.git("clone", "-q", ".", "far")
        (self.root / "far/third").write_text("third")
        base, files = changed.since(self.root / "far", "")
        self.assertEqual((base, files), ("origin/main", ["third"]))

    def test_no_commit(self):
        with self.assertRaisesRegex(changed.CannotSay, "`nothing` is no commit"):
            changed.since(self.root, "nothing")
