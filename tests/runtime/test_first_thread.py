"""A process whose first thread has ended while others go on: of that /proc shows nothing, and what they have is there all the same."""

import json
import subprocess

from harness import TracerCase, target

PROGRAM = "first_thread_gone"


class FirstThread(TracerCase):
    def attached(self, rules, steps=500):
        """The trace of a program that has run on without its first thread for a while."""
        with subprocess.Popen([target(PROGRAM), str(steps)], stdout=subprocess.PIPE) as program:
            program.stdout.readline()
            live = self.start(rules, "--pid", program.pid)
            self.assertEqual(live.wait(), 0, live.said())
            self.assertEqual(program.wait(), 5)
            return program.pid, live.trace()

    def test_stacks_and_looks_of_one_that_runs_already(self):
        pid, trace = self.attached("on syscall:clock_nanosleep { event z.sleep(ret) stack user }\n"
                                   "on interval:20ms { event p.look(resident, peak_resident, threads, open_files) }")
        sleeps = trace.named("sleep")
        self.assertTrue(sleeps)
        for event in sleeps:
            names = [frame.split("+0x")[0] for frame in event["stack"]]
            self.assertEqual([name for name in names if name.startswith(PROGRAM)], [f"{PROGRAM}:step", f"{PROGRAM}:work"])
        looks = trace.named("look")
        self.assertTrue(looks)
        for look in looks:
            self.assertEqual((look["pid"], look["comm"]), (pid, PROGRAM[:15]))
            self.assertGreater(look["args"]["resident"], 50 << 20)
            self.assertGreater(look["args"]["peak_resident"], 50 << 20)
            self.assertGreater(look["args"]["open_files"], 0)

    def test_functions_of_one_that_runs_already(self):
        _, trace = self.attached(f'on "{target(PROGRAM)}":step {{ count as "n"  event a.step  stack user }}')
        self.assertTrue(trace.events)
        self.assertEqual(trace.stats("n"), {(): len(trace.events)})

    def test_profile(self):
        shown = self.dir / "profile.json"
        done = self.mlbcc("profile", "--json", shown, "-o", self.out, "--", target(PROGRAM))
        self.assertEqual(done.returncode, 5, done.stderr)
        profile = json.loads(shown.read_text())
        self.assertEqual([one["exit_status"] for one in profile["processes"]], [5])
        self.assertGreater(profile["memory"]["peak_resident_bytes"], 50 << 20)
