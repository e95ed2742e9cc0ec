"""Files that programs map and rules seem to mean, but that are not traced: said, not counted as none."""

import os
import shutil
import subprocess
import sys
import time

from harness import TracerCase

LIBRARY = "__attribute__((noinline)) int own(int n) { __asm__ volatile(\"\"); return n + 1; }\n"
PROGRAM = "int own(int); int main(void) { int sum = 0; for (int i = 0; i < 5; i++) sum += own(i); return sum != 15; }\n"
BY_PATH = "run mlbcc inside its root, or attach with --pid"
BY_NAME = "name that file in the rule, or make the rule `on optional` and give --late-anywhere"


class OtherFiles(TracerCase):
    def setUp(self):
        super().setUp()
        self.root, self.library, self.program = self.dir / "root", self.dir / "libown.so", self.dir / "program"
        self.compile(LIBRARY, self.library, "-shared", "-fPIC", "-Wl,-soname,libown.so")
        self.compile(PROGRAM, self.program, self.library, f"-Wl,-rpath,{self.dir}")
        self.root.mkdir()
        libraries = subprocess.run(["ldd", self.program], check=True, text=True, stdout=subprocess.PIPE).stdout
        for file in (self.program, *(word for word in libraries.split() if word.startswith("/"))):
            to = self.root / str(file).lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)

    def compile(self, text, to, *options):
        subprocess.run(["gcc", "-O1", "-xc", "-", "-xnone", *options, "-o", to], input=text, text=True, check=True)

    def calls(self, on, script, **run):
        trace = self.trace(f"on {on} {{ event own.call() }}", "sh", "-c", script, **run)
        self.assertEqual(self.last.returncode, 0, self.last.stderr)
        return len([event for event in trace.events if event["type"] == "own"])

    def notes(self):
        return [line for line in self.last.stderr.splitlines() if "which is not traced" in line]

    def assert_said(self, title, path, repair):
        self.assertEqual(len(self.notes()), 1, self.last.stderr)
        self.assertRegex(self.notes()[0], rf"^mlbcc: program \(PID [0-9]+\) uses another `{title}`, {path}, which is not traced; {repair}$")

    def test_by_path(self):
        """Said once, however often it runs; of what runs in our root all calls are there."""
        chroot = f"chroot {self.root} {self.program}"
        self.assertEqual(self.calls(f'"{self.library}":own', f"{self.program} && {chroot} && {chroot}"), 5)
        self.assert_said(self.library, self.library, BY_PATH)

    def test_by_soname(self):
        """What leads to it there is the program's own LD_LIBRARY_PATH."""
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.dir)}
        script = f"chroot {self.root} {self.program}"
        self.assertEqual(self.calls('"libown.so":own', script, env=environment), 0)
        self.assert_said("libown.so", self.library, BY_NAME)

    def test_of_the_system(self):
        """The C library of the other root."""
        script = f"chroot {self.root} {self.program}"
        self.calls('"libc.so.6":__libc_start_main', script)
        self.assert_said("libc.so.6", "/lib/.*/libc.so.6", BY_NAME)

    def test_in_another_folder(self):
        """The loader of the tracer's own root finds one, the program has its own."""
        other = self.dir / "venv"
        other.mkdir()
        shutil.copy(self.library, other)
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.dir)}
        script = f"{self.program} && LD_LIBRARY_PATH={other} {self.dir}/program"
        self.compile(PROGRAM, self.program, self.library)
        self.assertEqual(self.calls('"libown.so":own', script, env=environment), 5)
        self.assert_said("libown.so", other / "libown.so", BY_NAME)

    def test_one_that_is_awaited(self):
        """It comes, but to a folder that nobody watches."""
        self.trace('library own = "libown.so"\nint own(int n);\non optional own:own { event own.call() }', self.program)
        self.assert_said("libown.so", self.library, BY_NAME)

    def test_one_that_nobody_traces(self):
        """Of other programs of the machine nothing is said."""
        root = self.start(f'on "{self.library}":own {{ event own.call() }}', "--", "sleep", "1")
        self.addCleanup(root.wait)
        for _ in range(5):
            subprocess.run(["chroot", self.root, self.program], check=True)
            time.sleep(0.05)
        self.assertEqual(root.wait(), 0)
        self.assertNotIn("which is not traced", root.said())

    def test_in_a_mount_namespace(self):
        """A file system of its own covers the folder."""
        other = self.dir / "other"
        shutil.copytree(self.root / str(self.dir).lstrip("/"), other)
        inside = f"mount --bind {other} {self.dir} && {self.program}"
        self.assertEqual(self.calls(f'"{self.library}":own', f"unshare -m sh -c '{inside}'"), 0)
        self.assert_said(self.library, self.library, BY_PATH)

    def test_what_is_not_there(self):
        (self.root / str(self.library).lstrip("/")).rename(self.root / "libown.so")
        script = f"LD_LIBRARY_PATH=/ chroot {self.root} {self.program}"
        self.assertEqual(self.calls(f'"{self.library}":own', script), 0)
        self.assertEqual(self.notes(), [])

    def test_the_same_files(self):
        """In a namespace, below another path, by a bind mount or an overlay: they are traced."""
        folder = f"{self.root}{self.dir}"
        work = self.dir / "work"
        for name in ("upper", "work"):
            (work / name).mkdir(parents=True)
        overlay = f"mount -t overlay none {folder} -o lowerdir={self.dir},upperdir={work}/upper,workdir={work}/work"
        for script in (f"{self.program}", f"mount --bind {self.dir} {folder} && chroot {self.root} {self.program}",
                       f"mount -t tmpfs none {work} && mkdir {work}/upper {work}/work && {overlay} && "
                       f"chroot {self.root} {self.program}"):
            with self.subTest(script):
                self.assertEqual(self.calls(f'"{self.library}":own', f"unshare -m sh -c '{script}'"), 5)
                self.assertEqual(self.notes(), [])

    def test_a_version_beside_it(self):
        """The path is that of another file of this folder, which is there."""
        second = self.dir / "libown.so.2"
        self.compile(LIBRARY, second, "-shared", "-fPIC", "-Wl,-soname,libown.so.2")
        self.compile(PROGRAM, self.program, second, f"-Wl,-rpath,{self.dir}")
        self.assertEqual(self.calls(f'"{self.library}":own', str(self.program)), 0)
        self.assertEqual(self.notes(), [])

    def test_what_a_running_process_loads(self):
        """Of a process that is attached to, there is no record before."""
        other = self.dir / "venv"
        other.mkdir()
        shutil.copy(self.library, other)
        program = "import ctypes, sys, time; print(flush=True); sys.stdin.readline(); ctypes.CDLL(sys.argv[1])"
        child = subprocess.Popen([sys.executable, "-c", program, other / "libown.so"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(child.communicate)
        child.stdout.readline()
        live = self.start('library own = "libown.so"\nint own(int n);\non optional own:own { event own.call() }', "--pid", child.pid)
        live.wait_for('"type":"meta"')
        time.sleep(0.5)
        child.stdin.write(b"\n")
        child.stdin.flush()
        live.wait(60)
        self.assertRegex(live.said(), rf"python.* \(PID {child.pid}\) uses another `libown.so`, {other}/libown.so, which is not traced; {BY_NAME}\n")

    def test_awaited_anywhere(self):
        """It is traced there, by --late-anywhere."""
        trace = self.trace('on optional "libown.so":own { event own.call() }', "chroot", self.root, self.program, options=("--late-anywhere",))
        self.assertEqual(len(trace.events), 5, self.last.stderr)
        self.assertEqual(self.notes(), [])


if __name__ == "__main__":
    import unittest
    unittest.main()
