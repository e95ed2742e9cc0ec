"""Which file a descriptor stands for: by rules/io and in a profile, however it came to stand for it."""

import json
import subprocess

from harness import TracerCase

# Writes as many bytes as no other call, and says what to: "path bytes", or "- bytes" where no call named it.
PROGRAM = """
import array, ctypes, fcntl, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
folder, count = sys.argv[1], 100
log = open(sys.argv[2], "w")
def path(name): return f"{folder}/{name}"
def opened(name): return os.open(path(name), os.O_RDWR | os.O_CREAT)
def write(fd, name):
    global count
    count += 1
    os.write(fd, b"x" * count)
    print(name or "-", count, file=log)

a = opened("a")
write(a, path("a"))
for other in os.dup(a), fcntl.fcntl(a, fcntl.F_DUPFD, 50), os.dup2(a, 60), os.dup2(a, 61, inheritable=False):
    write(other, path("a"))
os.dup2(opened("b"), a)
write(a, path("b"))
write(60, path("a"))
os.close(60)
os.dup2(opened("c"), 60)
write(60, path("c"))
libc.close_range(50, 61, 0)
r, w = os.pipe()
os.dup2(w, 60)
write(60, None)
write(os.memfd_create("memory"), "memory")
os.close(r)
# Numbers that a path had come by a message, and from another process.
left, right = socket.socketpair()
socket.send_fds(left, [b"x"], [opened("sent")])
for fd in range(20, 30): os.dup2(a, fd)
os.close(20)
sent = socket.recv_fds(right, 1, 1)[1][0]
os.dup2(sent, 70)
write(70, None)
write(sent, None)
victim = opened("d")
os.close(victim)
own = os.pidfd_open(os.getpid())
os.close(22)
got = libc.syscall(438, own, sent, 0)  # pidfd_getfd
write(got, None)
child = os.fork()
if child == 0:
    write(a, path("b"))
    log.flush()
    os._exit(0)
os.waitpid(child, 0)
count += 1
log.close()
"""
# Each file is removed before the next is made, which may get its inode.
REMOVED = """
import os, sys
for i in range(6):
    path = f"{sys.argv[1]}/file{i}.bin"
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(fd, b"x" * 1000 * (i + 1))
    os.close(fd)
    if i == 2: os.rename(path, path + ".renamed")
    elif i != 4: os.unlink(path)
    else: os.link(path, path + ".linked"); os.close(os.open(path + ".linked", os.O_RDONLY))
"""

# What the kernel moves, of sizes of their own; at the end, what was read from and written to each file.
MOVED = """
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
folder = sys.argv[1]
def opened(name): return os.open(f"{folder}/{name}", os.O_RDWR | os.O_CREAT)
source, sent, ranged, spliced, teed = map(opened, ("source", "sent", "ranged", "spliced", "teed"))
os.pwritev(source, [bytes(1 << 20)], 0, os.RWF_DSYNC)
assert os.sendfile(sent, source, 0, 100_000) == 100_000
assert os.copy_file_range(source, ranged, 200_000) == 200_000
os.lseek(source, 0, 0)
(r, w), (r2, w2) = os.pipe(), os.pipe()
assert os.splice(source, w, 30_000) == 30_000
assert libc.tee(r, w2, 30_000, 0) == 30_000
assert os.splice(r, spliced, 30_000) == 30_000
assert os.splice(r2, teed, 30_000) == 30_000
class Piece(ctypes.Structure): _fields_ = ("base", ctypes.c_char_p), ("size", ctypes.c_size_t)
assert libc.vmsplice(w, ctypes.byref(Piece(b"x" * 5000, 5000)), 1, 0) == 5000
assert os.splice(r, teed, 5000) == 5000
assert os.preadv(source, [bytearray(7000)], 0, os.RWF_HIPRI) == 7000
"""
MOVED_BYTES = {"source": (100_000 + 200_000 + 30_000 + 7000, 1 << 20), "sent": (0, 100_000), "ranged": (0, 200_000),
               "spliced": (0, 30_000), "teed": (0, 35_000)}


class Descriptors(TracerCase):
    def test_each_way_to_come_by_one(self):
        log = self.dir / "log"
        (self.dir / "files").mkdir()
        done = self.mlbcc("-q", "--rules", "io", "-o", self.out, "--", "/usr/bin/python3", "-S", "-c", PROGRAM, self.dir / "files", log)
        self.assertEqual(done.returncode, 0)
        want = dict(reversed(line.rsplit(" ", 1)) for line in log.read_text().splitlines())
        self.assertGreater(len(want), 12)
        lines = [json.loads(line) for line in self.out.read_text().splitlines()]
        got = {str(one["args"]["bytes"]): one["args"]["path"] for one in lines if (one["type"], one.get("name")) == ("file", "write")}
        got = {size: path if isinstance(path, str) else "-" for size, path in got.items() if size in want}
        self.assertEqual(got, want)

    def removed(self, folder):
        """Of a profile's files: what was written to each."""
        report = self.dir / "p.json"
        done = self.mlbcc("profile", "-q", "--no-progress", "--json", report, "-o", self.out, "--", "/usr/bin/python3", "-S", "-c", REMOVED, folder)
        self.assertEqual(done.returncode, 0)
        files = json.loads(report.read_text())["files"]["files"]
        return {one["path"]: one["written_bytes"] for one in files if ".bin" in one["path"]}

    def test_files_that_are_removed(self):
        mounted = self.dir / "mounted"
        mounted.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "none", mounted], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", mounted], check=True)
        for folder in self.dir, mounted:
            want = {f"{folder}/file{i}.bin": 1000 * (i + 1) for i in range(6)}
            self.assertEqual(self.removed(folder), want, folder)

    def test_what_the_kernel_moves_by_io(self):
        done = self.mlbcc("-q", "--rules", "io", "-o", self.out, "--", "/usr/bin/python3", "-S", "-c", MOVED, self.dir)
        self.assertEqual(done.returncode, 0)
        moved = {name: [0, 0] for name in MOVED_BYTES}
        for one in map(json.loads, self.out.read_text().splitlines()):
            if one["type"] == "file" and one["name"] in ("read", "write") and str(one["args"]["path"]).startswith(f"{self.dir}/"):
                moved[one["args"]["path"].rsplit("/", 1)[1]][one["name"] == "write"] += one["args"]["bytes"]
        self.assertEqual({name: tuple(both) for name, both in moved.items()}, MOVED_BYTES)

    def test_what_the_kernel_moves_in_a_profile(self):
        report = self.dir / "p.json"
        done = self.mlbcc("profile", "-q", "--no-progress", "--json", report, "-o", self.out, "--", "/usr/bin/python3", "-S", "-c", MOVED, self.dir)
        self.assertEqual(done.returncode, 0)
        files = {one["path"].rsplit("/", 1)[1]: one for one in json.loads(report.read_text())["files"]["files"]}
        self.assertEqual({name: (files[name]["read_bytes"], files[name]["written_bytes"]) for name in MOVED_BYTES}, MOVED_BYTES)
        for name in MOVED_BYTES:  # a call's time is one file's
            self.assertEqual(files[name]["write_time_ns"] > 0, name in ("source", "spliced", "teed"), name)

    def test_what_the_kernel_moves_between_sockets(self):
        program = """
import os, socket
left, right = socket.socketpair()
(r, w), (r2, w2) = os.pipe(), os.pipe()
os.write(w, bytes(3000))
assert os.splice(r, left.fileno(), 3000) == 3000
assert os.splice(right.fileno(), w2, 3000) == 3000
"""
        done = self.mlbcc("-q", "--rules", "serve", "-o", self.out, "--", "/usr/bin/python3", "-S", "-c", program)
        self.assertEqual(done.returncode, 0)
        lines = map(json.loads, self.out.read_text().splitlines())
        moved = [(one["name"], one["args"]["bytes"]) for one in lines if one["type"] == "serve" and one["name"] in ("send", "receive")]
        self.assertEqual(moved, [("send", 3000), ("receive", 3000)])

    def test_io_uring_is_named(self):
        done = self.mlbcc("profile", "--no-progress", "-o", self.out, "--", "/usr/bin/python3", "-S", "-c",
                          "import ctypes; print(ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(120)))")
        if "-1" in done.stdout.split():
            self.skipTest("the kernel refuses io_uring")
        self.assertRegex(done.stderr, r"note: python3\S* \(PID [0-9]+\) has an io_uring; what is opened, read and written")


if __name__ == "__main__":
    import unittest
    unittest.main()
