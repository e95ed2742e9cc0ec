"""The unit tests that need what an emulator of programs has not."""

import subprocess

from harness import TracerCase
from harness.machine import BUILD


class Units(TracerCase):
    def check(self, program, tests):
        done = subprocess.run([BUILD / "tests" / program, f"--gtest_filter={tests}"], cwd=self.dir,
                              capture_output=True, text=True, errors="replace")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-1000:])
        self.assertRegex(done.stdout, r"\[  PASSED  \] [1-9]\d* tests?\.")

    def test_of_loading(self):
        self.check("unit_bpf", "BundleTest.*:CompilerProcess.*")

    def test_of_opening(self):
        self.check("unit_base", "OpenFile.*")
        self.check("unit_host", "FindLibrary.AProcessBelowAnotherRootHasItsOwnFiles")
        self.check("unit_process", "ProcessReader.ThisProcess")
        self.check("unit_symbols", "Roots.*:MadeCodes.*:Symbols.SayThatAFileWasNotRead")
