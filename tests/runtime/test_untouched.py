"""What system calls are given in pages that nobody has touched: the kernel brings them in, in the call."""

import os
import pathlib
import re
import struct
import subprocess

from harness import ROOT, TracerCase, machine, target
from harness.machine import need_tool
from test_profile import ProfileCase

MIB = 1 << 20
BASE = 1 << 45  # where targets/untouched.c maps the file
PATHS = ["/etc/hostname", "/etc/passwd", "/etc/group"]
ARGUMENTS = """
struct arguments { const char *text[3]; };
on entry syscall:execve {
    event program.start(filename, first = str(((const struct arguments *)argv)->text[0]),
                        last = str(((const struct arguments *)argv)->text[2]))
}
"""


def knows_before_exec():
    """Whether the kernel has a moment before a new program takes the place of the old one (Linux 6.10)."""
    return b"btf_trace_sched_prepare_exec" in pathlib.Path("/sys/kernel/btf/vmlinux").read_bytes()


class Pages:
    """Files for targets/untouched.c."""

    def pages(self, **texts):
        """A file of 6 MiB; texts by where they begin: at_1 at 1 MiB, at_1_4092 4092 bytes behind that."""
        file = bytearray(6 * MIB)
        for place, text in texts.items():
            mib, _, more = place.removeprefix("at_").partition("_")
            at = int(mib) * MIB + int(more or 0)
            file[at : at + len(text)] = text
        path = self.dir / "pages"
        path.write_bytes(file)
        return str(path)

    def paths(self):
        return self.pages(at_1=b"/etc/hostname\0", at_2=b"/etc/passwd\0", at_3=b"/etc/group\0")

    def program(self, path=b"/bin/echo\0"):
        arguments = struct.pack("<4Q", BASE + 4 * MIB, BASE + 5 * MIB, BASE + 5 * MIB + MIB // 2, 0)
        return self.pages(at_1=path, at_2=arguments, at_3=b"/etc/group\0", at_4=b"echo\0", at_5=b"one\0",
                          at_5_524288=b"two words\0")


class Untouched(TracerCase, Pages):
    def untouched(self, rules, *verb, **more):
        return self.trace(rules, target("untouched"), *verb, **more)

    def test_both_ends_of_a_call(self):
        trace = self.untouched("on syscall:openat { span file(filename, flags) }", "open", self.paths(), "3")
        opened = [(b["args"]["filename"], e["ret"]) for b, e in trace.pairs("openat")][-3:]
        self.assertEqual(opened, list(zip(PATHS, [3, 4, 5])))
        for begin, end in trace.pairs("openat"):
            self.assertLess(begin["ts"], end["ts"])
            self.assertAlmostEqual(float(end["ts"] - begin["ts"]) * 1e6, float(end["duration_us"]), delta=0.002)

    def test_beside_calls_that_have_no_text(self):
        """They share a program; the example that it is made from may be one without."""
        close = "on syscall:close { span file(fd) }"
        for rules in ("on syscall:openat { span file(filename) }" + close, close + "on syscall:openat { span file(filename) }",
                      "on syscall:* { span call(args) }", "on syscall:openat, syscall:close, syscall:brk { span file(args) }"):
            trace = self.untouched(rules, "open", self.paths(), "3")
            names = [b.get("args", {}).get("filename") for b, _ in trace.pairs("openat")][-3:]
            self.assertEqual(names, PATHS, rules)

    def test_all_arguments_of_both_ends(self):
        trace = self.untouched("on syscall:openat { span file(args) }", "open", self.paths(), "3")
        self.assertEqual([b["args"]["filename"] for b, _ in trace.pairs("openat")][-3:], PATHS)

    def test_the_beginning_alone(self):
        trace = self.untouched("on entry syscall:openat { event file.open(filename) }", "open", self.paths(), "3")
        self.assertEqual([a["filename"] for a in trace.args("open", "i")][-3:], PATHS)

    def test_the_end_alone(self):
        trace = self.untouched("on syscall:openat { event file.open(filename, fd = ret) }", "open", self.paths(), "3")
        self.assertEqual([a["filename"] for a in trace.args("open", "X")][-3:], PATHS)

    def test_conditions_groups(self):
        rules = """
            on syscall:openat { where starts_with(filename, "/etc/p")  event file.secret(filename) }
            on entry syscall:openat { count by str(filename, 40) as "asked" }
            on syscall:openat { where filename == "/etc/group"  count as "group" }
        """
        trace = self.untouched(rules, "open", self.paths(), "3")
        self.assertEqual([a["filename"] for a in trace.args("secret", "X")], ["/etc/passwd"])
        self.assertEqual({path: trace.stats("asked").get((path,)) for path in PATHS}, dict.fromkeys(PATHS, 1))
        self.assertEqual(trace.stats("group"), {(): 1})

    def test_text_that_goes_on_in_such_a_page(self):
        pages = self.pages(at_1_4092=b"/etc/hosts\0")
        trace = self.untouched("on syscall:openat { span file(filename) }", "across", pages)
        self.assertEqual([b["args"]["filename"] for b, _ in trace.pairs("openat")][-1], "/etc/hosts")

    def test_memory_that_is_no_text(self):
        rules = "struct when { long s, ns; };\n" \
                "on syscall:*nanosleep { span call(ns = ((const struct when *)rqtp)->ns) }"
        trace = self.untouched(rules, "sleep", self.pages(at_1=struct.pack("<2Q", 0, 3000000)))
        ((begin, end),) = trace.pairs("clock_nanosleep")
        self.assertEqual(begin["args"]["ns"], 3000000)
        self.assertGreaterEqual(end["duration_us"], 3000)

    def test_a_new_program(self):
        trace = self.untouched(ARGUMENTS, "exec", self.program())
        started = trace.args("start", "i")[-1]
        known = {"filename": "/bin/echo", "first": "echo", "last": "two words"}
        self.assertEqual(started, known if knows_before_exec() else dict.fromkeys(known))

    def test_a_new_program_of_another_thread(self):
        rules = ARGUMENTS + "on syscall:openat { span file(filename) }\non syscall:execve { span call(filename) }"
        trace = self.untouched(rules, "late", self.program())
        self.assertIn("/etc/group", [b["args"]["filename"] for b, _ in trace.pairs("openat")])
        if knows_before_exec():
            self.assertEqual(trace.args("start", "i")[-1]["last"], "two words")
            self.assertEqual(trace.named("execve", "B")[-1]["args"], {"filename": "/bin/echo"})

    def test_a_new_program_by_its_own_stack(self):
        trace = self.untouched((ROOT / "rules/profile_process.rules").read_text(), "exec", self.program())
        given = trace.args("exec", "i")[-1]
        self.assertEqual([given[f"arg{i}"] for i in range(4)], ["echo", "one", "two words", None])

    def test_the_first_call_of_a_thread(self):
        """What lies behind the arguments of the command itself is anything."""
        rules = "struct words { const char *at[600]; };\non entry syscall:execve {\n" \
                "    event program.start(filename" + "".join(
                    f", a{i} = str(((const struct words *)argv)->at[{i}], 40)" for i in range(50, 600, 100)) + ")\n}"
        for option in ((), ("--no-cache",)):
            self.out.unlink(missing_ok=True)
            trace = self.trace(rules, "/bin/true", options=option)
            self.assertEqual([a["filename"] for a in trace.args("start", "i")], ["/bin/true"])

    def test_a_program_that_is_not_there(self):
        trace = self.untouched(ARGUMENTS, "exec", self.program(b"/nowhere/at/all\0"), status=5)
        known = "/nowhere/at/all" if knows_before_exec() else None
        self.assertEqual(trace.args("start", "i")[-1]["filename"], known)

    def test_more_threads_than_have_a_place(self):
        trace = self.untouched("on syscall:openat { span file(filename) }", "fork", self.paths(), "400")
        opened = [b["args"]["filename"] for b, _ in trace.pairs("openat")]
        self.assertEqual(opened.count("/etc/hostname"), 400)
        self.assertNotIn(None, opened)

    def test_as_strace_has_it(self):
        pages = self.paths()
        trace = self.untouched("on syscall:openat { span file(filename) }", "open", pages, "3")
        subprocess.run([need_tool("strace"), "-e", "trace=openat", "-o", "strace.txt", target("untouched"), "open", pages, "3"],
                       cwd=self.dir, check=True)
        theirs = re.findall(r'^openat\(AT_FDCWD, "([^"]*)"', (self.dir / "strace.txt").read_text(), re.M)
        self.assertEqual([b["args"]["filename"] for b, _ in trace.pairs("openat")], theirs)


class Profiles(ProfileCase, Pages):
    def test_the_arguments_of_a_program(self):
        profile = self.profile(target("untouched"), "exec", self.program())
        (process,) = profile["processes"]
        self.assertEqual(process["programs"][-1]["arguments"], ["echo", "one", "two words"])

    def test_the_arguments_of_a_script(self):
        script = self.write("script", "#!/bin/sh -e\nexit 0\n")
        os.chmod(script, 0o755)
        profile = self.profile("/bin/sh", "-c", f"{script} one; true")
        self.assertEqual(profile["processes"][1]["programs"][-1]["arguments"], [str(script), "one"])


class Functions(TracerCase, Pages):
    RULES = """
        library c = "libc.so.6"
        int open(const char *path, int flags);
        on c:open { span call(path) }
        on entry c:open { count by str(path, 40) as "asked" }
        on c:open { where path == "/etc/group"  count as "group" }
    """

    def each_way(self, *verb):
        for way in machine.attach_ways():
            with self.subTest(way):
                self.out.unlink(missing_ok=True)
                yield self.trace(self.RULES, target("untouched"), *verb, options=("--attach", way))

    def test_texts(self):
        for trace in self.each_way("open", self.paths(), "3"):
            self.assertEqual([b["args"]["path"] for b, _ in trace.pairs("open")][-3:], PATHS)
            self.assertEqual({path: trace.stats("asked").get((path,)) for path in PATHS}, dict.fromkeys(PATHS, 1))
            self.assertEqual(trace.stats("group"), {(): 1})

    def test_text_that_goes_on_in_such_a_page(self):
        for trace in self.each_way("across", self.pages(at_1_4092=b"/etc/hosts\0")):
            self.assertEqual([b["args"]["path"] for b, _ in trace.pairs("open")][-1], "/etc/hosts")
