"""The recipes of docs/cookbook.md print what it says (scripts/cookbook.py)."""

import subprocess
import sys

from harness import ROOT, TracerCase
from harness.machine import BUILD, need_tool


class Cookbook(TracerCase):
    def test_recipes_print_what_they_say(self):
        need_tool("jq")
        done = subprocess.run([sys.executable, ROOT / "scripts/cookbook.py", "--tool", BUILD], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_what_differs_is_told(self):
        sys.path.insert(0, str(ROOT / "scripts"))
        from cookbook import difference
        said = "took 3.2 us in 5 calls\n  a   ###\n...\nend\n"
        self.assertIsNone(difference(said, "took 17 ms in 1 234 calls\n a  #\nmore\nmore\nend\n"))
        self.assertEqual(difference(said, "took 17 ms in 5 calls\n b  #\nend\n"), "  a   ###")
        self.assertEqual(difference(said, "took 17 ms in 5 calls\n a  #\nmore\n"), "end")
        self.assertEqual(difference(said, "took 17 ms in 5 calls\n a  #\nend\nmore\n"), "more")
