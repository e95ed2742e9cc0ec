"""A job on any libcuda.so.1: imports, threads that have nothing to do, a first run that loads code, steps.

gpu_pool.py LOG '{"steps": 60, "threads": 24, "launches": 24, "copies": true, "modules": 8, "late": false}'
Writes its own clock to LOG, a line of JSON: wall time at each boundary, and how long each step took.
"""
import time

wall = {"script": time.time()}
import ctypes
import http.server  # noqa: F401
import json
import os
import sqlite3  # noqa: F401
import sys
import threading
import unittest  # noqa: F401

PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s(.param .u64 a)\n{ ret; }\n\0"
cu = ctypes.CDLL("libcuda.so.1")
log, job = sys.argv[1], json.loads(sys.argv[2])
never = threading.Event()
for _ in range(job["threads"]):
    threading.Thread(target=never.wait, daemon=True).start()


def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def check(status):
    assert status == 0, status


def load(name):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(cu.cuModuleLoadData(ctypes.byref(module), PTX % name))
    check(cu.cuModuleGetFunction(ctypes.byref(function), module, name))
    busy(.04)  # as a compiler
    return function


wall["first_run"] = time.time()
device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
check(cu.cuInit(0))
check(cu.cuDeviceGet(ctypes.byref(device), 0))
check(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
check(cu.cuCtxSetCurrent(context))
functions = [load(b"gemm_%d" % i) for i in range(job["modules"])]
check(cu.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 20)))
host = ctypes.create_string_buffer(1 << 16)
argument = ctypes.c_uint64(0)
arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(argument), ctypes.c_void_p))


def step(number):
    if job["copies"]:
        check(cu.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(1 << 16)))
    if number == 0 and job["late"]:
        functions.append(load(b"late"))
    for i in range(job["launches"]):
        check(cu.cuCtxGetDevice(ctypes.byref(device)))
        check(cu.cuLaunchKernel(functions[i % len(functions)], 1, 1, 1, 32, 1, 1, 0, None, arguments, None))
    time.sleep(.2 if number % 15 == 14 else .005)  # a checkpoint now and then
    check(cu.cuCtxSynchronize())


took = []
wall["steps"] = time.time()
for number in range(job["steps"]):
    begin = time.monotonic()
    step(number)
    took.append(time.monotonic() - begin)
wall["end"] = time.time()
with open(log, "a", encoding="ascii") as out:
    out.write(json.dumps({"pid": os.getpid(), "wall": wall, "took": took}) + "\n")
time.sleep(.1)
