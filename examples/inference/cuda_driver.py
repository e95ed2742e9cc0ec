"""The functions of the CUDA driver library that app.py calls, by ctypes, with a log of every call.

The log is JSON lines, one a call and one at the end:

    {"call": "cuMemAlloc_v2", "args": {"dptr": "0x7f3c", "bytesize": 4096},
     "out": {"dptr": "0x7f0000"}, "ret": 0}
    {"totals": {"calls": 59, "bytes_allocated": 13352, "bytes_leaked": 0, ...}}

Arguments have the names of the C prototypes. Numbers are numbers, strings are strings; addresses
and handles are hexadecimal text, "0x0" for null. "out" holds what the call wrote through a pointer,
where that is one value.
"""

import ctypes
import json

U32 = ctypes.c_uint
INT = ctypes.c_int
SIZE = ctypes.c_size_t
TEXT = ctypes.c_char_p
HANDLE = ctypes.c_void_p


class DevicePointer(ctypes.c_ulonglong):
    """CUdeviceptr: an address of the device's memory. A type of its own, to be told from sizes."""


class Out:
    """A pointer to one value that the call writes; the argument is the ctypes object for it."""


class Buffer:
    """A pointer to memory of the host; the argument is a ctypes array, or None."""


_LAUNCH = [
    ("f", HANDLE), ("gridDimX", U32), ("gridDimY", U32), ("gridDimZ", U32),
    ("blockDimX", U32), ("blockDimY", U32), ("blockDimZ", U32), ("sharedMemBytes", U32),
    ("hStream", HANDLE), ("kernelParams", Buffer), ("extra", Buffer),
]

PROTOTYPES = {
    "cuInit": [("Flags", U32)],
    "cuDriverGetVersion": [("driverVersion", Out)],
    "cuGetErrorName": [("error", INT), ("pStr", Out)],
    "cuDeviceGetCount": [("count", Out)],
    "cuDeviceGet": [("device", Out), ("ordinal", INT)],
    "cuDeviceGetName": [("name", Buffer), ("len", INT), ("dev", INT)],
    "cuCtxCreate_v2": [("pctx", Out), ("flags", U32), ("dev", INT)],
    "cuCtxSynchronize": [],
    "cuCtxDestroy_v2": [("ctx", HANDLE)],
    "cuModuleLoad": [("module", Out), ("fname", TEXT)],
    "cuModuleGetFunction": [("hfunc", Out), ("hmod", HANDLE), ("name", TEXT)],
    "cuModuleUnload": [("hmod", HANDLE)],
    "cuMemGetInfo_v2": [("free", Out), ("total", Out)],
    "cuMemAlloc_v2": [("dptr", Out), ("bytesize", SIZE)],
    "cuMemFree_v2": [("dptr", DevicePointer)],
    "cuMemcpyHtoD_v2": [("dstDevice", DevicePointer), ("srcHost", Buffer), ("ByteCount", SIZE)],
    "cuMemcpyDtoH_v2": [("dstHost", Buffer), ("srcDevice", DevicePointer), ("ByteCount", SIZE)],
    "cuMemcpyHtoDAsync_v2": [("dstDevice", DevicePointer), ("srcHost", Buffer),
                             ("ByteCount", SIZE), ("hStream", HANDLE)],
    "cuStreamCreate": [("phStream", Out), ("Flags", U32)],
    "cuStreamSynchronize": [("hStream", HANDLE)],
    "cuStreamDestroy_v2": [("hStream", HANDLE)],
    "cuLaunchKernel": _LAUNCH,
}


class CudaError(Exception):
    """A driver function returned something other than CUDA_SUCCESS."""


class Driver:
    """Calls driver functions by name: driver.call("cuMemFree_v2", address)."""

    def __init__(self, library, log=None):
        self._library = ctypes.CDLL(library)
        self._log = log
        self._functions = {}
        self.calls = 0
        self.totals = {"bytes_allocated": 0, "bytes_freed": 0, "allocations": 0, "launches": 0,
                       "bytes_host_to_device": 0, "bytes_device_to_host": 0}
        self._held = {}

    def call(self, name, *args):
        """Raises CudaError if the function does not return CUDA_SUCCESS."""
        ret = self._invoke(name, args)
        if ret != 0:
            raise CudaError("{} returned {}".format(name, self._error_name(ret)))

    def finish(self):
        """Writes the last line of the log and returns what it says."""
        totals = dict(self.totals, calls=self.calls, bytes_leaked=sum(self._held.values()))
        self._write({"totals": totals})
        return totals

    def _invoke(self, name, args):
        prototype = PROTOTYPES[name]
        function = self._function(name, prototype)
        values = [_to_c(kind, arg) for (_, kind), arg in zip(prototype, args)]
        ret = function(*values)
        self.calls += 1
        self._write({
            "call": name,
            "args": {key: _shown(kind, value) for (key, kind), value in zip(prototype, values)},
            "out": {key: _written(arg) for (key, kind), arg in zip(prototype, args) if kind is Out},
            "ret": ret})
        if ret == 0:
            self._account(name, args)
        return ret

    def _function(self, name, prototype):
        if name not in self._functions:
            function = getattr(self._library, name)
            function.restype = INT
            function.argtypes = [HANDLE if kind in (Out, Buffer) else kind for _, kind in prototype]
            self._functions[name] = function
        return self._functions[name]

    def _error_name(self, number):
        name = TEXT()
        if self._invoke("cuGetErrorName", (number, name)) != 0 or not name.value:
            return str(number)
        return "{} ({})".format(name.value.decode(), number)

    def _account(self, name, args):
        totals = self.totals
        if name == "cuMemAlloc_v2":
            totals["bytes_allocated"] += args[1]
            totals["allocations"] += 1
            self._held[args[0].value] = args[1]
        elif name == "cuMemFree_v2":
            totals["bytes_freed"] += self._held.pop(args[0])
        elif name.startswith("cuMemcpyHtoD"):
            totals["bytes_host_to_device"] += args[2]
        elif name.startswith("cuMemcpyDtoH"):
            totals["bytes_device_to_host"] += args[2]
        elif name == "cuLaunchKernel":
            totals["launches"] += 1

    def _write(self, record):
        if self._log:
            self._log.write(json.dumps(record) + "\n")


def _to_c(kind, arg):
    if kind in (Out, Buffer):
        return ctypes.addressof(arg) if arg is not None else None
    if kind is HANDLE and isinstance(arg, HANDLE):
        return arg.value
    return arg


def _shown(kind, value):
    if kind in (Out, Buffer, HANDLE, DevicePointer):
        return hex(value or 0)
    return value.decode() if kind is TEXT else value


def _written(arg):
    if isinstance(arg, (HANDLE, DevicePointer)):
        return hex(arg.value or 0)
    return arg.value.decode() if isinstance(arg, TEXT) and arg.value else arg.value
