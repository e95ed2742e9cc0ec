#!/usr/bin/env python3
"""Makes the pictures of docs/pictures from real traces of this machine: by hand, as root.

    scripts/setup.sh --tests && scripts/setup.sh --bench
    scripts/pictures.py [--tool build/release] [NAME]...

`aha` writes what a terminal shows as HTML, Chromium takes the picture.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures"
TARGETS = ROOT / "tests/runtime/targets"
BROWSER = ROOT / "build/page"
WIDTH = 110  # characters of a terminal
FRAME = """<!DOCTYPE html><meta charset="utf-8"><style>body {{ margin: 0; }} pre {{ display: inline-block; margin: 0; padding: 14px 16px;
background: #16191d; color: #d8dce2; font: 14px/1.28 "DejaVu Sans Mono", monospace; }}</style><pre>{}</pre>"""
GPU_JOB = {"steps": 40, "threads": 6, "launches": 24, "copies": True, "modules": 2, "late": False}
BUSY = """
import json, os, time
end = time.time() + 60
while time.time() < end:
    for name in os.listdir("/etc"):
        try: open("/etc/" + name).read()
        except (OSError, UnicodeDecodeError): pass
    json.dumps(list(range(20000))); os.stat("/"); time.sleep(0.01)
"""
IMPORTS = "import asyncio, http.server, json, xml.dom.minidom, sqlite3, unittest.mock"
PORT = 8077
SERVED = "/fast", "/cpu", "/disk", "/lock"
STACKS = "on syscall:openat { event file.open(filename)  stack python }"


class Studio:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.environment = {**os.environ, "PATH": f"{tool}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8",
                            "LD_LIBRARY_PATH": str(tool / "examples/cuda_sim"), "CUDA_SIM_QUIET": "1"}

    def run(self, *command, **more):
        done = subprocess.run(list(map(str, command)), cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False, **more)
        if done.returncode != 0:
            sys.exit(f"pictures: {shlex.join(map(str, command))}: {done.stderr or done.stdout}")
        return done.stdout

    def shot(self, html, name, height, selector=None):
        PICTURES.mkdir(exist_ok=True)
        subprocess.run(["node", "shot.mjs", html, PICTURES / f"{name}.png", "1100", str(height), *([selector] if selector else [])],
                       cwd=BROWSER, check=True)

    def terminal(self, name, command, lines, after):
        """What a terminal shows after so many seconds."""
        tmux = ("tmux", "-S", self.folder / "tmux")
        self.run(*tmux, "-f", "/dev/null", "new-session", "-d", "-x", WIDTH, "-y", lines, "-c", self.folder, f"{command}; cat")
        time.sleep(after)
        shown = self.run(*tmux, "capture-pane", "-e", "-p").rstrip("\n")
        self.run(*tmux, "kill-server")
        colored = self.run("aha", "--no-header", "--black", input=shown)
        frame = self.folder / "terminal.html"
        frame.write_text(FRAME.format(colored))
        self.shot(frame, name, 800, "pre")

    def page_of(self, trace):
        page = self.folder / "page.html"
        self.run("mlbcc", "convert", trace, "--to", "html", "-o", page)
        return page

    def page(self):
        self.run("mlbcc", "profile", "-q", "-o", "gpu.jsonl", "--", "python3", TARGETS / "gpu_pool.py", "clock", json.dumps(GPU_JOB))
        self.shot(self.page_of("gpu.jsonl"), "page", 900)

    def flame(self):
        self.run("mlbcc", "-q", "-o", "flame.jsonl", "-e", STACKS, "--", "python3", "-c", IMPORTS)
        self.shot(self.page_of("flame.jsonl"), "flame", 700, "#flame-part")

    def timeline(self):
        self.run("mlbcc", "-q", "--rules", "cuda", "-o", "demo.jsonl", "--", "python3", ROOT / "examples/inference/app.py")
        self.terminal("timeline", "clear; mlbcc timeline demo.jsonl", 14, 1)

    def top(self):
        (self.folder / "job.py").write_text(BUSY)
        self.terminal("top", "mlbcc top -o top.jsonl --rules syscalls --rules io -- python3 -S job.py", 28, 6)

    def serve(self):
        (self.folder / "data").write_bytes(os.urandom(16 << 20))
        self.environment.update(SERVE_KIND="flask", SERVE_LOG=str(self.folder / "times"),
                                SERVE_DATA=str(self.folder / "data"))
        server = ("gunicorn", "--threads", "4", "-b", f"127.0.0.1:{PORT}", "--chdir", TARGETS, "serve_app:flask_app")
        with open(self.folder / "table.txt", "w") as table:
            tracer = subprocess.Popen(["mlbcc", "serve", "--", *map(str, server)], cwd=self.folder, env=self.environment,
                                      stderr=table, stdout=subprocess.DEVNULL)
            time.sleep(4)
            for path in SERVED:
                self.run("ab", "-q", "-n", "200", "-c", "4", f"http://127.0.0.1:{PORT}{path}")
            tracer.terminate()
            tracer.wait()
        self.terminal("serve", "clear; sed -n '/^endpoint/,$p' table.txt | grep -v '^mlbcc:' | cut -c 1-109", 44, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/release"), help="the folder of mlbcc (default: %(default)s)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="page, flame, timeline, top, serve (default: all)")
    options = parser.parse_args()
    subprocess.run([sys.executable, ROOT / "tests/npm_install.py", "page", "chromium"], check=True)
    with tempfile.TemporaryDirectory(prefix="mlbcc-pictures-") as folder:
        studio = Studio(Path(options.tool).resolve(), Path(folder))
        for name in options.names or ("page", "flame", "timeline", "top", "serve"):
            getattr(studio, name)()


if __name__ == "__main__":
    main()
