"""The simulated driver called by ctypes, in a child process of its own for each use."""

import ctypes
import json
import os
import tempfile
import traceback

from .machine import CUDA_SIM

KERNELS = b"cuda_sim image\nvector_add\nsoftmax\nnothing\nbusy_wait\n"
SUCCESS = 0


class Node(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS"""
    _fields_ = [("func", ctypes.c_void_p)] + [
        (name, ctypes.c_uint) for name in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX",
                                           "blockDimY", "blockDimZ", "sharedMemBytes")] + [
        ("kernelParams", ctypes.c_void_p), ("extra", ctypes.c_void_p), ("kern", ctypes.c_void_p),
        ("ctx", ctypes.c_void_p)]


class Simulated:
    """cu.cuMemAlloc_v2(...) calls, and fails unless the result is CUDA_SUCCESS; cu.result(NAME, ...)
    gives the result. Integers are passed 64 bits wide, which suits every integer and handle."""

    def __init__(self):
        self.library = ctypes.CDLL(str(CUDA_SIM / "libcuda.so.1"))

    def result(self, name, *arguments):
        wide = [ctypes.c_uint64(a & (1 << 64) - 1) if isinstance(a, int) else a for a in arguments]
        return getattr(self.library, name)(*wide)

    def __getattr__(self, name):
        def call(*arguments):
            result = self.result(name, *arguments)
            assert result == SUCCESS, f"{name} returned {result}"
        return call

    def out(self, name, *arguments, kind=ctypes.c_uint64):
        """The value that a call writes through its first parameter."""
        value = kind(0)
        getattr(self, name)(ctypes.byref(value), *arguments)
        return value.value

    def start(self, device=0):
        """A context, and the functions of a module by name."""
        self.cuInit(0)
        self.context = self.out("cuCtxCreate_v2", 0, device)
        module = self.out("cuModuleLoadData", KERNELS)
        return {name: self.out("cuModuleGetFunction", module, name.encode())
                for name in KERNELS.decode().split()[2:]}

    def launch(self, function, stream=0, form="cuLaunchKernel", params=None):
        getattr(self, form)(function, 1, 1, 1, 1, 1, 1, 0, stream, params, None)

    def books(self):
        with tempfile.NamedTemporaryFile() as file:
            assert self.library.cuda_sim_write_books(file.name.encode()) == 0
            return json.load(file)


def pointers(*values):
    """A launch's kernelParams for 64-bit values; each value is kept alive by the array."""
    held = [ctypes.c_uint64(value) for value in values]
    array = (ctypes.c_void_p * len(held))(*(ctypes.addressof(value) for value in held))
    array.held = held
    return array


def in_child(work, **environment):
    """What `work(simulated)` returns, as JSON gives it back, in a process that has loaded the
    driver with these environment variables."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.environ.update({"CUDA_SIM_QUIET": "1", **environment})
        try:
            answer = {"is": work(Simulated())}
        except BaseException:
            answer = {"failed": traceback.format_exc()}
        with os.fdopen(write, "w") as file:
            json.dump(answer, file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    assert status == 0 and text, f"the child ended with {status}"
    answer = json.loads(text)
    if "failed" in answer:
        raise AssertionError(answer["failed"])
    return answer["is"]
