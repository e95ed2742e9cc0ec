"""The processors that virtual machines are made of, and the root that programs come from."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ARM64_ROOT = os.environ.get("MLBCC_ARM64_ROOT", ROOT / "build" / "arm64-root")
MODES = "mitigations=off random.trust_cpu=on rcupdate.rcu_expedited=1 audit=0 apparmor=0 nokaslr"


@dataclass(frozen=True)
class Processor:
    name: str       # Debian's: "amd64"
    qemu: str
    machine: tuple  # options of QEMU
    console: str
    kernel_options: str
    root: Path      # read-only in the machine
    slowness: int   # how many times longer a test may take than on a real machine's own kernel

    @property
    def busybox(self):
        return self.root / "bin" / "busybox"

    @property
    def why_not(self):
        """None where its programs can be had, else the reason for a skip."""
        if self.root != Path("/"):
            if not (self.root / "complete").exists():
                return f"{self.root} is not there (tests/arm64/run.sh makes it)"
        elif platform.machine() != "x86_64":
            return f"the kernels are for x86_64, this machine is {platform.machine()}"
        return None


AMD64 = Processor("amd64", "qemu-system-x86_64",
                  ("-M", "pc,usb=off,vmport=off", "-cpu", "max,la57=off",  # no 5 levels of page tables
                   "-device", "isa-debug-exit,iobase=0xf4,iosize=1"),
                  "ttyS0", f"{MODES} nopti tsc=reliable no_timer_check", Path("/"), 1)
ARM64 = Processor("arm64", "qemu-system-aarch64", ("-M", "virt,gic-version=3", "-cpu", "cortex-a72"),
                  "ttyAMA0", f"{MODES} kpti=off", Path(ARM64_ROOT).resolve(), 6)
PROCESSORS = {one.name: one for one in (AMD64, ARM64)}
