"""Allocates and frees on the simulated driver at random: every family, failures, pools, maps, and
contexts that go with all they hold. Prints the driver's own books.

    python3 cuda_ledger.py OPERATIONS SEED
"""

import ctypes
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness.simulated import Simulated  # noqa: E402

GRANULE = 2 << 20
DEVICES = 2


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class Properties(ctypes.Structure):
    """CUmemAllocationProp"""
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("location", Location),
                ("win32", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8)]


class PoolProperties(ctypes.Structure):
    """CUmemPoolProps"""
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("location", Location),
                ("security", ctypes.c_void_p), ("maxSize", ctypes.c_size_t),
                ("usage", ctypes.c_ushort), ("reserved", ctypes.c_ubyte * 54)]


class Ledger:
    def __init__(self, seed):
        self.cu = Simulated()
        self.random = random.Random(seed)
        self.cu.cuInit(0)
        self.contexts = []   # made, and not destroyed; the last is current
        self.held = []       # (free, value), by the context or pool it belongs to
        self.pools, self.pieces, self.reserved = [], {}, {}
        self.retained = [0] * DEVICES
        self.primary = [None] * DEVICES
        self.new_context()

    def size(self):
        return self.random.choice((1, 77, 4096, 65536, 1 << 20, self.random.randrange(1, 3 << 20)))

    def device(self):
        return self.random.randrange(DEVICES)

    # ---- contexts

    def new_context(self):
        self.contexts.append(self.cu.out("cuCtxCreate_v2", 0, self.device()))

    def end_context(self):
        gone = self.contexts.pop()
        self.cu.cuCtxDestroy_v2(gone)
        self.held = [one for one in self.held if one[2] != gone]
        if not self.contexts:
            self.new_context()
        self.cu.cuCtxSetCurrent(self.contexts[-1])

    def change_context(self):
        self.random.shuffle(self.contexts)
        self.cu.cuCtxSetCurrent(self.contexts[-1])

    def visit_primary(self):
        """Allocates in a device's primary context, and leaves it there."""
        device = self.device()
        self.primary[device] = self.cu.out("cuDevicePrimaryCtxRetain", device)
        self.retained[device] += 1
        self.cu.cuCtxPushCurrent_v2(self.primary[device])
        self.cu.out("cuMemAlloc_v2", self.size())
        self.cu.out("cuCtxPopCurrent_v2")

    def leave_primary(self):
        device = self.device()
        if self.retained[device] == 0:
            return
        if self.random.random() < 0.2:
            self.cu.cuDevicePrimaryCtxReset_v2(device)
            self.retained[device] = 0
        else:
            self.cu.cuDevicePrimaryCtxRelease_v2(device)
            self.retained[device] -= 1

    # ---- memory

    def allocate(self):
        form = self.random.choice(("cuMemAlloc_v2", "cuMemAllocManaged", "cuMemAllocPitch_v2",
                                   "cuMemHostAlloc", "cuMemAllocHost_v2"))
        context = self.contexts[-1]
        if form == "cuMemAllocPitch_v2":
            pitch = ctypes.c_size_t()
            address = self.cu.out(form, ctypes.byref(pitch), self.random.randrange(1, 5000),
                                  self.random.randrange(1, 200), 4)
        elif form in ("cuMemAllocManaged", "cuMemHostAlloc"):
            address = self.cu.out(form, self.size(), 1)
        else:
            address = self.cu.out(form, self.size())
        free = "cuMemFreeHost" if "Host" in form else "cuMemFree_v2"
        self.held.append((free, address, context))

    def allocate_async(self):
        address = self.cu.out("cuMemAllocAsync", self.size(), 0)
        self.held.append(("cuMemFreeAsync", address, None))

    def free(self):
        if not self.held:
            return
        self.random.shuffle(self.held)
        free, value, _ = self.held.pop()
        if free == "cuMemFreeAsync":
            self.cu.cuMemFreeAsync(value, 0)
        else:
            getattr(self.cu, free)(value)

    def fail(self):
        address = ctypes.c_uint64()
        form = self.random.choice(("cuMemAlloc_v2", "cuMemFree_v2", "cuMemAllocAsync"))
        if form == "cuMemFree_v2":
            assert self.cu.result(form, 12345) != 0
        else:
            assert self.cu.result(form, ctypes.byref(address), 1 << 45, 0) == 2

    # ---- pools

    def new_pool(self):
        properties = PoolProperties(type=1, location=Location(1, self.device()))
        self.pools.append(self.cu.out("cuMemPoolCreate", ctypes.byref(properties)))

    def allocate_from_pool(self):
        if not self.pools:
            return self.new_pool()
        pool = self.random.choice(self.pools)
        address = self.cu.out("cuMemAllocFromPoolAsync", self.size(), pool, 0)
        self.held.append(("cuMemFreeAsync", address, pool))

    def end_pool(self):
        if not self.pools:
            return
        gone = self.pools.pop(self.random.randrange(len(self.pools)))
        self.cu.cuMemPoolDestroy(gone)
        self.held = [one for one in self.held if one[2] != gone]

    # ---- virtual memory

    def new_piece(self):
        properties = Properties(type=1, location=Location(1, self.device()))
        size = GRANULE * self.random.randrange(1, 4)
        piece = self.cu.out("cuMemCreate", size, ctypes.byref(properties), 0)
        self.pieces[piece] = size

    def map_piece(self):
        if not self.pieces:
            return self.new_piece()
        piece = self.random.choice(list(self.pieces))
        size = self.pieces[piece]
        address = self.cu.out("cuMemAddressReserve", size, 0, 0, 0)
        self.cu.cuMemMap(address, size, 0, piece, 0)
        self.reserved[address] = size

    def unmap(self):
        if not self.reserved:
            return
        address = self.random.choice(list(self.reserved))
        size = self.reserved.pop(address)
        self.cu.cuMemUnmap(address, size)
        self.cu.cuMemAddressFree(address, size)

    def release_piece(self):
        if not self.pieces:
            return
        piece = self.random.choice(list(self.pieces))
        del self.pieces[piece]
        self.cu.cuMemRelease(piece)

    def step(self):
        steps = {self.allocate: 30, self.allocate_async: 10, self.free: 40, self.fail: 3,
                 self.new_pool: 1, self.allocate_from_pool: 10, self.end_pool: 1,
                 self.new_piece: 4, self.map_piece: 4, self.unmap: 4, self.release_piece: 4,
                 self.new_context: 0.5, self.end_context: 0.5, self.change_context: 3,
                 self.visit_primary: 1, self.leave_primary: 1}
        self.random.choices(list(steps), list(steps.values()))[0]()


def main():
    ledger = Ledger(int(sys.argv[2]))
    for _ in range(int(sys.argv[1])):
        ledger.step()
    print(json.dumps(ledger.cu.books()))


main()
