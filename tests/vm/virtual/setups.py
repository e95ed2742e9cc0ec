"""What the virtual machines are set up with: the stand-in for NVIDIA's driver on each kernel,
NVIDIA's own on one, neither on another processor. A setup has the tests of one folder."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .driver import fetch_driver
from .kernel import KERNELS, fetch
from .machine import run
from .modules import MODULES, build_device, build_standin
from .processor import AMD64, ARM64, Processor

JOB = Path("/run/job")  # in the virtual machine
NVIDIA_MAJOR = 195  # linux: Documentation/admin-guide/devices.txt
# What looks like a graphics card to NVIDIA's module, and memory for the module itself.
GPU = ("-device", "secondary-vga,vgamem_mb=16", "-m", "1536")


@dataclass(frozen=True)
class Setup:
    """Without a module: what probes do on another processor."""

    name: str    # "6.1", "6.1-nvidia", "6.1-arm64"
    kernel: str  # one of KERNELS
    processor: Processor = AMD64
    tests = "processor"

    def run(self, command, folders, job, environment, say, limit):
        """Fetches and builds, then runs `command` in the virtual machine as machine.run() does."""
        environment = {**environment, "MLBCC_TEST_SLOWNESS": self.processor.slowness}
        return run(fetch(self.kernel, self.processor), command, folders, job, environment, say,
                   limit * self.processor.slowness)

    def load(self):
        """In the virtual machine: the modules, and the devices' nodes, as nvidia-modprobe does."""


class Standin(Setup):
    tests = "inside"

    def run(self, command, folders, job, environment, say, limit):
        kernel = fetch(self.kernel)
        build_standin(kernel, job / "modules")
        return run(kernel, command, folders, job, environment, say, limit)

    def load(self):
        load_modules(JOB / "modules")


class Driver(Setup):
    tests = "driver"

    def run(self, command, folders, job, environment, say, limit):
        kernel = fetch(self.kernel)
        driver = fetch_driver(self.kernel, kernel, say)
        build_device(kernel, job / "modules")
        return run(kernel, command, [*folders, driver], job,
                   {**environment, "MLBCC_VM_DRIVER": driver}, say, limit, GPU)

    def load(self):
        subprocess.run(["modprobe", "drm"], check=True)
        subprocess.run(["insmod", JOB / "modules" / "nvidia_device.ko"], check=True)
        load_modules(Path(os.environ["MLBCC_VM_DRIVER"]))


SETUPS = {setup.name: setup for setup in
          [*(Standin(version, version) for version in KERNELS), Driver("6.1-nvidia", "6.1"),
           Setup("6.1-arm64", "6.1", ARM64)]}


def load_modules(folder):
    for module in MODULES:
        subprocess.run(["insmod", folder / module], check=True)
    make_node("nvidia0", NVIDIA_MAJOR, 0)
    make_node("nvidiactl", NVIDIA_MAJOR, 255)
    make_node("nvidia-uvm", major_of("nvidia-uvm"), 0)


def major_of(device):
    """In /proc/devices: `510 nvidia-uvm`."""
    for line in Path("/proc/devices").read_text().splitlines():
        number, _, name = line.strip().partition(" ")
        if name == device:
            return int(number)
    raise RuntimeError(f"no device {device}")


def make_node(name, major, minor):
    Path("/dev", name).unlink(missing_ok=True)
    os.mknod(Path("/dev", name), 0o20666, os.makedev(major, minor))
