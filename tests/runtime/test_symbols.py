"""The names of functions in stacks, of programs that make it hard."""

import shutil
import subprocess

from harness import ROOT, TracerCase, target
from harness.machine import need_tool

POOL_H = ROOT / "tests/runtime/targets/pool.h"


class Symbols(TracerCase):
    def stacks(self, rules, *command):
        """The stack of each event that has one, innermost first, without offsets."""
        trace = self.trace(rules, *command)
        return [[frame.split("+0x")[0] for frame in event["stack"]]
                for event in trace.events if "stack" in event]

    def pool(self, *command):
        return self.stacks(f"""
            library pool = "{target('libpool.so')}"
            header "{POOL_H}"
            on pool:pool_alloc {{ event memory.alloc(size) stack user }}
            """, *command)

    def tick(self, program, *arguments):
        return self.stacks(f'void tick(void);\non "{target(program)}":tick {{ event a.b stack user }}',
                           target(program), *arguments)

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
