"""Debian's kernels with their headers: fetched by apt, only unpacked, kept in build/vm
($MLBCC_VM_CACHE).

    build/vm/bookworm/boot/vmlinuz-6.1.0-56-amd64
    build/vm/bookworm/vmlinux                          the same unpacked: boots faster, has BTF
    build/vm/bookworm/usr/src/linux-headers-6.1.0-56-amd64/Makefile
    build/vm/bookworm-arm64/vmlinux                    for another processor, without headers

A kernel that is there is not looked for again; remove its folder to get a newer one.
"""

import fcntl
import lzma
import os
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .apt import Apt, unpack
from .host_tools import make_runnable
from .processor import AMD64, Processor

ROOT = Path(__file__).resolve().parents[3]
CACHE = Path(os.environ.get("MLBCC_VM_CACHE", ROOT / "build" / "vm")).resolve()
# version: Debian suite
KERNELS = {"6.1": "bookworm", "6.12": "bookworm-backports", "7.3": "trixie-backports"}


@dataclass(frozen=True)
class Kernel:
    folder: Path  # a tree like /: boot, lib/modules, usr/src
    processor: Processor

    @property
    def release(self):
        return next(self.folder.glob("boot/vmlinuz-*")).name.removeprefix("vmlinuz-")

    @property
    def vmlinux(self):
        """What is booted."""
        return self.folder / "vmlinux"

    @property
    def headers(self):
        return self.folder / "usr" / "src" / f"linux-headers-{self.release}"


def fetch(version, processor=AMD64):
    """The Kernel of this version, fetched if it is not in the cache; raises Unavailable."""
    suite = KERNELS[version]
    folder = CACHE / (suite if processor is AMD64 else f"{suite}-{processor.name}")
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            work = CACHE / f"{folder.name}.new"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            try:
                apt = Apt(work / "apt", suite, "kernel", arch=processor.name)
                make_tree(apt, work / "tree", processor)
                release = suite.removesuffix("-backports")
                make_runnable(lambda: Apt(work / "host-apt", release, "C library"), work / "tree", folder)
                (work / "tree").rename(folder)
            finally:
                shutil.rmtree(work)
    return Kernel(folder, processor)


def make_tree(apt, tree, processor):
    image = apt.depends(f"linux-image-{processor.name}", "linux-image-")[0]
    # Since Debian 13 an image is in parts.
    wanted = [image, *apt.depends(image, "linux-(?:base|binary|modules)-")]
    if processor is AMD64:  # modules are built for it
        headers = image.replace("image", "headers")
        wanted += [headers, *apt.depends(headers, "linux-headers-"),
                   *apt.depends(headers, "linux-kbuild-")]
    (tree / "usr" / "lib").mkdir(parents=True)
    (tree / "lib").symlink_to("usr/lib")  # merged /usr, or the tree could not be laid over /
    for package in apt.download(wanted):
        unpack(package, tree)
    for image in tree.glob("usr/lib/modules/*/vmlinuz"):  # of the parts
        (tree / "boot").mkdir(exist_ok=True)
        shutil.copy(image, tree / "boot" / f"vmlinuz-{image.parent.name}")
    kernel = Kernel(tree, processor)
    subprocess.run(["depmod", "-b", tree, kernel.release], check=True)
    image = next(tree.glob("boot/vmlinuz-*")).read_bytes()
    kernel.vmlinux.write_bytes(uncompressed(image) if processor is AMD64 else image)
    if processor is AMD64:
        relocate(kernel.headers / "Makefile")


def uncompressed(image):
    """The ELF file in a bzImage; its header says where (Linux: Documentation/arch/x86/boot.rst)."""
    setup_sectors = image[0x1F1]
    offset, length = struct.unpack_from("<II", image, 0x248)
    begin = (setup_sectors + 1) * 512 + offset
    payload = image[begin:begin + length - 4]  # behind it stands its size when unpacked
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.decompress(payload)
    return subprocess.run(["zstd", "-dcq"], input=payload, capture_output=True, check=True).stdout


def relocate(makefile):
    """`include /usr/src/linux-headers-6.1.0-56-common/Makefile` -> the one beside it; and the folder
    that a newer one says it is in."""
    here = "$(dir $(lastword $(MAKEFILE_LIST)))"
    text = makefile.read_text().replace("include /usr/src/", f"include {here}../")
    makefile.write_text(re.sub(r"KBUILD_OUTPUT=/usr/src/\S+", f"KBUILD_OUTPUT := $(abspath {here})", text))
