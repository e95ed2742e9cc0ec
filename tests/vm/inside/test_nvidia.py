"""rules/nvidia.rules: each request to the module, under the CUDA call that made it. The module's own
books say how many there were."""

from collections import Counter

from harness import ROOT
from inside.case import VmCase
from inside.test_standin import (CARD_INFO, CHECK_VERSION, RM_ALLOC, RM_CONTROL, RM_FREE,
                                 SYS_PARAMS, UVM_INITIALIZE)

CUDA, NVIDIA = ROOT / "rules" / "cuda_all.rules", ROOT / "rules" / "nvidia.rules"
COMMANDS = {SYS_PARAMS: "NV_ESC_SYS_PARAMS", CARD_INFO: "NV_ESC_CARD_INFO",
            CHECK_VERSION: "NV_ESC_CHECK_VERSION_STR", RM_ALLOC: "NV_ESC_RM_ALLOC",
            RM_CONTROL: "NV_ESC_RM_CONTROL", RM_FREE: "NV_ESC_RM_FREE",
            UVM_INITIALIZE: "UVM_INITIALIZE"}
UVM_PROGRAM = """
import fcntl, os
uvm, control = os.open("/dev/nvidia-uvm", os.O_RDWR), os.open("/dev/nvidiactl", os.O_RDWR)
for _ in range(3): fcntl.ioctl(uvm, 0x30000001, bytearray(16))
again = os.dup(control)
os.close(control)
free = bytearray(16)
fcntl.ioctl(again, 0xC0104629, free)
fcntl.ioctl(os.dup2(uvm, control), 0x30000001, bytearray(16))
"""


XID_PROGRAM = """
for error in ("79 GPU has fallen off the bus.", "31 pid=7, name=app, Ch 00000008", "999"):
    with open("/proc/nvidia_standin_xid", "w") as xid: xid.write(error)
"""


class Nvidia(VmCase):
    def requests(self, trace):
        """[(the function of the parent, what the trace says of the request)]"""
        functions = {e["event_id"]: e["name"] for e in trace.events}
        return [(functions.get(b.get("parent")), {**b["args"], **e.get("args", {})})
                for b, e in trace.pairs("ioctl")]

    def check_counts(self, trace, books, label, function):
        counted = {COMMANDS[command]: count for command, count in books.commands(function).items()}
        self.assertEqual(trace.stats(label), {(name,): n for name, n in counted.items()})
        self.assertEqual(trace.summary["lost"], 0)
        return counted

    def test_each_request_lies_in_the_call_that_made_it(self):
        with self.counted() as books:
            trace = self.trace(CUDA, *self.APP, options=("--rules", str(NVIDIA)))
        counted = self.check_counts(trace, books, "Requests to the NVIDIA driver",
                                    "nvidia_unlocked_ioctl")
        requests = self.requests(trace)
        self.assertEqual(Counter(fields["command"] for _, fields in requests), counted)
        outside = [n for n, (function, _) in enumerate(requests) if function is None]
        self.assertEqual(outside, [len(requests) - 1], "the library frees its client when it is unloaded")
        self.assertTrue(all(function.startswith("cu") for function, _ in requests[:-1]), requests)
        self.assertEqual({(fields["device"], fields.get("status", "NV_OK")) for _, fields in requests},
                         {("nvidiactl", "NV_OK")})
        in_call = Counter(tuple([function] + [fields[key] for key in ("command", "class", "control")
                                              if key in fields]) for function, fields in requests)
        self.assertEqual(in_call[("cuInit", "NV_ESC_RM_ALLOC", "NV01_ROOT_CLIENT")], 1)
        control = "NV0000_CTRL_CMD_GPU_GET_ATTACHED_IDS"
        self.assertEqual(in_call[("cuInit", "NV_ESC_RM_CONTROL", control)], 1)
        blocks = len(trace.pairs("cuMemAlloc"))
        self.assertEqual(in_call[("cuMemAlloc", "NV_ESC_RM_ALLOC", "NV01_MEMORY_LOCAL_USER")], blocks)
        self.assertEqual(in_call[("cuMemFree", "NV_ESC_RM_FREE")], blocks)
        self.assertEqual(blocks, 8)

    def test_a_file_goes_on_to_other_descriptors(self):
        with self.counted() as books:
            trace = self.trace(NVIDIA, "python3", "-c", UVM_PROGRAM)
        label = "Requests to NVIDIA's unified memory"
        self.check_counts(trace, books, label, "uvm_unlocked_ioctl_entry")
        self.assertEqual(trace.stats(label), {("UVM_INITIALIZE",): 4})
        self.assertEqual([tuple(fields.values()) for _, fields in self.requests(trace)],
                         [("nvidia-uvm", "UVM_INITIALIZE", "NV_OK")] * 3
                         + [("nvidiactl", "NV_ESC_RM_FREE", "0x0", "NV_ERR_OBJECT_NOT_FOUND")]
                         + [("nvidia-uvm", "UVM_INITIALIZE", "NV_OK")])

    def test_errors_of_the_gpu(self):
        """They are reported by a thread of the kernel: no traced process. Rules that are not for all
        processes do not see them."""
        other = self.rules("on tracepoint:nvidia:* { event own(error_code) }", "other.rules")
        trace = self.trace(NVIDIA, "python3", "-c", XID_PROGRAM, options=("--rules", str(other)))
        device = {"device": "0000:01:00.0"}
        self.assertEqual(trace.args("xid", "i"), [
            {**device, "code": "ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS",
             "message": "GPU has fallen off the bus."},
            {**device, "code": "ROBUST_CHANNEL_FIFO_ERROR_MMU_ERR_FLT",
             "message": "pid=7, name=app, Ch 00000008"},
            {**device, "code": 999, "message": ""}])
        self.assertEqual({e["type"] for e in trace.events}, {"gpu"})
        for event in trace.named("xid"):
            self.assertRegex(event["comm"], "^kworker/")
        self.assertEqual(sum(trace.stats("Errors of NVIDIA GPUs").values()), 3)
