#!/usr/bin/env python3
"""Attacks at random, a hundred of each kind: by hand, for it takes long.

    MLBCC_BUILD=build/release tests/hostile.py [--variants 100] [--first 0] [KIND]...

    perf-map   what others put into /tmp under the name of a process's perf map
    container  what lies in a container's root where libraries, caches and debug files would be
    input      rules, headers, imports, options and traces that the caller (sudo) may not read, or not trust
    include    what C headers include
    output     what stands where outputs are made, in a folder of another's
    inherited  limits, closed streams, ignored signals, folders that are gone
    names      names of programs and files, on a terminal
    cache      what lies in the folder of the cache

Nothing may hang for over two seconds, end by a signal, show or change what only root may read or write. Ends
with 0 where nothing does; else what is wrong is printed, with its kind and number. Needs root.
"""

import argparse
import os
import pty
import random
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/runtime"))

from harness import MLBCC, target  # noqa: E402

CALLER, STRANGER = 65534, 4711
SECRET = "F5Jx5fExrKuPp53xLKQZ10"
LIMIT = 2.0  # seconds more than the same without an attack
GETENV = "char *getenv(const char *name);\n"
RULES = 'on "libc.so.6":getenv { count by comm   event seen(ret) }\n'
ABORTS = {128 + number for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)}


class Attack:
    """One variant: a folder of its own, a secret in it, and what is found wrong."""

    def __init__(self, kind, number):
        self.random = random.Random(f"{kind} {number}")
        self.dir = Path(tempfile.mkdtemp(prefix="mlbcc-hostile-"))
        self.dir.chmod(0o755)
        self.secret = self.dir / "secret"
        self.secret.write_text(f"7e0000000100 40 {SECRET}\n{SECRET}:19000\n")
        self.secret.chmod(0o600)
        self.before = self.secret.read_text()
        self.left = []  # to be done at the end
        self.wrong = []

    def put(self, path, owner=STRANGER, kinds=None):
        """Something that does harm where it is opened, read or written without a look."""
        kinds = kinds or ["link", "relative", "loop", "dangling", "hard", "pipe", "zero", "null", "socket", "folder", "sparse", "lines", "names", "elf"]
        kind = self.random.choice(kinds)
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or path.exists():
            path.unlink()
        if kind == "link":
            path.symlink_to(self.secret)
        elif kind == "relative":
            path.symlink_to(os.path.relpath(self.secret, path.parent) if self.random.random() < 0.5 else "../" * 12 + str(self.secret).lstrip("/"))
        elif kind == "loop":
            path.symlink_to(path.name)
        elif kind == "dangling":
            path.symlink_to(self.dir / "made")
        elif kind == "hard":
            try:
                os.link(self.secret, path)
            except OSError:  # on another device
                path.symlink_to(self.secret)
            return kind  # with its owner
        elif kind == "pipe":
            os.mkfifo(path, 0o666)
        elif kind in ("zero", "null"):
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5 if kind == "zero" else 3))
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(os.path.relpath(path, os.getcwd()) if len(str(path)) > 100 else str(path))
        elif kind == "folder":
            path.mkdir()
        elif kind == "sparse":
            path.touch()
            os.truncate(path, self.random.choice([1 << 30, 1 << 40, (64 << 20) + 1]))
        elif kind == "lines":
            path.write_bytes(self.random.choice([b"1 1 \n", b"1 1 a\n", b"\n", b"ffffffffffffffff ffffffffffffffff x\n"]) * (self.random.choice([1, 40]) << 20))
        elif kind == "names":
            path.write_bytes(b"1000 ffffffffff \x1b]0;x\x07\xff\xc2\x9b31m\n" * 100)
        elif kind == "elf":
            whole = bytearray(Path("/bin/true").read_bytes()[:self.random.choice([16, 64, 4096, 30000])])
            for _ in range(self.random.choice([0, 8])):
                whole[self.random.randrange(16, max(17, len(whole) - 1)) if len(whole) > 17 else 15] = self.random.randrange(256)
            path.write_bytes(whole)
        os.lchown(path, owner, owner)
        return kind

    def mlbcc(self, *words, sudo=False, takes=0.0, what="", **options):
        """Runs it; what it must not do is kept in self.wrong."""
        env = {**os.environ, **options.pop("env", {})}
        env.pop("SUDO_UID", None)
        if sudo:
            env |= {"SUDO_UID": str(CALLER), "SUDO_GID": str(CALLER)}
        options.setdefault("stdin", subprocess.DEVNULL)
        begin = time.monotonic()
        job = subprocess.Popen([MLBCC, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=options.pop("cwd", self.dir), **options)
        try:
            out, err = job.communicate(timeout=takes + 30)
        except subprocess.TimeoutExpired:
            job.kill()
            out, err = job.communicate()
        took = time.monotonic() - begin
        if took > takes + BASE[0] + LIMIT:
            self.wrong.append(f"{what}: took {took:.1f} s")
        if job.returncode < 0 or job.returncode in ABORTS:
            self.wrong.append(f"{what}: status {job.returncode}: {err[-300:]!r}")
        if SECRET.encode() in out + err:
            self.wrong.append(f"{what}: what only root may read is shown")
        return job.returncode, out, err

    def end(self):
        for undo in reversed(self.left):
            undo()
        if not self.secret.exists() or self.secret.read_text() != self.before:
            self.wrong.append("what only root may write was changed")
        if (self.dir / "made").exists():
            self.wrong.append("a file was made through a link")
        for path in self.dir.rglob("*"):
            is_read = path != self.secret and path.is_file() and not path.is_symlink() and path.stat().st_nlink == 1 and path.stat().st_size < 1 << 24
            if is_read and path.suffix in (".jsonl", ".csv", ".html", ".folded") and SECRET.encode() in path.read_bytes():
                self.wrong.append(f"{path.name} has what only root may read")
        shutil.rmtree(self.dir, ignore_errors=True)
        return self.wrong

    def rules(self, text, name="my.rules"):
        path = self.dir / name
        path.write_text(text)
        return path

    def process(self, *command, **options):
        job = subprocess.Popen(command, stdout=subprocess.DEVNULL, **options)
        self.left.append(lambda: (job.kill(), job.wait()))
        return job


def perf_map(attack):
    rules = attack.rules(f'void tick(void);\non "{target("made_code")}":tick {{ event a.b stack user }}')
    path = "/tmp/perf-{}.map"
    job = attack.process("sh", "-c", f"sleep 0.2; exec setpriv --reuid {CALLER} --regid {CALLER} --clear-groups {target('made_code')} 3 1200")
    map_ = Path(path.format(job.pid))
    attack.left.append(lambda: shutil.rmtree(map_) if map_.is_dir() and not map_.is_symlink() else map_.unlink(missing_ok=True))
    kind = attack.put(map_)
    attack.mlbcc("-q", "--rules", rules, "-o", "t.jsonl", "--pid", job.pid, "-d", "1s", takes=1.0, what=kind)


def container(attack):
    root = attack.dir / "root"
    root.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", root], check=True)
    attack.left.append(lambda: subprocess.run(["umount", "-l", root], check=False))
    for folder in "proc", "old", "etc", "lib", "usr/lib", "tmp":
        (root / folder).mkdir(parents=True)
    shutil.copy(target("mapped"), root / "mapped")
    kinds = [attack.put(root / place) for place in ("etc/ld.so.cache", "lib/libx.so.9", "usr/lib/libx.so.9", "usr/lib/libx.so.9.1", "tmp/perf-1.map", "lib64/libx.so.9")
             if attack.random.random() < 0.7]
    begin = f"cd {root} && mount -t proc proc proc && pivot_root . old && exec /mapped"
    words = ["/lib/own", str(attack.secret), "12"] if attack.random.random() < 0.5 else []
    job = attack.process("unshare", "-m", "--propagation", "private", "sh", "-c", f'{begin} "$@"', "sh", *words)
    while Path(f"/proc/{job.pid}/comm").read_text() != "mapped\n":
        time.sleep(0.01)
    rules = attack.rules(f'on optional "libx.so.9":call {{ count }}\nunsigned long hit(void);\non "{root}/mapped":hit {{ event hit() stack user }}')
    attack.mlbcc("-q", "--rules", rules, "-o", "t.jsonl", "--pid", job.pid, "-d", "300ms", takes=0.3, what=" ".join(kinds))
    attack.mlbcc("-q", "--rules", attack.rules('on "libx.so.*":call { count }'), "-o", "u.jsonl", "--pid", job.pid, "-d", "100ms", takes=0.1, what=" ".join(kinds))


def input_(attack):
    path = attack.dir / "given.rules"
    owner = attack.random.choice([CALLER, STRANGER, 0])
    kind = attack.put(path, owner, ["link", "relative", "loop", "dangling", "hard", "zero", "socket", "folder", "sparse", "lines", "names", "elf"])
    if kind == "hard" or attack.random.random() < 0.3:
        mode = attack.random.choice([0o600, 0o640, 0o666])
        if not path.is_symlink() and kind not in ("hard", "folder"):
            path.chmod(mode)
    way = attack.random.choice(["rules", "import", "header", "config", "report", "convert", "timeline", "templates"])
    mine = attack.rules(RULES)
    words = {
        "rules": ["check", "--rules", path],
        "import": ["check", "--rules", attack.rules(f'import "{path}"\n', "import.rules")],
        "header": ["check", "--no-cache", "--rules", attack.rules(f'header "{path}"\nlibrary c = "libc.so.6"\non c:getenv {{ count }}\n', "header.rules")],
        "config": ["--config", path, "check", "--rules", mine],
        "report": ["report", path],
        "convert": ["convert", "--to", "csv", "-o", "-", path],
        "timeline": ["timeline", path],
        "templates": ["check", "--templates", path, "--rules", mine],
    }[way]
    attack.mlbcc(*words, sudo=True, what=f"{way} {kind} of {owner}")


def include(attack):
    kind = attack.put(attack.dir / "inner.h", attack.random.choice([CALLER, 0]))
    what = attack.random.choice(['"inner.h"', '"inner.h"', '"inner.h"', '"/dev/zero"', '"/dev/tty"', '"/proc/self/mem"', '"/proc/kmsg"', f'"{attack.secret}"'])
    (attack.dir / "h.h").write_text(f"struct s {{ int\n#include {what}\n}};\n{GETENV}")
    rules = attack.rules('header "h.h"\nlibrary c = "libc.so.6"\non c:getenv { count by name }\n')
    attack.mlbcc("check", "--no-cache", "--rules", rules, sudo=True, what=f"{what} {kind}")


def output(attack):
    shared = attack.dir / "shared"
    shared.mkdir()
    shared.chmod(attack.random.choice([0o777, 0o1777, 0o775]))
    os.chown(shared, STRANGER, STRANGER)
    rules = attack.rules(RULES)
    way = attack.random.choice(["-o", "--folded", "--json", "--format", "--keep", "traces"])
    owned = ["link", "relative", "loop", "dangling", "pipe", "zero", "socket", "folder", "hard"]
    name = {"--format": "t.csv", "--keep": "kept"}.get(way, "t.jsonl")
    kind = attack.put(shared / ("traces" if way == "traces" else name), STRANGER, owned)
    words = {
        "-o": ["-q", "--rules", rules, "-o", name],
        "--folded": ["-q", "--rules", rules, "-o", attack.dir / "o.jsonl", "--folded", name],
        "--json": ["profile", "-q", "-o", attack.dir / "o.jsonl", "--json", name],
        "--format": ["-q", "--rules", rules, "-o", "t.jsonl", "--format", "csv"],
        "--keep": ["-q", "--rules", rules, "-o", attack.dir / "o.jsonl", "--keep", name],
        "traces": ["-q", "--rules", rules],
    }[way]
    attack.mlbcc(*words, "--", "/bin/ls", "/", sudo=attack.random.random() < 0.5, cwd=shared, takes=8.0 if way == "--json" else 1.0, what=f"{way} {kind}")


def inherited(attack):
    chosen = attack.random
    limits = [(resource.RLIMIT_NOFILE, chosen.choice([3, 8, 20, 64, 256])), (resource.RLIMIT_FSIZE, chosen.choice([0, 1, 4096, 1 << 16])),
              (resource.RLIMIT_CORE, 0), (resource.RLIMIT_STACK, chosen.choice([1 << 16, 1 << 20])), (resource.RLIMIT_MEMLOCK, 0),
              (resource.RLIMIT_AS, chosen.choice([1 << 27, 1 << 29])), (resource.RLIMIT_NPROC, 1)]
    limits = chosen.sample(limits, chosen.choice([0, 1, 2]))
    ignored = chosen.sample([signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM, signal.SIGUSR1], chosen.choice([0, 1, 3]))
    closed = chosen.sample([0, 1, 2], chosen.choice([0, 1, 3]))
    gone = chosen.random() < 0.3
    folder = attack.dir / "gone"
    folder.mkdir()

    def before():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        if gone:
            os.rmdir(folder)
        for limit, value in limits:
            resource.setrlimit(limit, (value, value))
        for stream in closed:
            os.close(stream)
    what = f"limits {limits} ignored {ignored} closed {closed} gone {gone}"
    status, _, _ = attack.mlbcc("-q", "--rules", attack.rules(RULES), "-o", attack.dir / "t.jsonl", "--", "/bin/sh", "-c", "exit 7", cwd=folder, preexec_fn=before, what=what)
    if status not in (1, 2, 7, 126, 127):
        attack.wrong.append(f"{what}: status {status}")


def names(attack):
    letters = [chr(attack.random.choice([attack.random.randrange(1, 32), 0x7f, attack.random.randrange(0x80, 0xa0), 0x202e, 0x2066, 0x200f, 0x41, 0x3d])) for _ in range(9)]
    name = "".join(letters).replace("/", "_").replace("\0", "_").encode() + attack.random.choice([b"", b"\xff", b"\x1b[2J"])
    program = os.path.join(os.fsencode(attack.dir), name[:40])
    shutil.copy("/bin/ls", program)
    rules = attack.rules('on syscall:openat { count by filename   event opened(filename) }\non "libc.so.6":getenv { count by comm }\n')
    attack.mlbcc("-q", "--rules", rules, "-o", "t.jsonl", "--", os.fsdecode(program), os.fsdecode(name), what=repr(name))
    for words in (["report", "t.jsonl"], ["timeline", "t.jsonl"]):
        ours, theirs = pty.openpty()
        job = subprocess.Popen([MLBCC, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=attack.dir)
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(ours)
        job.wait()
        text = shown.decode("utf-8", errors="surrogateescape")
        bad = [c for c in text if (ord(c) < 32 and c not in "\r\n\t\x1b") or 0x7f <= ord(c) < 0xa0 or ord(c) in (0x202e, 0x2066, 0x200f) or ord(c) >= 0xdc80 and ord(c) < 0xdd00]
        if bad or b"\x1b[2J" in shown:
            attack.wrong.append(f"{words[0]} {name!r}: the terminal gets {bad[:5]!r}")


def cache(attack):
    folder = attack.dir / "cache"
    folder.mkdir()
    kept = {}
    for number in range(12):
        path = folder / attack.random.choice([f"file{number}", f".hidden{number}", f"{number:032x}", f"{number:064x}", f"a{number}.part", f"x{number}.mlbcc"])
        kept[path] = attack.put(path, 0, ["link", "loop", "dangling", "pipe", "zero", "socket", "folder", "names", "elf", "sparse"])
    for days in range(2):
        attack.mlbcc("check", "--compile", "--rules", attack.rules(RULES + f"# {days}\n"), env={"MLBCC_CACHE": str(folder)}, takes=1.0, what="cache")
    for path, kind in kept.items():
        if not (path.exists() or path.is_symlink()):
            attack.wrong.append(f"{path.name}, a {kind}, was removed")


KINDS = {"perf-map": perf_map, "container": container, "input": input_, "include": include, "output": output, "inherited": inherited, "names": names, "cache": cache}
BASE = [0.0]  # seconds, of a run without an attack


def measure():
    attack = Attack("none", 0)
    begin = time.monotonic()
    attack.mlbcc("-q", "--rules", attack.rules(RULES), "-o", "t.jsonl", "--", "/bin/true", takes=60)
    BASE[0] = time.monotonic() - begin
    attack.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", type=int, default=100, metavar="N", help="of each kind")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    options = parser.parse_args()
    measure()
    wrong = 0
    for kind in options.kinds or KINDS:
        for number in range(options.first, options.first + options.variants):
            attack = Attack(kind, number)
            try:
                KINDS[kind](attack)
            finally:
                found = attack.end()
            wrong += len(found)
            for one in found:
                print(f"{kind} {number}: {one}", flush=True)
        print(f"{kind}: {options.variants} tried", flush=True)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
