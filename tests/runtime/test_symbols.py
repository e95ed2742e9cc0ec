"""The names of functions in stacks, of programs that make it hard."""

import shutil
import subprocess
from pathlib import Path

from harness import ROOT, TracerCase, target
from harness.machine import need_tool

POOL_H = ROOT / "tests/runtime/targets/pool.h"


class Symbols(TracerCase):
    def stacks(self, rules, *command):
        """The stack of each event that has one, innermost first, without offsets."""
        return self.without_offsets(self.trace(rules, *command))

    def without_offsets(self, trace):
        return [[frame.split("+0x")[0] for frame in event["stack"]]
                for event in trace.events if "stack" in event]

    def pool(self, *command):
        return self.stacks(f"""
            library pool = "{target('libpool.so')}"
            header "{POOL_H}"
            on pool:pool_alloc {{ event memory.alloc(size) stack user }}
            """, *command)

    def tick(self, program, *arguments):
        return self.stacks(self.ticks(program), target(program), *arguments)

    def ticks(self, program):
        return f'void tick(void);\non "{target(program)}":tick {{ event a.b stack user }}'

    def test_a_stripped_program_with_its_debug_file(self):
        need_tool("objcopy")
        need_tool("strip")
        program = self.dir / "client"
        shutil.copy(target("pool_client"), program)
        for command in (("objcopy", "--only-keep-debug", "client", "client.debug"),
                        ("strip", "client"),
                        ("objcopy", "--add-gnu-debuglink=client.debug", "client")):
            subprocess.run(command, cwd=self.dir, check=True)
        self.assertEqual(self.pool(program)[0][:2], ["client:allocate", "client:main"])
        (self.dir / "client.debug").unlink()
        self.assertEqual(self.pool(program)[0][:2], ["client", "client"])

    def test_processes_that_are_gone_at_once(self):
        stacks = self.pool("sh", "-c", f"for i in $(seq 40); do {target('pool_client')}; done")
        self.assertEqual(len(stacks), 40 * 6)
        for stack in stacks:
            self.assertEqual(stack[0], "pool_client:allocate")
            self.assertEqual(stack[-1], "pool_client:_start")

    def test_code_made_at_run_time(self):
        stacks = self.tick("made_code", "20")
        self.assertEqual(len(stacks), 20)
        for number, stack in enumerate(stacks):
            self.assertEqual(stack[:2], [f"[jit]:made_{number} app.js:{number + 1}",
                                         "made_code:main"])

    def test_code_that_is_made_anew(self):
        """A call has the name that its code had at that time."""
        stacks = self.tick("made_code", "-4")
        self.assertEqual([stack[0] for stack in stacks],
                         [f"[jit]:made_{number} app.js:{number + 1}" for number in range(4) for _ in range(3)])

    def test_code_whose_names_come_at_the_end(self):
        for milliseconds in (0, 30, 600):
            with self.subTest(milliseconds):
                self.out.unlink(missing_ok=True)
                trace = self.trace(self.ticks("made_code"), target("made_code"), "20", str(milliseconds))
                self.remove_map(trace)
                stacks = self.without_offsets(trace)
                self.assertEqual(len(stacks), 20)
                for number, stack in enumerate(stacks):
                    self.assertEqual(stack[:2], [f"[jit]:made_{number} app.js:{number + 1}", "made_code:main"])

    def test_code_whose_names_come_too_late(self):
        live = self.start(self.ticks("made_code"), "--", target("made_code"), "3", "2500")
        live.wait_for('"type":"a"', seconds=60)
        self.assertIsNone(live.process.poll(), "its events are not kept back until it ends")
        self.assertEqual(live.wait(), 0)
        trace = live.trace()
        self.remove_map(trace)
        for stack in self.without_offsets(trace):
            self.assertRegex(stack[0], "^0x")
            self.assertEqual(stack[1], "made_code:main")

    def remove_map(self, trace):
        pid, = {event["pid"] for event in trace.events}
        Path(f"/tmp/perf-{pid}.map").unlink()

    def test_an_interrupted_call_of_the_vdso(self):
        stacks = self.tick("interrupted")
        if not stacks:
            self.skipTest("gettimeofday is a system call on this machine")
        for stack in stacks:
            self.assertEqual(stack[0], "interrupted:on_timer")
            self.assertTrue(any(frame.startswith("[vdso]:") for frame in stack), stack)
            self.assertIn("interrupted:ask_for_the_time", stack)
            self.assertEqual(stack[-1], "interrupted:_start")

    def test_a_library_where_another_was(self):
        stacks = self.tick("plugins", target("libplugin_a.so"), target("libplugin_b.so"))
        self.assertEqual([stack[0] for stack in stacks],
                         ["libplugin_a.so:plugin_a", "libplugin_b.so:plugin_b"] * 3)
        self.assertIn("same place", self.last.stdout)


CALLBACKS = """
int own(int a) { return a + 1; }
#include <stdlib.h>
int call(int (*compare)(int)) { __asm__ volatile("" ::: "memory"); return compare(-3); }
int main(void) { return (call(own) + call(abs) + call(own)) * 0; }
"""


class FunctionAt(TracerCase):
    def test_of_the_program_and_of_a_library(self):
        """What a pointer to a function leads to, by its name: `abs` is the C library's."""
        program = self.dir / "callbacks"
        subprocess.run(["cc", "-O0", "-fno-builtin", "-o", program, self.write("callbacks.c", CALLBACKS)], check=True)
        rules = f'int call(int (*compare)(int));\non entry "{program}":call {{ event f.call(who = function_at[compare]) }}'
        trace = self.trace(rules, program)
        called = [event["args"]["who"] for event in trace.named("call")]
        self.assertEqual(called, ["own", "abs", "own"])

