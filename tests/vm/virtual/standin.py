"""Builds tests/vm/nvidia_standin for a kernel, on this machine: both modules, with BTF."""

import os
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "nvidia_standin"
MODULES = ("nvidia.ko", "nvidia-uvm.ko")


def build_standin(kernel, folder):
    """Builds in `folder`, which is made; raises RuntimeError with what the compiler said."""
    shutil.copytree(SOURCES, folder)
    command(["make", "-C", kernel.headers, f"M={folder}", f"-j{os.cpu_count()}", "modules"])
    for module in MODULES:
        # The headers of 6.12 have the kernel's BTF, so make has added the module's; not so 6.1.
        if ".BTF" not in command(["readelf", "-SW", folder / module]):
            command(["pahole", "-J", "--btf_base", kernel.vmlinux, folder / module])
        command(["strip", "--strip-debug", folder / module])


def command(words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]} failed:\n{done.stdout}")
    return done.stdout
