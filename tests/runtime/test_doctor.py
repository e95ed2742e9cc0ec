"""mlbcc doctor: what it says of this machine is so, and in bad places it names cause and repair."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from harness import MLBCC, ROOT, TracerCase, target
from harness.machine import CUDA_SIM
from harness.terminal import shown_on_terminal

KEYS = {"id", "title", "state", "found", "why", "repair"}
TRACEPOINT = "on tracepoint:sched:sched_process_fork { count }\n"
FILE_NAME = "on syscall:close { event file.close(path = file_name(fd)) }\n"
NO_RIGHTS = "CAP_BPF and CAP_PERFMON are missing"
SECCOMP = Path(__file__).parent / "targets" / "without_bpf.py"


class Doctor(TracerCase):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ}
        self.environment.pop("KUBERNETES_SERVICE_HOST", None)

    def run_in(self, place, *arguments, **options):
        """mlbcc doctor, started by the command `place`."""
        options.setdefault("env", self.environment)
        return subprocess.run([*map(str, place), str(MLBCC), "doctor", *map(str, arguments)],
                              capture_output=True, text=True, timeout=120, cwd=self.dir, **options)

    def doctor(self, *arguments, place=(), status=0, **options):
        """The JSON, whose verdict is the exit status; the text says the same."""
        done = self.run_in(place, "--json", *arguments, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        answer = json.loads(done.stdout)
        self.assertEqual((answer["schema"], answer["works"]), (1, status == 0))
        for row in answer["checks"]:
            self.assertEqual(set(row), KEYS)
            self.assertIn(row["state"], ("ok", "note", "fault"))
        self.check_text(answer, self.run_in(place, *arguments, **options), status)
        return answer

    def check_text(self, answer, done, status):
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        rows = [line.split(None, 1) for line in done.stdout.split("\n\n")[0].splitlines()
                if not line.startswith(" ")]
        self.assertEqual([state for state, _ in rows], [row["state"] for row in answer["checks"]])
        faults = [row for row in answer["checks"] if row["state"] == "fault"]
        for row in faults:
            text = row["title"].ljust(22) + " " + row["found"] + "\n"
            for line in (row["why"], row["repair"] and "repair: " + row["repair"]):
                text += " " * 30 + line + "\n" if line else ""
            self.assertIn("fault  " + text, done.stdout)
        last = done.stdout.splitlines()[-1]
        names = " ".join(answer["rules"])
        is_missing = any(row["id"] == "rules" and row["state"] == "note" for row in answer["checks"])
        if not faults and is_missing:
            self.assertTrue(last.startswith(f"tracing works here; for {names}, "), last)
        elif faults and all(row["id"] in ("library", "rules") for row in faults):
            self.assertTrue(last.startswith(f"tracing works here, but not with {names}: "), last)
        else:
            self.assertEqual(last, f"a trace with {names} works here" if not faults else
                             f"a trace with {names} would not work here: {len(faults)} fault"
                             + ("s" if len(faults) > 1 else ""))

    def row(self, answer, name, title=None):
        row, = (row for row in answer["checks"]
                if row["id"] == name and title in (None, row["title"]))
        return row

    def faults(self, answer):
        """{title: (why, repair)}"""
        return {row["title"]: (row["why"], row["repair"]) for row in answer["checks"]
                if row["state"] == "fault"}

    def repair(self, answer, docker, otherwise):
        """A repair in the words of the container that the tests run in."""
        kind = self.row(answer, "container")["found"]
        return {"docker": f"docker run {docker}", "podman": f"podman run {docker}"}.get(kind, otherwise)


class GoodPlaces(Doctor):
    def test_system_calls(self):
        answer = self.doctor("--rules", "syscalls")
        self.assertEqual(self.faults(answer), {})
        self.assertEqual(self.row(answer, "bpf")["found"], "works")
        self.assertRegex(self.row(answer, "rules")["found"],
                         r"^syscalls: 2 rules, \d{3} probes, and this kernel takes them$")

    def test_cuda_is_what_is_asked_for(self):
        self.environment["LD_LIBRARY_PATH"] = str(CUDA_SIM)
        answer = self.doctor()
        self.assertEqual(answer["rules"], ["cuda"])
        self.assertEqual(self.row(answer, "library", "libcuda.so.1")["found"],
                         str((CUDA_SIM / "libcuda.so.1").resolve()))

    def test_without_a_gpu(self):
        """Tracing works where there is no CUDA driver; what needs one does not."""
        self.environment["LD_LIBRARY_PATH"] = str(self.dir)
        answer = self.doctor()
        if self.row(answer, "library", "libcuda.so.1")["found"] != "not found":
            self.skipTest("this machine has libcuda.so.1")
        self.assertEqual(self.faults(answer), {})
        self.assertTrue(answer["works"])
        done = self.mlbcc("doctor", env=self.environment)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.endswith("tracing works here; for cuda, libcuda.so.1 was not found\n"), done.stdout[-200:])
        done = self.mlbcc("doctor", "--rules", "cuda", env=self.environment)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.endswith("tracing works here, but not with cuda: libcuda.so.1 was not found\n"), done.stdout[-200:])

    def test_a_real_probe_is_hit_each_time(self):
        answer = self.doctor("--rules", "syscalls")
        self.assertGreater(answer["event_ns"], 0)
        self.assertRegex(self.row(answer, "event_cost")["found"],
                         r"^\d+ ns for a probe and its record, in 9000 of them$")

    def test_the_helper_says_its_versions(self):
        found = self.row(self.doctor("--rules", "syscalls"), "compiler")["found"]
        self.assertRegex(found, r"^libbcc 0\.\d+\.\d+, .*clang version 14\.")

    def test_a_process(self):
        answer = self.doctor("--rules", "syscalls", "--pid", os.getpid())
        self.assertEqual(self.row(answer, "process", f"process {os.getpid()}")["found"], "is seen")

    def test_each_check_is_documented(self):
        answer = self.doctor("--rules", "syscalls", "--pid", os.getpid())
        text = (ROOT / "docs/doctor.md").read_text().split("## JSON")[0]
        documented = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
        order = list(dict.fromkeys(row["id"] for row in answer["checks"]))
        self.assertEqual(order, documented)

    def test_nothing_is_left_behind(self):
        probes = target("driver")
        rules = self.rules(f'int tick(int tag, int i);\non "{probes}":tick {{ event t.t(tag) }}')
        answer = self.doctor("--rules", rules)
        self.assertEqual(self.row(answer, "rules")["found"],
                         f"{rules}: 1 rule, 1 probe, and this kernel takes them")
        self.assertEqual([path.name for path in self.dir.iterdir()], ["test.rules"])

    def test_colours_are_for_terminals(self):
        for variable, colored in ((None, True), ("1", False)):
            environment = {**self.environment, **({"NO_COLOR": variable} if variable else {})}
            if not variable:
                environment.pop("NO_COLOR", None)
            text, status = shown_on_terminal([MLBCC, "doctor", "--rules", "syscalls"], env=environment, cwd=self.dir)
            self.assertEqual(status, 0)
            self.assertEqual(b"\033[32mok" in text, colored, text)


class BadRules(Doctor):
    def test_a_library_that_is_missing(self):
        rules = self.rules('library gone = "libgone.so.7"\non gone:f { count }\n')
        answer = self.doctor("--rules", rules, status=1)
        repair = "install it, or say where it is: LD_LIBRARY_PATH=FOLDER"
        flag = self.repair(answer, "--gpus all", "")
        self.assertEqual(self.faults(answer), {
            "libgone.so.7": ("it is in no folder of LD_LIBRARY_PATH, nor in the loader's cache",
                             repair + (f" (a driver's: {flag})" if flag else "")),
            "rules": (f"{rules}:1: library `libgone.so.7` was not found", "")})

    def test_an_optional_library_that_is_missing(self):
        rules = self.rules('library gone = "libgone.so.7"\non optional gone:f { count }\n'
                           'on "libc.so.6":malloc { count }\n')
        answer = self.doctor("--rules", rules)
        self.assertEqual(self.row(answer, "library", "libgone.so.7")["found"],
                         "not found; these rules do not need it")

    def test_mistakes(self):
        rules = self.rules('void *malloc(size_t size);\non "libc.so.6":malloc { sum sise }\n')
        answer = self.doctor("--rules", rules, status=1)
        self.assertEqual(self.faults(answer), {
            "rules": (f"{rules}:2: `sise` is not a parameter of `malloc`",
                      "a parameter with a similar name exists: `size`")})

    def test_a_file_that_is_not_there(self):
        answer = self.doctor("--rules", self.dir / "none.rules", status=1)
        self.assertEqual(list(self.faults(answer)), ["rules"])
        self.assertIn("none.rules", self.faults(answer)["rules"][0])


class BadPlaces(Doctor):
    def test_without_root(self):
        answer = self.doctor("--rules", "syscalls", "-o", "-", status=1, user=65534, group=65534,
                             extra_groups=[])
        repair = self.repair(answer, "--user 0 --cap-add BPF --cap-add PERFMON",
                             "run it with sudo: sudo mlbcc ...")
        self.assertEqual(self.faults(answer), {
            "capabilities": (NO_RIGHTS, repair),
            "tracefs": ("this user may not read it", repair),
            "rules": ("cannot make a BPF map: Operation not permitted",
                      "run as root, or with CAP_BPF and CAP_PERFMON")})
        self.assertEqual(self.row(answer, "bpf")["why"], "see capabilities")
        self.assertIsNone(answer["event_ns"])

    def test_without_root_there_is_no_place_for_the_trace_either(self):
        answer = self.doctor("--rules", "syscalls", status=1, user=65534, group=65534, extra_groups=[])
        self.assertEqual(self.faults(answer)["disk: output"],
                         ("this user may not write there", "choose another place with -o FILE"))

    def test_in_kubernetes_without_capabilities(self):
        self.environment["KUBERNETES_SERVICE_HOST"] = "10.0.0.1"
        answer = self.doctor("--rules", "syscalls", "-o", "-", status=1,
                             place=("setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin"))
        self.assertEqual(self.faults(answer)["capabilities"],
                         (NO_RIGHTS, "securityContext: {runAsUser: 0, capabilities: "
                                     "{add: [BPF, PERFMON]}}"))

    def test_without_tracefs(self):
        place = ("unshare", "-m", "sh", "-c",
                 "for at in /sys/kernel/tracing /sys/kernel/debug; do umount -l $at 2>/dev/null; done;"
                 'exec setpriv --bounding-set=-sys_admin "$@"', "sh")
        rules = self.rules(TRACEPOINT)
        answer = self.doctor("--rules", rules, place=place, status=1)
        self.assertEqual(self.faults(answer), {
            "tracefs": ("mounting it is refused: Operation not permitted",
                        self.repair(answer, "-v /sys/kernel/tracing:/sys/kernel/tracing",
                                    "sudo mount -t tracefs tracefs /sys/kernel/tracing")),
            "rules": (f"{rules}:1: cannot find this kernel's tracepoints",
                      "run as root: mount -t tracefs tracefs /sys/kernel/tracing; a container needs "
                      "-v /sys/kernel/tracing:/sys/kernel/tracing")})

    def test_tracefs_that_a_trace_mounts(self):
        place = ("unshare", "-m", "sh", "-c",
                 "for at in /sys/kernel/tracing /sys/kernel/debug; do umount -l $at 2>/dev/null; done;"
                 'exec "$@"', "sh")
        answer = self.doctor("--rules", self.rules(TRACEPOINT), place=place)
        self.assertEqual((self.row(answer, "tracefs")["state"], self.row(answer, "tracefs")["why"]),
                         ("note", "a trace that needs it mounts it"))

    def test_in_a_pid_namespace(self):
        outside = os.getpid() if os.getpid() > 1000 else 1_000_000
        place = ("unshare", "-pf", "--mount-proc")
        answer = self.doctor("--rules", "syscalls", "--pid", outside, place=place, status=1)
        repair = self.repair(answer, "--pid=host", "run mlbcc outside of the pid namespace")
        self.assertEqual(self.faults(answer), {f"process {outside}": (
            f"there is no process {outside}; process ids are those of this pid namespace", repair)})
        row = self.row(answer, "pid_namespace")
        self.assertEqual((row["state"], row["why"], row["repair"]), (
            "note", "processes outside of it cannot be seen or traced", repair))

    def test_a_pid_namespace_is_no_fault_for_a_command(self):
        answer = self.doctor("--rules", "syscalls", place=("unshare", "-pf", "--mount-proc"))
        self.assertEqual(self.row(answer, "pid_namespace")["state"], "note")

    def test_under_a_seccomp_filter(self):
        place = (sys.executable, SECCOMP)
        answer = self.doctor("--rules", "syscalls", place=place, status=1)
        self.assertEqual(self.faults(answer), {
            "seccomp": ("a seccomp filter refuses the system call, although the capabilities are there",
                        self.repair(answer, "--security-opt seccomp=unconfined",
                                    "run it without the seccomp filter that its starter set")),
            "rules": ("cannot make a BPF map: Operation not permitted",
                      "run as root, or with CAP_BPF and CAP_PERFMON")})
        self.assertEqual(self.row(answer, "bpf")["why"], "see seccomp")

    def covered(self, file):
        """A place where an empty file covers `file`."""
        empty = self.write("empty", "")
        return ("unshare", "-m", "sh", "-c", f'mount --bind {empty} {file} && exec "$@"', "sh")

    def test_without_btf(self):
        place = self.covered("/sys/kernel/btf/vmlinux")
        answer = self.doctor("--rules", self.rules(FILE_NAME), place=place, status=1)
        self.assertEqual(self.faults(answer), {
            "BTF": ("the kernel does not describe its types: /sys/kernel/btf/vmlinux is not BTF; "
                    "programs cannot know the kernel's structures",
                    "boot a kernel with CONFIG_DEBUG_INFO_BTF, and leave /sys/kernel/btf/vmlinux "
                    "uncovered"),
            "rules": ("names of open files: the kernel does not describe its types: "
                      "/sys/kernel/btf/vmlinux is not BTF", "")})

    def test_rules_that_do_without_btf(self):
        place = self.covered("/sys/kernel/btf/vmlinux")
        answer = self.doctor("--rules", "syscalls", place=place)
        self.assertEqual(self.row(answer, "btf")["state"], "note")
        done = subprocess.run([*map(str, place), str(MLBCC), "--rules", "syscalls", "-o",
                               str(self.out), "--", "true"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_locked_down(self):
        if not Path("/sys/kernel/security").is_dir():
            self.skipTest("this kernel has no /sys/kernel/security")
        place = ("unshare", "-m", "sh", "-c",
                 "mount -t tmpfs none /sys/kernel/security &&"
                 "echo 'none integrity [confidentiality]' >/sys/kernel/security/lockdown &&"
                 'exec "$@"', "sh")
        row = self.row(self.doctor("--rules", "syscalls", place=place), "lockdown")
        self.assertEqual(row, {
            "id": "lockdown", "title": "lockdown", "state": "note", "found": "confidentiality",
            "why": "the kernel is locked down: programs may not read its memory, and it gives neither "
                   "kprobes nor files of tracefs",
            "repair": "boot with lockdown=integrity, or without Secure Boot"})
