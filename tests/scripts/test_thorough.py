"""What changed since the last thorough run is said by name."""

import tempfile
import unittest
from pathlib import Path

from testing import thorough
from testing.steps import ROOT


class Owed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("probe_templates/a.bpf.c", "tool/bpf/kernel.cpp", "tool/codegen/emit.cpp",
                     "tool/compiler/main.cpp", "tool/load/loader.h", "tests/x"):
            self.write(name, name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_all_of_it_without_a_run(self):
        self.assertEqual(thorough.changed(self.root), list(thorough.WATCHED))

    def test_nothing_after_a_run(self):
        thorough.write(self.root, thorough.lines(self.root))
        self.write("tool/load/options.cpp", "what does not load programs")
        self.assertEqual(thorough.changed(self.root), [])

    def test_contents_names_and_new_files(self):
        thorough.write(self.root, thorough.lines(self.root))
        self.write("probe_templates/a.bpf.c", "another text")
        self.assertEqual(thorough.changed(self.root), ["probe_templates"])
        self.write("tool/bpf/maps.cpp", "")
        self.assertEqual(thorough.changed(self.root), ["probe_templates", "tool/bpf"])
        (self.root / "tool/load/loader.h").rename(self.root / "tool/load/loaded.h")
        self.assertEqual(thorough.changed(self.root), ["probe_templates", "tool/bpf", "tool/load/loade*"])

    def test_what_changes_during_the_run_is_owed(self):
        tested = thorough.lines(self.root)
        self.write("tool/bpf/kernel.cpp", "edited meanwhile")
        thorough.write(self.root, tested)
        self.assertEqual(thorough.changed(self.root), ["tool/bpf"])

    def test_all_that_is_watched_is_there(self):
        for name in thorough.WATCHED:
            self.assertNotEqual(thorough.digest(ROOT, name), thorough.digest(self.root / "tests", name), name)
