"""The simulated driver's memory: what fails, what takes memory down, several devices."""

import ctypes
import unittest

from harness.simulated import in_child, pointers

INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, INVALID_CONTEXT = 1, 2, 101, 201
PEER_ALREADY, PEER_NOT, DESTROYED = 704, 705, 709
MiB = 1 << 20
USED_CURRENT, USED_HIGH, RELEASE_THRESHOLD = 7, 8, 4


def new(cu, name, *arguments):
    """(result, value) of a call that writes a handle through its first parameter."""
    value = ctypes.c_uint64()
    return cu.result(name, ctypes.byref(value), *arguments), value.value


def pool_on(cu, device, maximum=0):
    """CUmemPoolProps: pinned, of a device, with a maximum size"""
    props = (ctypes.c_uint32 * 22)(1, 0, 1, device)
    ctypes.cast(props, ctypes.POINTER(ctypes.c_uint64))[3] = maximum
    return cu.out("cuMemPoolCreate", props)


class Memory(unittest.TestCase):
    def test_a_device_that_is_full(self):
        def work(cu):
            cu.start()
            first = new(cu, "cuMemAlloc_v2", 3 * MiB)[1]
            results = [new(cu, name, *rest)[0] for name, *rest in (
                ("cuMemAlloc_v2", 2 * MiB), ("cuMemAllocManaged", 2 * MiB, 1),
                ("cuMemAllocAsync", 2 * MiB, 0), ("cuMemAllocPitch_v2",
                 ctypes.byref(ctypes.c_uint64()), 1024, 2048, 4),
                ("cuMemHostAlloc", 16 * MiB, 0))]
            prop = (ctypes.c_uint32 * 8)(1, 0, 1, 0)
            results.append(new(cu, "cuMemCreate", 2 * MiB, prop, 0)[0])
            cu.cuMemFree_v2(first)
            results.append(cu.result("cuMemFree_v2", first))
            results.append(new(cu, "cuMemCreate", 2 * MiB, prop, 0)[0])
            return results, cu.books()

        results, books = in_child(work, CUDA_SIM_MEMORY="4M")
        self.assertEqual(results, [OUT_OF_MEMORY] * 4 + [0, OUT_OF_MEMORY, INVALID_VALUE, 0])
        self.assertEqual(books["device"], {"bytes": 5 * MiB, "current": 2 * MiB, "peak": 3 * MiB,
                                           "allocations": 2, "frees": 1})
        self.assertEqual(books["failures"], {
            "cuMemAlloc_v2": 1, "cuMemAllocManaged": 1, "cuMemAllocAsync": 1,
            "cuMemAllocPitch_v2": 1, "cuMemCreate": 1, "cuMemFree_v2": 1})

    def test_a_context_takes_its_memory_along(self):
        def work(cu):
            cu.start()
            for name, *rest in (("cuMemAlloc_v2", 100), ("cuMemAllocManaged", 200, 1),
                                ("cuMemAllocHost_v2", 300)):
                cu.out(name, *rest)
            local = ctypes.create_string_buffer(64)
            cu.cuMemHostRegister_v2(ctypes.addressof(local), 64, 0)
            cu.cuCtxDestroy_v2(cu.context)
            after = cu.books()
            primary = cu.out("cuDevicePrimaryCtxRetain", 0)
            cu.out("cuDevicePrimaryCtxRetain", 0)
            cu.cuCtxSetCurrent(primary)
            cu.out("cuMemAlloc_v2", 1000)
            cu.cuDevicePrimaryCtxRelease_v2(0)
            one_left = cu.books()["device"]["current"]
            cu.cuDevicePrimaryCtxRelease_v2(0)
            released = cu.books()["device"]["current"]
            cu.cuCtxSetCurrent(cu.out("cuDevicePrimaryCtxRetain", 0))
            cu.out("cuMemAlloc_v2", 2000)
            cu.cuDevicePrimaryCtxReset_v2(0)
            return after, one_left, released, cu.books()["device"]

        after, one_left, released, device = in_child(work)
        for of in (after["device"], after["host"], after["families"]["registered"]):
            self.assertEqual((of["current"], of["allocations"]), (0, of["frees"]))
        self.assertEqual((after["device"]["bytes"], after["host"]["bytes"]), (300, 300))
        self.assertEqual((one_left, released), (1000, 0))
        self.assertEqual(device, {"bytes": 3300, "current": 0, "peak": 2000, "allocations": 4,
                                  "frees": 4})

    def test_the_stack_of_contexts(self):
        def work(cu):
            cu.start()
            first, second = cu.context, cu.out("cuCtxCreate_v2", 0, 0)
            stack = [cu.out("cuCtxGetCurrent"), cu.out("cuCtxPopCurrent_v2"),
                     cu.out("cuCtxGetCurrent")]
            cu.cuCtxPushCurrent_v2(second)
            cu.cuCtxSetCurrent(None)
            stack += [cu.out("cuCtxGetCurrent")]
            cu.cuCtxDestroy_v2(second)
            results = [cu.result("cuCtxPushCurrent_v2", second), cu.result("cuCtxDestroy_v2", second)]
            names = {first: "first", second: "second", 0: None}
            return [names[context] for context in stack], results

        self.assertEqual(in_child(work), [["second", "second", "first", "first"],
                                          [INVALID_CONTEXT, INVALID_CONTEXT]])

    def test_pools(self):
        def attribute(cu, pool, number):
            value = ctypes.c_uint64()
            cu.cuMemPoolGetAttribute(pool, number, ctypes.byref(value))
            return value.value

        def work(cu):
            cu.start()
            pool = pool_on(cu, 0, 3 * MiB)
            cu.cuMemPoolSetAttribute(pool, RELEASE_THRESHOLD, ctypes.byref(ctypes.c_uint64(MiB)))
            first = cu.out("cuMemAllocFromPoolAsync", MiB, pool, 0)
            cu.cuDeviceSetMemPool(0, pool)
            cu.out("cuMemAllocAsync_ptsz", MiB, 0)
            too_much = new(cu, "cuMemAllocFromPoolAsync", 2 * MiB, pool, 0)[0]
            cu.cuMemFreeAsync(first, 0)
            cu.cuMemPoolTrimTo(pool, 0)
            seen = [attribute(cu, pool, n) for n in (USED_CURRENT, USED_HIGH, RELEASE_THRESHOLD)]
            cu.cuMemPoolDestroy(pool)
            gone = cu.result("cuMemPoolTrimTo", pool, 0)
            is_default = cu.out("cuDeviceGetMemPool", 0) == cu.out("cuDeviceGetDefaultMemPool", 0)
            return too_much, seen, gone, is_default, cu.books()["families"]["async"]

        too_much, seen, gone, is_default, books = in_child(work)
        self.assertEqual((too_much, seen, gone, is_default),
                         (OUT_OF_MEMORY, [MiB, 2 * MiB, MiB], INVALID_VALUE, True))
        self.assertEqual(books, {"bytes": 2 * MiB, "current": 0, "peak": 2 * MiB, "allocations": 2,
                                 "frees": 2})

    def test_virtual_memory_by_device_and_access(self):
        def work(cu):
            kernels = cu.start(1)
            prop, access = (ctypes.c_uint32 * 8)(1, 0, 1, 1), (ctypes.c_uint32 * 3)(1, 1, 3)
            handle = cu.out("cuMemCreate", 2 * MiB, prop, 0)
            address = cu.out("cuMemAddressReserve", 4 * MiB, 0, 0, 0)
            cu.cuMemMap(address, 2 * MiB, 0, handle, 0)
            add = pointers(address, address, address, 1)
            def run():
                return cu.result("cuLaunchKernel", kernels["vector_add"], 1, 1, 1, 1, 1, 1, 0, 0,
                                 add, None)
            results = [run()]
            cu.cuMemSetAccess(address, 2 * MiB, access, 1)
            results.append(run())
            ordinal, flags = ctypes.c_int(), ctypes.c_uint64()
            cu.cuPointerGetAttribute(ctypes.byref(ordinal), 9, address)
            cu.cuMemGetAccess(ctypes.byref(flags), (ctypes.c_uint32 * 2)(1, 1), address)
            cu.cuMemRelease(handle)
            mapped = cu.books()["devices"]["1"]["current"]
            cu.cuMemUnmap(address, 2 * MiB)
            cu.cuMemAddressFree(address, 4 * MiB)
            return results, ordinal.value, flags.value, mapped, cu.books()["devices"]

        results, ordinal, flags, mapped, devices = in_child(work, CUDA_SIM_DEVICES="2")
        self.assertEqual((results, ordinal, flags, mapped), ([700, 0], 1, 3, 2 * MiB))
        self.assertEqual(devices["1"], {"bytes": 2 * MiB, "current": 0, "peak": 2 * MiB,
                                        "allocations": 1, "frees": 1})
        self.assertEqual(devices["0"]["allocations"], 0)


class Devices(unittest.TestCase):
    def test_each_has_memory_and_contexts_of_its_own(self):
        def work(cu):
            cu.start(0)
            count = cu.out("cuDeviceGetCount", kind=ctypes.c_int)
            cu.out("cuMemAlloc_v2", 3 * MiB)
            second = cu.out("cuCtxCreate_v2", 0, 2)
            device = cu.out("cuCtxGetDevice", kind=ctypes.c_int)
            on_second = cu.out("cuMemAlloc_v2", 3 * MiB)  # the first device has no room for it
            full = new(cu, "cuMemAlloc_v2", 2 * MiB)[0]
            free, total = ctypes.c_uint64(), ctypes.c_uint64()
            cu.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
            ordinal = ctypes.c_int()
            cu.cuPointerGetAttribute(ctypes.byref(ordinal), 9, on_second)
            primaries = {cu.out("cuDevicePrimaryCtxRetain", n) for n in range(count)}
            bus = ctypes.create_string_buffer(16)
            cu.cuDeviceGetPCIBusId(bus, 16, 2)
            by_bus = cu.out("cuDeviceGetByPCIBusId", bus, kind=ctypes.c_int)
            cu.cuCtxDestroy_v2(second)
            return (count, device, full, free.value, total.value, ordinal.value, len(primaries),
                    bus.value.decode(), by_bus, new(cu, "cuDeviceGet", 3)[0], cu.books())

        *seen, books = in_child(work, CUDA_SIM_DEVICES="3", CUDA_SIM_MEMORY="4M")
        self.assertEqual(seen, [3, 2, OUT_OF_MEMORY, MiB, 4 * MiB, 2, 3, "0000:02:00.0", 2,
                                INVALID_DEVICE])
        self.assertEqual({n: d["current"] for n, d in books["devices"].items()},
                         {"0": 3 * MiB, "1": 0, "2": 0})
        self.assertEqual((books["device"]["peak"], books["device"]["current"]), (6 * MiB, 3 * MiB))

    def test_peers(self):
        def work(cu):
            cu.start(0)
            first, second = cu.context, cu.out("cuCtxCreate_v2", 0, 1)
            can = ctypes.c_int()
            cu.cuDeviceCanAccessPeer(ctypes.byref(can), 0, 1)
            results = [can.value] + [cu.result("cuCtxEnablePeerAccess", peer, 0)
                                     for peer in (first, first, second)]
            return results + [cu.result("cuCtxDisablePeerAccess", first) for _ in range(2)]

        self.assertEqual(in_child(work, CUDA_SIM_DEVICES="2"),
                         [1, 0, PEER_ALREADY, INVALID_CONTEXT, 0, PEER_NOT])


if __name__ == "__main__":
    unittest.main()
