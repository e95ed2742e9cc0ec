"""Probes that templates define: the scheduler, locks, page faults, disks, and a template of the user's."""

import json
import os
import textwrap

from harness import TracerCase, target
from harness.lanes import quiet

THREADS = ("sleeper", "locker", "reader")

CLOSING = """// A file descriptor is closed.
//= probe fd:closed moment
//= raw_tracepoint sys_enter fd_closing
//= fields
struct fd_closed { int fd; char note[8]; };
//= programs
int fd_closing(struct bpf_raw_tracepoint_args *at) {
    struct call call MLBCC_UNSET;
    if (at->args[1] != 3 || !mlbcc_admit(&call)) return 0;  // close() on x86-64
    struct pt_regs *registers = (struct pt_regs *)at->args[0];
    struct fd_closed fields = {.note = "closing"};
    u64 first = 0;
    bpf_probe_read_kernel(&first, sizeof(first), &registers->di);
    fields.fd = first;
    call.taken = take_stack_fd_closed(at, &call);
    return fire_fd_closed(at, &call, &fields);
}
"""


class Defined(TracerCase):
    def waited(self, trace):
        """What the program says, and what the trace does, by thread."""
        said = json.loads(self.last.stdout)
        seen = {h["by"]["comm"]: h["sum"] for h in trace.summary["hists"] if "comm" in h["by"]}
        return {name: (said[name], seen.get(name, 0)) for name in THREADS}

    def assert_close(self, pairs):
        for name, (said, seen) in pairs.items():
            self.assertLess(abs(said - seen), max(0.02 * said, 200_000), f"{name}: {pairs}")

    @quiet
    def test_time_off_the_cpu(self):
        trace = self.trace("""
            on sched:off_cpu { where state == sleeping  hist duration by comm
                               event sched.off(state, waker, queued) }
            """, target("waits"))
        self.assert_close(self.waited(trace))
        reader = [e for e in trace.events if e["comm"] == "reader" and e["duration_us"] > 20_000]
        self.assertEqual(len(reader), 3)
        self.assertEqual({e["args"]["waker"] for e in reader}, {"waits"})
        self.assertEqual({e["args"]["state"] for e in reader}, {"sleeping"})

    @quiet
    def test_every_time_as_the_kernel_counts(self):
        """Also where the kernel does not show a thread's coming, as from a thread of a virtual machine's agent."""
        trace = self.trace("""
            on sched:off_cpu { where state != runnable  count by tid as "gave way" }
            on sched:off_cpu { sum duration by tid as "off" }
            """, target("naps"))
        gave_way, off = trace.stats("gave way"), trace.stats("off")
        said = [tuple(map(int, line.split())) for line in self.last.stdout.splitlines()]
        self.assertEqual(len(said), 6)
        self.assertEqual({tid: gave_way[tid,] for tid, _, _ in said}, {tid: times for tid, times, _ in said})
        for tid, _, off_ns in said:
            self.assertLess(abs(off[tid,] - off_ns), 0.05 * off_ns, f"{off} {said}")

    def test_stack_of_the_moment_it_left(self):
        trace = self.trace("on sched:off_cpu { where duration > 10ms  event sched.off  stack user }",
                           target("waits"))
        for name, function, waits in (("sleeper", "pause_ms", 5), ("locker", "locker", 1), ("reader", "reader", 3)):
            stacks = [" ".join(e["stack"]) for e in trace.events if e["comm"] == name]
            # On a busy machine the threads wait for one another, too, until all have begun.
            stacks = [stack for stack in stacks if "waits:begin_together" not in stack]
            self.assertGreaterEqual(len(stacks), waits, name)
            for stack in stacks:
                self.assertIn(f"waits:{function}", stack)

    @quiet
    def test_waits_for_a_lock(self):
        trace = self.trace("on lock:futex { hist duration by comm }\n"
                           "on lock:futex { where duration > 60ms"
                           "  event lock.wait(address, operation, result) }", target("waits"))
        said, seen = self.waited(trace)["locker"]
        self.assert_close({"locker": (said, seen)})
        wait, = [e for e in trace.events if e["comm"] == "locker"]
        self.assertEqual((wait["args"]["operation"], wait["args"]["result"]), ("FUTEX_WAIT", 0))

    def test_waiting_to_run(self):
        """Two loops on one CPU wait for each other about half of the time."""
        trace = self.trace("on sched:run_queue { sum duration by preempted  count }", "taskset", "-c", "0", "sh",
                           "-c", "for i in 1 2; do python3 -c 'for i in range(3000000): pass' & done; wait")
        sums = {s["by"].get("preempted"): s["value"] for s in trace.summary["stats"] if s["kind"] == "sum"}
        self.assertGreater(sums[True], 20_000_000)

    def test_page_faults(self):
        trace = self.trace("on mem:page_fault { count by write  event mem.fault(address, ip, write) }",
                           "/usr/bin/python3", "-c", "x = bytearray(8 << 20)")
        counts = {s["by"]["write"]: s["value"] for s in trace.summary["stats"]}
        self.assertEqual(sum(counts.values()), len(trace.events))
        self.assertGreater(counts[True], 100)

    def test_page_faults_of_the_kernel_for_a_program(self):
        """As many as the kernel itself counts of it."""
        script = self.write("reads.py", textwrap.dedent("""
            import mmap, resource
            room = mmap.mmap(-1, 4 << 20)
            room.madvise(15)  # MADV_NOHUGEPAGE
            zero = open("/dev/zero", "rb", buffering=0)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            zero.readinto(room)
            print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
            """))
        trace = self.trace("on mem:page_fault { count by by_kernel }\non syscall:read { where count >= 4MiB  event a.read(buf) }\n"
                           "on mem:page_fault { where by_kernel  event a.fault(address, write) }", "/usr/bin/python3", "-S", script)
        counts = {s["by"]["by_kernel"]: s["value"] for s in trace.summary["stats"]}
        room = int(trace.named("read")[0]["args"]["buf"], 16)
        faults = [int(e["args"]["address"], 16) for e in trace.events if e["name"] == "fault"]
        inside = [one for one in faults if room <= one < room + (4 << 20)]
        self.assertEqual(len(inside), 1024)
        self.assertEqual(counts[True], len(faults))
        self.assertLessEqual(len(inside), int(self.last.stdout))
        self.assertLessEqual(int(self.last.stdout), len(inside) + 8)

    def test_a_template_of_the_users_own(self):
        self.write("mine/probes/fd_closed.bpf.c", CLOSING)
        trace = self.trace('on fd:closed { event fd.closed(fd, note)  count }', "/bin/sh", "-c", "exec 9<&0; exec 9<&-",
                           options=("--templates", self.dir / "mine"))
        self.assertIn({"fd": 9, "note": "closing"}, [e["args"] for e in trace.events])
        self.assertEqual(trace.summary["stats"][0]["value"], len(trace.events))

    def test_mistakes_in_a_template_have_their_place(self):
        self.write("mine/probes/fd_closed.bpf.c", CLOSING.replace("moment", "sometimes"))
        done = self.mlbcc("check", "--rules", self.rules("on fd:closed { count }"), "--templates",
                          self.dir / "mine")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("probes/fd_closed.bpf.c:2: `sometimes` is neither `moment` nor `completion`", done.stderr)

    def test_what_a_kernel_does_not_have(self):
        text = CLOSING.replace("//= fields", "//= offset sched:no_such_tracepoint.x\n//= fields")
        self.write("mine/probes/fd_closed.bpf.c", text)
        options = ("--templates", self.dir / "mine")
        self.assertIn("this kernel has no `fd:closed`", self.refused("on fd:closed { count }", options=options))
        trace = self.trace("on optional fd:closed, syscall:close { count }", "true", options=options)
        self.assertGreater(trace.summary["stats"][0]["value"], 0)

    def test_unknown_probes(self):
        message = self.refused("on sched:of_cpu { count }")
        self.assertIn("no probe matches `sched:of_cpu`", message)
        self.assertIn("`sched:off_cpu`", message)
        self.assertNotIn("Traceback", message)
        self.assertFalse(os.path.exists(self.out))
