"""--config: options from a file, which the command line overrules."""

import unittest

from harness import TracerCase

RULES = 'library c = "libc.so.6"\non c:getpid { count as "calls" }\n'


class Config(TracerCase):
    def setUp(self):
        super().setUp()
        (self.dir / "my.rules").write_text(RULES)

    def test_options(self):
        (self.dir / "my.toml").write_text('rules = ["my.rules"]\noutput = "kept.jsonl"\nquiet = true\n')
        done = self.mlbcc("--config", "my.toml", "--", "true")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.dir / "kept.jsonl").exists())
        self.mlbcc("--config", "my.toml", "-o", "other.jsonl", "--", "true")
        self.assertTrue((self.dir / "other.jsonl").exists())

    def test_of_a_subcommand(self):
        (self.dir / "my.toml").write_text('quiet = true\n[serve]\nno-http = true\njson = "out.json"\n')
        done = self.mlbcc("serve", "--config", "my.toml", "--", "true")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.dir / "out.json").exists())

    def test_a_mistake_is_an_error(self):
        for text, said in {"rulez = 1\n": "rulez", "[serve]\nnonsense = 1\n": "nonsense", 'buffer = "big"\n': "`big` is not a size"}.items():
            (self.dir / "bad.toml").write_text(text)
            done = self.mlbcc("serve", "--config", "bad.toml", "--", "true")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
        done = self.mlbcc("--config", "absent.toml", "--rules", "my.rules", "--", "true")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("absent.toml", done.stderr)


if __name__ == "__main__":
    unittest.main()
