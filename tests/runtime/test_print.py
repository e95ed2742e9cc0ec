"""mlbcc --print: calls as lines while they are made, beside what strace shows of the same program."""

import os
import re
import subprocess
import time

from harness import MLBCC, Trace, TracerCase, target
from harness.machine import need_tool

LINE = re.compile(r"(\d\d:\d\d:\d\d\.\d{6}) (\S+ [\d/]+) +([\d.]+ [mun]?s)? *(\S+) (\w+)\((.*)\)(?: = (\S+))?( <unfinished>)?")
FILES = "on syscall:openat { span file(filename) }\non syscall:close { span file(fd) }\n"


class Print(TracerCase):
    def lines(self, text):
        found = [LINE.fullmatch(line) for line in text.splitlines()]
        self.assertTrue(all(found), text)
        return [one.groups() for one in found]

    def tracer(self, *options, **more):
        return subprocess.Popen(list(map(str, (MLBCC, "-o", self.out, *options))), text=True, **more)

    def test_the_calls_that_strace_shows(self):
        need_tool("strace")
        command = ["ls", "/etc/hostname", "/nowhere"]
        output = self.dir / "strace.txt"
        subprocess.run(["strace", "-o", output, "-e", "openat,close", *command], check=False, capture_output=True)
        shown = [re.match(r'(\w+)\((?:AT_FDCWD, )?("[^"]*"|\d+).*\) += (-1 )?(\w+)', line).groups()
                 for line in output.read_text().splitlines() if not line.startswith(("+++", "---"))]
        expected = [(name, given, f"-{result}" if failed else result) for name, given, failed, result in shown]
        self.assertGreater(len(expected), 5)
        with open(self.dir / "printed.txt", "w+") as printed:
            done = self.mlbcc("--rules", self.rules(FILES), "--print", "-q", "--", *command, stdout=printed)
            self.assertEqual(done.returncode, 2)
            printed.seek(0)
            text = "".join(line for line in printed if not line.startswith("/etc/hostname"))
        lines = [one for one in self.lines(text) if one[1].startswith("ls ")]
        self.assertEqual([(name, re.sub(r"^\w+=", "", values), result) for _, _, _, _, name, values, result, _ in lines], expected)
        self.assertEqual({one[3] for one in lines}, {"file"})
        self.assertTrue(all(one[2] for one in lines), "how long they took")
        self.assertEqual([one[0] for one in lines], sorted(one[0] for one in lines))

    def test_types_and_durations(self):
        rules = self.rules("on syscall:getppid { span quick }\non syscall:clock_nanosleep { span slow }\n")
        job = "import os, time\nfor _ in range(5): os.getppid(); time.sleep(0.02)"
        for options, expected in (((), 10), (("--print-type", "q*,none"), 5), (("--print-min", "10ms"), 5), (("--print-type", "q*", "--print-min", "10ms"), 0)):
            done = self.mlbcc("--rules", rules, "--print", *options, "--", "/usr/bin/python3", "-S", "-c", job)
            lines = self.lines(done.stdout)
            self.assertEqual(len(lines), expected, options)
            if len(options) == 2:
                self.assertEqual({one[3] for one in lines}, {"quick" if options[1].startswith("q") else "slow"})

    def test_nobody_reads(self):
        """The job is not slowed, lines without room are counted, and the trace has all."""
        calls, first = 50000, 30000  # of which not even those have room
        rules = f'uint64_t hit(int thread, uint64_t i);\non "{target("flood")}":hit {{ event flood.hit(i) }}'
        job = f"{target('flood')} 1 {first} >/dev/null; echo first >&2; read go; {target('flood')} 1 {calls - first} >/dev/null"
        tracer = self.tracer("--rules", self.rules(rules), "--print", "--", "sh", "-c", job,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        errors = ""
        while not errors.endswith("first\n"):
            errors += tracer.stderr.readline()
        while self.out.stat().st_size < first * 80:
            time.sleep(0.01)
        printed = os.read(tracer.stdout.fileno(), 16384).decode()  # room for some of the others
        tracer.stdin.write("\n")
        tracer.stdin.close()
        errors += tracer.stderr.read()  # to its end
        self.assertEqual(tracer.wait(), 0, errors)
        printed += tracer.stdout.read()
        left_out = int(re.search(r"([\d ]+) lines of --print were left out: standard output was not read fast enough; the trace file has all", errors)[1].replace(" ", ""))
        self.assertTrue(printed.endswith("\n"))
        numbers = [int(re.search(r"i=(\d+)", line)[1]) for line in printed.splitlines() if not line.startswith("---")]
        self.assertEqual(len(numbers), len(set(numbers)))
        self.assertGreater(left_out, 1000)
        self.assertEqual(len(numbers) + left_out, calls)
        self.assertEqual(len(Trace(self.out).named("hit")), calls)

    def test_a_reader_that_goes_away(self):
        rules = self.rules(FILES)
        job = "import os\nwhile True: os.close(os.open('/', 0))"
        with subprocess.Popen(["/usr/bin/python3", "-S", "-c", job]) as busy:
            try:
                tracer = self.tracer("--rules", rules, "--print", "--pid", busy.pid, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                head = subprocess.run(["head", "-n", "3"], stdin=tracer.stdout, capture_output=True, text=True, check=True)
                tracer.stdout.close()
                self.assertEqual(len(self.lines(head.stdout)), 3)
                self.assertIn("cannot write to standard output: Broken pipe", tracer.stderr.read())
                self.assertEqual(tracer.wait(), 1)
                self.assertIsNone(busy.poll())
            finally:
                busy.kill()

    def test_a_call_that_does_not_end_is_shown_meanwhile(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, writer)
        rules = self.rules("on syscall:read { span stuck(fd, count) }")
        with self.tracer("--rules", rules, "--print", "--", "/usr/bin/python3", "-S", "-c", f"import os\nos.read({reader}, 7)",
                         pass_fds=[reader], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as tracer:
            for line in tracer.stdout:
                if f"(fd={reader}, count=7)" in line:
                    break
            self.assertTrue(line.endswith(f"stuck read(fd={reader}, count=7) <unfinished>\n"), line)
            os.write(writer, b"some")
            os.write(writer, b"else")
            rest = [line for line in tracer.stdout if f"(fd={reader}, count=7)" in line]
            self.assertEqual(len(rest), 1)
            self.assertRegex(rest[0], r" [\d.]+ s stuck read\(.*\) = \d\n$")

    def test_what_does_not_go_together(self):
        rules = self.rules(FILES)
        for options, said in ((("--print", "--live"), "--print and --live both show the trace on the terminal"),
                              (("--print-min", "soon"), "`soon`"),
                              (("--print", "-o", "-", "--all"), "--print and -o - both write to standard output")):
            done = self.mlbcc("--rules", rules, *options)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
