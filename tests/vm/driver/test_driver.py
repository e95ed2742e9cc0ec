"""rules/cuda_all.rules and nvidia.rules on NVIDIA's own library and modules (535.261.03 in Debian 12)."""

import re
from collections import Counter
from pathlib import Path

from driver.case import VERSIONS, DriverCase
from harness import ROOT

CUDA, NVIDIA = ROOT / "rules" / "cuda_all.rules", ROOT / "rules" / "nvidia.rules"
COMMANDS = {0x29: "NV_ESC_RM_FREE", 0x2A: "NV_ESC_RM_CONTROL", 0x2B: "NV_ESC_RM_ALLOC",
            0xC8: "NV_ESC_CARD_INFO", 0xD1: "NV_ESC_STATUS_CODE", 0xD6: "NV_ESC_SYS_PARAMS"}
UVM_COMMANDS = {0x30000001: "UVM_INITIALIZE", 0x30000002: "UVM_DEINITIALIZE",
                39: "UVM_PAGEABLE_MEM_ACCESS", 75: "UVM_MM_INITIALIZE"}
# What cuInit asks, in this version.
VERSION = "535.261.03"
ASKED = {("nvidiactl", "NV_ESC_SYS_PARAMS"): 2, ("nvidiactl", "NV_ESC_CARD_INFO"): 2,
         ("nvidiactl", "NV_ESC_RM_ALLOC"): 3, ("nvidiactl", "NV_ESC_RM_CONTROL"): 7,
         ("nvidiactl", "NV_ESC_RM_FREE"): 3, ("nvidiactl", "NV_ESC_STATUS_CODE"): 1,
         ("nvidia-uvm", "UVM_INITIALIZE"): 1, ("nvidia-uvm", "UVM_MM_INITIALIZE"): 1,
         ("nvidia-uvm", "UVM_PAGEABLE_MEM_ACCESS"): 1, ("nvidia-uvm", "UVM_DEINITIALIZE"): 1}


# The same by probes in the modules: the first of each pair is the command, the rest its structure.
MODULES = """
header "types/nvidia_ioctl.h"
on optional kernel:nvidia_unlocked_ioctl, kernel:nvidia_frontend_unlocked_ioctl {
    span module(command = (nv_escape_hex)(cmd & 0xff))
}
on kernel:uvm_unlocked_ioctl_entry { span module(command = (uvm_command_hex)cmd) }
"""
RM_REQUEST = """
on optional kernel:nvidia_unlocked_ioctl, kernel:nvidia_frontend_unlocked_ioctl {{
    where cmd == {0}
    span  module({2}, status = (({1} *)i_arg)->status)
}}
"""
UVM_REQUEST = """
on kernel:uvm_unlocked_ioctl_entry {{
    where cmd == {0}
    span  module(status = (({0}_PARAMS *)arg)->rmStatus)
}}
"""
ALLOC = ("class = ((const {0} *)i_arg)->hClass, parent = ((const {0} *)i_arg)->hObjectParent, "
         "object = (({0} *)i_arg)->hObjectNew")
CONTROL = "control = ((const {0} *)i_arg)->cmd, object = ((const {0} *)i_arg)->hObject"
STRUCTURES = {"NV_REQUEST_ALLOC": ("NVOS64_PARAMETERS", ALLOC),
              "NV_REQUEST_ALLOC_SHORT": ("NVOS21_PARAMETERS", ALLOC),
              "NV_REQUEST_FREE": ("NVOS00_PARAMETERS", "object = ((const {0} *)i_arg)->hObjectOld"),
              "NV_REQUEST_CONTROL": ("NVOS54_PARAMETERS", CONTROL)}
UVM_STRUCTURES = ("UVM_INITIALIZE", "UVM_MM_INITIALIZE", "UVM_PAGEABLE_MEM_ACCESS")


def name_of(device, command):
    return UVM_COMMANDS[command] if device == "nvidia-uvm" else COMMANDS[command & 0xFF]


def rules_of_modules():
    return (MODULES + "".join(RM_REQUEST.format(name, structure, fields.format(structure))
                              for name, (structure, fields) in STRUCTURES.items())
            + "".join(UVM_REQUEST.format(name) for name in UVM_STRUCTURES))


def fields_of(pair):
    """What both ends of a span say, but not of which file."""
    begin, end = pair
    fields = {**begin["args"], **end.get("args", {})}
    return {name: value for name, value in fields.items() if name != "device"}


class Driver(DriverCase):
    def test_each_request_of_cuInit(self):
        by_strace = Counter()
        for (device, command), count in self.requests_by_strace().items():
            by_strace[(device, name_of(device, command))] += count
        if self.version() == VERSION:
            self.assertEqual(by_strace, ASKED)
        modules = self.rules(rules_of_modules(), "modules.rules")
        trace = self.trace(CUDA, *self.APP, options=("--rules", NVIDIA, "--rules", modules))
        self.assertEqual(trace.summary["lost"], 0)
        self.check_calls(trace)
        requests = trace.pairs("ioctl")
        self.assertEqual(Counter((b["args"]["device"], b["args"]["command"]) for b, _ in requests),
                         by_strace)
        self.assertEqual({trace.parent(b)["name"] for b, _ in requests}, {"cuInit"})
        self.check_fields([fields_of(pair) for pair in requests])
        self.check_modules(trace, requests)
        self.check_totals(trace, by_strace)

    def version(self):
        return Path("/sys/module/nvidia/version").read_text().strip()

    def check_calls(self, trace):
        """Each by a probe behind the comparison that NVIDIA's functions begin with."""
        (begin, end), = trace.pairs("cuInit")
        self.assertEqual((begin["args"], end["ret"]), ({"Flags": 0}, "CUDA_ERROR_UNKNOWN"))
        versions = trace.pairs("cuDriverGetVersion")
        self.assertEqual([e["ret"] for _, e in versions], ["CUDA_SUCCESS"] * VERSIONS)
        self.assertEqual(trace.stats("Total CUDA API calls"), {(): 1 + VERSIONS})

    def check_fields(self, requests):
        """Of these requests the structures are known; status is what the resource manager wrote."""
        without = {"NV_ESC_SYS_PARAMS", "NV_ESC_CARD_INFO", "NV_ESC_STATUS_CODE",
                   "UVM_DEINITIALIZE"}
        for fields in requests:
            self.assertEqual("status" in fields, fields["command"] not in without, fields)
        if self.version() != VERSION:
            return
        self.assertEqual([f["class"] for f in requests if f["command"] == "NV_ESC_RM_ALLOC"],
                         ["NV01_ROOT", "NV01_ROOT", "NV_CONFIDENTIAL_COMPUTE"])
        controls = [(f["control"], f["status"]) for f in requests if "control" in f]
        refused = [control for control, status in controls if status != "NV_OK"]
        self.assertEqual(refused, ["NV_CONF_COMPUTE_CTRL_CMD_SYSTEM_GET_CAPABILITIES"])
        self.assertIn((refused[0], "NV_ERR_INVALID_LOCK_STATE"), controls)  # 0xcb330101 -> 0x2f
        unnamed = [control for control, _ in controls if control.startswith("0x")]
        self.assertEqual(unnamed, [])

    def check_modules(self, trace, requests):
        """By probes in the modules: the same requests, each in its system call."""
        by_probes = [pair for name in ("nvidia_frontend_unlocked_ioctl", "uvm_unlocked_ioctl_entry")
                     for pair in trace.pairs(name)]
        by_probes.sort(key=lambda pair: pair[0]["event_id"])
        self.assertEqual([fields_of(pair) for pair in by_probes],
                         [fields_of(pair) for pair in requests])
        self.assertEqual([b["parent"] for b, _ in by_probes], [b["event_id"] for b, _ in requests])

    def check_totals(self, trace, by_strace):
        asked = Counter()
        for (device, _), count in by_strace.items():
            asked[device] += count
        times = {h["by"]["function"]: h["count"] for h in trace.hist("Time inside NVIDIA's modules")}
        self.assertEqual(times["nvidia_frontend_unlocked_ioctl"], asked["nvidiactl"])
        self.assertEqual(times["uvm_unlocked_ioctl_entry"], asked["nvidia-uvm"])
        self.assertEqual(times["nvidia_open"], 2 + 2, "nvidiactl, and nvidia0, which fails")
        said = re.findall(r"^(?:mlbcc|warning|error|note): .*", self.last.stderr, re.MULTILINE)
        self.assertEqual([line for line in said if "trace written to" not in line], [])

    def test_functions_that_refuse_probes(self):
        """The resource manager's, which is built without ftrace: by a pattern, and by name."""
        trace = self.trace("on kernel:rm_*, kernel:nvidia_open { count by function as \"calls\" }\n"
                           "on kernel:rm_ioctl, kernel:rm_init_rm { count as \"none\" }\n", *self.APP)
        self.assertEqual(trace.stats("calls"), {("nvidia_open",): 4})
        unprobed = self.functions("rm_", Path("/proc/kallsyms").read_text(), "\t") - self.functions(
            "rm_", Path("/sys/kernel/tracing/available_filter_functions").read_text(), " ")
        self.assertGreater(len(unprobed), 150)
        said = self.last.stderr
        self.assertEqual(said.count("leaves out"), 1, said)
        self.assertIn(f"note: `rm_*` leaves out {len(unprobed)} functions of nvidia: `rm_", said)
        self.assertEqual(said.count("will not probe"), 1, said)
        self.assertIn("mlbcc: the kernel will not probe 2 functions: rm_init_rm, rm_ioctl: "
                      "Invalid argument\n", said)

    def functions(self, prefix, text, blank):
        """Of the module nvidia: in a line `ffffffffc0a01230 t rm_ioctl\t[nvidia]`. What gcc moved
        away from a function (rm_ioctl.cold) is none."""
        names = re.findall(rf"^(?:\w+ [tT] )?({prefix}[\w.]+){blank}\[nvidia\]$", text,
                           re.MULTILINE)
        return {name for name in names if not name.endswith(".cold")}
