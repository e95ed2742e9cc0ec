"""What was compiled is kept: a second start of the same needs no compiler, one of anything else does."""

import ctypes
import os
import re
import shutil
import subprocess

from harness import MLBCC, ROOT, TracerCase, target

RULES = """
    library pool = "%s"
    header "%s"
    on pool:pool_alloc { span memory(size)   sum size as "Total" }
    on sched:off_cpu { count }
"""


FORESEEN = "mlbcc: the programs are those of the last such start\n"


class Cache(TracerCase):
    def setUp(self):
        super().setUp()
        self.cache = self.dir / "cache" / "mlbcc"
        self.header = self.dir / "pool.h"
        shutil.copy(ROOT / "tests/runtime/targets/pool.h", self.header)
        self.text = RULES % (target("libpool.so"), self.header)

    def run_once(self, *options, text=None, **environment):
        """How a start went: "kept" or "compiled"; and whether the compiler ran at all."""
        trace = self.trace(text or self.text, target("pool_client"), options=("-v", *options),
                           env={**os.environ, "MLBCC_CACHE": str(self.cache), **environment})
        self.sizes = sorted(event["args"]["size"] for event in trace.events if event["phase"] == "B")
        self.total, = [one["value"] for one in trace.summary["stats"] if one["label"] == "Total"]
        self.assertTrue(self.sizes)
        shown = self.last.stderr
        kept, compiled = "mlbcc: compiled before\n" in shown, re.search(r"mlbcc: clang [\d.]+ ms", shown)
        self.assertNotEqual(kept, bool(compiled), shown)
        return "kept" if kept else "compiled"

    def test_a_second_start_compiles_nothing(self):
        """Nor is the compiler started: without it the first start fails, the second does not."""
        self.assertEqual(self.run_once(), "compiled")
        first = self.sizes, self.total
        self.assertEqual(self.run_once(), "kept")
        self.assertEqual((self.sizes, self.total), first)
        self.assertIn(FORESEEN, self.last.stderr)
        calls = self.dir / "calls"
        subprocess.run(["strace", "-f", "-e", "execve", "-o", calls, MLBCC, "--rules",
                        self.rules(self.text), "-o", self.out, "--", target("pool_client")],
                       env={**os.environ, "MLBCC_CACHE": str(self.cache)}, check=True, capture_output=True)
        self.assertIn("pool", calls.read_text())
        self.assertNotIn("mlbcc-bcc", calls.read_text())

    def test_what_differs_is_compiled(self):
        self.run_once()
        self.assertEqual(self.run_once(text=self.text.replace("count", "count by comm")), "compiled")
        self.assertEqual(self.run_once(), "kept")
        self.assertNotIn(FORESEEN, self.last.stderr)
        self.assertEqual(self.run_once(), "kept")
        self.assertIn(FORESEEN, self.last.stderr)
        self.header.write_text(self.header.read_text() + "\n/* another time, another size */\n")
        self.run_once()
        self.assertRegex(self.last.stderr, r"C types \(libclang\)")
        templates = self.dir / "templates"
        shutil.copytree(ROOT / "probe_templates", templates)
        self.run_once(MLBCC_TEMPLATES=str(templates))
        record = templates / "record.h"
        record.write_text(record.read_text() + "// changed\n")
        self.assertEqual(self.run_once(MLBCC_TEMPLATES=str(templates)), "compiled")
        self.assertEqual(self.run_once(MLBCC_TEMPLATES=str(templates)), "kept")
        kernel = templates / "include/kernel/include/linux/types.h"
        kernel.write_text(kernel.read_text() + "// changed\n")
        self.assertEqual(self.run_once(MLBCC_TEMPLATES=str(templates)), "compiled")

    def test_no_cache(self):
        self.assertEqual(self.run_once("--no-cache"), "compiled")
        self.assertFalse(self.cache.exists())
        self.assertEqual(self.run_once(), "compiled")
        self.assertEqual(self.run_once("--no-cache"), "compiled")
        self.assertEqual(self.run_once(), "kept")

    def test_broken_files_are_no_answers(self):
        self.run_once()
        whole = {file: file.read_bytes() for file in self.cache.iterdir()}
        for change in (lambda data: data[:len(data) // 2], lambda data: b"", lambda data: b"x" * len(data),
                       lambda data: data[:-1] + bytes([data[-1] ^ 1])):
            for file, data in whole.items():
                file.write_bytes(change(data))
            self.assertEqual(self.run_once(), "compiled")
            self.assertEqual(self.run_once(), "kept")

    def test_files_of_others_are_no_answers(self):
        self.run_once()
        for file in self.cache.iterdir():
            os.chown(file, 65534, 65534)
        self.assertEqual(self.run_once(), "compiled")
        self.cache.chmod(0o777)
        self.assertEqual(self.run_once(), "compiled")
        self.assertEqual(self.run_once(), "compiled")
        self.cache.chmod(0o700)
        self.assertEqual(self.run_once(), "kept")

    def test_programs_that_do_not_load_are_compiled_anew(self):
        """As of a kernel that refuses them: here the head names a type of program that there is not."""
        self.run_once()
        file, = [one for one in self.cache.iterdir() if b'"type":2,"attach_type":' in one.read_bytes()]
        data = file.read_bytes()
        broken = self.dir / "broken"
        broken.write_bytes(data.replace(b'"type":2,"attach_type":', b'"type":9,"attach_type":'))
        rehash(broken)
        os.replace(broken, file)
        self.assertEqual(self.run_once(), "compiled")
        self.assertIn("what was compiled before does not load: compiled anew\n", self.last.stderr)
        self.assertEqual(self.run_once(), "kept")


def rehash(file):
    """Mends the checksum of an answer (base/file_cache.cpp: XXH3, 128 bits)."""
    xxhash = ctypes.CDLL("libxxhash.so.0")

    class Hash(ctypes.Structure):
        _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]
    xxhash.XXH3_128bits.restype = Hash
    data = bytearray(file.read_bytes())
    answer = bytes(data[56:])
    hashed = xxhash.XXH3_128bits(answer, ctypes.c_size_t(len(answer)))
    data[32:40], data[40:48] = hashed.low.to_bytes(8, "little"), hashed.high.to_bytes(8, "little")
    file.write_bytes(data)
    file.chmod(0o600)
