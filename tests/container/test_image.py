"""The documented commands, with their flags and no others."""

import os
import subprocess

from compare import essence
from engine import ENGINE, HERE, IMAGE, LIMIT, TRACING, Caller, ContainerCase, extracted, inspect, run_command

QUICK_START = ("--rules", "cuda", "-o", "trace.jsonl", "--", "python3")
CALLS = """library cuda = "libcuda.so.1"
int cuDriverGetVersion(int* version);
on cuda:cuDriverGetVersion { count as "calls" event called() }
"""
PTRACE = ("--cap-add", "SYS_PTRACE")


class QuickStart(ContainerCase):
    FLAGS = (*TRACING, "-e", "LD_LIBRARY_PATH=/opt/cuda_sim")

    def in_image(self, *flags):
        done = self.run_image(flags, *QUICK_START, "/opt/inference/app.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("59 driver calls, 13352 bytes allocated, 0 leaked", done.stdout)
        return essence(self.dir / "trace.jsonl")

    def outside(self):
        root = extracted()
        environment = {**os.environ, "LD_LIBRARY_PATH": str(root / "opt/cuda_sim"), "PATH": "/usr/bin:/bin",
                       "CUDA_HOME": "", "CUDA_PATH": ""}
        # The image has no CUDA toolkit, which declares more functions than our own header.
        hide = "[ ! -d /usr/local/cuda/ ] || mount -t tmpfs none /usr/local/cuda/; exec \"$@\""
        done = subprocess.run(["unshare", "-m", "sh", "-c", hide, "sh", str(root / "usr/local/bin/mlbcc"),
                               *QUICK_START, str(root / "opt/inference/app.py")], cwd=self.dir, env=environment,
                              text=True, capture_output=True, check=False, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return essence(self.dir / "trace.jsonl", root)

    def test_the_same_events_as_outside(self):
        inside, outside = self.in_image(*self.FLAGS), self.outside()
        events = [record for record in inside if "phase" in record]
        self.assertEqual(len(events), 126)
        self.assertEqual(sum(record["phase"] == "B" for record in events), 55, "each call of the program's own log but 4 that only ask")
        self.assertEqual(inside, outside)

    def test_two_capabilities_are_enough(self):
        self.assertEqual(self.in_image(*self.FLAGS), self.in_image("--cap-drop", "ALL", *self.FLAGS))

    def test_rules_of_ones_own(self):
        self.write("my.rules", CALLS)
        done = self.run_image(self.FLAGS, "--rules", "my.rules", "--", "python3", "/opt/inference/app.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        file, = (self.dir / "traces").iterdir()
        calls = [record["type"] for record in self.records(file) if "phase" in record]
        self.assertEqual(calls, ["called"])


class Processes(ContainerCase):
    """Of the machine, traced from a container, and the other way round."""

    def setUp(self):
        super().setUp()
        self.write("calls.rules", CALLS)

    def container(self, *flags):
        """caller.py in a container, with its own processes, mounts, and the only libcuda there is."""
        name = f"mlbcc-test-{os.getpid()}"
        caller = Caller(self, run_command("-i", "--name", name, "-v", f"{HERE}:/caller:ro", "-e",
                                          "LD_LIBRARY_PATH=/opt/cuda_sim", "-e", "CUDA_SIM_QUIET=1", *flags,
                                          "--entrypoint", "python3", IMAGE, "/caller/caller.py"))
        return caller, name

    def trace_while_it_calls(self, command, caller, stop=None):
        """A tracer sees each call of a caller that makes 1000 while it is traced, and then ends; or `stop` is
        called before that: in the pid namespace of a container all ends with its first process."""
        caller.call(10)
        with open(self.dir / "said.txt", "wb") as said:
            tracer = subprocess.Popen([*command], stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=self.dir)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.kill)
        self.wait_until_it_traces(tracer)
        caller.call(1000)
        (stop or caller.end)()
        self.assertEqual(tracer.wait(LIMIT), 0, (self.dir / "said.txt").read_text())
        *events, summary = self.records()[1:]
        self.assertEqual([event["type"] for event in events], ["called"] * 1000)
        self.assertEqual([(s["label"], s["value"]) for s in summary["stats"]], [("calls", 1000)])
        self.assertEqual((summary["lost"], summary["end"]), (0, "interrupted" if stop else "the processes ended"))

    def wait_until_it_traces(self, tracer):
        while "Ctrl-C ends the trace" not in (self.dir / "said.txt").read_text():
            try:
                tracer.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            self.fail((self.dir / "said.txt").read_text())

    def arguments(self, pid, rules="calls.rules"):
        return ("--rules", str(rules), "-o", "trace.jsonl", "--pid", str(pid))

    def test_of_the_machine_from_a_container(self):
        root = extracted()
        caller = Caller(self, ["/usr/bin/python3", str(HERE / "caller.py")],
                        env={**os.environ, "LD_LIBRARY_PATH": str(root / "opt/cuda_sim"), "CUDA_SIM_QUIET": "1"})
        self.trace_while_it_calls(run_command(*TRACING, *PTRACE, "--pid=host", "-v", f"{self.dir}:/work", IMAGE,
                                              *self.arguments(caller.pid)), caller)

    def test_of_another_container_from_the_machine(self):
        caller, name = self.container()
        mlbcc = extracted() / "usr/local/bin/mlbcc"
        pid = inspect(name, "{{.State.Pid}}")
        self.assertNotEqual(os.stat(f"/proc/{pid}/ns/mnt").st_ino, os.stat("/proc/self/ns/mnt").st_ino)
        self.assertNotEqual(os.stat(f"/proc/{pid}/ns/pid").st_ino, os.stat("/proc/self/ns/pid").st_ino)
        self.trace_while_it_calls([str(mlbcc), *self.arguments(pid)], caller)

    def test_of_another_container_from_a_container_beside_it(self):
        caller, name = self.container()
        tracer = f"{name}-tracer"
        self.trace_while_it_calls(
            run_command(*TRACING, *PTRACE, f"--pid=container:{name}", "--name", tracer, "-v", f"{self.dir}:/work", IMAGE,
                        *self.arguments(1)),
            caller, lambda: subprocess.run([ENGINE, "kill", "-s", "INT", tracer], check=True, capture_output=True))


class Messages(ContainerCase):
    """What fails without each flag, and what is said then (docs/docker.md has the table)."""

    RULES = 'int cuInit(unsigned flags);\non "/opt/cuda_sim/libcuda.so.1":cuInit { count as "calls" }\n'
    FILTERED = ("error: a seccomp filter refuses the system call {}, although {} is there\n   = help: start the "
                "container with --security-opt seccomp=unconfined, or by an engine whose own filter goes by "
                "capabilities, as Docker's does from 23 on (docs/docker.md)\n")

    def refused(self, *flags, rules=RULES, command=("--", "true")):
        self.write("test.rules", rules)
        done = self.run_image(("--cap-drop", "ALL", *flags), "--rules", "test.rules", "-o", "trace.jsonl", *command)
        self.assertEqual(done.returncode in (1, 2), True, done.stderr)
        return done.stderr

    def works(self, *flags, rules):
        self.write("test.rules", rules)
        done = self.run_image(("--cap-drop", "ALL", *flags), "--rules", "test.rules", "-o", "trace.jsonl", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_without_each_capability(self):
        for flags, missing, given in (((), "CAP_PERFMON and CAP_BPF", "--cap-add PERFMON --cap-add BPF"),
                                      (TRACING[:2], "CAP_PERFMON", "--cap-add PERFMON"),
                                      (TRACING[2:], "CAP_BPF", "--cap-add BPF")):
            with self.subTest(flags=flags):
                self.assertEqual(self.refused(*flags),
                                 f"error: tracing needs CAP_BPF and CAP_PERFMON; missing: {missing}\n"
                                 f"   = help: start the container with {given} (docs/docker.md)\n")

    def test_filters(self):
        for call, capability in (("bpf", "CAP_BPF"), ("perf_event_open", "CAP_PERFMON")):
            profile = self.write("filter.json", f'{{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{{"names": ["{call}"], '
                                 '"action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}')
            self.assertEqual(self.refused(*TRACING, "--security-opt", f"seccomp={profile}"),
                             self.FILTERED.format(call, capability))

    def test_no_filter_at_all(self):
        self.works(*TRACING, "--security-opt", "seccomp=unconfined", rules=self.RULES)

    def test_a_user_namespace(self):
        if ENGINE == "docker":
            self.skipTest("docker's user namespaces are set for the whole engine")
        self.assertEqual(self.refused(*TRACING, "--uidmap", "0:100000:65536", "--cap-add", "DAC_OVERRIDE"),
                         "error: this process is in a user namespace of its own, where no capability lets it trace\n"
                         "   = help: start the container as root, neither rootless nor with userns-remap "
                         "(docs/docker.md)\n")

    def test_a_process_of_the_machine(self):
        process = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        command = ("--pid", process.pid)
        self.assertEqual(self.refused(*TRACING, command=command),
                         f"error: there is no process {process.pid}\n   = help: this is a pid namespace of its own: "
                         "a container sees the machine's processes with --pid=host\n")
        self.assertEqual(self.refused(*TRACING, "--pid=host", command=command),
                         f"error: cannot inspect process {process.pid}: Permission denied\n   = help: run as root; a "
                         "container needs --cap-add SYS_PTRACE, and under AppArmor --security-opt apparmor=unconfined\n")

    def test_tracepoints(self):
        rules = "on tracepoint:sched:sched_process_exec { event exec(pid) }\n"
        said = self.refused(*TRACING, rules=rules)
        self.assertIn("error: cannot find this kernel's tracepoints\n", said)
        self.assertIn("= note: tracefs is not mounted at /sys/kernel/tracing, and cannot be: Operation not permitted\n",
                      said)
        self.assertIn("a container needs -v /sys/kernel/tracing:/sys/kernel/tracing\n", said)
        if not os.path.exists("/sys/kernel/tracing/available_events"):
            subprocess.run(["mount", "-t", "tracefs", "tracefs", "/sys/kernel/tracing"], check=True)
        folder = "/sys/kernel/tracing:/sys/kernel/tracing"
        for flags in (("-v", folder), ("-v", folder + ":ro"), ("--cap-add", "SYS_ADMIN")):
            with self.subTest(flags=flags):
                self.works(*TRACING, *flags, rules=rules)
                self.assertEqual([r["comm"] for r in self.records() if r["type"] == "exec"], ["true"])

    def test_libraries_that_come_later(self):
        rules = ('library late = "/opt/nowhere/liblate.so"\nint late_work(int i);\n'
                 "on optional late:late_work { event work(i) }\n")
        self.assertTrue(self.refused(*TRACING, rules=rules).endswith(
            "error: cannot wait for files to be opened (fanotify): Operation not permitted\n"
            "   = help: run as root, or with CAP_SYS_ADMIN (of a container: --cap-add SYS_ADMIN)\n"))
        self.assertIn("mlbcc: library `/opt/nowhere/liblate.so` never came\n", self.works(*TRACING, "--cap-add", "SYS_ADMIN", rules=rules))
