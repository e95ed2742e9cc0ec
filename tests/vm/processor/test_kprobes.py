"""`kernel:` targets: parameters in their registers, memory behind them, results, stacks. dd says how
many calls there are."""

from harness import TracerCase

DD = ("dd", "if=/dev/zero", "of=/dev/null", "bs=4095", "count=25")
READS = """
on kernel:vfs_read {
    where count == 4095
    event file.read(name = str(file->f_path.dentry->d_name.name), size = count, at = *pos, ret)
    hist duration as "time to read"
}
"""
NESTED = """
on kernel:vfs_read { where count == 4095  span inner(count) }
on kernel:ksys_read { where count == 4095  span outer(fd) }
on syscall:read { where count == 4095  span process(count) }
"""


class Kprobes(TracerCase):
    def test_parameters_by_name_and_memory_behind_them(self):
        trace = self.trace(READS, *DD)
        self.assertEqual([(e["args"]["name"], e["args"]["size"], e["ret"])
                          for e in trace.named("vfs_read")], [("zero", 4095, 4095)] * 25)
        self.assertEqual([h["count"] for h in trace.hist("time to read")], [25])

    def test_a_call_is_in_the_call_that_made_it(self):
        trace = self.trace(NESTED, *DD)
        inner, outer = trace.pairs("vfs_read"), trace.pairs("ksys_read")
        self.assertEqual((len(inner), len(outer), len(trace.pairs("read"))), (25, 25, 25))
        self.assertEqual([trace.parent(b)["name"] for b, _ in inner], ["ksys_read"] * 25)
        self.assertEqual([trace.parent(b)["name"] for b, _ in outer], ["read"] * 25)
        self.assertEqual([e["ret"] for _, e in inner], [4095] * 25)

    def test_kernel_stacks(self):
        """At entry and at return: who called, without the function itself and what probes it."""
        trace = self.trace(
            "on entry kernel:vfs_read { where count == 4095  event in.read  stack kernel }\n"
            "on kernel:vfs_read { where count == 4095  event out.read  stack kernel  stack user }\n",
            *DD)
        reads = trace.named("read")
        self.assertEqual(len(reads), 50)
        for event in reads:
            self.assertTrue(event["stack"][0].startswith("[kernel]:ksys_read+0x"), event)
            inside = [f for f in event["stack"] if f.startswith("[kernel]")]
            self.assertIn("el0_svc", " ".join(inside))
            self.assertEqual(len(inside) < len(event["stack"]), event["type"] == "out")

    def test_what_cannot_be_traced(self):
        said = self.refused("on kernel:vfs_raed { count }\n")
        self.assertRegex(said, r"^error: no function of the kernel matches `vfs_raed`\n")
        self.assertIn("help: there is one with a similar name: `vfs_read`", said)
