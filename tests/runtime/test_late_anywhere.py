"""--late-anywhere: libraries that come in folders that nobody knows. Not one call is missed."""

import os
import shutil
import signal
import subprocess
import time

import test_late
from harness import MLBCC, Trace, TracerCase, target
from test_late import CALLS, RUNS, calls, rules

OPTION = ("--late-anywhere",)
LIBRARY = target("liblatelib.so")  # its soname is its name


class Folders(TracerCase):
    """A program copies a library to a folder that no rule names, loads it and at once calls it."""

    def late(self, *arguments):
        return (target("late"), "--from", LIBRARY, *arguments)

    def anywhere(self, text, *command, **run):
        return self.trace(text, *command, options=OPTION, **run)

    def test_any_folder(self):
        for run in range(RUNS):
            file = self.dir / f"venv{run}" / "lib/late/liblate.so"
            trace = self.anywhere(rules("liblate.so"), *self.late(file))
            self.assertEqual(calls(trace), CALLS, self.last.stderr)
        self.assertIn(f"mlbcc: {file} came: 1 function traced\n", self.last.stderr)

    def test_one_folder_after_the_other(self):
        files = [self.dir / f"many/{run}/liblate.so.{run}" for run in range(4 * RUNS)]
        trace = self.anywhere(rules("liblate.so*"), *self.late(*files))
        self.assertEqual(calls(trace), CALLS * len(files), self.last.stderr)

    def test_links(self):
        """What they lead to has a longer name."""
        for run, name in enumerate(("liblate.so", "liblate.so.1", "liblate.so.1.2.3")):
            folder = self.dir / f"links{run}"
            folder.mkdir()
            (folder / "liblate.so").symlink_to("liblate.so.1")
            (folder / "liblate.so.1").symlink_to("liblate.so.1.2.3")
            script = f"cp {LIBRARY} {folder}/liblate.so.1.2.3 && {target('late')} {folder}/liblate.so"
            trace = self.anywhere(rules(name), "sh", "-c", script)
            self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_a_soname(self):
        """The file itself may be called as it likes."""
        trace = self.anywhere(rules("liblatelib.so"), *self.late(self.dir / "a/late-1f2e3d.so"))
        self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_other_names(self):
        text = rules("liblate.so.2", "liblate.so.12")
        trace = self.anywhere(text, *self.late(self.dir / "a/liblate.so.1", self.dir / "b/xliblate.so"))
        self.assertEqual(calls(trace), [])
        self.assertNotIn(" came: ", self.last.stderr)
        self.assertIn("library `liblate.so.2` or `liblate.so.12` never came\n", self.last.stderr)

    def test_beside_the_program(self):
        """Its loader finds it by the program's own $ORIGIN."""
        source = self.write("linked.c", "int late_work(int);\nint main(void) {\n"
                            "    for (int i = 0; i < 3; i++) late_work(i);\n    return 0;\n}\n")
        (self.dir / "app/bin").mkdir(parents=True)
        program = self.dir / "app/bin/program"
        subprocess.run(["gcc", "-o", program, source, LIBRARY, "-Wl,-rpath,$ORIGIN/../lib"],
                       check=True)
        script = f"mkdir {self.dir}/app/lib && cp {LIBRARY} {self.dir}/app/lib/ && {program}"
        trace = self.anywhere(rules("liblatelib.so"), "sh", "-c", script)
        self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_besides_one_that_is_found(self):
        """The library path has one; a copy elsewhere is traced, too."""
        first, second = self.dir / "lib/liblate.so", self.dir / "other/liblate.so"
        first.parent.mkdir()
        shutil.copy(LIBRARY, first)
        script = f"{target('late')} liblate.so && {' '.join(map(str, self.late(second)))}"
        trace = self.anywhere(rules("liblate.so"), "sh", "-c", script,
                              env=dict(os.environ, LD_LIBRARY_PATH=str(first.parent)))
        self.assertEqual(calls(trace), CALLS * 2, self.last.stderr)

    def test_two_libraries_that_are_one_file(self):
        """The rules of both see each call, once."""
        text = ('library a = "liblate.so*"\nlibrary b = "liblate.so.1"\n'
                'int late_work(int i);\nint late_other(int i);\n'
                'on optional a:late_work { event work(i, ret)   count as "A" }\n'
                'on optional b:late_* { count as "B" }\n')
        trace = self.anywhere(text, *self.late(self.dir / "a/liblate.so.1"))
        self.assertEqual(calls(trace), CALLS, self.last.stderr)
        self.assertEqual((trace.stats("A"), trace.stats("B")), ({(): 3}, {(): 3}))

    def test_several_processes_at_once(self):
        script = ""
        for run in range(RUNS):
            folder = self.dir / f"shared{run}"
            script += f"mkdir {folder} && cp {LIBRARY} {folder}/liblate.so\n"
            script += f"{target('late')} {folder}/liblate.so &\n" * 8 + "wait\n"
        trace = self.anywhere(rules("liblate.so"), "sh", self.write("several.sh", script))
        self.assertEqual(sorted(calls(trace)), sorted(CALLS * 8 * RUNS), self.last.stderr)
        self.assertEqual(len({e["pid"] for e in trace.events}), 8 * RUNS)

    def test_two_tracers(self):
        """Each sees its own program's calls; neither waits for the other."""
        tracers = []
        for name in ("one", "two"):
            folder = self.dir / name
            folder.mkdir()
            files = [folder / f"{run}/liblate.so.{run}" for run in range(4 * RUNS)]
            file = self.rules(rules("liblate.so*"), f"{name}.rules")
            tracers.append((folder, files, subprocess.Popen(
                [MLBCC, "--rules", file, "-o", folder / "trace.jsonl", *OPTION, "--",
                 *map(str, self.late(*files))], stderr=subprocess.PIPE, text=True)))
        for folder, files, process in tracers:
            said = process.communicate(timeout=300)[1]
            self.assertEqual(process.returncode, 0, said)
            self.assertEqual(calls(Trace(folder / "trace.jsonl")), CALLS * len(files), said)


class Mounts(TracerCase):
    """File systems that are mounted while the trace runs, and other mount namespaces."""

    def script(self, *lines):
        script = " && ".join(lines)
        return ("sh", "-c", script.format(dir=self.dir, late=target("late"), library=LIBRARY))

    def in_a_namespace(self, *lines, runs=1):
        for run in range(runs):
            (self.dir / "here").mkdir()
            (self.dir / "there").mkdir()
            trace = self.trace(rules("liblate.so"), "unshare", "-m", *self.script(*lines),
                               options=OPTION)
            self.assertEqual(calls(trace), CALLS, self.last.stderr)
            for name in ("here", "there"):
                subprocess.run(["rm", "-r", self.dir / name], check=True)

    def test_a_bind_mount(self):
        self.in_a_namespace("mount --bind {dir}/here {dir}/there",
                            "{late} --from {library} {dir}/there/lib/liblate.so", runs=RUNS)

    def test_a_new_file_system(self):
        self.in_a_namespace("mount -t tmpfs none {dir}/there",
                            "{late} --from {library} {dir}/there/lib/liblate.so", runs=RUNS)

    def test_a_new_root(self):
        """As in a container: the program, its loader and the library are all in it."""
        root = self.dir / "root"
        libraries = subprocess.run(["ldd", target("late")], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout
        files = [word for word in libraries.split() if word.startswith("/")]
        copies = [f"cp --parents {file} {root}" for file in files]
        root.mkdir()
        trace = self.trace(rules("liblate.so"), "unshare", "-m", *self.script(
            f"mount -t tmpfs none {root}", *copies, f"cp {{late}} {{library}} {root}",
            f"exec chroot {root} /late --from /liblatelib.so /own/lib/liblate.so"), options=OPTION)
        self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_an_overlay(self):
        lower, work = self.dir / "lower", self.dir / "work"
        for folder in ("lower", "work", "upper", "merged"):
            (self.dir / folder).mkdir()
        mount = (f"mount -t overlay none {self.dir}/merged -o lowerdir={lower},"
                 f"upperdir={self.dir}/upper,workdir={work}")
        probe = subprocess.run(["unshare", "-m", "sh", "-c", mount], stderr=subprocess.PIPE,
                               text=True, check=False)
        if probe.returncode != 0:
            self.skipTest(f"no overlay here: {probe.stderr.strip()}")
        trace = self.trace(rules("liblate.so"), "unshare", "-m", *self.script(
            mount, "{late} --from {library} {dir}/merged/lib/liblate.so"), options=OPTION)
        self.assertEqual(calls(trace), CALLS, self.last.stderr)

    def test_in_the_namespace_of_the_tracer(self):
        """mlbcc itself is in one that the test may change."""
        for _ in range(RUNS):
            file = self.rules(rules("liblate.so"))
            (self.dir / "there").mkdir()
            done = subprocess.run(
                ["unshare", "-m", MLBCC, "--rules", file, "-o", self.out, *OPTION, "--",
                 *self.script("mount -t tmpfs none {dir}/there",
                              "{late} --from {library} {dir}/there/lib/liblate.so")],
                cwd=self.dir, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(calls(Trace(self.out)), CALLS, done.stderr)
            (self.dir / "there").rmdir()

    def test_a_process_that_runs(self):
        """One that has a file system of its own since before."""
        folder = self.dir / "own"
        process = test_late.OtherMounts.waiting(self, folder, "--from", folder / "liblatelib.so",
                                                folder / "venv/lib/liblate.so")
        live = self.start(rules("liblate.so"), *OPTION, "--pid", process.pid)
        test_late.OtherMounts.run_traced(self, process, live)
        self.assertEqual(calls(live.trace()), CALLS, live.said())


class Messages(TracerCase):
    def test_the_cost_is_said(self):
        self.trace(rules("libnone.so"), "true", options=OPTION)
        self.assertRegex(self.last.stderr, r"mlbcc: libraries are waited for in all folders of \d+ "
                         r"file systems?: there, each opening of a file takes some 20 us more, for "
                         r"every program\n")
        self.assertIn("library `libnone.so` never came\n", self.last.stderr)

    def test_nothing_to_wait_for(self):
        said = """\
error: --late-anywhere waits for nothing: no library of these rules has `optional` rules only and a \
name without a folder
   = help: mark the rules on one `optional`, or leave --late-anywhere out
"""
        for text in ("on syscall:getpid { count }\n", 'on "libc.so.6":getpid { count }\n',
                     'library late = "/nowhere/liblate.so"\non optional late:late_work { count }\n',
                     'on optional "libc.so.6":getpid { count }\non "libc.so.6":getpid { count }\n'):
            self.assertIn(said, self.refused(text, options=OPTION))


class NobodyWaits(test_late.NobodyWaits):
    """The same as where the folder is known; and while somebody is held."""

    wanted, options = "liblate.so", OPTION

    def held(self, live):
        """A program that loads the library while the tracer is stopped, and so does not go on."""
        os.kill(live.process.pid, signal.SIGSTOP)
        loader = subprocess.Popen([target("late"), "--from", LIBRARY, str(self.file)])
        self.addCleanup(loader.kill)
        seen, times = "", 0
        while times < 20:
            time.sleep(0.05)
            with open(f"/proc/{loader.pid}/syscall", encoding="utf-8") as file:
                now = file.read()
            times = times + 1 if now == seen and now.split()[0].isdigit() else 0
            seen = now
        self.assertIsNone(loader.poll(), "it does not wait")
        return loader

    def test_the_tracer_is_killed_while_somebody_waits(self):
        live = self.begin()
        loader = self.held(live)
        self.end(live)
        self.assertEqual(loader.wait(60), 0)

    def test_the_guardian_is_killed_while_somebody_waits(self):
        live = self.begin()
        loader = self.held(live)
        self.kill_guardian(live)
        self.assertEqual(loader.wait(60), 0)  # the tracer is still stopped
        os.kill(live.process.pid, signal.SIGCONT)
        self.end(live)
