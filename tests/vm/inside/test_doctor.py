"""mlbcc doctor on kernels that have kprobes, and not all ways to attach."""

import json

from harness.machine import kernel
from inside.case import VmCase


class Doctor(VmCase):
    def test_what_this_kernel_can(self):
        rules = self.rules("on kernel:vfs_read { count }\n")
        done = self.mlbcc("doctor", "--json", "--rules", rules, timeout=1000)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        rows = {row["id"]: row for row in answer["checks"]}
        self.assertEqual((rows["kprobe"]["found"], rows["uprobe"]["found"]), ("works", "works"))
        for name, since in (("uprobe_multi", (6, 6)), ("uprobe_session", (6, 13)),
                            ("kprobe_multi", (6, 12)), ("kprobe_session", (6, 12))):
            self.assertEqual(rows[name]["found"] == "works", kernel() >= since, rows[name])
        self.assertEqual(rows["ret"]["found"].startswith("done by"), kernel() >= (7, 0), rows["ret"])
        self.assertGreater(answer["event_ns"], 0)
        self.assertIn(" in 9000 of them", rows["event_cost"]["found"])
        self.assertRegex(rows["rules"]["found"], r": 1 rule, 1 probe, and this kernel takes them$")

    def test_functions_that_the_kernel_has_not(self):
        rules = self.rules("on kernel:vfs_raed { count }\n")
        done = self.mlbcc("doctor", "--json", "--rules", rules, timeout=1000)
        self.assertEqual(done.returncode, 1, done.stderr)
        faults = [row for row in json.loads(done.stdout)["checks"] if row["state"] == "fault"]
        self.assertEqual([row["id"] for row in faults], ["rules"])
        self.assertIn("vfs_raed", faults[0]["why"])
