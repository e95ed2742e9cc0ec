"""Every function of the toolkit's driver library, with known arguments: what the trace shows of each
against an independent reading of the toolkit's headers (harness/driver_api.py)."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from harness import ROOT, TracerCase
from harness.machine import need_tool

TOOLKIT = Path("/usr/local/cuda")
STUB = TOOLKIT / "lib64/stubs/libcuda.so"
PYTHON = "/usr/bin/python3"  # Debian's, which has Clang's bindings
VARIANTS = "_v2 _v3 _v4 _ptds _ptsz"


def base(symbol):
    return re.sub(r"(_v[234]|_ptds|_ptsz)+$", "", symbol)


# What our own header has no prototypes of, and why.
UNKNOWN = {
    "textures, surfaces and mipmaps": r"cu(Tex|Surf)(Ref|ObjectGet)|cu.*Mipmapped|cuMemMapArray|"
                                      r"cuArrayGet(Mem|Plane|Sparse)|cuDeviceGetTexture1D",
    "graphics and other interfaces": r"cuGraphics|cuDeviceGetNvSciSync|cuGraph.*ExternalSemaphores",
    "launches of CUDA 3": r"cuLaunch(Grid(Async)?)?$|cuParamSet|cuFuncSet(BlockShape|SharedSize)",
    "of administrators' tools": r"cuCheckpoint|cuLogs|cuDevice(R|Unr)egisterAsync",
    "what atomics a device has": r"cuDeviceGet(Host|P2P)AtomicCapabilities",
}


def why_unknown(symbol):
    return next((why for why, pattern in UNKNOWN.items() if re.match(pattern, symbol)), None)


class DriverApi(TracerCase):
    def setUp(self):
        super().setUp()
        if not STUB.exists():
            self.skipTest(f"no CUDA toolkit is installed: {STUB} is not there")
        if subprocess.run([PYTHON, "-c", "import clang.cindex"], capture_output=True).returncode:
            self.skipTest("Clang's Python bindings are not installed (scripts/setup.sh --tests)")
        done = subprocess.run(
            [PYTHON, str(ROOT / "tests/runtime/harness/driver_api.py"),
             str(TOOLKIT / "include"), str(STUB), str(self.dir)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads((self.dir / "calls.json").read_text())
        self.calls, self.addresses = said["calls"], said["addresses"]
        self.assertEqual(said["undeclared"], [])
        (self.dir / "libcuda.so.1").symlink_to(STUB)
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(self.dir)}

    def compiled(self, source):
        """The program that harness/driver_api.py has written, linked with the stub library."""
        program = self.dir / Path(source).stem
        subprocess.run([need_tool("gcc"), "-w", "-O1", "-D__CUDA_API_VERSION_INTERNAL=1",
                        f"-I{TOOLKIT}/include", str(self.dir / source), "-o", str(program),
                        str(STUB)], check=True)
        return program

    def rules_for_all(self, header):
        return self.rules(f"""
            library cuda = "libcuda.so.1" variants {VARIANTS}
            header "{ROOT}/rules/types/{header}"
            on cuda:cu* {{ span userspace(args) }}
            """)

    def assert_shown(self, symbol, shown, expected, knows_all_constants=True):
        self.assertEqual(list(shown), list(expected), f"{symbol}: parameters by name, in order")
        for name, value in expected.items():
            if isinstance(value, dict) and isinstance(shown[name], int) and not knows_all_constants:
                self.assertEqual(shown[name], value["number"], f"{symbol}({name})")
            elif isinstance(value, dict):
                self.assertIn(shown[name], value["constants"], f"{symbol}({name})")
            else:
                self.assertEqual(shown[name], value, f"{symbol}({name})")

    def test_every_argument_of_every_function(self):
        self.assertGreater(len(self.calls), 600)
        self.assertEqual(len(set(self.addresses.values())), len(self.calls), "one address each")
        trace = self.trace(self.rules_for_all("cuda.h"), str(self.compiled("client.c")),
                           env=self.environment)
        begins = [event for event in trace.events if event["phase"] == "B"]
        ends = {event["begin"]: event for event in trace.events if event["phase"] == "E"}
        self.assertEqual([event.get("symbol", event["name"]) for event in begins],
                         [call["symbol"] for call in self.calls])
        for begin, call in zip(begins, self.calls):
            with self.subTest(symbol=call["symbol"]):
                self.assertEqual(begin["name"], base(call["symbol"]))
                self.assert_shown(call["symbol"], begin.get("args", {}), call["args"])
                self.assertEqual(ends[begin["event_id"]]["ret"], "CUDA_ERROR_STUB_LIBRARY")
        self.assertEqual(trace.summary["lost"], 0)

    def test_our_own_header(self):
        """Where there is no toolkit: the same names and values, of the parts that programs use."""
        trace = self.trace(self.rules_for_all("cuda_driver.h"), str(self.compiled("client.c")),
                           env=self.environment)
        begins = [event for event in trace.events if event["phase"] == "B"]
        unknown, narrow = [], []
        for begin, call in zip(begins, self.calls, strict=True):
            args = begin.get("args", {})
            if "arg5" in args:
                unknown.append(call["symbol"])
            elif call["is_32_bit"]:  # our prototype is of the 64-bit form that programs call
                self.assertEqual(list(args), list(call["args"]))
                narrow.append(call["symbol"])
            else:
                with self.subTest(symbol=call["symbol"]):
                    self.assert_shown(call["symbol"], args, call["args"], False)
        self.assertEqual({symbol: why_unknown(symbol) for symbol in unknown
                          if why_unknown(symbol) is None}, {})
        self.assertEqual(len(unknown), 94)
        self.assertEqual([symbol for symbol in narrow if base(symbol) != symbol], [])

    def test_what_is_behind_pointers(self):
        """Out-parameters when the call returns, and fields of structures."""
        known = json.loads((self.dir / "memory.json").read_text())
        self.assertGreater(len(known), 350)
        self.assertGreater(sum(len(call["fields"]) for call in known), 1200)
        rules = "\n".join(
            f"on cuda:{call['symbol']} {{ event seen("
            + ", ".join(f"f{at} = {text}" for at, text in enumerate(call["fields"])) + ") }"
            for call in known)
        trace = self.trace(f"""
            library cuda = "libcuda.so.1"
            header "{ROOT}/rules/types/cuda.h"
            {rules}
            """, str(self.compiled("memory.c")), env=self.environment)
        self.assertEqual([event["function"] for event in trace.events],
                         [call["symbol"] for call in known])
        for event, call in zip(trace.events, known):
            with self.subTest(symbol=call["symbol"]):
                shown = dict(zip(call["fields"], event["args"].values()))
                self.assert_shown(call["symbol"], shown, call["fields"])
                self.assertEqual(event["ret"], "CUDA_ERROR_STUB_LIBRARY")

    def test_what_is_left_out(self):
        """Floating-point parameters, which no probe can read, and structures by value. A rule can ask
        for the fields of those, as above; handles for other processes have none."""
        left_out = {(call["symbol"], name): why for call in self.calls
                    for name, why in call["left_out"].items()}
        self.assertEqual({why for why in left_out.values()},
                         {"floating point", "a structure by value"})
        self.assertEqual(sorted(key for key, why in left_out.items() if why == "floating point"),
                         [("cuParamSetf", "value"), ("cuTexRefSetMipmapLevelBias", "bias"),
                          ("cuTexRefSetMipmapLevelClamp", "maxMipmapLevelClamp"),
                          ("cuTexRefSetMipmapLevelClamp", "minMipmapLevelClamp")])
        asked_for = {(call["symbol"], re.search(r"\w+", field).group())
                     for call in json.loads((self.dir / "memory.json").read_text())
                     for field in call["fields"]}
        self.assertEqual(
            sorted(key for key, why in left_out.items()
                   if why == "a structure by value" and key not in asked_for),
            [("cuIpcOpenEventHandle", "handle"), ("cuIpcOpenMemHandle", "handle"),
             ("cuIpcOpenMemHandle_v2", "handle")])


if __name__ == "__main__":
    unittest.main()
