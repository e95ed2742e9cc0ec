"""What traced programs call themselves, and what clients send them, does not steer the terminal: it is shown by number, in one
line, as UTF-8, in every view."""

import re
import socket
import subprocess

from harness import MLBCC, TracerCase

# As thread names and paths: an escape code, line ends, 8-bit controls as UTF-8 and as bytes, DEL, a change of direction, no UTF-8.
NAMES = (b"\x1b[31mRED\x1b[0m", b"one\nline two", b"\xc2\x9b2J", b"\x9b2J", b"a\x7fb\r\t", "a\u202eb\u2066".encode(), b"\xff\xfe\xc0bad", b"=1+1", b"@SUM(A1)")
PROGRAM = f"""
import ctypes, os, time
libc = ctypes.CDLL(None)
for name in {NAMES!r}:
    libc.prctl(15, name + b"\\0")
    try: os.stat(b"/no/" + name)
    except OSError: pass
    os.getppid()
    time.sleep(0.002)
"""
RULES = """
on syscall:newfstatat { where ret < 0   event file.missing(filename)   count by filename as "Missing"   sum duration by comm as "Time" }
on syscall:getppid    { event process.look(comm)   largest 20 by time as "Last" (comm)   learn seen[tid] = comm }
on syscall:clock_nanosleep { span wait   hist duration by comm, seen[tid] as "Naps" }
"""
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Names(TracerCase):
    def check(self, what, output, allowed=""):
        text = output.decode("utf-8")  # or it is no UTF-8
        found = set(HARMFUL.findall(text)) - set(allowed)
        self.assertEqual(found, set(), what)
        self.assertFalse([line for line in text.splitlines() if line.startswith(("line two", "RED"))], what)
        return text

    def run_all(self, *arguments, status=0, **options):
        done = subprocess.run([MLBCC, *map(str, arguments)], cwd=self.dir, capture_output=True, timeout=60, check=False, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_every_view_of_a_trace(self):
        rules = self.rules(RULES)
        program = "/usr/bin/python3", "-S", "-c", PROGRAM
        live = self.run_all("--rules", rules, "-o", self.out, "--print", "--format", "csv,html", "--", *program)
        summary = self.check("summary", live.stderr)
        self.check("--print", live.stdout)
        for shown in ("\\x1b[31mRED", "one\\nline two", "\\u009b2J", "\\x9b2J", "\\x7f", "\\u202e", "\\xff\\xfe\\xc0bad"):
            self.assertIn(shown, summary)
            self.assertIn(shown, self.check("report", self.run_all("report", self.out).stdout))
        for arguments in (("report", "--top", "30", self.out), ("timeline", self.out), ("report", "--name", "*", self.out)):
            self.check(arguments, self.run_all(*arguments).stdout)
        table = self.check("csv", self.out.with_suffix(".csv").read_bytes(), allowed="\r")
        self.assertEqual(re.findall(r"(?:^|,)[=@+]", table, re.MULTILINE), [])
        self.assertIn(",'=1+1,", table)

    def test_a_profile(self):
        program = "/usr/bin/python3", "-S", "-c", PROGRAM, "an\x1b[31margument", "two\nline two"
        live = self.run_all("profile", "--no-progress", "-o", self.out, "--", *program)
        self.check("profile", live.stderr)
        self.check("report", self.run_all("report", self.out).stdout)

    def test_what_clients_ask_a_server_for(self):
        server = ("import socket, sys\n"
                  "s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)\n"
                  "for _ in range(4):\n"
                  "    c, _ = s.accept(); c.recv(1000); c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n'); c.close()\n")
        live = subprocess.Popen([MLBCC, "serve", "-o", self.out, "--", "/usr/bin/python3", "-S", "-c", server], cwd=self.dir,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(live.kill)
        port = int(live.stdout.readline())
        for path in (b"\xc2\x9b2J", b"\x9b2J", "\u202egpj".encode(), b"\xff\xfe"):
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"GET /" + path + b" HTTP/1.1\r\n\r\n")
                client.recv(100)
        _, table = live.communicate(timeout=20)
        self.assertIn("\\u009b2J", self.check("serve", table))
        self.check("report", self.run_all("report", self.out).stdout)

    def test_messages(self):
        for arguments in (("--rules", "no\x1b[31msuch\nrules", "--", "true"), ("report", "no\x1b[2Jfile"), ("--", "no\x1b[2Jprogram")):
            done = subprocess.run([MLBCC, "--rules", self.rules("on syscall:getppid { count }"), *arguments] if arguments[0] == "--" else [MLBCC, *arguments],
                                  cwd=self.dir, capture_output=True, timeout=20, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.check(arguments, done.stderr)
        rules = self.dir / "hostile.rules"
        rules.write_bytes("on syscall:getppid { count by \u202e\u009b }\n".encode())
        done = subprocess.run([MLBCC, "check", "--rules", rules], cwd=self.dir, capture_output=True, timeout=20, check=False)
        self.assertEqual(done.returncode, 2)
        self.check("check", done.stderr)
