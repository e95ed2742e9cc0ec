"""`stack kernel`: what the kernel was doing, with and without the program's own functions."""

import platform
import re
import unittest

from harness import TracerCase, target

FRAME = re.compile(r"\[kernel(:\w+)?\]:[\w.]+\+0x[0-9a-f]+")
ENTRY = {"do_syscall_64", "el0_svc"}  # of a system call: x86-64, arm64


def kernel_part(event):
    """The names of the kernel's functions, innermost first; no other frame may be among them."""
    stack = event["stack"]
    inside = [frame for frame in stack if frame.startswith("[kernel")]
    assert stack[:len(inside)] == inside, stack
    return [re.sub(r"^\[.*?\][:+](.*?)(\+0x.*)?$", r"\1", frame) for frame in inside]


class KernelStacks(TracerCase):
    def test_why_a_thread_left_the_cpu(self):
        trace = self.trace("on sched:off_cpu { where duration > 10ms  event sched.off  stack kernel }",
                           target("waits"))
        slept = [e for e in trace.events if e["comm"] == "sleeper" and e["duration_us"] > 15_000]
        self.assertGreaterEqual(len(slept), 5)
        for event in slept[-5:]:
            names = kernel_part(event)
            self.assertEqual(len(names), len(event["stack"]), "the program's are not asked for")
            for frame in event["stack"]:
                self.assertRegex(frame, FRAME)
            self.assertIn(names[0], ("__schedule", "schedule"))
            self.assertIn("do_nanosleep", names)
            self.assertIn("hrtimer_nanosleep", names)
            self.assertTrue(ENTRY & set(names), names)

    def test_above_the_programs_functions(self):
        trace = self.trace("on sched:off_cpu { where duration > 10ms  event sched.off"
                           "  stack user  stack kernel }", target("waits"))
        for comm, inside, outside in (("sleeper", "do_nanosleep", "waits:pause_ms"),
                                      ("locker", "futex_wait", "waits:locker"),
                                      ("reader", "anon_pipe_read|pipe_read", "waits:reader")):
            events = [e for e in trace.events if e["comm"] == comm]
            self.assertTrue(events, comm)
            for event in events[-1:]:
                names = kernel_part(event)
                self.assertRegex(" ".join(names), rf"\b({inside})\b")
                self.assertIn(outside, " ".join(event["stack"][len(names):]))

    def test_of_a_tracepoint_and_of_a_system_call(self):
        trace = self.trace("""
            on tracepoint:sched:sched_process_exec { event process.exec  stack kernel }
            on syscall:clock_nanosleep { span kernel  stack kernel }
            on syscall:clock_nanosleep { event kernel.sleep  stack kernel }
            """, "sleep", "0.05")
        executed = trace.named("exec")[-1]
        self.assertRegex(" ".join(kernel_part(executed)), r"execve")
        self.assertRegex(executed["stack"][0], r"\[kernel\]:\w*(exec|bprm)")
        (begin, end), = trace.pairs("clock_nanosleep")
        whole, = trace.named("sleep", "X")
        self.assertTrue(ENTRY & set(kernel_part(begin)), begin)
        self.assertTrue(ENTRY & set(kernel_part(whole)), whole)
        self.assertNotIn("stack", end)
        for event in (executed, begin, whole):
            for name in kernel_part(event):
                self.assertNotRegex(name, r"^(bpf_|__bpf_|__traceiter_|perf_trace_|0x)")

    @unittest.skipUnless(platform.machine() == "x86_64", "the kernel tells of page faults on x86-64")
    def test_of_a_page_fault(self):
        trace = self.trace("on mem:page_fault { event mem.fault  stack kernel }", target("waits"))
        faults = trace.named("fault")
        self.assertTrue(faults)
        self.assertTrue(all(kernel_part(e) for e in faults))
        self.assertIn("fault", kernel_part(faults[-1])[0] + kernel_part(faults[-1])[-1])

    def test_of_a_wait_for_a_lock(self):
        trace = self.trace("on lock:futex { event lock.wait  stack kernel  stack user }", target("waits"))
        waits = trace.named("wait")
        self.assertTrue(waits)
        self.assertTrue(all(ENTRY & set(kernel_part(e)) for e in waits))

    def test_each_probe_keeps_its_own(self):
        """A wait for a lock is time off the CPU, too: both have taken a stack when it is over."""
        trace = self.trace("on lock:futex { where duration > 60ms  event lock.wait(address)"
                           "  stack user  stack kernel }\n"
                           "on sched:off_cpu { where duration > 60ms  event sched.off(state, waker)  stack user }\n"
                           "on tracepoint:sched:sched_switch { event sched.switch  stack user }", target("waits"))
        def found(name):
            # On a slow machine it waits so long for the others to begin, too.
            one, = [e for e in trace.named(name) if e["comm"] == "locker" and "barrier" not in " ".join(e["stack"])]
            return one
        wait, off = found("wait"), found("off")
        self.assertTrue(ENTRY & set(kernel_part(wait)), wait)
        self.assertEqual(kernel_part(off), [])
        self.assertEqual(wait["stack"][len(kernel_part(wait)):], off["stack"])
        self.assertIn("waits:locker", " ".join(off["stack"]))

    def test_what_a_gauge_holds(self):
        trace = self.trace("on syscall:openat { where ret >= 0  gauge open[ret] = 1  stack kernel }",
                           "sh", "-c", "exec 9</dev/null; :")
        held = [one for gauge in trace.gauge("open") for one in gauge["held"]]
        self.assertTrue(held)
        self.assertTrue(all(ENTRY & set(kernel_part(one)) for one in held))

    def test_in_a_flame_graph(self):
        file = self.dir / "off.folded"
        trace = self.trace("on sched:off_cpu { where duration > 10ms  event sched.off"
                           "  stack user  stack kernel }", target("waits"), options=("--folded", file))
        sleeps = [line for line in file.read_text().splitlines() if line.startswith("sleeper;")
                  and "pause_ms;" in line]
        self.assertTrue(sleeps)
        for line in sleeps:
            frames = line.rsplit(" ", 1)[0].split(";")
            marked = [frame.endswith("_[k]") for frame in frames[:-1]]
            self.assertEqual(marked, sorted(marked), "the kernel's are innermost")
            self.assertIn("do_nanosleep_[k]", frames)
            self.assertNotIn("pause_ms_[k]", frames)
            self.assertEqual(frames[-1], "off_cpu")
        saved = self.mlbcc("report", "--folded", "-", self.out)
        self.assertEqual(saved.stdout, file.read_text())
        self.assertTrue(trace.events)

    def test_explained(self):
        rules = self.rules("on sched:off_cpu { event sched.off  stack kernel }")
        self.assertIn("kernel stack", self.mlbcc("explain", "--rules", rules).stdout)

    def test_a_function_of_a_program_has_none(self):
        message = self.refused('on "libc.so.6":getenv { event a.b  stack kernel }')
        self.assertIn("error: a function of a program has no kernel stack", message)
