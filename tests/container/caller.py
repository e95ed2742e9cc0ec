"""Calls cuDriverGetVersion as often as each line of its standard input says, and answers "done"."""

import ctypes
import sys

library = ctypes.CDLL("libcuda.so.1")
version = ctypes.c_int()
print("ready", flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        library.cuDriverGetVersion(ctypes.byref(version))
    print("done", flush=True)
