"""The stand-in is the driver that the other tests take it for."""

import ctypes
import fcntl
import json
import mmap
import os
import subprocess
from pathlib import Path

from inside.case import VmCase

SYS_PARAMS, CARD_INFO, CHECK_VERSION = 0xC00846D6, 0xC90046C8, 0xC04846D2
RM_ALLOC, RM_CONTROL, RM_FREE = 0xC030462B, 0xC020462A, 0xC0104629
UVM_INITIALIZE = 0x30000001
TRACING = Path("/sys/kernel/tracing")


class Standin(VmCase):
    def test_counts_the_ioctls_of_the_app(self):
        log = self.dir / "app.log"
        with self.counted() as books:
            said = self.app("--log", str(log))
        self.assertIn("verified", said)
        calls = [json.loads(line).get("call") for line in log.read_text().splitlines()]
        blocks = calls.count("cuMemAlloc_v2")
        self.assertEqual(blocks, 8)
        objects = blocks + 2  # the client, the context's channel, and the blocks
        self.assertEqual(books.commands("nvidia_unlocked_ioctl"),
                         {SYS_PARAMS: 1, CARD_INFO: 1, CHECK_VERSION: 1, RM_CONTROL: 1,
                          RM_ALLOC: objects, RM_FREE: objects})
        for function, count in (("nvidia_open", 1), ("nvidia_close", 1), ("nv_alloc_pages", blocks),
                                ("nv_free_pages", blocks)):
            self.assertEqual(books.calls(function), count, function)

    def test_answers(self):
        with open("/dev/nvidiactl", "rb+", buffering=0) as device:
            params = bytearray(8)
            fcntl.ioctl(device, SYS_PARAMS, params)
            self.assertEqual(int.from_bytes(params, "little"), 128 << 20)
            alloc = (ctypes.c_uint32 * 12)(0, 0, 0, 0x41)
            fcntl.ioctl(device, RM_ALLOC, alloc)
            client = alloc[2]
            self.assertEqual((client >> 16, alloc[10]), (0xC1D0, 0))
            free = (ctypes.c_uint32 * 4)(client, client, 0x1234)
            fcntl.ioctl(device, RM_FREE, free)
            self.assertEqual(free[3], 0x57, "no such object: said in the status, not by the ioctl")
            with self.assertRaises(OSError):
                fcntl.ioctl(device, 0xC00846FF, params)

    def test_other_entries(self):
        with self.counted() as books:
            with open("/dev/nvidia0", "rb+", buffering=0) as device:
                with mmap.mmap(device.fileno(), mmap.PAGESIZE) as page:
                    self.assertEqual(page[:4], b"\0\0\0\0")
            with open("/dev/nvidia-uvm", "rb+", buffering=0) as device:
                fcntl.ioctl(device, UVM_INITIALIZE, bytearray(16))
        self.assertEqual(books, {("nvidia_open",): 1, ("nvidia_close",): 1, ("nvidia_mmap",): 1,
                                 ("uvm_open_entry",): 1, ("uvm_release_entry",): 1,
                                 ("uvm_unlocked_ioctl_entry", UVM_INITIALIZE): 1})

    def test_what_probes_can_reach(self):
        traceable = set((TRACING / "available_filter_functions").read_text().splitlines())
        for function in ("nvidia_unlocked_ioctl", "nvidia_open", "nvidia_close", "nvidia_mmap",
                         "nv_alloc_pages", "nv_free_pages"):
            self.assertIn(f"{function} [nvidia]", traceable)
        self.assertIn("uvm_unlocked_ioctl_entry [nvidia_uvm]", traceable)
        symbols = Path("/proc/kallsyms").read_text()
        self.assertIn(" rm_ioctl\t[nvidia]", symbols)
        self.assertNotIn("rm_ioctl [nvidia]", traceable)

    def kprobe(self, function):
        """The kernel's own probe, without mlbcc; returns a function that reads how often it hit."""
        with open(TRACING / "kprobe_events", "r+b", buffering=0) as events:
            events.write(f"p:{function} {function}\n".encode())
        enable = TRACING / "events" / "kprobes" / function / "enable"
        self.addCleanup((TRACING / "kprobe_events").write_text, "")
        self.addCleanup(enable.write_text, "0")
        enable.write_text("1")
        lines = TRACING / "kprobe_profile"  # `  nvidia_open   1   0`
        return lambda: {line.split()[0]: int(line.split()[1])
                        for line in lines.read_text().splitlines()}[function]

    def test_probes_hit(self):
        hits = self.kprobe("nvidia_unlocked_ioctl")
        with self.counted() as books:
            self.app()
        self.assertEqual(hits(), books.calls("nvidia_unlocked_ioctl"))
        with self.assertRaisesRegex(OSError, "Invalid argument"):
            self.kprobe("rm_ioctl")

    def test_types(self):
        """The modules' BTF: on top of the kernel's."""
        for module in ("nvidia", "nvidia_uvm"):
            self.assertTrue(os.path.getsize(f"/sys/kernel/btf/{module}"))
        dump = ["bpftool", "-B", "/sys/kernel/btf/vmlinux", "btf", "dump", "file",
                "/sys/kernel/btf/nvidia"]
        text = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
        self.assertIn("FUNC 'nvidia_unlocked_ioctl'", text)
