"""System calls and tracepoints, as docs/language.md says of them."""

import collections
import errno
import os
import subprocess
import sys
import time
import unittest

from harness import TracerCase, target


def calls(verb, *more):
    return [target("kernel_calls"), verb, *map(str, more)]


class Syscalls(TracerCase):
    def test_an_error_has_its_name(self):
        trace = self.trace("on syscall:openat { where ret < 0 event failed.open(filename, ret) }",
                           "cat", "/nowhere/at/all", status=1)
        failed = [e for e in trace.named("openat") if e["args"]["filename"] == "/nowhere/at/all"]
        self.assertEqual([e["ret"] for e in failed], ["-ENOENT"])

    def test_errors_are_counted_by_name(self):
        trace = self.trace('on syscall:openat { where ret == -ENOENT count by ret as "n" }',
                           "cat", "/nowhere/1", "/nowhere/2", status=1)
        self.assertGreaterEqual(trace.stats("n")[("-ENOENT",)], 2)

    def test_text_in_a_page_that_nobody_has_touched(self):
        path = self.dir / "pages"
        path.write_bytes(b"\0" * 5000 + b"/etc/hostname\0" + b"\0" * 5000)
        with open(path, "rb") as file:  # not in memory either
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        trace = self.trace("on syscall:openat { event file.open(filename) }", *calls("untouched", path))
        self.assertIn("/etc/hostname", [a["filename"] for a in trace.args("open", "X")])

    def test_learnt_names(self):
        trace = self.trace("on syscall:openat { where ret >= 0 learn file[ret] = filename }\n"
                           "on syscall:read { event file.read(path = file[fd], bytes = ret) }",
                           "cat", "/etc/hostname")
        size = os.path.getsize("/etc/hostname")
        read = [e["args"]["bytes"] for e in trace.named("read") if e["args"]["path"] == "/etc/hostname"]
        self.assertEqual(read, [size, 0])

    def test_arguments_of_all_calls(self):
        trace = self.trace("on syscall:* { span call(args) }", "cat", "/etc/hostname")
        opened = [b for b, e in trace.pairs("openat") if b["args"]["filename"] == "/etc/hostname"]
        self.assertEqual(len(opened), 1)
        self.assertEqual(set(opened[0]["args"]), {"dfd", "filename", "flags", "mode"})
        reads = [(b["args"]["count"], e["ret"]) for b, e in trace.pairs("read")]
        file = os.stat("/etc/hostname")
        self.assertIn((max(131072, file.st_blksize), file.st_size), reads)

    def test_arguments_at_the_beginning_alone(self):
        trace = self.trace("on entry syscall:openat { event a.b(args) }", "cat", "/etc/hostname")
        self.assertIn("/etc/hostname", [a["filename"] for a in trace.args("b", "i")])

    def test_a_system_call_lies_in_the_function_that_makes_it(self):
        trace = self.trace('on "libc.so.6":opendir { span user } on syscall:openat { span kernel(filename) }'
                           ' on "libc.so.6":closedir { span user } on syscall:close { span kernel(fd) }',
                           "ls", self.dir)
        for function, call in (("opendir", "openat"), ("closedir", "close")):
            (begin, end), = trace.pairs(function)
            inside = [b for b, e in trace.pairs(call) if b.get("parent") == begin["event_id"]]
            self.assertEqual(len(inside), 1)
            self.assertTrue(begin["ts"] <= inside[0]["ts"] <= end["ts"])

    def test_threads_and_children(self):
        trace = self.trace('on syscall:getppid { count by pid as "n" event a.call }', *calls("threads", 8))
        self.assertEqual(sorted(trace.stats("n").values()), [10, 80])
        threads = {}
        for event in trace.events:
            threads[event["tid"]] = threads.get(event["tid"], 0) + 1
        self.assertEqual(sorted(threads.values()), [10] * 9)

    def test_a_new_process_has_made_no_call_yet(self):
        older = ", syscall:fork, syscall:vfork" if os.uname().machine == "x86_64" else ""
        trace = self.trace(f'on syscall:clone, syscall:clone3{older} {{ count by ret > 0 as "n" }}',
                           "sh", "-c", "(true); (true); exit 0")
        self.assertEqual(trace.stats("n"), {(1,): 2})

    def test_a_signal_ends_a_call(self):
        trace = self.trace('on syscall:read { event io.read(fd) count by ret as "n" }'
                           ' on syscall:rt_sigreturn { span signal count as "back" }', *calls("interrupted"))
        ends = [e["ret"] for e in trace.named("read")][-3:]
        self.assertEqual(ends, ["-ERESTARTSYS", "-ERESTARTSYS", 1])
        self.assertEqual(trace.stats("n")[("-ERESTARTSYS",)], 2)
        self.assertEqual(trace.stats("back"), {(): 2})
        self.assertEqual(len(trace.pairs("rt_sigreturn")), 2)

    def test_a_call_that_never_returns_has_a_beginning(self):
        trace = self.trace("on syscall:exit_group, syscall:read { span call(args) }", *calls("killed"))
        (last,) = trace.named("exit_group", "B")
        self.assertEqual(last["args"], {"error_code": 0})
        self.assertEqual(trace.named("exit_group", "E"), [])
        self.assertEqual(trace.loss("unmatched_begin"), 1)
        self.assertEqual(trace.pairs("read")[-1][1]["ret"], "-ERESTARTSYS", "the thread was killed")

    def test_execve_ends_in_the_new_program(self):
        trace = self.trace('on syscall:execve { span call(filename) event a.exec(filename, ret) '
                           'count as "n" }', "/bin/sh", "-c", "exec /usr/bin/cat /dev/null")
        begun = [b["args"]["filename"] for b, e in trace.pairs("execve") if e["ret"] == 0]
        self.assertEqual([os.path.basename(name) for name in begun], ["sh", "cat"])
        self.assertEqual(trace.stats("n"), {(): 2})
        self.assertEqual([e["comm"] for e in trace.named("exec", "X")], ["sh", "cat"])

    def test_of_a_call_with_nothing_to_keep_its_time_is_known(self):
        trace = self.trace('on syscall:clock_nanosleep { where ret == 0 event a.sleep() hist duration as "n" }', "sleep", "0.05")
        slept, = trace.named("sleep", "X")
        self.assertGreaterEqual(slept["duration_us"], 50_000)
        self.assertLess(slept["duration_us"], 5_000_000)

    def test_so_is_that_of_execve(self):
        trace = self.trace('on syscall:execve { event a.exec(ret) }', "/bin/sh", "-c", "exec /usr/bin/cat /dev/null")
        self.assertEqual([(e["comm"], e["ret"]) for e in trace.named("exec", "X")], [("sh", 0), ("cat", 0)])

    def test_and_of_execve_in_another_thread(self):
        """The thread gets the number of the first one, which was in a call of its own."""
        code = ("import os, threading\n"
                "threading.Thread(target=lambda: os.execv('/bin/true', ['true'])).start()\n"
                "os.read(os.pipe()[0], 1)\n")
        trace = self.trace('on syscall:execve { where ret == 0 event a.exec() }\non syscall:read { event a.read(ret) }',
                           sys.executable, "-c", code)
        self.assertEqual([e["comm"] for e in trace.named("exec", "X")][-1], "true")
        self.assertLess(max(e["ts"] + e["duration_us"] / 1_000_000 for e in trace.named("exec", "X")),
                        max(e["ts"] for e in trace.named("read", "X")), "the new program reads its libraries behind it")

    def test_threads_that_have_no_slot(self):
        """A slot is that of a thread's last bits: 256 of them where calls have frames."""
        code = ("import os, threading\n"
                "gate = threading.Barrier(600)\n"
                "def run():\n"
                "    gate.wait()\n"
                "    for _ in range(5): os.getppid()\n"
                "    gate.wait()\n"
                "threading.stack_size(1 << 18)\n"
                "all = [threading.Thread(target=run) for _ in range(600)]\n"
                "[one.start() for one in all]\n"
                "[one.join() for one in all]\n")
        trace = self.trace("on syscall:getppid { event a.b(ret) }\non syscall:openat { span c(filename) }",
                           sys.executable, "-c", code)
        calls_of = collections.Counter(e["tid"] for e in trace.named("b", "X"))
        self.assertEqual((len(calls_of), set(calls_of.values())), (600, {5}))

    @unittest.skipUnless(os.uname().machine == "x86_64", "no 32-bit calls on this processor")
    def test_calls_of_the_32_bit_interface_are_left_out(self):
        try:
            subprocess.run([target("calls32")], check=False)
        except OSError as error:
            self.assertEqual(error.errno, errno.ENOEXEC)
            self.skipTest("this kernel runs no 32-bit programs (ia32_emulation=off)")
        trace = self.trace('on syscall:* { count by function as "n" event a.b }', target("calls32"))
        self.assertEqual(trace.stats("n"), {}, "nor the end of the execve(), which is in the 32-bit program")
        self.assertEqual(trace.events, [])

    @unittest.skipUnless(os.uname().machine == "x86_64", "no 32-bit calls on this processor")
    def test_32_bit_calls_of_a_64_bit_program_are_left_out(self):
        if subprocess.run([target("calls80")], check=False).returncode != 0:
            self.skipTest("this kernel has no 32-bit calls (ia32_emulation=off)")
        rules = """on syscall:* { count by function as "n" }
            on syscall:sync { event a.begun(args) }
            on lock:futex { event a.waited(operation) }"""
        trace = self.trace(rules, target("calls80"))
        counted = trace.stats("n")
        self.assertEqual([counted.get((name,), 0) for name in ("sync", "writev", "futex", "getppid")], [0, 0, 0, 1])
        self.assertEqual(trace.events, [])
        self.assertEqual(trace.summary["calls_32_bit"], 5)
        self.assertIn("  5 system calls of the 32-bit interface left out\n", self.last.stderr)
        trace = self.trace("on syscall:getppid { count }", target("calls80"))
        self.assertNotIn("calls_32_bit", trace.summary, "none of them has its number")

    def test_a_process_that_sleeps_in_a_call_already(self):
        with subprocess.Popen(calls("sleeper"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sleeper:
            sleeper.stdout.read(1)
            live = self.start('on syscall:read { event io.read(fd, ret) }',
                              "--pid", str(sleeper.pid))
            while "Ctrl-C ends the trace" not in live.said():
                self.assertIsNone(live.process.poll(), live.said())
                time.sleep(0.1)
            for _ in range(3):
                sleeper.stdin.write(b"x")
                sleeper.stdin.flush()
                time.sleep(0.1)
            sleeper.stdin.close()
            sleeper.wait()
            live.interrupt()
            live.wait()
        trace = live.trace()
        # Of the first, only the end was seen.
        self.assertEqual([e["ret"] for e in trace.named("read")], [1, 1, 0])
        self.assertEqual(trace.loss("unmatched_end"), 0)

    def test_the_caller(self):
        for rule in ("on syscall:getppid { event a.b stack user }",
                     "on entry syscall:getppid { event a.b stack user }",
                     "on syscall:getppid { span a stack user }"):
            with self.subTest(rule=rule):
                trace = self.trace(rule, *calls("many", 3))
                stacks = [e["stack"] for e in trace.events if "stack" in e]
                self.assertEqual(len(stacks), 3)
                for stack in stacks:
                    self.assertRegex(stack[0], r"^libc\.so\.6:syscall\+")
                    self.assertRegex(stack[1], r"^kernel_calls:call\+")
                    self.assertRegex(stack[2], r"^kernel_calls:main\+")

    def test_lost_records_are_accounted_for(self):
        trace = self.trace("on syscall:getppid { event a.b(ret) }", *calls("many", 200000),
                           options=("--buffer", "64K", "--no-realtime"))
        (loss,) = [l for l in trace.summary["losses"] if "test.rules" in l["rule"]]
        self.assertEqual(loss["submitted"], 200000)
        self.assertEqual(loss["received"], len(trace.events))


    def test_two_rules_on_one_line_have_an_account_each(self):
        self.trace("on syscall:getppid { event a.b } on syscall:getppid { count }", *calls("many", 3))


class Tracepoints(TracerCase):
    def test_text_fields(self):
        trace = self.trace("on tracepoint:sched:sched_process_exec { event t.exec(filename, pid) }\n"
                           "on tracepoint:sched:sched_process_fork { event t.fork(args) }",
                           "sh", "-c", "/usr/bin/true; exit 0")
        ran = [a["filename"] for a in trace.args("exec", "i")]
        self.assertEqual([os.path.basename(name) for name in ran], ["sh", "true"])
        fork = trace.args("fork", "i")[0]
        self.assertEqual((fork["parent_comm"], fork["child_comm"]), ("sh", "sh"))

    def test_long_text(self):
        path = self.dir / ("x" * 100)
        os.symlink("/usr/bin/true", path)
        trace = self.trace("on tracepoint:sched:sched_process_exec "
                           "{ event t.exec(short = filename, long = str(filename, 300)) }", str(path))
        (fields,) = trace.args("exec", "i")
        self.assertEqual(fields, {"short": str(path)[:63], "long": str(path)})

    def test_of_every_process(self):
        """Beside a rule for traced processes on the same tracepoint, which sees only those."""
        live = self.start("on all tracepoint:sched:sched_process_exec { event any.exec(filename) }\n"
                          "on tracepoint:sched:sched_process_exec { event own.exec(filename) }\n",
                          "--", "sh", "-c", "read go; exec /usr/bin/true", stdin=subprocess.PIPE)
        untraced = str(self.dir / "untraced")
        os.symlink("/usr/bin/true", untraced)
        live.wait_for(untraced, poke=lambda: subprocess.run([untraced], check=True))
        live.process.stdin.write(b"go\n")
        live.process.stdin.close()
        self.assertEqual(live.wait(), 0, live.said())
        ran = {kind: [(e["pid"], e["args"]["filename"]) for e in live.trace().events
                      if e["type"] == kind] for kind in ("any", "own")}
        self.assertEqual([os.path.basename(name) for _, name in ran["own"]], ["sh", "true"])
        own = {pid for pid, _ in ran["own"]}
        self.assertEqual([one for one in ran["any"] if one[0] in own], ran["own"])
        self.assertIn(untraced, [name for pid, name in ran["any"] if pid not in own])

    def test_fields_as_conditions_and_groups(self):
        trace = self.trace('on tracepoint:raw_syscalls:sys_exit { where ret < 0 count by id as "n" }'
                           ' on syscall:openat { where ret < 0 count as "same" }',
                           "cat", "/nowhere", status=1)
        openat = {"x86_64": 257, "aarch64": 56}[os.uname().machine]
        self.assertEqual(trace.stats("n")[(openat,)], trace.stats("same")[()])

    def test_the_caller(self):
        trace = self.trace("on tracepoint:syscalls:sys_enter_getppid { event a.b stack user }",
                           *calls("many", 2))
        for event in trace.events:
            self.assertRegex(event["stack"][0], r"^libc\.so\.6:syscall\+")
            self.assertRegex(event["stack"][1], r"^kernel_calls:call\+")
        self.assertEqual(len(trace.events), 2)

    def test_a_tracepoint_lies_in_the_system_call_that_it_is_in(self):
        trace = self.trace("on syscall:execve { span call }\n"
                           "on tracepoint:sched:sched_process_exec { event a.b }", "true")
        (event,) = trace.named("b", "i")
        self.assertEqual(trace.parent(event)["name"], "execve")
