"""Libraries that come while the trace runs: not one call is missed, and nobody is left waiting."""

import os
import shutil
import signal
import subprocess
import time

from harness import MLBCC, Trace, TracerCase, target

RUNS = int(os.environ.get("MLBCC_LATE_RUNS", "5"))  # 200 for the whole
HEAD = 'library late = {}\nint late_work(int i);\nint late_other(int i);\n'
RULE = "on optional late:late_work { event work(i, ret) }\n"
CALLS = [(0, 1), (1, 2), (2, 3)]


def rules(*names, rule=RULE):
    return HEAD.format(", ".join(f'"{name}"' for name in names)) + rule


def calls(trace):
    return [(e["args"]["i"], e["args"]["ret"]) for e in trace.events if e["type"] == "work"]


class Folders(TracerCase):
    """A program copies a library to its place, loads it and at once calls it three times."""

    def late(self, *arguments):
        return (target("late"), "--from", target("liblatelib.so"), *arguments)

    def test_a_folder_that_is_there(self):
        for run in range(RUNS):
            folder = self.dir / f"there{run}"
            folder.mkdir()
            trace = self.trace(rules(folder / "liblate.so"), *self.late(folder / "liblate.so"))
            self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_a_folder_that_is_made_later(self):
        for run in range(RUNS):
            file = self.dir / f"venv{run}" / "lib/python3/site-packages/late/liblate.so.1"
            trace = self.trace(rules(file), *self.late(file))
            self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_any_folder_of_a_glob(self):
        """One trace, and each time another file in another new folder."""
        files = [self.dir / f"glob/{run}/lib/liblate.so.{run}" for run in range(4 * RUNS)]
        trace = self.trace(rules(self.dir / "glob/*/lib/liblate.so*"), *self.late(*files))
        self.assertEqual(calls(trace), CALLS * len(files), self.last.stderr)

    def test_by_soname_in_the_library_path(self):
        folder = self.dir / "lib"
        folder.mkdir()
        trace = self.trace(rules("liblate.so"), *self.late(folder / "liblate.so"),
                           env=dict(os.environ, LD_LIBRARY_PATH=str(folder)))
        self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_by_a_link(self):
        folder = self.dir / "lib"
        folder.mkdir()
        (folder / "liblate.so.1").symlink_to("liblate.so.1.2.3")
        trace = self.trace(rules(folder / "liblate.so.1"), *self.late(folder / "liblate.so.1.2.3"))
        self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_more_files_beside_one_that_is_there(self):
        folder = self.dir / "lib"
        folder.mkdir()
        shutil.copy(target("liblatelib.so"), folder / "liblate.so.1")
        script = " ".join(map(str, (target("late"), folder / "liblate.so.1", "&&",
                                    *self.late(folder / "liblate.so.2"))))
        trace = self.trace(rules(folder / "liblate.so.*", rule=RULE.replace("optional ", "")),
                           "sh", "-c", script)
        self.assertEqual(calls(trace), CALLS * 2, self.last.stderr)

    def test_two_tracers_await_the_same_file(self):
        """Neither waits for the other."""
        file = self.dir / "both/liblate.so"
        own = self.dir / "own"
        own.mkdir()
        inner = [MLBCC, "--rules", self.rules(rules(file)), "-o", own / "trace.jsonl", "--",
                 *self.late(file)]
        for _ in range(RUNS):
            shutil.rmtree(file.parent, ignore_errors=True)
            trace = self.trace(rules(file), *inner)
            self.assertEqual(calls(trace), CALLS, self.last.stderr)
            self.assertEqual(calls(Trace(own / "trace.jsonl")), CALLS)

    def test_what_was_traced_before_goes_on(self):
        """Other rules, and the same functions of several files, in one summary."""
        rule = ('on optional late:late_* { count by function as "Calls"   span late(args) }\n'
                'on "libc.so.6":mkdir { count as "Folders" }\n')
        files = [self.dir / f"more/{run}/liblate.so" for run in range(6)]
        trace = self.trace(rules(self.dir / "more/*/liblate.so", rule=rule), *self.late(*files))
        self.assertEqual(trace.stats("Calls"), {("late_work",): 18})
        self.assertEqual([b["args"]["i"] for b, _ in trace.pairs("late_work")], [0, 1, 2] * 6)
        self.assertGreater(trace.stats("Folders")[()], 6)

    def test_at_the_start_of_a_program_that_is_linked_to_it(self):
        """The loader opens it, in a folder that only the program names."""
        folder = self.dir / "linked"
        source = self.write("linked.c", "int late_work(int);\nint main(void) {\n"
                            "    for (int i = 0; i < 3; i++) late_work(i);\n    return 0;\n}\n")
        subprocess.run(["gcc", "-o", self.dir / "linked_program", source,
                        target("liblatelib.so"), f"-Wl,-rpath,{folder}"], check=True)
        # the program is linked to liblatelib.so by its soname, which is its file's name
        script = (f"mkdir {folder} && cp {target('liblatelib.so')} {folder}/ && "
                  f"{self.dir}/linked_program")
        trace = self.trace(rules(folder / "liblatelib.so"), "sh", "-c", script)
        self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_ways_to_attach(self):
        for way in ("perf", "multi"):
            file = self.dir / way / "liblate.so"
            trace = self.trace(rules(file), *self.late(file), options=("--attach", way))
            self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_functions_without_prototypes(self):
        rule = 'on optional "{0}":late_* {{ count by function as "Calls" }}\n'
        file = self.dir / "bare/liblate.so"
        trace = self.trace(rule.format(file), *self.late(file))
        self.assertEqual(trace.stats("Calls"), {("late_work",): 3})


class OtherMounts(TracerCase):
    """A process that sees other files than we do, by its process id."""

    def waiting(self, folder, *arguments):
        """late, in a mount namespace of its own that has a file system of its own in `folder`."""
        folder.mkdir()
        script = (f"mount -t tmpfs none {folder} && cp {target('liblatelib.so')} {folder}/ && "
                  f"exec {target('late')} --wait {' '.join(map(str, arguments))}")
        process = subprocess.Popen(["unshare", "-m", "sh", "-c", script], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def trace_of(self, process, text):
        live = self.start(text, "--pid", process.pid)
        self.run_traced(process, live)
        return live

    def run_traced(self, process, live):
        end = time.monotonic() + 60
        while "Ctrl-C ends the trace" not in live.said() and time.monotonic() < end:
            time.sleep(0.05)
        process.communicate("go\n", timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(live.wait(), 0, live.said())

    def test_a_library_that_only_it_sees(self):
        folder = self.dir / "own"
        process = self.waiting(folder, folder / "liblatelib.so")
        live = self.trace_of(process, rules(folder / "liblatelib.so").replace("optional ", ""))
        self.assertEqual(calls(live.trace()), CALLS, live.said())
        self.assertEqual(list(folder.iterdir()), [])

    def test_one_that_comes_later(self):
        for run in range(RUNS):
            folder = self.dir / f"later{run}"
            file = folder / "venv/lib/liblate.so"
            process = self.waiting(folder, "--from", folder / "liblatelib.so", file)
            live = self.trace_of(process, rules(file))
            self.assertEqual(calls(live.trace()), CALLS, live.said())


class Messages(TracerCase):
    def test_one_that_never_comes(self):
        file = self.dir / "none/libnone.so"
        self.trace(rules(file), "true")
        said = self.last.stderr.replace(f"{self.dir}/", "")
        self.assertIn(f"""\
note: library `{file}` is not there yet: mlbcc waits for it
 --> test.rules:1:1
  |
1 | library late = "{file}"
  | ^^^^^^^^^^^^^^^^{"^" * (len(str(file)) + 1)}
  = note: searched none/libnone.so
""".replace(f"{self.dir}/", ""), said)
        self.assertIn("mlbcc: library `none/libnone.so` never came\n", said)

    def test_one_that_comes(self):
        file = self.dir / "late/liblate.so"
        self.trace(rules(file), target("late"), "--from", target("liblatelib.so"), file)
        self.assertIn(f"mlbcc: {file} came: 1 function traced\n", self.last.stderr)

    def test_one_without_the_function(self):
        file = self.dir / "late/liblate.so"
        self.trace(rules(file, rule="on optional late:absent { count }\n"), target("late"),
                   "--from", target("liblatelib.so"), file)
        self.assertIn(f"mlbcc: {file} came: 0 functions traced\n", self.last.stderr)

    def test_a_rule_that_is_not_optional(self):
        text = self.refused(rules(self.dir / "none/libnone.so", rule="on late:late_work { count }"))
        self.assertIn("none/libnone.so` was not found", text)
        self.assertIn("or mark the rule `optional`", text)


class NobodyWaits(TracerCase):
    """Whatever becomes of the tracer, programs go on."""

    wanted, options = "late/liblate.so", ()

    def begin(self, waits=()):
        self.file = self.dir / "late/liblate.so"
        rule = rules(self.dir / self.wanted if "/" in self.wanted else self.wanted)
        rule += 'on "libc.so.6":getppid { count }\non syscall:getppid { event ready }\n'
        live = self.start(rule, *self.options, *waits, "--", "python3", "-c",
                          "import os, time\nwhile True: os.getppid(); time.sleep(0.05)")
        live.wait_for('"ready"')
        return live

    def load(self):
        """Loads a library where one is awaited, from outside the trace."""
        shutil.rmtree(self.file.parent, ignore_errors=True)
        subprocess.run([target("late"), "--from", target("liblatelib.so"), str(self.file)],
                       timeout=60, check=True)

    def end(self, live):
        pids = children(live.process.pid)
        os.kill(live.process.pid, signal.SIGKILL)
        live.process.wait()
        self.load()
        for pid in pids:  # the command goes on; it is ours to end
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def kill_guardian(self, live):
        for pid in children(live.process.pid):
            with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                if comm.read().strip() == "mlbcc":
                    os.kill(pid, signal.SIGKILL)

    def test_after_the_tracer_was_killed(self):
        live = self.begin()
        self.load()
        self.end(live)

    def test_while_the_tracer_is_stopped(self):
        """It is waited for, but not for ever."""
        live = self.begin(("--open-wait", "1s"))
        os.kill(live.process.pid, signal.SIGSTOP)
        self.load()
        self.end(live)

    def test_after_the_guardian_was_killed(self):
        live = self.begin()
        self.kill_guardian(live)
        self.load()
        self.end(live)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]
