"""The traced command: its streams, status and user; which processes are followed."""

import os
import pwd
import signal
import subprocess

from harness import MLBCC, Driver, Trace, TracerCase, target
from harness.machine import need_tool

TICK = 'int tick(int tag, int i);\non "{driver}":tick {{ event tick(tag, i) }}'


def rules():
    return TICK.format(driver=target("driver"))


class Command(TracerCase):
    def status(self, script):
        return self.mlbcc("--rules", self.rules(rules()), "-o", self.out, "--",
                          "sh", "-c", script).returncode

    def test_exit_status(self):
        for script, status in (("exit 0", 0), ("exit 3", 3), ("exit 255", 255),
                               ("kill -SEGV $$", 128 + signal.SIGSEGV),
                               ("kill -TERM $$", 128 + signal.SIGTERM)):
            with self.subTest(script=script):
                self.assertEqual(self.status(script), status)

    def test_a_command_that_outlives_the_trace_gets_signals_and_is_waited_for(self):
        script = 'trap "exit 7" TERM; while :; do sleep 0.05; done'
        command = [MLBCC, "--rules", self.rules(rules()), "-o", self.out, "-d", "200ms", "--", "sh", "-c", script]
        with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as tracer:
            for line in tracer.stderr:
                if "the command goes on, untraced; Ctrl-C ends it" in line:
                    break
            tracer.terminate()
            self.assertEqual(tracer.wait(30), 7)
        self.assertEqual(Trace(self.out).summary["end"], "the duration was over")

    def test_what_goes_on_when_the_command_has_ended_is_said(self):
        daemons = "for i in 1 2 3 4 5; do setsid sleep 60 >/dev/null 2>&1 & echo $!; done; exec true"
        for count, more in ((1, ""), (5, " and 2 more")):
            script = daemons if count == 5 else "setsid sleep 60 >/dev/null 2>&1 & echo $!"
            done = self.mlbcc("--rules", self.rules(rules()), "-o", self.out, "--", "sh", "-c", script)
            pids = [int(pid) for pid in done.stdout.split()]
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"mlbcc: the command has ended; what it started goes on, untraced: "
                             r"(?:(?:sh|sleep|setsid) \(PID \d+\)(?:, )?){%d}%s\n" % (min(count, 3), more))
        done = self.mlbcc("--rules", self.rules(rules()), "-o", self.out, "--", "sh", "-c", "sleep 0.01 & wait")
        self.assertNotIn("goes on", done.stderr)

    def test_a_command_that_is_not_there(self):
        done = self.mlbcc("--rules", self.rules(rules()), "-o", self.out, "--", "no-such-program")
        self.assertEqual(done.returncode, 127)
        self.assertIn("no-such-program", done.stderr)
        self.assertIn("No such file or directory", done.stderr)
        done = self.mlbcc("--rules", self.rules(rules()), "-o", self.out, "--", "/etc/passwd")
        self.assertEqual(done.returncode, 126)
        self.assertIn("Permission denied", done.stderr)

    def test_standard_streams_are_the_commands_own(self):
        data = bytes(range(256)) * 1000
        done = subprocess.run(
            [str(MLBCC), "--quiet", "--rules", str(self.rules(rules())), "-o",
             str(self.out), "--", "sh", "-c", "cat; echo to standard error >&2"],
            input=data, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, data)
        self.assertEqual(done.stderr, b"to standard error\n")

    def test_descriptors_and_signals_are_as_without_mlbcc(self):
        script = "ls -l /proc/self/fd | awk '{print $9}' | sort; grep -E '^Sig(Blk|Ign)' /proc/self/status"
        plain = subprocess.run(["sh", "-c", script], capture_output=True, text=True,
                               stdin=subprocess.DEVNULL).stdout
        self.trace(rules(), "sh", "-c", script)
        self.assertEqual(self.last.stdout, plain)

    def test_trace_to_standard_output(self):
        done = self.mlbcc("--rules", self.rules(rules()), "-o", "-", "--pid", os.getpid(), "-d", "100ms")
        self.assertEqual(done.returncode, 0)
        self.assertIn('"type":"summary"', done.stdout.splitlines()[-1])

    def test_the_trace_and_the_commands_output_do_not_mix(self):
        for options, what in (("-o", "-"), "the trace (-o -)"), (("profile", "--json", "-"), "the report (--json -)"):
            done = self.mlbcc(*options, "--rules", self.rules(rules()), "--", "echo", "of the command")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"{what} and the command both write to standard output", done.stderr)

    def test_the_trace_to_a_descriptor_that_the_command_does_not_get(self):
        reader, writer = os.pipe()
        script = f"ls /proc/self/fd; setsid sleep 5 >/dev/null 2>&1 </dev/null & {target('driver')} </dev/null"
        with open(reader) as lines:
            tracer = subprocess.Popen([str(MLBCC), "--rules", str(self.rules(rules())), "--output-fd", str(writer), "--", "sh", "-c", script],
                                      pass_fds=[writer], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            os.close(writer)
            trace = lines.read()  # to its end, though a program of the command's goes on
            said, errors = tracer.communicate()
        self.assertEqual(tracer.returncode, 0, errors)
        self.assertIn('"type":"summary"', trace.splitlines()[-1])
        self.assertNotIn(str(writer), said.split())
        for name, given in (99, "descriptor 99 is not open for writing"), (0, "descriptor 0 is not open for writing"):
            with open("/dev/null") as stdin:
                done = self.mlbcc("--rules", self.rules(rules()), "--output-fd", name, "--", "true", stdin=stdin)
            self.assertEqual(done.returncode, 2, given)
            self.assertIn(given, done.stderr)

    def test_default_file_has_the_time_in_its_name(self):
        done = self.mlbcc("--rules", self.rules(rules()), "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        made = list((self.dir / "traces").glob("trace_*.jsonl"))
        self.assertEqual(len(made), 1)
        self.assertIn(made[0].name, done.stderr)

    def test_first_call_is_seen(self):
        for _ in range(10):
            trace = self.trace(rules(), target("driver"), input="call 1 77\n")
            self.assertEqual(trace.args("tick", "X"), [{"tag": 77, "i": 0}])

    def test_forks_and_threads_are_followed(self):
        trace = self.trace(rules(), target("driver"),
                           input="call 1 1\nthread 2 2\nfork 3 3\nstart 1 4\ntell 2 5\n")
        by_tag = {}
        for event in trace.events:
            by_tag.setdefault(event["args"]["tag"], []).append(event)
        self.assertEqual({tag: len(events) for tag, events in by_tag.items()},
                         {1: 1, 2: 2, 3: 3, 4: 1, 5: 2})
        main = by_tag[1][0]["pid"]
        self.assertEqual({e["pid"] for e in by_tag[2]}, {main})
        self.assertNotEqual(by_tag[2][0]["tid"], main)
        self.assertNotIn(main, {e["pid"] for e in by_tag[3]})
        self.assertEqual(by_tag[4][0]["pid"], by_tag[5][0]["pid"])

    def test_others_are_not_traced(self):
        other = Driver(self)
        trace = self.trace(rules(), "sh", "-c", f"echo call 3 1 | {target('driver')}; sleep 0.2")
        other.tell("call", 50, 9)
        self.assertEqual({e["args"]["tag"] for e in trace.events}, {1})

    def test_a_grandchild_through_programs_that_are_not_traced(self):
        trace = self.trace(rules(), "sh", "-c",
                           f"sh -c '(echo call 2 6 | nice {target('driver')}; true) & wait'; true")
        self.assertEqual([e["args"]["tag"] for e in trace.events], [6, 6])


class User(TracerCase):
    """Who the command runs as."""

    SCRIPT = "echo $(id -u) $(id -g) $(id -G)"

    def ids(self, *options, **environment):
        done = self.mlbcc("--rules", self.rules(rules()), "-o", self.out, *options, "--", "sh", "-c",
                          self.SCRIPT, env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def setUp(self):
        super().setUp()
        self.nobody = pwd.getpwnam("nobody")
        self.sudo = {"SUDO_UID": str(self.nobody.pw_uid), "SUDO_GID": str(self.nobody.pw_gid),
                     "SUDO_USER": "nobody"}
        os.chown(self.dir, self.nobody.pw_uid, self.nobody.pw_gid)  # who called writes the trace

    def test_root_stays_root(self):
        self.assertEqual(self.ids()[0], "0")

    def test_user(self):
        uid, gid, *groups = self.ids("--user", "nobody")
        self.assertEqual((uid, gid), (str(self.nobody.pw_uid), str(self.nobody.pw_gid)))
        self.assertNotIn("0", groups)

    def test_under_sudo_the_command_is_the_callers(self):
        uid, gid, *groups = self.ids(**self.sudo)
        self.assertEqual((uid, gid), (str(self.nobody.pw_uid), str(self.nobody.pw_gid)))
        self.assertNotIn("0", groups)

    def test_under_sudo_with_root(self):
        self.assertEqual(self.ids("--root", **self.sudo)[0], "0")

    def test_a_user_that_is_not_there(self):
        done = self.mlbcc("--rules", self.rules(rules()), "--user", "nobody-of-that-name", "--", "true")
        self.assertIn(done.returncode, (1, 2))
        self.assertIn("nobody-of-that-name", done.stderr)


class Namespace(TracerCase):
    def test_the_last_switch_of_threads_that_are_gone(self):
        """They have no number in the namespace any more; their process has."""
        need_tool("unshare")
        script = self.write("threads.py", "import subprocess, sys, threading\n"
                            "if len(sys.argv) == 1: sys.exit(subprocess.run([sys.executable, '-S', *sys.argv, 'child']).returncode)\n"
                            "for i in range(100):\n    one = threading.Thread(target=len, args=('',))\n    one.start()\n    one.join()\n")
        rules = self.rules("on tracepoint:sched:sched_switch { event a.switch(prev_pid) }")
        done = subprocess.run(["unshare", "-pf", "--mount-proc", str(MLBCC), "--rules", str(rules), "-o", str(self.out), "--",
                               "/usr/bin/python3", "-S", str(script)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = Trace(self.out)
        self.assertEqual(len({event["pid"] for event in trace.events}), 2)
        self.assertTrue(all(event["pid"] < 1000 for event in trace.events))
        self.assertLess(len([event for event in trace.events if event["tid"] == 0]), 110)
        self.assertLessEqual(trace.summary["threads"], 102)

    def test_in_a_pid_namespace(self):
        need_tool("unshare")
        program = target("replaced")
        file = self.rules(f'int step(int number);\non "{program}":step {{ span user(number) }}')
        done = subprocess.run(
            ["unshare", "-pf", "--mount-proc", str(MLBCC), "--rules", str(file), "-o",
             str(self.out), "--", program], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 7, done.stderr)
        trace = Trace(self.out)
        parent, child, _ = map(int, done.stdout.split())
        self.assertLess(parent, 1000)
        self.assertEqual([b["pid"] for b, _ in trace.pairs("step")], [parent, child, parent])
