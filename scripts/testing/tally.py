"""What a step of the test run found: counts, for each failure and skip its text, and what took long."""

import json
from dataclasses import asdict, dataclass, field


@dataclass
class Tally:
    passed: int = 0  # tests
    failures: list = field(default_factory=list)  # (test or file, text)
    skips: list = field(default_factory=list)  # (test, reason)
    checked: int = 0  # files that were as they should be: no tests
    times: list = field(default_factory=list)  # (test, seconds)

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips
        self.checked += other.checked
        self.times += other.times

    def fail(self, test, text):
        self.failures.append((test, text))

    def skip(self, test, reason):
        self.skips.append((test, reason))

    def took(self, test, seconds):
        self.times.append((test, seconds))

    def line(self):
        """The closing line: `12 passed, 0 failed, 1 skipped`."""
        return f"{self.passed} passed, {len(self.failures)} failed, {len(self.skips)} skipped"

    def step_line(self):
        """A step's line, which may have checked files, or tests, or neither: `904 files, 0 failed`."""
        if self.passed or self.skips:
            return self.line()
        if self.checked:
            return f"{self.checked} files, {len(self.failures)} failed"
        return "failed" if self.failures else "done"

    def slowest(self, count):
        return sorted(self.times, key=lambda one: -one[1])[:count]

    def conclude(self, path):
        """Saved in the file, where there is one, else said; the exit status."""
        if path:
            self.save(path)
        else:
            print(self.line())
        return 1 if self.failures else 0

    def save(self, path):
        path.write_text(json.dumps(asdict(self)))

    @staticmethod
    def load(path):
        data = json.loads(path.read_text())
        for name in ("failures", "skips", "times"):
            data[name] = [tuple(entry) for entry in data[name]]
        return Tally(**data)
