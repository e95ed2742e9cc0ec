"""rules/nvidia.rules on files that are called like NVIDIA's devices: what programs ask of the driver
is in their own memory, whoever answers. A file of no device refuses each request (ENOTTY) and leaves
the parameters alone, so the status is what was there before."""

import json

from harness import ROOT, TracerCase

RULES = ROOT / "rules" / "nvidia.rules"

# Requests by name of the file: [number, parameters in 32-bit words].
PROGRAM = """
import array, ctypes, fcntl, json, os, sys
libc = ctypes.CDLL(None)
files = {}
for name, number, words in json.loads(sys.argv[1]):
    if name not in files:
        files[name] = os.open(name, os.O_RDWR | os.O_CREAT)
    block = (ctypes.c_uint32 * max(len(words), 1))(*words)
    libc.ioctl(files[name], ctypes.c_ulong(number), block)
"""
CONTROL, ALLOC, ALLOC_SHORT, FREE = 0xC020462A, 0xC030462B, 0xC020462B, 0xC0104629
MAP, UNMAP, DUP, XFER = 0xC038464E, 0xC020464F, 0xC01C4634, 0xC01046D3
CARD_INFO = 0xC90046C8


class Nvidia(TracerCase):
    def requests(self, *requests, rules=RULES):
        return self.trace(rules, "python3", "-c", PROGRAM, json.dumps(requests))

    def check(self, file, *cases):
        """What a trace says of each request: the fields of both ends."""
        trace = self.requests(*((file, number, words) for number, words, _ in cases))
        self.assertEqual([{**b["args"], **e.get("args", {})} for b, e in trace.pairs("ioctl")],
                         [{"device": file, **expected} for _, _, expected in cases])

    def test_each_structure(self):
        control = "NV_CONF_COMPUTE_CTRL_CMD_SYSTEM_GET_CAPABILITIES"
        self.check(
            "nvidiactl",
            (CONTROL, [0xC1D00001, 0xCAF00002, 0xCB330101, 0, 0, 0, 8, 0x2F],
             {"command": "NV_ESC_RM_CONTROL", "control": control, "object": "0xcaf00002",
              "status": "NV_ERR_INVALID_LOCK_STATE"}),
            (CONTROL, [1, 2, 0x12345678, 0, 0, 0, 8, 0xFEED],
             {"command": "NV_ESC_RM_CONTROL", "control": "0x12345678", "object": "0x2",
              "status": "0xfeed"}),
            (ALLOC, [1, 2, 3, 0xC86F, 0, 0, 0, 0, 0, 0, 0x51, 0],
             {"command": "NV_ESC_RM_ALLOC", "class": "HOPPER_CHANNEL_GPFIFO_A",
              "parent": "0x2", "object": "0x3", "status": "NV_ERR_NO_MEMORY"}),
            (ALLOC_SHORT, [1, 2, 3, 0x41, 0, 0, 0, 0],
             {"command": "NV_ESC_RM_ALLOC", "class": "NV01_ROOT_CLIENT", "parent": "0x2",
              "object": "0x3", "status": "NV_OK"}),
            (FREE, [1, 2, 3, 0x57],
             {"command": "NV_ESC_RM_FREE", "object": "0x3",
              "status": "NV_ERR_OBJECT_NOT_FOUND"}),
            (MAP, [1, 2, 3, 0, 0x1000, 0, 0x200000, 0, 0, 0, 0, 0, 5, 0],
             {"command": "NV_ESC_RM_MAP_MEMORY", "object": "0x3", "size": 0x200000,
              "status": "NV_OK"}),
            (UNMAP, [1, 2, 3, 0, 0, 0, 0x1F, 0],
             {"command": "NV_ESC_RM_UNMAP_MEMORY", "object": "0x3",
              "status": "NV_ERR_INVALID_ARGUMENT"}),
            (DUP, [1, 2, 3, 4, 5, 0, 0],
             {"command": "NV_ESC_RM_DUP_OBJECT", "object": "0x5", "status": "NV_OK"}),
            (XFER, [0x2A, 0x4000, 0, 0],
             {"command": "NV_ESC_IOCTL_XFER_CMD", "transferred": "NV_ESC_RM_CONTROL"}),
            (CARD_INFO, [], {"command": "NV_ESC_CARD_INFO"}),
            (0xC00846EE, [], {"command": "0xee"}))

    def test_unified_memory(self):
        self.check(
            "nvidia-uvm",
            (0x30000001, [0, 0, 0x56, 0],
             {"command": "UVM_INITIALIZE", "status": "NV_ERR_NOT_SUPPORTED"}),
            (75, [3, 0], {"command": "UVM_MM_INITIALIZE", "status": "NV_OK"}),
            (39, [0, 0x57],
             {"command": "UVM_PAGEABLE_MEM_ACCESS", "status": "NV_ERR_OBJECT_NOT_FOUND"}),
            (34, [0x1000, 0x7F, 0, 0],
             {"command": "UVM_FREE", "address": 0x7F00001000, "status": "NV_OK"}),
            (73, [0x1000, 0, 0x4000, 0, 0, 0],
             {"command": "UVM_CREATE_EXTERNAL_RANGE", "address": 0x1000, "size": 0x4000,
              "status": "NV_OK"}),
            (3000, [], {"command": "0xbb8"}))

    def test_all_of_several_and_only_these(self):
        asked = [("nvidiactl", CARD_INFO, []), ("nvidia0", ALLOC, [0] * 12),
                 ("nvidiactl", ALLOC, [0, 0, 0, 0x80] + [0] * 8), ("nvidia-uvm", 75, [0, 0]),
                 ("nvidiactl", 0x5401, [0] * 20), ("nvidia-modeset", 0xC0106D00, [0] * 4),
                 ("other", CARD_INFO, []), ("my-nvidiactl", ALLOC, [0] * 12)] * 5
        trace = self.requests(*asked)
        seen = [(b["args"]["device"], b["args"]["command"]) for b, _ in trace.pairs("ioctl")]
        self.assertEqual(seen, [("nvidiactl", "NV_ESC_CARD_INFO"), ("nvidia0", "NV_ESC_RM_ALLOC"),
                                ("nvidiactl", "NV_ESC_RM_ALLOC"),
                                ("nvidia-uvm", "UVM_MM_INITIALIZE")] * 5)
        self.assertEqual(trace.stats("Requests to the NVIDIA driver"),
                         {("NV_ESC_CARD_INFO",): 5, ("NV_ESC_RM_ALLOC",): 10})
        self.assertEqual(trace.stats("Objects of the NVIDIA driver"),
                         {("NV01_ROOT",): 5, ("NV01_DEVICE_0",): 5})
        self.assertEqual(trace.stats("Requests to NVIDIA's unified memory"),
                         {("UVM_MM_INITIALIZE",): 5})
