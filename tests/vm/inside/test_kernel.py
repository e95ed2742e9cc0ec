"""`kernel:` targets, on the stand-in's functions and the kernel's own, by each way to attach that
this kernel has. The stand-in's books, dd and the test itself count independently."""

import json
import os
import re
from collections import Counter

from harness import ROOT, target
from harness.machine import kernel
from inside.case import VmCase

CUDA = ROOT / "rules" / "cuda_all.rules"
IOCTLS = """
on kernel:nvidia_unlocked_ioctl { span kernel(cmd)   count by cmd as "ioctls" }
on kernel:nvidia_open, kernel:nv_alloc_pages, kernel:nv_free_pages { count by function as "calls" }
on kernel:rm_ioctl { count as "never" }
"""
READS = """
on kernel:vfs_read {
    where count == 4095
    event file.read(name = str(file->f_path.dentry->d_name.name), size = count, at = *pos, ret)
    hist duration as "time to read"
}
"""


def ways():
    """{way: what -v calls it}, the best one first."""
    all_ways = {"perf": "perf events"}
    if kernel() >= (6, 12):  # 5.18 and 6.10, but Debian's 6.1 is built without FPROBE
        all_ways = {"session": "kprobe session", "multi": "kprobe_multi", **all_ways}
    return all_ways


class Kernel(VmCase):
    def test_the_modules_functions(self):
        for way, called in {"auto": next(iter(ways().values())), **ways()}.items():
            with self.subTest(way=way):
                self.check_ioctls(way, called)

    def check_ioctls(self, way, called):
        with self.counted() as books:
            trace = self.trace(IOCTLS, *self.APP, options=("-v", "--attach", way))
        said = self.last.stderr
        self.assertIn(f"4 functions of the kernel by {called}, ", said)
        self.assertEqual(said.count("will not probe"), 1, said)
        self.assertIn("the kernel will not probe rm_ioctl: ", said)
        expected = books.commands("nvidia_unlocked_ioctl")
        self.assertEqual(sum(expected.values()), 4 + 2 * 10)
        pairs = trace.pairs("nvidia_unlocked_ioctl")
        self.assertEqual(Counter(b["args"]["cmd"] for b, _ in pairs), expected)
        self.assertEqual({e["ret"] for _, e in pairs}, {0})
        self.assertEqual({b["type"] for b, _ in pairs}, {"kernel"})
        self.assertEqual(trace.stats("ioctls"), {(cmd,): n for cmd, n in expected.items()})
        self.assertEqual(trace.stats("calls"), {(name,): books.calls(name) for name in
                                                ("nvidia_open", "nv_alloc_pages", "nv_free_pages")})
        self.assertRegex(said, r"KERNEL \(nvidia\)")
        for loss in trace.summary["losses"]:
            self.assertEqual((loss["lost"], loss["unmatched_begin"], loss["unmatched_end"]),
                             (0, 0, 0), loss["rule"])

    def test_functions_that_refuse_probes(self):
        """They are named once, whatever the way to attach; the others are probed."""
        rules = ('on kernel:rm_ioctl, kernel:rm_cleanup_file_private, kernel:nvidia_open '
                 '{ count by function as "calls" }\non kernel:[nr][vm]_* { count as "others" }\n')
        for way in ways():
            with self.subTest(way=way):
                with self.counted() as books:
                    trace = self.trace(rules, *self.APP, options=("--attach", way))
                self.assertEqual(trace.stats("calls"), {("nvidia_open",): books.calls("nvidia_open")})
                said = self.last.stderr
                self.assertEqual(said.count("will not probe"), 1, said)
                self.assertIn("the kernel will not probe 2 functions: rm_cleanup_file_private, "
                              "rm_ioctl: ", said)
                self.assertRegex(said, r"(?m)^note: `\[nr\]\[vm\]_\*` leaves out \d functions of nvidia: `rm_")

    def test_a_call_is_in_the_call_that_made_it(self):
        rules = self.rules(f'import "{CUDA}"\n'
                           "on kernel:nvidia_unlocked_ioctl { span kernel(cmd) }\n"
                           "on kernel:vfs_read, kernel:ksys_read { span inner(count) }\n")
        with self.counted() as books:
            trace = self.trace(rules, *self.APP)
        ioctls = [b for b, _ in trace.pairs("nvidia_unlocked_ioctl")]
        self.assertEqual(len(ioctls), books.calls("nvidia_unlocked_ioctl"))
        callers = [parent and parent["name"] for parent in map(trace.parent, ioctls)]
        self.assertIsNone(callers.pop(), "the library frees its client when it is unloaded")
        self.assertEqual([name for name in callers if not (name or "").startswith("cu")], [])
        by_ksys_read = [trace.parent(b) for b, _ in trace.pairs("vfs_read") if "parent" in b]
        self.assertGreater(len(by_ksys_read), 0)
        self.assertEqual({parent["name"] for parent in by_ksys_read}, {"ksys_read"})

    def test_parameters_by_name_and_memory_behind_them(self):
        for way in ways():
            with self.subTest(way=way):
                dd = ("dd", "if=/dev/zero", "of=/dev/null", "bs=4095", "count=25")
                trace = self.trace(READS, *dd, options=("--attach", way))
                reads = trace.named("vfs_read")
                self.assertEqual([(e["args"]["name"], e["args"]["size"], e["ret"]) for e in reads],
                                 [("zero", 4095, 4095)] * 25)
                self.assertEqual([h["count"] for h in trace.hist("time to read")], [25])

    def test_kernel_stacks(self):
        """At entry and at return: who called, without the function itself and what probes it."""
        rules = ("on entry kernel:vfs_read { where count == 4095  event in.read  stack kernel }\n"
                 "on kernel:vfs_read { where count == 4095  event out.read  stack kernel  stack user }\n")
        for way in ways():
            with self.subTest(way=way):
                dd = ("dd", "if=/dev/zero", "of=/dev/null", "bs=4095", "count=5")
                trace = self.trace(rules, *dd, options=("--attach", way))
                reads = trace.named("read")
                self.assertEqual(len(reads), 10)
                for event in reads:
                    self.assertTrue(event["stack"][0].startswith("[kernel]:ksys_read+0x"), event)
                    inside = [f for f in event["stack"] if f.startswith("[kernel]")]
                    self.assertIn("do_syscall_64", " ".join(inside))
                    self.assertEqual(len(inside) < len(event["stack"]), event["type"] == "out")

    def test_both_stacks_of_a_thread_off_the_cpu(self):
        """What the kernel did stands above what the program did, in one record."""
        trace = self.trace("on sched:off_cpu { where duration > 10ms  event sched.off"
                           "  stack user  stack kernel }", target("waits"))
        stacks = [e["stack"] for e in trace.named("off") if e["comm"] == "sleeper"]
        # A busy machine takes the CPU from it elsewhere, too.
        slept = [stack for stack in stacks if "do_nanosleep" in " ".join(stack)]
        self.assertGreaterEqual(len(slept), 5)
        for stack in slept:
            inside = [f for f in stack if f.startswith("[kernel]")]
            self.assertEqual(stack[:len(inside)], inside)
            self.assertRegex(inside[0], r"\[kernel\]:(__)?schedule\+0x")
            self.assertIn("do_nanosleep", " ".join(inside))
            self.assertIn("waits:pause_ms", " ".join(stack[len(inside):]))

    def test_what_cannot_be_traced(self):
        said = self.refused("on kernel:vfs_raed { count }\n")
        self.assertRegex(said, r"^error: no function of the kernel matches `vfs_raed`\n")
        self.assertIn("help: there is one with a similar name: `vfs_read`", said)
        said = self.refused("on kernel:nvidia_* except nvidia_* { count }\n")
        self.assertRegex(said, r"^error: `except` leaves no function of `nvidia_\*`\n")

    def test_list_knows_prototypes(self):
        file = self.rules("on kernel:nvidia_unlocked_ioctl, kernel:vfs_read { count }\n")
        listed = self.mlbcc("list", "--rules", file).stdout
        self.assertRegex(listed, r"(?m)^kernel:nvidia_unlocked_ioctl \[nvidia\]  "
                                 r"long nvidia_unlocked_ioctl\(struct file \*file, "
                                 r"unsigned int cmd, unsigned long i_arg\)")
        self.assertRegex(listed, r"(?m)^kernel:vfs_read  \w+ vfs_read\(struct file \*file, "
                                 r"char \*buf, size_t count, loff_t \*pos\)")

    def test_several_functions_of_one_name(self):
        """As many as ftrace counts under that name, each by its address."""
        lines = open("/sys/kernel/tracing/available_filter_functions").read().splitlines()
        names = Counter(line for line in lines if re.fullmatch(r"[a-z]\w+_show", line))
        name, number = next((n, c) for n, c in sorted(names.items()) if 1 < c < 6)
        said = self.mlbcc("check", "--rules", self.rules(f"on kernel:{name} {{ count }}\n")).stdout
        self.assertIn(f"{number} functions", said, name)
