"""As one_cpu.c, from four functions of Python that share a CPU, and let each other run in their calls.

    one_cpu.py libone_cpu.so ROUNDS
"""

import ctypes
import os
import sys
import threading
import time

library = ctypes.CDLL(sys.argv[1])
rounds = int(sys.argv[2])
for name in ("first", "second"):
    getattr(library, name).argtypes = [ctypes.c_long] * 4 + [ctypes.c_char_p]
    getattr(library, name).restype = ctypes.c_long


def call(thread, i):
    a = thread * 1000000 + i
    library.first(a, a * 3 + 1, ~a, thread, b"t")
    library.second(a, a * 3 + 1, ~a, thread, b"t")


def thread_1():
    for i in range(rounds):
        call(1, i)


def thread_2():
    for i in range(rounds):
        call(2, i)


def thread_3():
    for i in range(rounds):
        call(3, i)


def thread_4():
    """Wakes up in the middle of the others."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    for i in range(rounds):
        call(4, i)
        time.sleep(50e-6)


os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
threads = [threading.Thread(target=one) for one in (thread_1, thread_2, thread_3, thread_4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
