"""What ships is true: each rule file runs, and what the documents show works as shown."""

import os
import re
import subprocess

from harness import ROOT, Trace, TracerCase
from harness.machine import BUILD, CUDA_SIM

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document, language):
    """The code blocks of a document in one language: [(line, text)]."""
    text = (ROOT / document).read_text()
    return [(text.count("\n", 0, match.start()) + 2, match.group(2))
            for match in FENCE.finditer(text) if match.group(1) == language]


class Shipped(TracerCase):
    ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM)}

    def test_what_is_installed(self):
        """Program, rules, manual page and documents, with whatever these link to; and it runs from there."""
        prefix = self.dir / "prefix"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
        page = (prefix / "share/man/man1/mlbcc.1").read_text()
        commands = subprocess.run([prefix / "bin/mlbcc", "--help"], capture_output=True, text=True, check=True).stdout
        for command in ("profile", "serve", "report", "doctor"):
            self.assertIn(command, commands)
            self.assertRegex(page, rf"(?m)^(\.B |\\fB)?{command}")
        documents = prefix / "share/doc/mlbcc"
        self.assertEqual({file.name for file in documents.glob("*.md")}, {file.name for file in (ROOT / "docs").glob("*.md")})
        for file in documents.glob("*.md"):
            for link in re.findall(r"\]\(([\w./-]+)(?:#[\w-]*)?\)", file.read_text()):
                if not link.startswith(("../", "decisions/")):  # of the source tree
                    self.assertTrue((documents / link).exists(), (file.name, link))
        rules = subprocess.run([prefix / "bin/mlbcc", "rules"], capture_output=True, text=True, check=True)
        self.assertIn(str(prefix / "share/mlbcc/rules"), rules.stderr)
        done = subprocess.run([prefix / "bin/mlbcc", "--rules", "io", "-o", self.out, "--", "true"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_rule_file_runs(self):
        files = sorted((ROOT / "rules").glob("*.rules"))
        self.assertTrue(files)
        for file in files:
            with self.subTest(file=file.name):
                trace = self.trace(file, "true", env=self.ENVIRONMENT)
                self.assertEqual(trace.summary["lost"], 0)

    def test_each_rule_of_the_documents_runs(self):
        for document in ("docs/language.md", "README.md"):
            for line, text in blocks(document, "rules"):
                with self.subTest(document=document, line=line):
                    self.trace(text, "true", env=self.ENVIRONMENT)

    def test_each_mistake_of_the_documents_is_refused_as_shown(self):
        """A ```mistake block is a rule text, a line of dashes, and the message in full."""
        found = blocks("docs/language.md", "mistake")
        self.assertTrue(found)
        for line, text in found:
            rules, message = text.split("----\n")
            with self.subTest(line=line):
                self.rules(rules, "my.rules")
                done = self.mlbcc("check", "--rules", "my.rules", env=self.ENVIRONMENT)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr.strip(), message.strip())

    def test_the_documents_trace_is_well_formed(self):
        (_, text), = blocks("docs/events.md", "jsonl")
        self.out.write_text(text)
        trace = Trace(self.out)
        self.assertEqual({e["phase"] for e in trace.events}, {"B", "E", "X", "i"})
        self.assertTrue(trace.lost)
