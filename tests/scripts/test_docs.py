"""The documents: links lead somewhere, the rule language's index has all of its words, and words
have the glossary's meanings."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def without_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text):
    """What the headings are called in links, as GitHub makes it."""
    titles = re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
        self.assertGreater(len(documents), 20)
        for document in documents:
            for target in LINK.findall(without_code(document.read_text())):
                if re.match(r"\w+://", target):
                    continue
                name, _, anchor = target.partition("#")
                with self.subTest(document=document.name, link=target):
                    leads_to = document.parent / name if name else document
                    self.assertTrue(leads_to.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(leads_to.read_text()))

    def test_the_index_has_all_words(self):
        index = (ROOT / "docs/language.md").read_text().split("\n## Index\n")[1]
        listed = set()
        for row in re.findall(r"^\| (`.*?) \| ", index, re.MULTILINE):
            listed |= set(re.findall(r"`(\w+)", row))
        clauses = re.findall(r'^    \{"(\w+)", parse_', (ROOT / "tool/rules/parse_clause.cpp").read_text(), re.MULTILINE)
        functions = re.findall(r'if \(function\.is_word\("(\w+)"\)', (ROOT / "tool/rules/parse_expr.cpp").read_text())
        self.assertGreater(len(clauses), 12)
        self.assertGreater(len(functions), 8)
        self.assertEqual(set(clauses) | set(functions), listed & (set(clauses) | set(functions)))
        words = [row.lower() for row in re.findall(r"^\| `(\w+)", index, re.MULTILINE)]
        self.assertEqual(words, sorted(words))

    def test_words_have_one_meaning(self):
        found = subprocess.run([ROOT / "scripts/words.py", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((found.returncode, found.stdout, found.stderr), (0, "", ""))
        glossary = (ROOT / "docs/glossary.md").read_text()
        all_uses = subprocess.run([ROOT / "scripts/words.py"], capture_output=True, text=True, check=True).stdout
        for word in sorted(set(re.findall(r"^\S+ (\w+): ", all_uses, re.MULTILINE))):
            self.assertRegex(glossary, rf"(?m)^\| {word} \|")


if __name__ == "__main__":
    unittest.main()
