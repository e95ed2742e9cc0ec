"""mlbcc profile: what a model has no business doing."""

import json
import os
import pickle
import shutil
import socket
import subprocess
import textwrap
import unittest
from pathlib import Path

from harness import ROOT
from harness.machine import has_own_network, own_network
from test_profile import PYTHON, ProfileCase

FAILED = 97  # --fail-on

# What an attacker's pickle does when it is loaded.
ATTACK = """
import os, socket
os.system("/bin/true")
socket.create_connection(("127.0.0.1", {port})).close()
open(os.path.expanduser("~/.ssh/id_rsa")).read()
"""


class Malicious:
    def __init__(self, port):
        self.port = port

    def __reduce__(self):
        return exec, (ATTACK.format(port=self.port),)


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


class SecurityCase(ProfileCase):
    def setUp(self):
        super().setUp()
        self.home = self.dir / "home"
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".ssh/id_rsa").write_text("a key\n")
        before = os.environ.get("HOME")
        os.environ["HOME"] = str(self.home)
        self.addCleanup(lambda: os.environ.update(HOME=before) if before else os.environ.pop("HOME"))

    def listener(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        return server.getsockname()[1]

    def findings(self, profile):
        return profile["security"]["findings"]

    def above_low(self, profile):
        return [f for f in self.findings(profile) if f["severity"] in ("medium", "high")]

    def kinds(self, text):
        """What a script is found to do, by kind."""
        return {f["kind"]: f for f in self.findings(self.script(text))}


@unittest.skipUnless(has_own_network(), "no network of one's own can be made here")
class Connections(SecurityCase):
    """In a network that leads nowhere."""

    def mlbcc(self, *arguments, **options):
        return super().mlbcc(*arguments, preexec_fn=own_network, **options)

    def test_connections(self):
        profile = self.script("""
            import socket
            def ask(family, kind, address):
                one = socket.socket(family, kind)
                one.settimeout(0.01)
                try: one.connect(address)
                except OSError: pass
            ask(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 513))
            ask(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 514))
            ask(socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.2", 53))
            # As Java writes every IPv4 address, and what connects without connect().
            ask(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.3", 515))
            ask(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:169.254.169.254", 80))
            socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"x", ("::1", 54))
            socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"x", ("::ffff:127.0.0.4", 55))
            for family, address in (socket.AF_INET, ("127.0.0.5", 516)), (socket.AF_INET6, ("::ffff:127.0.0.6", 517)), (socket.AF_INET6, ("::1", 518)):
                try: socket.socket(family, socket.SOCK_STREAM).sendto(b"x", socket.MSG_FASTOPEN, address)
                except OSError: pass
            """)
        found = {(f["kind"], f["what"], f["severity"]) for f in self.findings(profile)}
        self.assertEqual(found, {
            ("connection", "connected to 127.0.0.1, port 513", "low"),
            ("connection6", "connected to 0:0:0:0:0:0:0:1, port 514", "low"),
            ("cloud_metadata", "asked the cloud's metadata address 169.254.169.254", "high"),
            ("datagram", "sent a datagram to 127.0.0.2, port 53", "low"),
            ("connection", "connected to 127.0.0.3, port 515", "low"),
            ("datagram6", "sent a datagram to 0:0:0:0:0:0:0:1, port 54", "low"),
            ("datagram", "sent a datagram to 127.0.0.4, port 55", "low"),
            ("connection", "connected to 127.0.0.5, port 516", "low"),
            ("connection", "connected to 127.0.0.6, port 517", "low"),
            ("connection6", "connected to 0:0:0:0:0:0:0:1, port 518", "low")})

    def test_the_metadata_address_however_it_is_asked(self):
        ask = "import socket; one = socket.socket(socket.{family}, socket.{kind}); one.setblocking(False); one.{call}"
        for family, kind, call in (("AF_INET", "SOCK_STREAM", 'connect_ex(("169.254.169.254", 80))'),
                                   ("AF_INET6", "SOCK_STREAM", 'connect_ex(("::ffff:169.254.169.254", 80))'),
                                   ("AF_INET6", "SOCK_STREAM", 'sendto(b"x", socket.MSG_FASTOPEN, ("::ffff:169.254.169.254", 80))'),
                                   ("AF_INET", "SOCK_DGRAM", 'sendto(b"x", ("169.254.169.254", 53))')):
            script = ask.format(family=family, kind=kind, call=call)
            found = self.kinds(f"try: exec({script!r})\nexcept OSError: pass")
            self.assertEqual(found["cloud_metadata"]["what"], "asked the cloud's metadata address 169.254.169.254", script)


class Pickles(SecurityCase):
    def check_attack(self, profile, path, port, pickled):
        found = {(f["kind"], f["what"]): f for f in self.findings(profile)}
        for kind, what in (("program", "started the program /bin/sh"),
                           ("program", "started the program /bin/true"),
                           ("connection", f"connected to 127.0.0.1, port {port}"),
                           ("secret", f"opened {self.home}/.ssh/id_rsa, a place of keys, credentials or passwords"),
                           ("pickle_callable", f"a pickle imported {pickled}.exec")):
            with self.subTest(what=what):
                finding = found[kind, what]
                self.assertEqual(finding["severity"], "high")
                self.assertEqual(finding["after_weights"], str(path))
                self.assertTrue(finding["why"])
                self.assertIn(what, self.text)
                self.assertTrue(any(frame.endswith(":load") for frame in finding["stack"]), finding["stack"])
        self.assertEqual(profile["security"]["worst"], "high")
        main = profile["processes"][0]["pid"]
        secret, = [f for f in self.findings(profile) if f["kind"] == "secret"]
        self.assertEqual((secret["pid"], secret["tid"]), (main, main))
        self.assertIn(f"after opening {path}", self.text)

    def run_both(self, clean, malicious, loader, port, pickled):
        good = self.profile(PYTHON, loader, clean, options=("--fail-on", "medium"))
        self.assertEqual(self.above_low(good), [])
        self.out = self.dir / "malicious.jsonl"
        bad = self.dir / "bad.json"
        done = self.mlbcc("profile", "-o", self.out, "--json", bad, "--fail-on", "high", "--", PYTHON, loader, malicious)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.text = done.stderr
        self.check_attack(json.loads(bad.read_text()), malicious, port, pickled)
        for least, status in (("high", FAILED), ("low", FAILED)):
            self.assertEqual(self.mlbcc("report", "--fail-on", least, self.out).returncode, status)
        self.assertEqual(self.mlbcc("report", self.out).returncode, 0)

    def test_a_pickle_of_python(self):
        port = self.listener()
        clean, malicious = self.dir / "clean.pkl", self.dir / "malicious.pkl"
        clean.write_bytes(pickle.dumps({"weights": [0.5] * 1000, "size": complex(1, 2)}))
        malicious.write_bytes(pickle.dumps(Malicious(port)))
        loader = self.write("loader.py", textwrap.dedent("""
            import pickle, sys
            def load(path):
                with open(path, "rb") as file: return pickle.load(file)
            load(sys.argv[1])
            """))
        self.run_both(clean, malicious, loader, port, "builtins")

    def test_the_interpreter_that_a_script_starts(self):
        """As pyenv and asdf have it: `python3` in PATH is a script, and not that in the same folder, nor that of the system."""
        clean = self.dir / "clean.pkl"
        clean.write_bytes(pickle.dumps({"size": complex(1, 2)}))
        own = self.dir / "versions/3.x/bin/python3"
        own.parent.mkdir(parents=True)
        shutil.copy(Path(PYTHON).resolve(), own)
        shim = self.dir / "shims/python3"
        shim.parent.mkdir()
        shim.write_text(f'#!/bin/sh\nexec {own} "$@"\n')
        shim.chmod(0o755)
        loader = self.write("loader.py", "import pickle, sys\npickle.load(open(sys.argv[1], 'rb'))\n")
        profile = self.profile(shim, loader, clean)
        self.assertIn("a pickle imported builtins.complex", [f["what"] for f in self.findings(profile)], self.text)
        self.assertNotIn("note:", self.text)

    def test_torch(self):
        if not has("torch"):
            self.skipTest("python3-torch is not installed (scripts/setup.sh --tests)")
        port = self.listener()
        clean, malicious = self.dir / "clean.pt", self.dir / "malicious.pt"
        maker = self.write("maker.py", textwrap.dedent(f"""
            import sys, torch
            model = torch.nn.Linear(64, 64)
            torch.save(model.state_dict(), sys.argv[1])
            class Malicious:
                def __reduce__(self): return exec, ({ATTACK.format(port=port)!r},)
            torch.save({{"state": model.state_dict(), "more": Malicious()}}, sys.argv[2])
            """))
        subprocess.run([PYTHON, maker, clean, malicious], check=True)
        loader = self.write("loader.py", textwrap.dedent("""
            import inspect, sys, torch
            def load(path):
                options = {"weights_only": False} if "weights_only" in inspect.signature(torch.load).parameters else {}
                return torch.load(path, **options)
            state = load(sys.argv[1])
            model = torch.nn.Linear(64, 64)
            model.load_state_dict(state.get("state", state))
            with torch.no_grad():
                for _ in range(10): model(torch.ones(4, 64))
            """))
        self.run_both(clean, malicious, loader, port, "__builtin__")  # as its protocol 2 says it


class Kinds(SecurityCase):
    def test_order_decides_how_severe_it_is(self):
        weights = self.dir / "w.safetensors"
        weights.write_bytes(b"x" * 100)
        profile = self.script(f"""
            import subprocess
            subprocess.run(["/bin/true"])
            open("{weights}").read()
            subprocess.run(["/bin/false"])
            """)
        found = {f["what"]: (f["severity"], f["after_weights"]) for f in self.findings(profile)
                 if f["kind"] == "program"}
        self.assertEqual(found, {"started the program /bin/true": ("low", None),
                                 "started the program /bin/false": ("high", str(weights))})

    def test_writes(self):
        inside, outside = self.dir / "in.txt", Path("/opt/mlbcc-test-outside.txt")
        self.addCleanup(lambda: outside.unlink(missing_ok=True))
        profile = self.script(f"""
            import os
            for path in ("{inside}", "{outside}", "/dev/null", "/tmp/../opt/{outside.name}"): open(path, "w").close()
            os.chdir("/opt")
            open("{outside.name}", "a").close()
            os.open("{outside.name}", os.O_WRONLY, dir_fd=os.open("/opt", os.O_RDONLY))
            """)
        found = [(f["what"], f["severity"], f["times"]) for f in self.findings(profile) if f["kind"] == "write"]
        self.assertEqual(found, [(f"opened {outside} for writing", "low", 1),
                                 (f"opened /tmp/../opt/{outside.name} for writing", "low", 1),
                                 (f"opened {outside.name} for writing", "low", 2)])

    def test_the_folder_that_is_worked_in_and_caches(self):
        work, home = Path("/opt/mlbcc-test-work"), Path("/opt/mlbcc-test-home")
        work.mkdir(exist_ok=True)
        for cache in (".cache", ".nv/ComputeCache/0/1", ".triton/cache"):
            (home / cache).mkdir(parents=True, exist_ok=True)
        self.addCleanup(subprocess.run, ["rm", "-rf", work, home], check=True)
        os.environ["HOME"] = str(home)
        script = self.write("script.py", f"""
open("relative.txt", "w").close()
open("{work}/absolute.txt", "w").close()
for path in (".cache/kept", ".nv/ComputeCache/0/1/kernel", ".triton/cache/kernel", ".nv/other", ".tritonic"):
    open("{home}/" + path, "w").close()
open("../mlbcc-test-work-not", "w").close()
""")
        self.addCleanup(lambda: Path("/opt/mlbcc-test-work-not").unlink(missing_ok=True))
        self.addCleanup(setattr, self, "dir", self.dir)
        self.dir, shown = work, self.dir / "p.json"  # where mlbcc is started
        done = self.mlbcc("profile", "-o", self.out, "--json", shown, "--", PYTHON, "-S", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.findings(json.loads(shown.read_text()))
        self.assertEqual([f["values"]["path"] for f in found if f["kind"] == "write"],
                         [f"{home}/.nv/other", f"{home}/.tritonic", "../mlbcc-test-work-not"])

    def test_secrets_are_known_by_their_place(self):
        (self.home / ".aws").mkdir()
        (self.home / ".aws/credentials").write_text("k")
        (self.home / ".netrc").write_text("k")
        (self.home / "notes").write_text("k")
        (self.home / ".bashrc").write_text("k")
        (self.home / "link").symlink_to(self.home / ".ssh/id_rsa")
        (self.home / "token").write_text("k")
        profile = self.script(f"""
            import os
            os.chdir("{self.home}")
            for path in ("notes", ".bashrc", ".aws/credentials", ".netrc", "link", "token", "/etc/shadow",
                         "/proc/self/environ", "/proc/self/status"): open(path, "rb").close()
            os.listdir(".ssh")
            """)
        found = [(f["kind"], f["values"]["path"], f["severity"]) for f in self.findings(profile)]
        self.assertEqual(found, [("secret", path, "high") for path in
                                 (".aws/credentials", ".netrc", "link", "/etc/shadow", ".ssh")] +
                         [("process_memory", "/proc/self/environ", "medium"), ("token", "token", "low")])

    def test_code_in_memory(self):
        found = self.kinds("""
            import mmap, os, subprocess
            mmap.mmap(-1, 8192, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
            fd = os.memfd_create("hidden", 0)
            os.write(fd, open("/bin/true", "rb").read())
            subprocess.run([f"/proc/self/fd/{fd}"], pass_fds=[fd])
            mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
            """)
        self.assertEqual((found["executable_memory"]["severity"], found["executable_memory"]["values"]["bytes"]),
                         ("low", "8192"))
        self.assertEqual((found["unnamed_program"]["severity"], found["unnamed_program"]["what"]),
                         ("high", "runs a program that is in no folder: memfd:hidden"))
        self.assertEqual((found["unnamed_library"]["severity"], found["unnamed_library"]["values"]["file"]),
                         ("medium", "memfd:hidden"))

    def test_memory_made_executable(self):
        script = """
            import ctypes, mmap
            memory = mmap.mmap(-1, 4096)
            at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            assert ctypes.CDLL(None).{call} == 0
            """
        for call in "mprotect(ctypes.c_void_p(at), 4096, 5)", "pkey_mprotect(ctypes.c_void_p(at), 4096, 5, -1)":
            found = self.kinds(script.replace("{call}", call))
            self.assertEqual((found["made_executable"]["severity"], found["made_executable"]["values"]["bytes"]),
                             ("low", "4096"), call)

    def test_other_processes_and_rights(self):
        found = self.kinds("""
            import ctypes, os
            libc = ctypes.CDLL(None)
            libc.ptrace(16, 1 << 22, 0, 0)
            libc.process_vm_readv(1 << 22, 0, 0, 0, 0, 0)
            libc.syscall(169, 0, 0, 0, 0)
            os.setuid(os.getuid())
            """)
        self.assertEqual({kind: f["severity"] for kind, f in found.items() if kind != "made_executable"},
                         {"ptrace": "high", "other_memory": "high", "kernel": "high", "rights": "medium"})
        self.assertEqual(found["ptrace"]["what"], f"used ptrace on process {1 << 22}, request 16")
        self.assertEqual(found["rights"]["what"], "changed whom it runs as, or tried to, by setuid")

    def test_a_team_adds_its_own(self):
        own = self.rules("""
            on syscall:uname { event finding.asked(severity = "medium", what = "asked for the name of {comm}'s machine",
                                                   why = "House rule.", comm) }
            """, "own.rules")
        profile = self.profile(PYTHON, "-S", "-c", "import os; os.uname()",
                               options=("--rules", own))
        found = {f["kind"]: f for f in self.findings(profile)}
        self.assertEqual((found["asked"]["what"], found["asked"]["why"], found["asked"]["severity"]),
                         ("asked for the name of python3's machine", "House rule.", "medium"))

    def test_what_does_nothing_has_no_findings(self):
        profile = self.profile("/bin/ls", ROOT, options=("--fail-on", "low"))
        self.assertEqual(profile["security"], {"worst": None, "left_out": 0, "findings": []})
        self.assertIn("no findings", self.text)


if __name__ == "__main__":
    unittest.main()
