"""mlbcc top and --live, driven in tmux as a user would."""

import os
import re
import signal
import subprocess
import unittest

from harness import MLBCC
from harness.lanes import quiet
from harness.live import LiveCase


class LiveView(LiveCase):
    def test_the_numbers_and_the_end_of_the_program(self):
        self.open()
        shown = self.until(lambda text: self.calls(text, "getppid") == 1234 and "has called" in text)
        self.assertEqual(self.calls(shown, "Parents asked for"), 1234)
        self.assertEqual(self.calls(shown, "getpgrp"), 57)
        self.assertRegex(shown, r"1 process .* 0 lost")
        (self.dir / "stop").touch()
        shown = self.ended()
        self.assertEqual(self.status, 0)
        for text in ("the job's first line", "has called", "the job's last line", "=== TRACE SUMMARY ==="):
            self.assertEqual(shown.count(text), 1, text)
        self.assertRegex(shown, r"Parents asked for +1234")
        self.assertLess(shown.index("the job's last line"), shown.index("=== TRACE SUMMARY ==="))

    @quiet
    def test_losses_are_red(self):
        busy = self.write("busy.py", "import os\nwhile not os.path.exists('stop'):\n    for _ in range(1000): os.getppid()\n")
        rules = self.rules("on syscall:getppid { event a.call }")
        for color in ("", "NO_COLOR=1"):
            self.open(f"{MLBCC} top --refresh 200ms --rules {rules} --buffer 4K -o trace.jsonl -- python3 -S {busy}", env=color)
            shown = self.until(lambda text: re.search(r" [1-9]\d*(.\d{3})* lost", re.sub(r"\x1b\[[\d;]*m", "", text)), "-e")
            header = shown.splitlines()[0]
            self.assertEqual("\x1b[31m" in header or ";31m" in header, not color, repr(header))
            self.assertRegex(header, r"\x1b\[[\d;]*m\d[^\x1b]* lost\x1b", "bold at least")
            (self.dir / "stop").touch()
            self.ended()
            (self.dir / "stop").unlink()

    def test_what_a_profiled_job_is_at(self):
        job = self.write("phases.py", """
import os, time
def wait_for(name):
    while os.path.exists("phases.py") and not os.path.exists(name): time.sleep(0.05)
held = bytearray(os.urandom(1 << 20) * 300)
os.write(9, b"warming up\\n")
wait_for("next")
os.write(9, b"serving\\n")
wait_for("stop")
""")
        self.open(f"{MLBCC} profile --live --refresh 200ms --marks 9 -o trace.jsonl -- python3 -S {job} 9>marks.txt")
        shown = self.until(lambda text: re.search(r"^warming up  holds 3\d\d MiB  reads .*/s  writes .*/s$", text, re.M))
        self.assertRegex(shown.splitlines()[0], r"^mlbcc .* 1 process .* 0 lost")
        self.assertRegex(shown.splitlines()[2], r"calls/s +calls")
        (self.dir / "next").touch()
        self.until(lambda text: re.search(r"^serving  holds ", text, re.M))
        (self.dir / "stop").touch()
        shown = self.ended()
        self.assertEqual(self.status, 0)
        self.assertRegex(shown, r"(?m)^=== PROFILE")

    def test_keys(self):
        self.open()
        names = lambda text: re.findall(r"^(getppid|getpgrp|Parents)", text, re.M)
        self.until(lambda text: self.calls(text, "getppid") == 1234)
        self.keys("n")
        self.until(lambda text: names(text) == ["Parents", "getpgrp", "getppid"] and "[name]" in text)
        self.keys("c")
        self.until(lambda text: names(text)[-1] == "getpgrp" and "[calls]" in text)
        self.keys(">")
        self.shows("[total]")
        self.keys("<")
        self.shows("[calls]")
        self.keys("/", "PGRP")
        self.until(lambda text: names(text) == ["getpgrp"] and "filter: PGRP_" in text)
        self.keys("BSpace", "BSpace", "BSpace", "PID", "Enter")
        self.until(lambda text: names(text) == ["getppid"])
        self.keys("Escape")
        self.until(lambda text: len(names(text)) == 3)
        self.keys("h")
        self.shows("end the trace; the command goes on, untraced")
        self.keys("h")
        self.keys("p")
        self.shows("PAUSED")
        self.keys("Space")
        self.until(lambda text: "PAUSED" not in text)
        self.tmux("resize-window", *self.on(), "-x", 40, "-y", 8)
        self.shows("mlbcc", "q quit")
        self.tmux("resize-window", *self.on(), "-x", 9, "-y", 2)
        self.until(lambda text: text.startswith("mlbcc"))
        self.tmux("resize-window", *self.on(), "-x", 110, "-y", 40)
        self.until(lambda text: len(names(text)) == 3)
        self.keys("C-c")
        shown = self.ended()
        self.assertIn("=== TRACE SUMMARY ===", shown)
        self.assertEqual(self.status, 130)

    def test_the_command_goes_on_when_the_view_is_left(self):
        goes_on = lambda text: "the command goes on, untraced; Ctrl-C ends it" in text
        for ends, status in (lambda: (self.dir / "stop").touch(), 0), (lambda: self.keys("C-c"), 130):
            self.open()
            self.until(lambda text: self.calls(text, "getppid") == 1234)
            self.keys("q")
            shown = self.until(goes_on, "-S", "-200")
            self.assertRegex(shown, r"(?s)has called.*=== TRACE SUMMARY ===")
            self.assertIn('"the live view was closed"', (self.dir / "trace.jsonl").read_text())
            ends()
            shown = self.ended()
            self.assertEqual(self.status, status)
            self.assertEqual(shown.count("the job's last line"), status == 0)
            self.assertEqual(list(self.dir.glob("mlbcc_output_*")), [])
            for name in "stop", "before", "after":
                (self.dir / name).unlink(missing_ok=True)

    def test_scrolling(self):
        self.open()
        self.until(lambda text: self.calls(text, "getppid") == 1234)
        self.keys("n")
        self.shows("[name]")
        self.tmux("resize-window", *self.on(), "-x", 100, "-y", 4)
        first = lambda text: re.search(r"^(getppid|getpgrp|Parents)", text, re.M)[1]
        self.until(lambda text: first(text) == "Parents" and "getppid" not in text)
        for key, name in (("Down", "getpgrp"), ("Down", "getppid"), ("Up", "getpgrp"), ("Home", "Parents"), ("End", "getppid"),
                          ("PageUp", None), ("Home", "Parents"), ("PageDown", None)):
            before = first(self.screen())
            self.keys(key)
            self.until(lambda text: first(text) == name if name else first(text) != before)
        self.keys("C-c")
        self.ended()

    def test_of_a_running_process(self):
        job = subprocess.Popen(["python3", "-S", self.dir / "job.py"], cwd=self.dir, stdout=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        rules = self.write("stat.rules", "on syscall:stat, syscall:newfstatat { count by function }\n")
        self.open(f"{MLBCC} top --rules {rules} -o trace.jsonl --pid {job.pid}")
        self.until(lambda text: re.search(r"stat\S* +count +[1-9]", text))
        self.keys("q")
        self.assertIn("=== TRACE SUMMARY ===", self.ended())
        self.assertIsNone(job.poll())

    def test_stopped_and_continued(self):
        """Ctrl-Z leaves the terminal to the shell; `fg` brings the view back."""
        self.open()
        self.until(lambda text: self.calls(text, "getppid") == 1234)
        self.keys("C-z")
        self.until(lambda text: "getppid" not in text and re.search(r"[Ss]topped", text))
        self.keys("fg", "Enter")
        self.until(lambda text: self.calls(text, "getppid") == 1234)
        (self.dir / "stop").touch()
        self.until(lambda text: "=== TRACE SUMMARY ===" in text, "-S", "-200")

    def test_rules_that_change(self):
        self.open(self.command.replace(" top ", " top --watch "))
        self.until(lambda text: self.calls(text, "getppid") == 1234)
        self.rules("on syscall:stat, syscall:newfstatat { count by function }\n")
        self.until(lambda text: re.search(r"stat\S* +count +[1-9]", text) and "getppid" not in text)
        (self.dir / "stop").touch()
        self.assertIn("=== TRACE SUMMARY ===", self.ended())

    def test_killed_on_a_busy_machine(self):
        """The screen is the usual one again before the shell goes on."""
        for _ in range(4 * os.cpu_count()):
            busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)
        for _ in range(5):
            (self.dir / "before").unlink(missing_ok=True)
            (self.dir / "after").unlink(missing_ok=True)
            name = self.open()
            self.until(lambda text: self.calls(text, "getppid") == 1234)
            tracer = self.tracer()
            guard = subprocess.check_output(["pgrep", "-P", str(tracer), "-f", f"^{MLBCC} top"], text=True)
            self.assertEqual(os.sched_getscheduler(int(guard)), os.SCHED_FIFO)
            os.kill(tracer, signal.SIGKILL)
            self.ended()
            self.assertEqual(self.status, 137)
            self.tmux("kill-session", "-t", name)

    def test_other_ends(self):
        for end, status in (("C-c", 130), ("-TERM", 143), ("-HUP", 129), ("-QUIT", 131), ("-KILL", 137)):
            with self.subTest(end):
                for file in ("before", "after"):
                    (self.dir / file).unlink(missing_ok=True)
                name = self.open()
                self.until(lambda text: self.calls(text, "getppid") == 1234)
                if end == "C-c":
                    self.keys(end)
                else:
                    subprocess.run(["kill", end, str(self.tracer())], check=True)
                self.ended()
                self.assertEqual(self.status, status)
                self.tmux("kill-session", "-t", name)

    def test_where_there_is_no_screen(self):
        done = self.mlbcc("--live", "--rules", self.dir / "test.rules", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a live view needs a terminal", done.stderr)
        self.open(env="TERM=unheard-of")
        shown = self.ended()
        self.assertIn("no terminfo entry for TERM=`unheard-of`", shown)
        self.assertEqual(self.status, 1)


if __name__ == "__main__":
    unittest.main()
