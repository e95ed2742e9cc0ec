"""What a step of the test run found: counts, and for each failure and skip its text."""

import json
from dataclasses import dataclass, field


@dataclass
class Tally:
    passed: int = 0
    failures: list = field(default_factory=list)  # (test, text)
    skips: list = field(default_factory=list)  # (test, reason)

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips

    def fail(self, test, text):
        self.failures.append((test, text))

    def skip(self, test, reason):
        self.skips.append((test, reason))

    def line(self):
        """The closing line: `12 passed, 0 failed, 1 skipped`."""
        return f"{self.passed} passed, {len(self.failures)} failed, {len(self.skips)} skipped"

    def save(self, path):
        data = {"passed": self.passed, "failures": self.failures, "skips": self.skips}
        path.write_text(json.dumps(data))

    @staticmethod
    def load(path):
        data = json.loads(path.read_text())
        return Tally(data["passed"], [tuple(f) for f in data["failures"]],
                     [tuple(s) for s in data["skips"]])
