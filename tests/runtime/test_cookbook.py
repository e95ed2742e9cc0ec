"""The recipes of docs/cookbook.md and of README.md print what they say (scripts/cookbook.py)."""

import re
import subprocess
import sys

from harness import ROOT, TracerCase
from harness.machine import BUILD, need_tool

sys.path.insert(0, str(ROOT / "scripts"))


class Cookbook(TracerCase):
    def test_recipes_print_what_they_say(self):
        need_tool("jq")
        done = subprocess.run([sys.executable, ROOT / "scripts/cookbook.py", "--tool", BUILD], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_recipes_are_found(self):
        from cookbook import COOKBOOK, DOCUMENTS, recipes
        found = {document: [one.title for one in recipes(document)] for document in DOCUMENTS}
        self.assertEqual(found[COOKBOOK], re.findall(r"^### (.*)$", COOKBOOK.read_text(), re.MULTILINE))
        self.assertEqual(found[ROOT / "README.md"], ["What it shows"] * 2)

    def test_what_differs_is_told(self):
        from cookbook import difference
        said = "took 3.2 us in 5 calls\n  a   ###\n...\nend\n"
        self.assertIsNone(difference(said, "took 17 ms in 1 234 calls\n a  #\nmore\nmore\nend\n"))
        self.assertEqual(difference(said, "took 17 ms in 5 calls\n b  #\nend\n"), "  a   ###")
        self.assertEqual(difference(said, "took 17 ms in 5 calls\n a  #\nmore\n"), "end")
        self.assertEqual(difference(said, "took 17 ms in 5 calls\n a  #\nend\nmore\n"), "more")
