"""Runs a command under a seccomp filter that refuses bpf(2) with EPERM, as containers have one.

    without_bpf.py COMMAND [ARGUMENT]...
"""

import ctypes
import os
import platform
import struct
import sys

BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}[platform.machine()]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO_EPERM = 0x7FFF0000, 0x00050001


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def main():
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in (
        (LOAD_NUMBER, 0, 0, 0), (IF_EQUAL, 0, 1, BPF_SYSCALL), (RETURN, 0, 0, ERRNO_EPERM),
        (RETURN, 0, 0, ALLOW)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())
    program = Filter(4, code)
    assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0, \
        os.strerror(ctypes.get_errno())
    os.execvp(sys.argv[1], sys.argv[1:])


main()
