"""`kernel:` on the machine that the tests run on: many have no kprobes. (With them: tests/vm.)"""

from pathlib import Path

from harness import TracerCase

KPROBES = Path("/sys/bus/event_source/devices/kprobe")
FTRACE = Path("/sys/kernel/tracing/available_filter_functions")


def can_ftrace():
    try:
        return bool(FTRACE.read_text())
    except OSError:
        return False


class WithoutKprobes(TracerCase):
    def setUp(self):
        super().setUp()
        if KPROBES.exists() or can_ftrace():
            self.skipTest("this kernel has kprobes")

    def test_it_is_said_what_is_missing(self):
        said = self.refused("on kernel:vfs_read { count }\n")
        self.assertEqual(said, """\
error: functions of the kernel cannot be traced on this machine
 --> test.rules:1:4
  |
1 | on kernel:vfs_read { count }
  |    ^^^^^^^^^^^^^^^
  = note: the kernel was built without CONFIG_KPROBES: there is neither """
                         """/sys/bus/event_source/devices/kprobe nor a list of functions that """
                         """ftrace can trace
  = help: mark the rule `optional` to go on without this target
""")

    def test_an_optional_rule_is_left_out(self):
        trace = self.trace("on optional kernel:vfs_read { count as \"never\" }\n"
                           "on optional kernel:nvidia_* { span kernel(args) }\n"
                           "on syscall:exit_group { span process(args) }\n", "true")
        self.assertEqual(len(trace.named("exit_group")), 1)
        self.assertEqual(self.last.stderr.count("functions of the kernel cannot be traced"), 1)
