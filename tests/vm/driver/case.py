"""DriverCase: a test with NVIDIA's own modules and library, without a GPU. What the program below
asks of the driver is known from strace, run here on the same program.

    cuInit() opens the devices, asks the resource manager for a client and what it knows, and ends
    with CUDA_ERROR_UNKNOWN, since no GPU answers.
"""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

from harness import TracerCase

LIMIT = 600  # seconds for one run of mlbcc: everything takes ten times as long here
VERSIONS = 3  # calls of cuDriverGetVersion
PROGRAM = f"""
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
print("cuInit", cuda.cuInit(0))
version = ctypes.c_int()
for _ in range({VERSIONS}): cuda.cuDriverGetVersion(ctypes.byref(version))
print("version", version.value)
"""
# `161 ioctl(3</dev/nvidiactl>, 0xc00846d6, 0x7ffd28a2f9a0) = 0`
REQUEST = re.compile(r"ioctl\(\d+</dev/(nvidia[^>]*)>, (0x[0-9a-f]+|0), .*\) += (-?\d+)")


class DriverCase(TracerCase):
    FOLDER = Path(os.environ.get("MLBCC_VM_DRIVER", ""))
    APP = ("/usr/bin/python3", "-c", PROGRAM)

    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(self.FOLDER)}

    def mlbcc(self, *arguments, timeout=LIMIT, **options):
        options.setdefault("env", self.environment)
        return super().mlbcc(*arguments, timeout=timeout, **options)

    def requests_by_strace(self):
        """{(device, command): calls}; each of them returned 0."""
        log = self.dir / "strace.log"
        done = subprocess.run(["strace", "-f", "-y", "-X", "raw", "-e", "trace=ioctl", "-o", log,
                               *self.APP], env=self.environment, capture_output=True, text=True,
                              check=True)
        self.assertIn("cuInit 999\n", done.stdout)
        found = REQUEST.findall(log.read_text())
        self.assertEqual({status for _, _, status in found}, {"0"})
        return Counter((device, int(command, 16)) for device, command, _ in found)
