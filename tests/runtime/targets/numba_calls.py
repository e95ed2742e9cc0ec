"""Debian's numba at work on the driver library that NUMBA_CUDA_DRIVER names: arrays, copies, pinned
memory, streams, events and a kernel. The kernel comes as PTX, since libNVVM would be needed to
compile one. Prints what it computed."""

import ctypes

import numpy
from numba import cuda
from numba.cuda.cudadrv import driver

PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n) { ret; }
"""
CHANGED_BY_CUDA_13 = ("cuCtxGetDevice", "cuCtxSynchronize")
COUNT = 1000

# numba calls the _v2 form of a name where there is one. These two got a parameter with it, in a
# version of CUDA that is later than this numba.
find_api = driver.Driver._find_api
driver.Driver._find_api = lambda self, name: (
    getattr(self.lib, name) if name in CHANGED_BY_CUDA_13 else find_api(self, name))


def add(context, first, second, out, stream):
    function = context.create_module_ptx(PTX).get_function("vector_add")
    arguments = [array.device_ctypes_pointer for array in (first, second, out)]
    driver.launch_kernel(function.handle, 4, 1, 1, 256, 1, 1, 0, stream.handle,
                         [*arguments, ctypes.c_int(COUNT)])


def main():
    context, stream = cuda.current_context(), cuda.stream()
    host = numpy.arange(COUNT, dtype=numpy.float32)
    first, second = cuda.to_device(host), cuda.device_array_like(host)
    second.copy_to_device(first)
    with cuda.pinned(host):
        out = cuda.to_device(host, stream=stream)
        stream.synchronize()
    begin, end = cuda.event(), cuda.event()
    begin.record(stream)
    for _ in range(3):
        add(context, first, second, out, stream)
    end.record(stream)
    end.synchronize()
    context.synchronize()
    print((out.copy_to_host() == 2 * host).all(), cuda.event_elapsed_time(begin, end) >= 0)
    del first, second, out
    context.memory_manager.deallocations.clear()


main()
