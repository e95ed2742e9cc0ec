"""The kernel's own structures: `task` in rules, and where their layout comes from."""

import os
import sys
import unittest

from harness import TracerCase

PYTHON = os.path.realpath(sys.executable)
CALLS = 1000
PARENT = "on syscall:getppid { event p.parent(parent = task->real_parent->tgid, ret) }"


class HeadersCase(TracerCase):
    def ask(self, calls=CALLS):
        """A command that asks for its parent so often."""
        return [PYTHON, "-S", "-E", "-c", f"import os\nfor i in range({calls}): os.getppid()"]

    def expect_right(self, trace, calls=CALLS):
        """Each record's parent is what the call returned."""
        seen = [(e["args"]["parent"], e["ret"]) for e in trace.events if e["type"] == "p"]
        self.assertEqual(len(seen), calls)
        self.assertEqual([one for one in seen if one[0] != one[1]], [])


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
