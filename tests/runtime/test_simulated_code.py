"""The simulated driver's code, launches, addresses of functions, copies and times."""

import ctypes
import subprocess
import unittest

from harness.machine import CUDA_SIM
from harness.simulated import in_child

INVALID_VALUE, NOT_FOUND, TOO_LARGE = 1, 500, 720
PER_THREAD = 2
PTX = b"""//
// made by hand
.version 8.0
.target sm_90
.visible .entry scale_rows(
    .param .u64 scale_rows_param_0
)
{ ret; }
.entry nothing() { ret; }
"""


def text_of(cu, name, handle):
    """What cuFuncGetName or cuKernelGetName says."""
    text = ctypes.c_char_p()
    getattr(cu, name)(ctypes.byref(text), handle)
    return text.value.decode()


def address_of(cu, base, version=13000, flags=0, form="cuGetProcAddress_v2"):
    found, status = ctypes.c_void_p(), ctypes.c_int(-1)
    cu.__getattr__(form)(base, ctypes.byref(found), version, flags, ctypes.byref(status))
    return found.value, status.value


def exports():
    text = subprocess.run(["nm", "-D", "--defined-only", CUDA_SIM / "libcuda.so.1"], check=True,
                          capture_output=True, text=True).stdout
    return {line.split()[2] for line in text.splitlines() if line.split()[2].startswith("cu")}


class Code(unittest.TestCase):
    def test_kernels_of_a_library_have_names(self):
        def work(cu):
            cu.start()
            image = b"cuda_sim image\nsoftmax\nnothing\n"
            library = cu.out("cuLibraryLoadData", image, None, None, 0, None, None, 0)
            count = cu.out("cuLibraryGetKernelCount", library, kind=ctypes.c_uint)
            kernels = (ctypes.c_uint64 * count)()
            cu.cuLibraryEnumerateKernels(kernels, count, library)
            names = [text_of(cu, "cuKernelGetName", kernel) for kernel in kernels]
            function = cu.out("cuKernelGetFunction", kernels[1])
            cu.launch(kernels[1])
            cu.launch(function, form="cuLaunchKernel_ptsz")
            module = cu.out("cuLibraryGetModule", library)
            functions = (ctypes.c_uint64 * 2)()
            cu.cuModuleEnumerateFunctions(functions, 2, module)
            return (names, text_of(cu, "cuFuncGetName", function), function == functions[1],
                    cu.books()["kernels"])

        self.assertEqual(in_child(work), [["softmax", "nothing"], "nothing", True, {"nothing": 2}])

    def test_launches_of_each_kind(self):
        def work(cu):
            nothing = cu.start()["nothing"]
            config = (ctypes.c_uint32 * 14)(2, 1, 1, 32, 1, 1, 0)
            cu.cuLaunchKernelEx(config, nothing, None, None)
            cu.cuLaunchKernelEx_ptsz(config, nothing, None, None)
            cu.cuLaunchCooperativeKernel(nothing, 1, 1, 1, 32, 1, 1, 0, 0, None)
            too_large = cu.result("cuLaunchCooperativeKernel", nothing, 1 << 20, 1, 1, 1024, 1, 1, 0,
                                  0, None)
            return too_large, cu.books()["kernels"]

        self.assertEqual(in_child(work), [TOO_LARGE, {"nothing": 3}])

    def test_ptx_gives_names(self):
        def work(cu):
            cu.start()
            state = ctypes.c_uint64()
            cu.cuLinkCreate_v2(0, None, None, ctypes.byref(state))
            cu.cuLinkAddData_v2(state, 1, PTX, len(PTX), b"made", 0, None, None)
            image, size = ctypes.c_void_p(), ctypes.c_uint64()
            cu.cuLinkComplete(state, ctypes.byref(image), ctypes.byref(size))
            module = cu.out("cuModuleLoadDataEx", image, 0, None, None)
            cu.cuLinkDestroy(state)
            function = cu.out("cuModuleGetFunction", module, b"scale_rows")
            cu.launch(function)
            count = cu.out("cuModuleGetFunctionCount", module, kind=ctypes.c_uint)
            missing = cu.result("cuModuleGetFunction", ctypes.byref(ctypes.c_uint64()), module,
                                b"made")
            return (size.value, text_of(cu, "cuFuncGetName", function), count, missing,
                    cu.books()["kernels"])

        self.assertEqual(in_child(work), [len(PTX) + 1, "scale_rows", 2, NOT_FOUND,
                                          {"scale_rows": 1}])


class Addresses(unittest.TestCase):
    def test_forms_by_version_and_thread(self):
        cases = [(b"cuMemcpyHtoDAsync", 13000, 0, "cuMemcpyHtoDAsync_v2"),
                 (b"cuMemcpyHtoDAsync", 13000, PER_THREAD, "cuMemcpyHtoDAsync_v2_ptsz"),
                 (b"cuMemcpyHtoDAsync", 2000, 0, "cuMemcpyHtoDAsync"),
                 (b"cuCtxCreate", 12000, 0, "cuCtxCreate_v3"),
                 (b"cuLaunchKernel", 13000, PER_THREAD, "cuLaunchKernel_ptsz"),
                 (b"cuMemAlloc", 13000, PER_THREAD, "cuMemAlloc_v2")]

        def work(cu):
            def export(name):
                return ctypes.cast(getattr(cu.library, name), ctypes.c_void_p).value
            return [address_of(cu, base, version, flags) == (export(name), 0)
                    for base, version, flags, name in cases]

        self.assertEqual(in_child(work), [True] * len(cases))

    def test_an_address_that_is_no_export(self):
        def work(cu):
            cu.start()
            found, status = address_of(cu, b"cuMemAlloc")
            addresses = {ctypes.cast(getattr(cu.library, name), ctypes.c_void_p).value
                         for name in exports()}
            value = ctypes.c_uint64()
            call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64)(found)
            result = call(ctypes.byref(value), 4096)
            return (status, found in addresses, address_of(cu, b"cuMemFree")[0] in addresses,
                    result, cu.books()["calls"]["cuMemAlloc_v2"], cu.books()["device"]["current"])

        self.assertEqual(in_child(work, CUDA_SIM_HIDDEN="cuLaunchKernel,cuMemAlloc"),
                         [0, False, True, 0, 1, 4096])
        self.assertEqual(in_child(work, CUDA_SIM_HIDDEN="cuLaunchKernel")[1], True)


class Copies(unittest.TestCase):
    def test_batches_boxes_and_what_the_host_side_is(self):
        def work(cu):
            cu.start()
            device, other = (cu.out("cuMemAlloc_v2", 4096) for _ in range(2))
            pinned, pageable = cu.out("cuMemHostAlloc", 4096, 0), (ctypes.c_char * 64)(*b"abcdef")
            registered = (ctypes.c_char * 8192)()
            cu.cuMemHostRegister_v2(ctypes.addressof(registered), 8192, 0)
            places = (ctypes.c_uint64 * 3)(device, device + 64, device + 128)
            froms = (ctypes.c_uint64 * 3)(ctypes.addressof(pageable), pinned,
                                          ctypes.addressof(registered))
            sizes, indices, failed = ((ctypes.c_uint64 * 3)(10, 20, 30), (ctypes.c_uint64 * 1)(0),
                                      ctypes.c_uint64())
            attributes = (ctypes.c_uint32 * 6)(1)
            cu.cuMemcpyBatchAsync(places, froms, sizes, 3, attributes, indices, 1,
                                  ctypes.byref(failed), 0)
            batch = failed.value
            wrong = (ctypes.c_uint64 * 3)(device, device + 4000, other)
            sizes[1] = 200
            fault = cu.result("cuMemcpyBatchAsync_ptsz", wrong, places, sizes, 3, attributes,
                              indices, 1, ctypes.byref(failed), 0)
            box = (ctypes.c_uint64 * 25)()  # CUDA_MEMCPY3D_PEER: 4 x 3 x 2 bytes, rows 16 apart
            box[4], box[6], box[8], box[9], box[10] = 2, device, cu.context, 16, 3
            box[15], box[17], box[19] = 2, other, cu.context
            box[22], box[23], box[24] = 4, 3, 2
            cu.cuMemcpy3DPeerAsync(box, 0)
            back = (ctypes.c_char * 8)()
            cu.cuMemcpyDtoH_v2(back, other, 4)
            books = cu.books()
            return (batch == (1 << 64) - 1, fault, failed.value, back.value.decode(),
                    books["bytes_copied"], books["host_side"])

        self.assertEqual(in_child(work), [
            True, INVALID_VALUE, 1, "abcd",
            {"host_to_device": 60, "device_to_host": 4, "device_to_device": 34},
            {"pinned": 50, "pageable": 14}])

    def test_events_tell_the_time_between_them(self):
        def work(cu):
            busy = cu.start()["busy_wait"]
            first, second = cu.out("cuEventCreate", 0), cu.out("cuEventCreate", 0)
            nanoseconds = ctypes.c_uint64(5_000_000)
            params = (ctypes.c_void_p * 1)(ctypes.addressof(nanoseconds))
            cu.cuEventRecord(first, 0)
            cu.launch(busy, params=params)
            cu.cuEventRecord_ptsz(second, 0)
            return cu.out("cuEventElapsedTime_v2", first, second, kind=ctypes.c_float)

        self.assertGreaterEqual(in_child(work), 5.0)

    def test_a_callback(self):
        def work(cu):
            cu.start()
            seen = []
            kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
            callback = kind(lambda stream, status, data: seen.append((stream, status, data)))
            cu.cuStreamAddCallback(0, callback, 77, 0)
            return seen

        self.assertEqual(in_child(work), [[None, 0, 77]])


if __name__ == "__main__":
    unittest.main()
