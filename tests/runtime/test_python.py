"""`stack python`: the functions that Python itself says it is in, by each Python of this machine."""

import glob
import itertools
import json
import os
import shutil
import subprocess
import unittest
from collections import Counter, defaultdict

from harness import ROOT, Trace, TracerCase, machine
from harness.machine import CUDA_SIM

CALLS = ROOT / "tests/runtime/targets/python_calls.py"
INTERPRETERS = ROOT / "tests/runtime/targets/python_interpreters.py"
APP = ROOT / "examples" / "inference"

RULES = """
    on syscall:getppid, syscall:fdatasync { event mark  stack python }
    """

RUNNING = """
import os, sys
def outer():
    def inner():
        os.getppid()
    inner()
print("ready", flush=True)
while sys.stdin.readline():
    outer()
"""

# It says where each thread waits, by itself.
WAITING = """
import json, os, sys, threading, time
said = []
def functions(frame):
    names = []
    while frame is not None:
        names.append(os.path.basename(frame.f_code.co_filename) + ":" + frame.f_code.co_name)
        frame = frame.f_back
    return names
def nap():
    said.append(functions(sys._getframe()))
    time.sleep(0.1)
def first():
    nap()
def second():
    list(map(lambda _: nap(), [1]))
threads = [threading.Thread(target=one) for one in (first, second)]
for thread in threads: thread.start()
for thread in threads: thread.join()
first()
print(json.dumps(said))
"""

# The example, which says on standard error in which functions each launch was made.
TRACEBACKS = """
import json, os, sys
import app, cuda_driver
invoke = cuda_driver.Driver._invoke.__code__
def called(frame, event, _):
    if event != "call" or frame.f_code is not invoke: return
    if frame.f_locals["name"] != "cuLaunchKernel": return
    names = []
    while frame is not None:
        names.append(os.path.basename(frame.f_code.co_filename) + ":" + frame.f_code.co_name)
        frame = frame.f_back
    print(json.dumps(names), file=sys.stderr)
sys.setprofile(called)
sys.exit(app.main())
"""


# Threads that wait for the interpreter's lock, and one that waits for another; its state's address.
COMPUTING = """
import ctypes, threading
print(ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime")))
taken = threading.Lock()
taken.acquire()
def compute():
    for i in range(3000000): i * i
others = [threading.Thread(target=taken.acquire), *(threading.Thread(target=compute) for _ in range(3))]
for thread in others: thread.start()
for thread in others[1:]: thread.join()
taken.release()
others[0].join()
"""


def debian_python():
    """Debian's own, which is one program; not a pyenv's script."""
    path = os.path.realpath("/usr/bin/python3")
    if not os.access(path, os.X_OK):
        raise unittest.SkipTest("there is no /usr/bin/python3")
    return path


def pyenv(version):
    """One that pyenv has built, with a libpython; a skip where there is none."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = sorted(glob.glob(f"{root}/versions/{version}.*/bin/python{version}"))
    if not found:
        raise unittest.SkipTest(f"pyenv has no Python {version} here")
    return found[0]


class Python(TracerCase):
    def run_calls(self, python, rules=RULES, options=()):
        return self.trace(rules, python, "-I", str(CALLS), options=options)

    def said(self):
        """{thread: stacks}, as the processes say."""
        threads = defaultdict(list)
        for line in self.last.stdout.splitlines():
            for tid, stack in json.loads(line)[1]:
                threads[tid].append(stack)
        return threads

    def seen(self, trace):
        threads = defaultdict(list)
        for event in trace.events:
            threads[event["tid"]].append(event.get("stack"))
        return threads

    def assert_same(self, trace):
        said, seen = self.said(), self.seen(trace)
        self.assertGreater(sum(map(len, said.values())), 150)
        self.assertEqual(set(seen), set(said))
        for tid in said:
            self.assertEqual(seen[tid], said[tid])
        self.assertEqual(trace.summary["lost"], 0)

    def test_debian(self):
        self.assert_same(self.run_calls(debian_python()))
        self.assertNotIn("Python stacks", self.last.stderr)

    def test_3_8(self):
        self.assert_same(self.run_calls(pyenv("3.8")))

    def test_3_9(self):
        self.assert_same(self.run_calls(pyenv("3.9")))

    def test_3_10(self):
        self.assert_same(self.run_calls(pyenv("3.10")))

    def test_3_11(self):
        self.assert_same(self.run_calls(pyenv("3.11")))

    def test_3_12(self):
        self.assert_same(self.run_calls(pyenv("3.12")))

    def test_3_13(self):
        self.assert_same(self.run_calls(pyenv("3.13")))

    def test_interpreters(self):
        """Of the interpreter that the thread is in, not of the first one. Before 3.12, where there are three and the thread has
        let go of the lock, of none."""
        for version in ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13"):
            with self.subTest(version):
                file = self.dir / f"said-{version}"
                trace = self.trace(RULES, pyenv(version), "-I", str(INTERPRETERS), str(file))
                said = defaultdict(list)
                for number, (tid, call, functions) in enumerate(map(json.loads, file.read_text().splitlines())):
                    is_known = version in ("3.12", "3.13") or number < 6 or call == "getppid"
                    said[tid].append((call, functions if is_known else None))
                self.assertEqual(sorted(len(calls) for calls in said.values()), [17] * 3 + [23])
                seen = defaultdict(list)
                for event in trace.events:
                    seen[event["tid"]].append((event["function"], event.get("stack")))
                self.assertEqual(seen, said)

    def test_running_process(self):
        """Found by what it has mapped: its interpreter began long ago."""
        child = subprocess.Popen([debian_python(), "-I", "-c", RUNNING], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.stdin.close)
        self.assertEqual(child.stdout.readline(), b"ready\n")
        live = self.start(RULES, "--pid", str(child.pid))
        live.wait_for("getppid", poke=lambda: (child.stdin.write(b"\n"), child.stdin.flush()),
                      seconds=60)
        live.interrupt()
        self.assertEqual(live.wait(), 0, live.said())
        self.check_running(live.trace())

    def check_running(self, trace):
        for event in trace.events:
            self.assertEqual(event["stack"], ["<string>:inner", "<string>:outer",
                                              "<string>:<module>"])

    def test_running_process_in_a_pid_namespace(self):
        script = (f'{debian_python()} -I -c "$2" < <(until grep -q meta "$3"; do sleep 0.05; done; echo; sleep 0.5) & '
                  '"$0" --rules "$1" -o "$3" --pid $!')
        done = subprocess.run(["unshare", "-pf", "--mount-proc", "bash", "-c", script, machine.MLBCC, self.rules(RULES), RUNNING, self.out],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = Trace(self.out)
        self.assertEqual(len(trace.events), 1)
        self.check_running(trace)

    def test_of_a_function_with_the_native_stack_above(self):
        trace = self.run_calls(debian_python(), """
            on "libc.so.6":getppid { event mark  stack user  stack python }
            """)
        said, seen = self.said(), self.seen(trace)
        stacks = [(mine, theirs) for tid in seen for mine, theirs in zip(
            seen[tid], (s for s in said[tid] if s[0].endswith(":mark")), strict=True)]
        self.assertGreater(len(stacks), 100)
        for mine, theirs in stacks:
            native, python = mine[:-len(theirs)], mine[-len(theirs):]
            self.assertEqual(python, theirs)
            self.assertNotIn("_PyEval_EvalFrame", " ".join(native))

    def test_waiting(self):
        """Of a thread off the CPU, the functions that it waits in."""
        trace = self.trace("""
            on sched:off_cpu { where state == sleeping && duration > 30ms
                               event wait  stack python }
            """, debian_python(), "-I", "-c", WAITING)
        said = set(map(tuple, json.loads(self.last.stdout)))
        waits = [tuple(e["stack"]) for e in trace.events if "stack" in e]
        for stack in said:
            self.assertIn(stack, waits)

    def test_two_files_of_one_name(self):
        for folder, call in (("web", "os.getppid()"), ("job", "os.getppid()")):
            self.write(f"{folder}/app.py", f"import os\ndef main():\n    {call}\n")
        program = "import runpy, sys\nfor one in sys.argv[1:]: runpy.run_path(one)['main']()\n"
        trace = self.trace(RULES, debian_python(), "-c", program, self.dir / "web/app.py", self.dir / "job/app.py")
        inner = [event["stack"][0] for event in trace.records if event.get("type") == "mark" and "app.py" in event["stack"][0]]
        self.assertEqual(inner, ["app.py:main", "job/app.py:main"])

    def test_flame_graph(self):
        folded = self.dir / "python.folded"
        trace = self.run_calls(debian_python(), options=("--folded", folded))
        comm, = {event["comm"] for event in trace.events}
        said = Counter()
        for stack in itertools.chain(*self.said().values()):
            names = [frame.rpartition(":")[2] for frame in reversed(stack)]
            call = "getppid" if names[-1] == "mark" else "fdatasync"
            said[";".join([comm, *names, call])] += 1
        lines = (line.rsplit(" ", 1) for line in folded.read_text().splitlines())
        self.assertEqual({stack: int(weight) for stack, weight in lines}, said)

    def test_versions_that_are_not_supported(self):
        """One note for a file: of a Python by its name. It names one of the processes."""
        other = self.dir / "python3.7"
        shutil.copy(debian_python(), other)
        trace = self.trace(RULES, other, "-c", "import os, sys, subprocess; os.getppid(); subprocess.run([sys.executable, '-c', 'import os; os.getppid()'])",
                           env={**os.environ, "PYTHONHOME": "/usr"})
        self.assertEqual(["stack" in event for event in trace.events], [False, False])
        pids = {event["pid"] for event in trace.events}
        self.assertEqual(len(pids), 2)
        self.assertIn([line for line in self.last.stderr.splitlines() if "Python" in line],
                      [[f"mlbcc: no Python stacks for PID {pid}: {other}: Python 3.7 is not supported "
                        "(3.8 to 3.13 are)"] for pid in pids])

    def test_what_is_no_python_has_none(self):
        trace = self.trace('on syscall:getppid, syscall:exit_group '
                           '{ span a  stack python }', "/bin/true")
        self.assertFalse(any("stack" in event for event in trace.events))
        self.assertNotIn("Python", self.last.stderr)

    def test_launches_of_the_example(self):
        """Each launch of examples/inference/app.py in the functions that made it, and in their order."""
        trace = self.trace("""
            library cuda = "libcuda.so.1" variants _v2
            on cuda:cuLaunchKernel { event launch  stack python }
            """, debian_python(), "-c", TRACEBACKS, "--weights", self.dir / "weights.bin",
            env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM), "PYTHONPATH": str(APP)})
        said = [json.loads(line) for line in self.last.stderr.splitlines() if line.startswith("[")]
        seen = [event["stack"] for event in trace.named("cuLaunchKernel")]
        self.assertGreater(len(said), 2)
        self.assertEqual(seen, said)
        self.assertEqual(seen[0][:5], ["cuda_driver.py:_invoke", "cuda_driver.py:call",
                                       "app.py:_launch", "app.py:run", "app.py:classify"])


class InPython(TracerCase):
    """`in_python(address)`: whether it lies in the interpreter's state, as the process and the file's symbols have it."""

    def check(self, python, file=None):
        trace = self.trace("on lock:futex { event wait(address, its = in_python(address)) }", python, "-I", "-c", COMPUTING)
        symbols = subprocess.run(["readelf", "-W", "--dyn-syms", file or python], check=True, capture_output=True, text=True).stdout
        size = next(int(line.split()[2], 0) for line in symbols.splitlines() if line.endswith(" _PyRuntime"))
        begin = int(self.last.stdout)
        waits = [(int(event["args"]["address"], 16), event["args"]["its"]) for event in trace.events]
        self.assertEqual([its for _, its in waits], [begin <= address < begin + size for address, _ in waits])
        self.assertGreater(sum(its for _, its in waits), 10)
        self.assertIn(False, [its for _, its in waits])

    def test_debian(self):
        self.check(debian_python())

    def test_a_library(self):
        for version in ("3.8", "3.12", "3.13"):
            with self.subTest(version):
                python = pyenv(version)
                root = os.path.dirname(os.path.dirname(python))
                self.check(python, next(iter(glob.glob(f"{root}/lib/libpython{version}.so.1.0")), python))

    def test_a_running_one(self):
        child = subprocess.Popen([debian_python(), "-I", "-c", "input()\n" + COMPUTING], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(child.stdout.close)
        live = self.start("on sched:off_cpu { where in_python(argument)   event turn(file, timed)   }", "--pid", str(child.pid))
        live.wait_for('"type":"meta"')
        child.communicate(b"\n")
        live.interrupt()
        self.assertEqual(live.wait(), 0, live.said())
        self.assertGreater(len(live.trace().events), 10)


if __name__ == "__main__":
    unittest.main()
