"""Stacks inside functions with return probes, whoever's they are: those that gdb shows where nothing is traced."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from harness import TracerCase, target
from harness.machine import attach_ways, need_tool
from harness.peers import Bpftrace

# A copy ends where the stack does, and may be shorter than that: with this it never has to be.
ROOM = {**os.environ, "ROOM": "x" * 8192}
# C++'s names as gdb has them, without what they return, what they are given, and whether they were split off.
PLAIN = re.compile(r"^(?:int )?(?P<name>[\w:~]+(?:<\d+>)?)(?:\(.*)?$")


def plain(name):
    return PLAIN.match(name.replace(" [clone .cold]", "").removesuffix(".cold"))["name"]


def shapes_of(program):
    return subprocess.run([program], capture_output=True, text=True, check=False).stdout.split()


def on_returns(program):
    """For bpftrace: return probes on all functions of a program. Its own `*` takes some that have no instructions."""
    symbols = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
    functions = re.findall(r"^\w+ \w+ [tTwW] ([\w.]+)$", symbols, re.MULTILINE)
    return f"{', '.join(f'uretprobe:{program}:{name}' for name in functions if not name.startswith('_start'))} {{ @[pid] = count(); }}"


class TracedStacks(TracerCase):
    def by_gdb(self, program, shape):
        """The program's own functions below getppid()'s, innermost first."""
        done = subprocess.run([need_tool("gdb"), "-q", "-nx", "-batch", "-ex", "set width 0", "-ex", "set follow-fork-mode child",
                               "-ex", "handle SIGUSR1 nostop noprint pass", "-ex", "catch syscall getppid", "-ex", f"run {shape}",
                               "-ex", "python f = gdb.newest_frame()\nwhile f: print('FRAME', f.name(), gdb.solib_name(f.pc())); f = f.older()",
                               program], capture_output=True, text=True, timeout=60, check=False)
        frames = re.findall(r"^FRAME (.*) (\S+)$", done.stdout, re.MULTILINE)
        self.assertGreater(len(frames), 3, done.stdout + done.stderr)
        return [plain(name) for name, library in frames if library == "None"]

    def own(self, program, event):
        """Likewise, of an event; what libc has between them may have other names."""
        prefix = f"{Path(program).name}:"
        frames = [frame.split("+0x")[0].removeprefix(prefix) for frame in event["stack"] if frame.startswith(prefix)]
        self.assertNotIn("...", event["stack"])
        return [plain(name) for name in frames if name != "_start"]

    def program(self, name, *shapes):
        """A program that no other test traces meanwhile, and its stacks by shape."""
        program = shutil.copy(target(name), self.dir)
        return program, {shape: self.by_gdb(program, shape) for shape in shapes or shapes_of(program)}

    def check(self, program, shapes, **how):
        functions = f"""
            int leaf(int x);
            on syscall:getppid {{ event inside.kernel(ret) stack user }}
            on entry "{program}":leaf {{ event inside.entry(x) stack user }}
            on "{program}":leaf {{ event inside.end(ret) stack user }}
            on "{program}":* {{ count by symbol }}
            """
        for shape, expected in shapes.items():
            trace = self.trace(functions, program, shape, env=ROOM, **how)
            self.assertEqual(expected[0], "leaf")
            found = {event["name"]: self.own(program, event) for event in trace.events if "stack" in event}
            self.assertEqual(found, {"kernel": expected, "entry": expected[1:], "end": expected[1:]}, shape)

    def test_of_c(self):
        self.check(*self.program("stack_shapes"))

    def test_of_cxx(self):
        self.check(*self.program("stack_shapes_cxx"))

    def test_each_way_to_attach(self):
        program, shapes = self.program("stack_shapes", "plain", "recursion", "longjmp", "thread")
        for way in attach_ways():
            self.check(program, shapes, options=("--attach", way))

    def test_beside_another_tracer(self):
        for name in "stack_shapes", "stack_shapes_cxx":
            program, shapes = self.program(name)
            for shape in "caught", "handler", "unwinding":
                shapes.pop(shape, None)  # the other one's return probes kill programs that unwind
            peer = Bpftrace(self, on_returns(program))
            self.check(program, shapes)
            peer.stop()

    def test_of_another_tracer_alone(self):
        program, shapes = self.program("stack_shapes")
        peer = Bpftrace(self, on_returns(program))
        for shape, expected in shapes.items():
            trace = self.trace("on syscall:getppid { event inside.kernel(ret) stack user }", program, shape, env=ROOM)
            self.assertEqual([self.own(program, event) for event in trace.events if "stack" in event], [expected], shape)
        self.assertGreater(sum(peer.stop()["@"].values()), len(shapes))

    def test_python_below_its_evaluation_loop(self):
        """A function of the interpreter that is in every stack, of a Python without symbols of its own for most of its functions."""
        script = "import os\ndef inner(): return os.getppid()\ndef outer(): return sorted([1, 2], key=lambda x: inner())\nouter()"
        stacks = []
        for more in "", 'on "/usr/bin/python3":_PyEval_EvalFrameDefault { count }':
            trace = self.trace(f"on syscall:getppid {{ event inside.kernel(ret) stack user }}\n{more}", "/usr/bin/python3", "-c", script)
            stacks.append([event["stack"] for event in trace.events if "stack" in event])
        self.assertEqual(len(stacks[0]), 2)
        self.assertGreater(len(stacks[0][0]), 6)
        self.assertEqual(stacks[1], stacks[0])
