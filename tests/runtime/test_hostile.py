"""What traced processes make, and how it is looked at: by links, pipes, devices and names of files they lead the
tracer nowhere that they could not go themselves. tests/hostile.py tries many more."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from harness import TracerCase, target
from harness.machine import need_tool

SECRET = """int top_secret(int a) {
    __asm__ volatile(".fill 4096, 1, 0x90");
    return a;
}
"""


class Hostile(TracerCase):
    def container(self):
        """A root of its own with nothing in it but /mapped, and how a command runs there."""
        root = self.dir / "root"
        root.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "none", root], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", root], check=False)
        for folder in "proc", "old", "etc", "lib", "usr/lib", "tmp":
            (root / folder).mkdir(parents=True)
        shutil.copy(target("mapped"), root / "mapped")
        return root

    def start_in(self, root, *words):
        job = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c",
                                f'cd {root} && mount -t proc proc proc && pivot_root . old && exec /mapped "$@"', "sh", *words])
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        while Path(f"/proc/{job.pid}/comm").read_text() != "mapped\n":
            self.assertIsNone(job.poll(), "it ended")
            time.sleep(0.01)
        return job

    def test_a_link_to_a_file_of_the_host(self):
        """Of the inode of the file that is mapped: its symbols would stand in the container's stacks."""
        root = self.container()
        need_tool("gcc")
        (self.dir / "secret.c").write_text(SECRET)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", "secret.so", "secret.c"], cwd=self.dir, check=True)
        host = self.dir / "host"
        host.mkdir(mode=0o700)
        subprocess.run(["mount", "-t", "tmpfs", "none", host], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", host], check=False)
        job = self.start_in(root, "/lib/own", str(host / "secret.so"), "30")
        mapped = set()
        while not mapped:  # it has begun; then it maps and removes the file
            self.assertIsNone(job.poll(), "it ended")
            maps = Path(f"/proc/{job.pid}/maps").read_text().splitlines()
            mapped = {line.split()[4] for line in maps if line.endswith("/lib/own (deleted)")}
        mapped, = mapped
        secret = host / "secret.so"
        for _ in range(10000):
            shutil.copy(self.dir / "secret.so", secret)
            if secret.stat().st_ino >= int(mapped):
                break
            secret.unlink()
        self.assertEqual(secret.stat().st_ino, int(mapped), "the inode of a file on another device")
        rules = self.rules(f'unsigned long hit(void);\non "{root}/mapped":hit {{ event hit() stack user }}')
        done = self.mlbcc("-q", "--rules", rules, "-o", self.out, "--pid", job.pid, "-d", "1s")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = self.out.read_text()
        self.assertIn("mapped:main", text)
        self.assertNotIn("top_secret", text)

    def test_pipes_and_devices_of_a_container(self):
        """Whatever the tracer looks for there is a pipe that nobody writes to, or a device."""
        root = self.container()
        os.mkfifo(root / "etc/ld.so.cache")
        os.mkfifo(root / "lib/libpipe.so.9")
        os.mknod(root / "lib/libdevice.so.9", 0o644 | 0o020000, os.makedev(1, 5))
        job = self.start_in(root)
        os.mkfifo(root / "tmp/perf-1.map")
        for name in "libpipe.so.9", "libdevice.so.9", "libabsent.so.9":
            begin = time.monotonic()
            done = self.mlbcc("-q", "--rules", self.rules(f'on "{name}":call {{ count }}'), "-o", self.out, "--pid", job.pid, "-d", "100ms", timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"library `{name}` was not found", done.stderr)
            self.assertLess(time.monotonic() - begin, 20)

    def test_perf_maps_of_others(self):
        """Names of made code come from a file of the process's own, not from what has the name of one."""
        rules = f'void tick(void);\non "{target("made_code")}":tick {{ event a.b stack user }}'
        other = Path(f"/tmp/mlbcc-test-{os.getpid()}.map")
        self.addCleanup(other.unlink, missing_ok=True)
        for put in "ln -s", "ln":
            other.write_text("")
            trace = self.trace(rules, "sh", "-c", f"{put} {other} /tmp/perf-$$.map && exec {target('made_code')} 3 300")
            pid, = {event["pid"] for event in trace.events}
            Path(f"/tmp/perf-{pid}.map").unlink()
            self.assertIn("made_2 app.js:3", other.read_text())
            for event in trace.events:
                self.assertRegex(event["stack"][0], "^0x")
