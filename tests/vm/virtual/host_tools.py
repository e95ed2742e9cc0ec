"""The programs with which a kernel's headers build modules, where they are of a newer Debian than this
machine: they get that Debian's C library, fetched for them alone, in the kernel's own tree.

    build/vm/trixie-backports/host/usr/lib/x86_64-linux-gnu/libc.so.6
"""

import re
import subprocess

from .apt import unpack

LIBRARIES = ("libc6", "libelf1t64", "zlib1g", "libzstd1")
LOADER = "ld-linux-x86-64.so.2"


def newer_programs(tree):
    """Those that ask for a C library that this machine does not have."""
    here = version(subprocess.run(["getconf", "GNU_LIBC_VERSION"], capture_output=True, text=True, check=True).stdout)
    for file in sorted(tree.glob("usr/lib/linux-kbuild-*/**/*")):
        if not file.is_file() or file.is_symlink() or file.read_bytes()[:4] != b"\x7fELF":
            continue
        needs = subprocess.run(["objdump", "-p", file], capture_output=True, text=True, check=True).stdout
        if max(map(version, re.findall(r"GLIBC_\S+", needs)), default=(0,)) > here:
            yield file


def version(text):
    """"GLIBC_2.38" -> (2, 38)"""
    return tuple(map(int, re.search(r"\d+(?:\.\d+)*", text)[0].split(".")))


def make_runnable(apt, tree, folder):
    """`folder` is where the tree will be; `apt` is of the release that the kernel is built for."""
    programs = list(newer_programs(tree))
    if not programs:
        return
    for package in apt().download(LIBRARIES):
        (tree / "host").mkdir(exist_ok=True)
        unpack(package, tree / "host")
    libraries = folder / "host" / "usr" / "lib" / "x86_64-linux-gnu"
    for program in programs:
        subprocess.run(["patchelf", "--set-interpreter", libraries / LOADER, "--set-rpath", libraries, program],
                       check=True)
