"""Functions whose names were stripped off a program are found where they are: in its debug file, and packed in itself."""

import subprocess

from harness import TracerCase

SOURCE = """
__attribute__((noinline)) static int hidden(int a) { __asm__ volatile("" : "+r"(a)); return a * 3; }
int main(void) { int sum = 0; for (int i = 0; i < 37; i++) sum += hidden(i); return sum != 1998; }
"""


class Stripped(TracerCase):
    def run_here(self, command):
        subprocess.run(command, shell=True, cwd=self.dir, check=True)

    def setUp(self):
        super().setUp()
        self.write("app.c", SOURCE)
        self.run_here("gcc -O2 -o app app.c && cp app whole && strip app")

    def check(self):
        trace = self.trace(f'on "{self.dir}/app":hidden {{ count   hist duration }}', self.dir / "app")
        self.assertEqual([one["value"] for one in trace.summary["stats"]], [37])

    def test_a_debug_file_beside_it(self):
        said = self.refused(f'on "{self.dir}/app":hidden {{ count }}', command=(self.dir / "app",))
        self.assertIn("`hidden`", said)
        self.run_here("objcopy --only-keep-debug whole app.debug && objcopy --add-gnu-debuglink=app.debug app")
        self.check()

    def test_packed_in_it(self):
        self.run_here("objcopy -S --keep-symbol=hidden whole small && xz small && objcopy --add-section .gnu_debugdata=small.xz app")
        self.check()
