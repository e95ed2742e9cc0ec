"""The kernel's own structures: `task` in rules, and where their layout comes from."""

import contextlib
import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from harness import MLBCC, ROOT, Trace, TracerCase
from harness.machine import BUILD, alone

PYTHON = os.path.realpath(sys.executable)
CALLS = 1000
PARENT = "on syscall:getppid { event p.parent(parent = task->real_parent->tgid, ret) }"


BTF = "/sys/kernel/btf/vmlinux"
RELEASE = platform.release()


@functools.cache
def headers_61():
    """The folder of Debian's headers of Linux 6.1, unpacked; a skip where they cannot be had."""
    with alone("headers-6.1"):
        return fetch_headers_61()


def fetch_headers_61():
    for place in (ROOT / "build" / "vm" / "bookworm", BUILD / "headers-6.1"):
        for found in sorted(place.glob("usr/src/linux-headers-6.1*-amd64")):
            return found
    folder = BUILD / "headers-6.1"
    folder.mkdir(exist_ok=True)
    listed = subprocess.run(["apt-cache", "search", "--names-only", "^linux-headers-6\\.1\\.[0-9.-]+-amd64$"],
                            text=True, capture_output=True)
    names = sorted(line.split()[0] for line in listed.stdout.splitlines())
    if not names:
        raise unittest.SkipTest("apt knows no linux-headers-6.1*-amd64")
    both = [names[-1], names[-1].replace("-amd64", "-common")]
    got = subprocess.run(["apt-get", "download", "-qq", *both], cwd=folder, capture_output=True, text=True)
    if got.returncode != 0:
        raise unittest.SkipTest(f"apt-get download {' '.join(both)}: {got.stderr.strip()}")
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, folder], check=True)
    return folder / "usr" / "src" / names[-1]


@contextlib.contextmanager
def modules_folder():
    """/lib/modules is there, to mount on. It may have to be made, and is removed then."""
    folder = Path("/lib/modules")
    with alone("lib-modules"):
        is_made = not folder.exists()
        folder.mkdir(exist_ok=True)
        try:
            yield
        finally:
            if is_made:
                folder.rmdir()


def version_of(headers):
    return (headers / "include/generated/utsrelease.h").read_text().split('"')[1]


class HeadersCase(TracerCase):
    def ask(self, calls=CALLS):
        """A command that asks for its parent so often."""
        return [PYTHON, "-S", "-E", "-c", f"import os\nfor i in range({calls}): os.getppid()"]

    def expect_right(self, trace, calls=CALLS):
        """Each record's parent is what the call returned."""
        seen = [(e["args"]["parent"], e["ret"]) for e in trace.events if e["type"] == "p"]
        self.assertEqual(len(seen), calls)
        self.assertEqual([one for one in seen if one[0] != one[1]], [])


    def apart(self, script, *commands, status=0):
        """Runs mlbcc in a mount namespace of its own, after a shell script there; what it said."""
        lines = ["set -e", "mount -t tmpfs none /lib/modules", f"mkdir /lib/modules/{RELEASE}", script,
                 " ".join(f"'{one}'" for one in (MLBCC, *commands))]
        with modules_folder():
            done = subprocess.run(["unshare", "-m", "sh", "-c", "\n".join(lines)], text=True, cwd=self.dir,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def trace_apart(self, script, *options, status=0):
        file = self.rules(PARENT)
        return self.apart(script, "--rules", file, "-o", self.out, *options, "--", *self.ask(), status=status)

    def link(self, headers):
        """Script: what `apart` does first, so that these headers are linked under this kernel."""
        return f"ln -s {headers} /lib/modules/{RELEASE}/build"


class Headers(HeadersCase):
    def test_right_under_headers_of_another_kernel(self):
        self.trace_apart(self.link(headers_61()))
        self.expect_right(Trace(self.out))

    def test_right_without_any_headers(self):
        self.trace_apart("")
        self.expect_right(Trace(self.out))

    def test_headers_of_another_kernel_are_refused_where_they_are_forced(self):
        headers = headers_61()
        command = [PYTHON, "-c", "raise SystemExit(7)"]
        run = subprocess.Popen([MLBCC, "--rules", self.rules(PARENT), "-o", self.out, "--headers", headers,
                                "--", *command], cwd=self.dir, stderr=subprocess.PIPE, text=True,
                               stdin=subprocess.DEVNULL)
        said = run.communicate()[1]
        self.assertEqual(run.returncode, 1, said)
        self.assertIn(f"warning: the headers in {headers} are of {version_of(headers)}, and the running "
                      f"kernel is {RELEASE}", said)
        self.assertRegex(said, f"error: {headers} \\({version_of(headers)}\\) does not describe the running "
                               f"kernel \\({RELEASE}\\): this process is {run.pid}, child of {os.getpid()}, "
                               "and is read as [0-9]+, child of [0-9]+\n")
        self.assertIn("help: leave --headers out: BTF or matching headers are then used", said)
        self.assertFalse(self.out.exists())

    def test_nobody_else_pays(self):
        done = self.mlbcc("--rules", self.rules('on syscall:getppid { count as "n" }'), "-v", "-o", self.out,
                          "--", "true")
        self.assertNotIn("structures", done.stderr)

    def test_without_btf_headers_that_say_otherwise_are_not_believed(self):
        headers = headers_61()
        made = self.dir / "made"
        shutil.copytree(headers, made, symlinks=True)
        common = str(headers).removesuffix("-amd64") + "-common"
        (made / "source").symlink_to(common)
        (made / "include/generated/utsrelease.h").write_text(f'#define UTS_RELEASE "{RELEASE}"\n')
        said = self.trace_apart(f"mount --bind /dev/null {BTF}; {self.link(made)}", status=1).stderr
        self.assertIn(f"error: /lib/modules/{RELEASE}/build ({RELEASE}) does not describe the running kernel",
                      said)
        self.assertIn("help: `mlbcc headers` shows what else there is; --headers DIR names other headers", said)

    def test_without_btf_and_headers_what_is_missing_is_said(self):
        said = self.trace_apart(f"mount --bind /dev/null {BTF}; {self.link(headers_61())}", status=2).stderr
        for part in ("error: nothing is known of what `task` points at",
                     f"{BTF}: it is not there: the kernel was built without CONFIG_DEBUG_INFO_BTF",
                     f"/lib/modules/{RELEASE}/build: it is of another kernel",
                     "/sys/kernel/kheaders.tar.xz: it is not there",
                     f"help: install the headers of {RELEASE}"):
            self.assertIn(part, said)

    def test_the_list(self):
        headers = headers_61()
        done = self.apart(self.link(headers), "headers", "--json")
        found = json.loads(done.stdout)
        kinds = {one["kind"]: one for one in found["found"]}
        self.assertEqual(found["kernel"], RELEASE)
        self.assertEqual(found["used"], BTF)
        self.assertEqual((kinds["btf"]["used"], kinds["btf"]["version"]), (True, RELEASE))
        self.assertEqual({k: kinds["build"][k] for k in ("version", "there", "matches", "used", "problem")},
                         {"version": version_of(headers), "there": True, "matches": False, "used": False,
                          "problem": "it is of another kernel"})
        text = self.apart(self.link(headers), "headers").stdout
        self.assertIn(f"btf      {BTF}: the running kernel's own  <- used\n", text)
        self.assertIn(f"build    /lib/modules/{RELEASE}/build: of {version_of(headers)}, another kernel: it would "
                      "read wrong bytes\n", text)
        self.apart(f"mount --bind /dev/null {BTF}; {self.link(headers)}", "headers", status=1)


TEMPLATE = """\
//= probe family:ask moment
//= raw_tracepoint sys_enter family_enter
//= fields
struct family_ask { int parent; char name[16]; };
//= programs
#include <uapi/linux/ptrace.h>
#include <linux/sched.h>

int family_enter(struct bpf_raw_tracepoint_args *at) {
    if (at->args[1] != NUMBER) return 0;  // getppid
    struct call call MLBCC_UNSET;
    if (!mlbcc_admit(&call)) return 0;
    struct task_struct *task = (struct task_struct *)bpf_get_current_task();
    struct family_ask fields = {};
    fields.parent = task->real_parent->tgid;
    bpf_probe_read_kernel(fields.name, TASK_COMM_LEN, task->real_parent->comm);
    fire_family_ask(at, &call, &fields);
    return 0;
}
"""


class Templates(HeadersCase):
    RULES = ("on family:ask { event f.ask(parent, name) }\n"
             "on syscall:getppid { event p.parent(ret) }")

    def setUp(self):
        super().setUp()
        number = {"x86_64": 110, "aarch64": 173}[platform.machine()]
        self.write("mine/probes/family_ask.bpf.c", TEMPLATE.replace("NUMBER", str(number)))

    def expect_the_parent(self, trace):
        (parent,) = {e["ret"] for e in trace.events if e["type"] == "p"}
        asked = [e["args"] for e in trace.events if e["type"] == "f"]
        self.assertEqual(asked, [{"parent": parent, "name": "mlbcc"}] * 10)

    def test_kernel_headers_become_structures_of_the_running_kernel(self):
        self.expect_the_parent(self.trace(self.RULES, *self.ask(10), options=("--templates", self.dir / "mine")))

    def test_only_fields_that_are_named_are_there(self):
        done = self.mlbcc("emit", "--rules", self.rules("on family:ask { event f.ask(parent) }"),
                          "--templates", self.dir / "mine")
        self.assertEqual(done.returncode, 0, done.stderr)
        (task,) = [line for line in done.stdout.splitlines() if line.startswith("struct task_struct {")]
        for field in ("signed int tgid;", "struct task_struct *real_parent;", "char comm[16];"):
            self.assertIn(field, task)
        self.assertNotIn("stack;", task)
        self.assertNotIn("#include <linux/sched.h>", done.stdout)

    def test_headers_of_another_kernel_are_refused(self):
        said = self.refused(self.RULES, status=1,
                            options=("--templates", self.dir / "mine", "--headers", headers_61()))
        self.assertIn(f"does not describe the running kernel ({RELEASE})", said)


def bcc_python():
    """Debian's Python that has bcc; a skip where it is not installed."""
    python = shutil.which("python3", path="/usr/bin")
    if python is None or subprocess.run([python, "-c", "import bcc"], capture_output=True).returncode != 0:
        raise unittest.SkipTest("python3-bpfcc is not installed (scripts/setup.sh --tests)")
    return python


def bcc_tool(name):
    path = Path("/usr/sbin") / f"{name}-bpfcc"
    if not path.exists():
        raise unittest.SkipTest("bpfcc-tools is not installed (scripts/setup.sh --tests)")
    return path


BCC_PROGRAM = '''
import os
from bcc import BPF
b = BPF(text=r"""
#include <linux/sched.h>
BPF_HASH(parents, u32, u32);
TRACEPOINT_PROBE(syscalls, sys_enter_getppid) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task();
    u32 pid = bpf_get_current_pid_tgid() >> 32, parent = task->real_parent->tgid;
    parents.update(&pid, &parent);
    return 0;
}
""")
parents = b["parents"]
for i in range(1000):
    parents.clear()
    assert os.getppid() == parents[parents.Key(os.getpid())].value
print("right")
'''


class Synthesized(HeadersCase):
    def synthesize(self):
        tree = self.dir / "tree"
        done = self.mlbcc("headers", "--synthesize", tree)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, f"wrote headers of {RELEASE} to {tree}; for tools made with BCC: "
                                      f"BCC_KERNEL_SOURCE={tree}\n")
        return tree

    def with_tree(self, tree, *command):
        done = subprocess.run([str(one) for one in command], text=True, capture_output=True, cwd=self.dir,
                              stdin=subprocess.DEVNULL, env={**os.environ, "BCC_KERNEL_SOURCE": str(tree)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_a_program_of_bccs_reads_its_parent_right(self):
        python = bcc_python()
        self.assertEqual(self.with_tree(self.synthesize(), python, "-c", BCC_PROGRAM), "right\n")

    def test_tools_of_bccs_work(self):
        python, tree = bcc_python(), self.synthesize()
        self.assertIn("SYSCALL ", self.with_tree(tree, python, bcc_tool("syscount"), "-d", "1"))
        self.assertIn("distribution", self.with_tree(tree, python, bcc_tool("runqlen"), "1", "1"))

    def test_rules_are_right_by_it_where_there_is_no_btf(self):
        tree = self.synthesize()
        self.trace_apart(f"mount --bind /dev/null {BTF}; {self.link(tree)}")
        self.expect_right(Trace(self.out))

    def test_rules_are_right_by_the_archive_of_a_kernel_without_btf(self):
        archive = self.dir / "kheaders.tar.xz"
        subprocess.run(["tar", "-C", self.synthesize(), "-cJf", archive, "include", "arch"], check=True)
        before = set(Path("/tmp").glob("mlbcc-headers-*"))
        self.trace_apart("mount -t tmpfs none /sys/kernel; mkdir /sys/kernel/tracing; "
                         "mount -t tracefs none /sys/kernel/tracing; "
                         f"cp {archive} /sys/kernel/kheaders.tar.xz")
        self.expect_right(Trace(self.out))
        self.assertEqual(set(Path("/tmp").glob("mlbcc-headers-*")) - before, set())

    def test_a_folder_with_something_in_it_stays(self):
        self.write("full/file", "text")
        done = self.mlbcc("headers", "--synthesize", self.dir / "full")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"error: {self.dir}/full is not empty\n"
                                      "   = help: name a folder that is not there yet\n")
        self.assertEqual([p.name for p in (self.dir / "full").iterdir()], ["file"])

    def test_the_link(self):
        tree = self.dir / "tree"
        build = f"/lib/modules/{RELEASE}/build"
        done = self.apart("", "headers", "--synthesize", tree, "--link")
        self.assertEqual(done.stdout.splitlines()[1:],
                         [f"making the link {build} -> {tree}", f"made the link {build} -> {tree}"])
        self.assertEqual(self.apart(self.link(tree), "headers", "--link").stdout,
                         f"{build} leads to the running kernel's headers already\n")
        said = self.apart(f"mkdir {build}", "headers", "--link", "--headers", tree, status=1).stderr
        self.assertIn(f"error: {build} is a real folder, not a link: it is left as it is", said)
        said = self.apart("", "headers", "--link", "--headers", headers_61(), status=1).stderr
        self.assertIn("other tools would read wrong bytes", said)


class Task(HeadersCase):
    def test_the_parent_is_right_every_time(self):
        self.expect_right(self.trace(PARENT, *self.ask()))

    def test_at_both_ends_of_functions_and_system_calls_and_at_tracepoints(self):
        trace = self.trace(
            'library c = "libc.so.6"\nint getppid(void);\n'
            "on c:getppid { event f.ret(parent = task->real_parent->tgid, ret) }\n"
            "on entry c:getppid { event f.entry(parent = task->real_parent->tgid) }\n"
            "on entry syscall:getppid { event s.entry(parent = task->real_parent->tgid) }\n"
            "on tracepoint:sched:sched_process_exit { event t.exit(parent = task->real_parent->tgid) }\n",
            *self.ask(1))
        (parent,) = {e["ret"] for e in trace.events if e["name"] == "ret"}
        seen = {(e["type"], e["name"]): e["args"]["parent"] for e in trace.events}
        self.assertEqual(seen, {(*at,): parent for at in
                                (("f", "ret"), ("f", "entry"), ("s", "entry"), ("t", "exit"))})

    def test_text_structures_and_conditions(self):
        trace = self.trace(
            "on syscall:getppid {\n"
            "    where task->tgid == pid\n"
            "    event a.b(name = task->comm, file = str(task->mm->exe_file->f_path.dentry->d_name.name),\n"
            "              nobody = task->cred->uid.val, same = task->group_leader == task)\n"
            "}\non syscall:getppid { where task->tgid != pid count as \"others\" }", *self.ask(1))
        (event,) = [e for e in trace.events if e["name"] == "b"]
        self.assertEqual(event["args"], {"name": event["comm"], "file": os.path.basename(PYTHON),
                                         "nobody": os.getuid(), "same": True})
        self.assertEqual(sum(trace.stats("others").values()), 0)

    def test_a_parameter_of_that_name_is_the_parameter(self):
        trace = self.trace('library c = "libc.so.6"\nint getpgid(int task);\n'
                           "on c:getpgid { event a.b(task) }",
                           PYTHON, "-S", "-E", "-c", "import os; os.getpgid(0)")
        self.assertEqual([e["args"]["task"] for e in trace.events if e["name"] == "b"], [0])

    def test_mistakes(self):
        said = self.refused("on sched:off_cpu { event a.b(task->tgid) }\n"
                            "on interval:1s { event a.b(task->tgid) }\n"
                            "on syscall:getppid { event a.b(task->real_parnt) }\n")
        self.assertIn("error: `task` is not known to `off_cpu`", said)
        self.assertIn("error: `task` is not known to `interval`", said)
        self.assertIn("`real_parnt` is not a field of `struct task_struct`", said)
        self.assertIn("help: a field with a similar name exists: `real_parent`", said)


if __name__ == "__main__":
    unittest.main()
