"""What this machine can do and where the build is. A test is skipped only for what is asked here."""

import contextlib
import ctypes
import fcntl
import functools
import json
import os
import platform
import shutil
import socket
import struct
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("MLBCC_BUILD", ROOT / "build" / "release")).resolve()
os.environ["MLBCC_BUILD"] = str(BUILD)  # programs that tests start in other folders read it, too
MLBCC = BUILD / "mlbcc"
TARGETS = BUILD / "tests" / "runtime" / "targets"
CUDA_SIM = BUILD / "examples" / "cuda_sim"
SLOWNESS = int(os.environ.get("MLBCC_TEST_SLOWNESS", 1))  # of an emulated processor: what limits grow by

BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}


@contextlib.contextmanager
def alone(name):
    """One test at a time, of all processes that run tests of this build, does what is called so."""
    with open(BUILD / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def target(name):
    """The path of a program or library of targets/, as text."""
    path = TARGETS / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is not built")
    return str(path)


@functools.cache
def why_not_bpf():
    """None where this process may use BPF, else the reason for a skip."""
    if os.geteuid() != 0:
        return "not root: probes need it"
    # BPF_MAP_CREATE of an array with one 4-byte element: {type, key, value, max_entries}
    attributes = (ctypes.c_uint32 * 30)(2, 4, 4, 1)
    libc = ctypes.CDLL(None, use_errno=True)
    number = BPF_SYSCALL.get(platform.machine(), -1)
    fd = libc.syscall(number, 0, ctypes.byref(attributes), ctypes.sizeof(attributes))
    if fd < 0:
        return f"the kernel refuses BPF: {os.strerror(ctypes.get_errno())}"
    os.close(fd)
    return None


@functools.cache
def kernel():
    """The running kernel's version as a pair: (6, 18)."""
    major, minor = platform.release().split(".")[:2]
    return int(major), int("".join(c for c in minor if c.isdigit()))


def attach_ways():
    """The ways of --attach that this kernel has."""
    ways = ["perf"]
    if kernel() >= (6, 6):
        ways.append("multi")
    if kernel() >= (6, 13):
        ways.append("session")
    return ways


def own_network():
    """For Popen's preexec_fn: a network namespace that has the loopback device alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x40000000) != 0:  # CLONE_NEWNET
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket() as one:  # SIOCSIFFLAGS: IFF_UP
        fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 1))


@functools.cache
def has_own_network():
    try:
        return subprocess.run(["true"], preexec_fn=own_network, check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def need_tool(name):
    """The path of a program that a test compares with; a skip where it is not installed."""
    path = shutil.which(name)
    if path is None:
        raise unittest.SkipTest(f"{name} is not installed (scripts/setup.sh --tests)")
    return path


def bpf_objects():
    """The ids of all BPF programs, maps and links: {("prog", 12), ...}."""
    found = set()
    for kind in ("prog", "map", "link"):
        text = subprocess.run([need_tool("bpftool"), "--json", kind, "list"], text=True,
                              capture_output=True, check=True).stdout
        found |= {(kind, item["id"]) for item in json.loads(text or "[]")}
    return found
