"""The rules for libraries beside the driver: each field of each event, on a stand-in of these libraries; and the real ones,
as far as they are on this machine, whose calls fail without a GPU."""

import ctypes
import os
import shutil
import subprocess
import sys

from harness import ROOT, TracerCase, target
from harness.machine import CUDA_SIM

SONAMES = ("libcudart.so.13", "libnccl.so.2", "libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9",
           "libamdhip64.so.5")
NVCC = "/usr/local/cuda/bin/nvcc"


class Standin(TracerCase):
    def run_rules(self, name):
        for soname in SONAMES:
            (self.dir / soname).symlink_to(target("libml_standin.so"))
        trace = self.trace(ROOT / f"rules/{name}.rules", target("ml_client"), name,
                           env={**os.environ, "LD_LIBRARY_PATH": str(self.dir)})
        self.assertEqual(trace.summary["lost"], 0)
        return trace

    def events(self, trace, kind, name=None):
        """(name, args) of each event of a type; addresses and handles that the library makes are left out."""
        return [(e["name"], {**e["args"], **({"ret": e["ret"]} if "ret" in e else {})}) for e in trace.events
                if e["type"] == kind and name in (None, e["name"])]

    def check_launches(self, trace, expected):
        """(name, fields, ret) of each launch: one pair, with what the rules say of it."""
        names = dict.fromkeys(name for name, _, _ in expected)
        pairs = [pair for name in names for pair in trace.pairs(name)]
        self.assertEqual([(b["name"], b["type"], {name: b["args"][name] for name in fields}, e["ret"])
                          for (b, e), (_, fields, _) in zip(pairs, expected)],
                         [(name, "runtime", fields, ret) for name, fields, ret in expected])
        self.assertEqual(len(pairs), len(expected))
        self.assertEqual([e for e in trace.events if e["type"] == "launch"], [])

    def test_cudart(self):
        trace = self.run_rules("cudart")
        a, b = (e["args"]["address"] for e in trace.events if e["name"] == "alloc")
        self.assertEqual(self.events(trace, "memory"), [
            ("alloc", {"address": a, "size": 4096, "ret": "cudaSuccess"}),
            ("alloc", {"address": b, "size": 512, "stream": "0x51", "ret": "cudaSuccess"}),
            ("free", {"address": a, "ret": "cudaSuccess"})])
        self.check_launches(trace, [
            ("cudaLaunchKernel", {"kernel": "vectorAdd", "blocks": 24, "threads": 160, "shared": 48,
                                  "stream": "0x52"}, "cudaSuccess"),
            ("cudaLaunchKernel", {"kernel": "scale", "blocks": 160, "threads": 24, "shared": 0, "stream": "0x54"},
             "cudaSuccess"),
            ("cudaLaunchKernel", {"kernel": "axpy", "blocks": 160, "threads": 24, "shared": 0, "stream": "0x54"},
             "cudaSuccess"),
            ("cudaLaunchKernelExC", {"kernel": "scale", "blocks": 7, "threads": 128, "shared": 96,
                                     "stream": "0x53"}, "cudaErrorInvalidDeviceFunction")])
        self.assertEqual(trace.stats("CUDA runtime calls"), {
            ("cudaMalloc",): 2, ("cudaMallocAsync",): 1, ("cudaMemcpy",): 2, ("cudaLaunchKernel",): 3,
            ("cudaLibraryGetKernel",): 1, ("cudaLaunchKernelExC",): 1, ("cudaDeviceSynchronize",): 1, ("cudaFree",): 1})
        self.assertEqual(trace.stats("CUDA runtime errors"), {
            ("cudaMalloc", "cudaErrorMemoryAllocation"): 1,
            ("cudaLaunchKernelExC", "cudaErrorInvalidDeviceFunction"): 1})
        self.assertEqual(trace.stats("Allocated by the runtime"), {(): 4096})
        self.assertEqual(trace.stats("Allocated by the runtime in stream order"), {(): 512})
        self.assertEqual(trace.stats("Kernels launched by the runtime"), {("vectorAdd",): 1, ("scale",): 2, ("axpy",): 1})
        self.assertEqual(trace.stats("Copied by the runtime"),
                         {("cudaMemcpyHostToDevice",): 300, ("cudaMemcpyDeviceToHost",): 20})
        gauge, = trace.gauge("cudart_bytes")
        self.assertEqual([(h["key"], h["value"]) for h in gauge["held"]], [(b, 512)])
        waits, = trace.hist("Waiting in the runtime")
        self.assertEqual((waits["by"], waits["count"]), ({"function": "cudaDeviceSynchronize"}, 1))

    def test_nccl(self):
        trace = self.run_rules("nccl")
        init, = self.events(trace, "communicator", "init")
        comm = init[1]["communicator"]
        self.assertEqual(init[1], {"communicator": comm, "rank": 3, "ranks": 4, "ret": "ncclSuccess"})

        def collective(function, size, count, datatype, stream, **more):
            return (function, {"bytes": size, "count": count, "datatype": datatype, "communicator": comm,
                               "rank": 3, "stream": stream, "ret": "ncclSuccess", **more})
        self.assertEqual(self.events(trace, "collective"), [
            collective("ncclAllReduce", 4000, 1000, "ncclFloat32", "0x61", op="ncclSum"),
            collective("ncclAllReduce", 2000, 1000, "ncclBfloat16", "0x61", op="ncclAvg"),
            collective("ncclAllReduce", 0, 0, "ncclInt64", "0x61", op="ncclMax", ret="ncclInvalidArgument"),
            collective("ncclReduce", 88, 11, "ncclInt64", "0x62", op="ncclMin", root=2),
            collective("ncclBroadcast", 96, 12, "ncclFloat64", "0x63", root=1),
            collective("ncclReduceScatter", 26, 13, "ncclFloat16", "0x64", op="ncclProd"),
            collective("ncclAllGather", 14, 14, "ncclUint8", "0x65"),
            collective("ncclSend", 15, 15, "ncclFloat8e5m2", "0x66", peer=2)])
        self.assertEqual(trace.stats("Bytes of collectives"), {
            ("ncclAllReduce",): 6000, ("ncclReduce",): 88, ("ncclBroadcast",): 96, ("ncclReduceScatter",): 26,
            ("ncclAllGather",): 14, ("ncclSend",): 15})
        self.assertEqual(self.events(trace, "communicator", "end"),
                         [("end", {"communicator": comm, "rank": 3, "ret": "ncclSuccess"})])
        self.assertEqual(trace.stats("NCCL errors"), {("ncclAllReduce", "ncclInvalidArgument"): 1})
        self.assertEqual(trace.stats("NCCL calls")[("ncclAllReduce",)], 3)

    def test_cublas(self):
        trace = self.run_rules("cublas")
        (first, product), (second, batch), (third, other) = self.events(trace, "gemm")
        handle = product["handle"]
        self.assertEqual((first, product), ("cublasSgemm_v2", {
            "handle": handle, "transa": "CUBLAS_OP_N", "transb": "CUBLAS_OP_T", "m": 10, "n": 20, "k": 30,
            "lda": 11, "ldb": 21, "ldc": 12, "ret": "CUBLAS_STATUS_SUCCESS"}))
        self.assertEqual((second, batch), ("cublasGemmStridedBatchedEx", {
            "handle": handle, "transa": "CUBLAS_OP_T", "transb": "CUBLAS_OP_C", "m": 5000000000, "n": 2,
            "k": 3, "batch": 16, "a": "CUDA_R_16F", "b": "CUDA_R_16BF", "c": "CUDA_R_32F",
            "compute": "CUBLAS_COMPUTE_32F_FAST_TF32", "ret": "CUBLAS_STATUS_NOT_SUPPORTED"}))
        self.assertEqual((third, other), ("cublasLtMatmul", {
            "handle": "0x71", "workspace": 65536, "stream": "0x72", "ret": "CUBLAS_STATUS_SUCCESS"}))
        self.assertEqual(trace.stats("Matrix products by size"), {(10, 20, 30): 1})
        self.assertEqual(trace.stats("Operations of matrix products"), {(): 12000})
        self.assertEqual(trace.stats("Batches of matrix products by size"), {(5000000000, 2, 3, 16): 1})
        self.assertEqual(trace.stats("Operations of batched products"), {(): 2 * 5000000000 * 2 * 3 * 16})
        self.assertEqual(trace.stats("cuBLAS errors"),
                         {("cublasGemmStridedBatchedEx", "CUBLAS_STATUS_NOT_SUPPORTED"): 1})

    def test_cudnn(self):
        trace = self.run_rules("cudnn")
        (_, made), = self.events(trace, "handle")
        handle = made["handle"]
        self.assertEqual(self.events(trace, "execute"), [
            ("cudnnBackendExecute", {"handle": handle, "plan": "0x81", "ret": "CUDNN_STATUS_SUCCESS"}),
            ("cudnnBackendExecute", {"handle": handle, "plan": "0x0",
                                     "ret": "CUDNN_STATUS_BAD_PARAM_NULL_POINTER"}),
            ("cudnnConvolutionForward", {"handle": handle, "algo": "CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD",
                                         "workspace": 1 << 20, "ret": "CUDNN_STATUS_SUCCESS"})])
        self.assertEqual(trace.stats("cuDNN calls"),
                         {("cudnnBackendExecute",): 2, ("cudnnConvolutionForward",): 1})
        self.assertEqual(trace.stats("cuDNN errors"),
                         {("cudnnBackendExecute", "CUDNN_STATUS_BAD_PARAM_NULL_POINTER"): 1})

    def test_hip(self):
        trace = self.run_rules("hip")
        block = trace.named("alloc")[0]["args"]["address"]
        self.assertEqual(self.events(trace, "memory"),
                         [("alloc", {"address": block, "size": 8192, "ret": "hipSuccess"})])
        self.check_launches(trace, [
            ("hipLaunchKernel", {"kernel": "vectorAdd", "blocks": 15, "threads": 128, "shared": 24,
                                 "stream": "0x92"}, "hipSuccess"),
            ("hipModuleLaunchKernel", {"kernel": "scale", "blocks": 12, "threads": 64, "shared": 8,
                                       "stream": "0x93"}, "hipSuccess")])
        self.assertEqual(trace.stats("Kernels launched by HIP"), {("vectorAdd",): 1, ("scale",): 1})
        self.assertEqual(trace.stats("Copied by HIP"), {("hipMemcpyHostToDevice",): 77})
        self.assertEqual(trace.stats("HIP errors"), {("hipFree", "hipErrorInvalidValue"): 1})
        self.assertEqual(trace.stats("HIP calls"), {
            ("hipModuleGetFunction",): 1, ("hipMalloc",): 1, ("hipMemcpy",): 1, ("hipLaunchKernel",): 1,
            ("hipModuleLaunchKernel",): 1, ("hipFree",): 2})


HIP_CALLS = """
import ctypes
hip = ctypes.CDLL("libamdhip64.so.5")
count, block = ctypes.c_int(), ctypes.c_void_p()
for call in range(3):
    assert hip.hipGetDeviceCount(ctypes.byref(count)) == 100
assert hip.hipMalloc(ctypes.byref(block), ctypes.c_size_t(4096)) == 101
"""

CUDART_PROGRAM = """
__global__ void vectorAdd(const float *a, float *b, int n) { if (n > 0) b[0] = a[0]; }
int main() {
    float *block = nullptr;
    cudaMalloc(&block, 4096);
    vectorAdd<<<dim3(2, 3, 4), dim3(32, 5, 1), 48>>>(block, block, 1);
    cudaFree(block);
    return 0;
}
"""

NCCL_CALLS = """
import ctypes
nccl = ctypes.CDLL("libnccl.so.2")
version = ctypes.c_int()
assert nccl.ncclGetVersion(ctypes.byref(version)) == 0
assert nccl.ncclAllReduce(None, None, ctypes.c_size_t(1000), 7, 0, None, ctypes.c_void_p(0x61)) == 4
"""

CUDNN_CALLS = """
import ctypes
cudnn = ctypes.CDLL("libcudnn.so.9")
handle = ctypes.c_void_p()
print(cudnn.cudnnCreate(ctypes.byref(handle)), cudnn.cudnnBackendExecute(None, None, None))
"""


class Real(TracerCase):
    def need(self, soname):
        """A skip where the loader does not find the library."""
        try:
            ctypes.CDLL(soname)
        except OSError as error:
            self.skipTest(f"there is no {soname}: {error}")

    def python(self, rules, program):
        return self.trace(ROOT / f"rules/{rules}.rules", sys.executable, "-c", program)

    def test_hip(self):
        self.need("libamdhip64.so.5")
        trace = self.python("hip", HIP_CALLS)
        self.assertEqual(trace.stats("HIP errors"), {("hipGetDeviceCount", "hipErrorNoDevice"): 3,
                                                     ("hipMalloc", "hipErrorInvalidDevice"): 1})
        (begin, end), = trace.pairs("hipMalloc")
        self.assertEqual((begin["args"]["size"], end["ret"]), (4096, "hipErrorInvalidDevice"))
        self.assertEqual(trace.named("alloc"), [])

    def test_nccl(self):
        self.need("libnccl.so.2")
        trace = self.python("nccl", NCCL_CALLS)
        reduced, = trace.named("ncclAllReduce")
        self.assertEqual(reduced["args"], {
            "bytes": 4000, "count": 1000, "datatype": "ncclFloat32", "op": "ncclSum", "communicator": "0x0",
            "rank": "0x0", "stream": "0x61", "ret": "ncclInvalidArgument"})
        self.assertEqual(trace.stats("NCCL errors"), {("ncclAllReduce", "ncclInvalidArgument"): 1})

    def test_cudart(self):
        self.need("libcudart.so.13")
        if shutil.which(NVCC) is None:
            self.skipTest(f"there is no {NVCC}")
        source = self.write("vector_add.cu", CUDART_PROGRAM)
        program = self.dir / "vector_add"
        subprocess.run([NVCC, "-cudart", "shared", "-o", program, source], check=True, capture_output=True)
        trace = self.trace(ROOT / "rules/cudart.rules", program)
        (launch, _), = trace.pairs("cudaLaunchKernel")
        for field, value in {"kernel": "vectorAdd", "blocks": 24, "threads": 160, "shared": 48}.items():
            self.assertEqual(launch["args"][field], value, field)
        (begin, end), = trace.pairs("cudaMalloc")
        self.assertEqual(begin["args"]["size"], 4096)
        self.assertIn(end["ret"], ("cudaErrorInsufficientDriver", "cudaErrorCallRequiresNewerDriver",
                                   "cudaErrorNoDevice", "cudaSuccess"))

    def test_kernels_of_a_program_that_was_there_before(self):
        """Its registrations were not seen: the function of the program that stands for a kernel has its name."""
        self.need("libcudart.so.13")
        if shutil.which(NVCC) is None:
            self.skipTest(f"there is no {NVCC}")
        source = self.write("again.cu", CUDART_PROGRAM.replace("int main() {", """
            #include <cstdio>
            int main() {
                while (getchar() != EOF) vectorAdd<<<1, 1>>>(nullptr, nullptr, 1);"""))
        program = self.dir / "again"
        subprocess.run([NVCC, "-cudart", "shared", "-o", program, source], check=True, capture_output=True)
        running = subprocess.Popen([program], stdin=subprocess.PIPE)
        self.addCleanup(running.wait)
        self.addCleanup(running.stdin.close)

        def launch():
            running.stdin.write(b"\n")
            running.stdin.flush()
        live = self.start(ROOT / "rules/cudart.rules", "--pid", running.pid)
        live.wait_for('"name":"cudaLaunchKernel"', poke=launch)
        live.interrupt()
        self.assertEqual(live.wait(10), 0, live.said())
        trace = live.trace()
        kernels = {event["args"]["kernel"] for event in trace.named("cudaLaunchKernel") if event["phase"] == "B"}
        self.assertEqual(kernels, {"vectorAdd"})
        self.assertEqual(set(trace.stats("Kernels launched by the runtime")), {("vectorAdd",)})

    def test_cudnn(self):
        self.need("libcudnn.so.9")
        trace = self.python("cudnn", CUDNN_CALLS)
        self.assertEqual({function: n for (function, _), n in trace.stats("cuDNN errors").items()},
                         {"cudnnCreate": 1, "cudnnBackendExecute": 1})
        execute, = trace.named("cudnnBackendExecute")
        self.assertEqual(execute["args"], {"handle": "0x0", "plan": "0x0"} | {"ret": execute["args"]["ret"]})


class Together(TracerCase):
    def test_all_of_them(self):
        """Their types live in one translation unit."""
        names = ("cuda", "cudart", "nccl", "cublas", "cudnn", "hip", "torch")
        options = [word for name in names[1:] for word in ("--rules", ROOT / f"rules/{name}.rules")]
        self.trace(ROOT / "rules/cuda.rules", "true", options=options,
                   env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM)})
