"""Modules that tests in the virtual machine need, built on this machine for its kernel: the stand-in
for NVIDIA's driver, with BTF, or what makes a device look like NVIDIA's to the real one."""

import os
import shutil
import subprocess
from pathlib import Path

VM = Path(__file__).resolve().parents[1]
STANDIN, DEVICE = VM / "nvidia_standin", VM / "nvidia_device"
MODULES = ("nvidia.ko", "nvidia-uvm.ko")
# This machine's compiler, whatever the kernel was built with, and nothing that it or pahole may lack.
SETTINGS = ("CC=gcc-12", "HOSTCC=gcc-12", "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=",
            "CONFIG_DEBUG_INFO_BTF_MODULES=")


def build_standin(kernel, folder):
    """Builds MODULES in `folder`, which is made; raises RuntimeError with what the compiler said."""
    build(kernel, STANDIN, folder)
    for module in MODULES:
        command(["pahole", "-J", "--btf_base", kernel.vmlinux, folder / module])
        command(["strip", "--strip-debug", folder / module])


def build_device(kernel, folder):
    """Likewise nvidia_device.ko."""
    build(kernel, DEVICE, folder)


def build(kernel, sources, folder):
    shutil.copytree(sources, folder)
    command(["make", "-C", kernel.headers, f"M={folder}", f"-j{os.cpu_count()}", *SETTINGS, "modules"])


def command(words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]} failed:\n{done.stdout}")
    return done.stdout
