"""mlbcc top over ssh, in tmux: as in any other terminal, and gone with the connection."""

import os
import shlex
import shutil
import socket
import subprocess
import time
import unittest
from pathlib import Path

from harness.live import LiveCase
from harness.machine import SLOWNESS

SERVER = shutil.which("dropbear", path="/usr/sbin:/usr/bin")


@unittest.skipUnless(SERVER and shutil.which("ssh"), "needs dropbear and ssh (Debian's dropbear-bin, openssh-client)")
class Ssh(LiveCase):
    def setUp(self):
        super().setUp()
        for name, program in (("host", "dropbearkey -t ed25519 -f"), ("user", "ssh-keygen -q -t ed25519 -N '' -f")):
            subprocess.run([*shlex.split(program), self.dir / name], check=True, capture_output=True)
        keys, home = self.dir / "keys", Path.home() / ".ssh"
        for folder in (keys, home):
            folder.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(self.dir / "user.pub", keys / "authorized_keys")
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        # The server looks for keys in the user's folder: for it alone, that is another one.
        server = subprocess.Popen(["unshare", "--mount", "sh", "-c", 'mount --bind "$1" "$2"; shift 2; exec "$@"', "sh", keys, home,
                                   SERVER, "-F", "-E", "-r", "host", "-P", "pid", "-p", f"127.0.0.1:{port}"], cwd=self.dir,
                                  stderr=open(self.dir / "server.txt", "wb"))
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        ssh = (f"ssh -tt -F none -p {port} -i {self.dir}/user -o IdentitiesOnly=yes -o StrictHostKeyChecking=no "
               "-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectionAttempts=20 127.0.0.1")
        self.command = f"{ssh} 'cd {self.dir} && PATH={os.environ['PATH']} exec {self.command}'"

    def test_keys_and_sizes(self):
        self.open(size=(90, 20))
        self.until(lambda text: self.calls(text, "getppid") == 1234)
        self.keys("n")
        self.shows("[name]")
        for width, height in ((60, 8), (120, 35)):
            self.tmux("resize-window", *self.on(), "-x", width, "-y", height)
            shown = self.until(lambda text: "q quit" in text.splitlines()[height - 1])
            self.assertLessEqual(max(map(len, shown.splitlines())), width)
        self.keys("C-c")
        self.assertIn("=== TRACE SUMMARY ===", self.ended())
        self.assertEqual(self.status, 130)

    def test_the_connection_is_lost(self):
        self.open()
        self.until(lambda text: self.calls(text, "getppid") == 1234)
        subprocess.run(["pkill", "-KILL", "-f", f"^ssh .*{self.dir}"], check=True)
        end = time.monotonic() + 30 * SLOWNESS
        while (left := subprocess.run(["pgrep", "-af", f"^(mlbcc|\\S*/mlbcc|python3) .*{self.dir}"], text=True,
                                      capture_output=True).stdout) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(left, "")
        self.assertEqual(self.mlbcc("report", self.dir / "trace.jsonl").returncode, 0)
        self.assertIn('"summary"', (self.dir / "trace.jsonl").read_text().splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
