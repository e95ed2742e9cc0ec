"""NVIDIA's own driver, for tests only: its library libcuda.so.1, as Debian's component non-free has
it, and its modules, built from there for one kernel. Kept in build/vm ($MLBCC_VM_CACHE), never
installed:

    build/vm/nvidia-6.1.0-56-amd64/nvidia.ko
    build/vm/nvidia-6.1.0-56-amd64/nvidia-uvm.ko
    build/vm/nvidia-6.1.0-56-amd64/libcuda.so.1
    build/vm/nvidia-6.1.0-56-amd64.log             what the compiler said

A driver that is there is not looked for again; remove its folder to get a newer one.
"""

import fcntl
import os
import shutil
import subprocess

from .apt import Apt, unpack
from .kernel import CACHE, KERNELS
from .modules import MODULES, command

PACKAGES = ("nvidia-kernel-dkms", "libcuda1")
PROGRESS = 20  # seconds between two lines of it


def fetch_driver(version, kernel, say):
    """The folder of the driver for this kernel, made if it is not in the cache, which takes some 3
    minutes; `say` takes lines of progress. Raises Unavailable where Debian has no such packages,
    RuntimeError where they cannot be built."""
    folder = CACHE / f"nvidia-{kernel.release}"
    with open(CACHE / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            work = CACHE / f"{folder.name}.new"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            try:
                make_driver(version, kernel, work, say)
                (work / "driver").rename(folder)
            finally:
                shutil.rmtree(work)
    return folder


def make_driver(version, kernel, work, say):
    # The release's, not an update: what a version asks of its modules is known.
    apt = Apt(work / "apt", KERNELS[version], "NVIDIA driver", "non-free", newest=False)
    say("NVIDIA's driver is fetched")
    (work / "tree").mkdir()
    for package in apt.download(PACKAGES):
        unpack(package, work / "tree")
    (work / "driver").mkdir()
    library = next((work / "tree").rglob("libcuda.so.[0-9]*.*"))  # libcuda.so.535.261.03
    shutil.copy(library, work / "driver" / "libcuda.so.1")
    sources = next((work / "tree" / "usr" / "src").glob("nvidia-*"))
    build_modules(kernel, sources, CACHE / f"nvidia-{kernel.release}.log", say)
    for module in MODULES:
        # Without debug information, as installed; and without BTF, for which Debian's headers lack
        # the kernel's own.
        command(["strip", "--strip-debug", "-o", work / "driver" / module, sources / module])


def build_modules(kernel, sources, log, say):
    common = kernel.headers.with_name(kernel.headers.name.replace("-amd64", "-common"))
    make = ["make", f"-j{os.cpu_count()}", "modules", f"SYSSRC={common}", f"SYSOUT={kernel.headers}",
            "NV_KERNEL_MODULES=nvidia nvidia-uvm", "IGNORE_CC_MISMATCH=1"]
    say(f"NVIDIA's driver {sources.name.rsplit('-', 1)[1]} is built, which takes some minutes")
    with open(log, "w") as out:
        process = subprocess.Popen(make, cwd=sources, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT)
        try:
            while True:
                try:
                    status = process.wait(PROGRESS)
                    break
                except subprocess.TimeoutExpired:
                    say(f"NVIDIA's driver: {last_step(log)}")
        finally:
            process.kill()
    if status != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
        raise RuntimeError(f"NVIDIA's driver does not build:\n{tail}")


def last_step(log):
    """`  CC [M]  /work/nvidia/nv.o` -> `CC [M] nv.o`; first come 300 steps `CONFTEST: NAME`."""
    *words, what = (log.read_text(errors="replace").splitlines() or ["begins"])[-1].split() or ["..."]
    return " ".join([*words, what.rsplit("/", 1)[-1]])
