// Exported functions whose first instruction is push %rbp, as compilers make them without
// -fcf-protection. On other architectures they begin as the compiler likes. The rows of exports.def
// that say PUSH, in their order.

#include "entry.h"

using cuda_sim::enter;
using cuda_sim::Symbol;

CUDA_SIM_EXPORT CUresult cuInit(unsigned Flags) {
    return enter<Symbol::cuInit>(Flags);
}

CUDA_SIM_EXPORT CUresult cuDeviceGetName(char* name, int len, CUdevice dev) {
    return enter<Symbol::cuDeviceGetName>(name, len, dev);
}

CUDA_SIM_EXPORT CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
    return enter<Symbol::cuDeviceGetAttribute>(pi, attrib, dev);
}

CUDA_SIM_EXPORT CUresult cuModuleLoad(CUmodule* module, const char* fname) {
    return enter<Symbol::cuModuleLoad>(module, fname);
}

CUDA_SIM_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned flags) {
    return enter<Symbol::cuMemAllocManaged>(dptr, bytesize, flags);
}

CUDA_SIM_EXPORT CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned Flags) {
    return enter<Symbol::cuMemHostAlloc>(pp, bytesize, Flags);
}

CUDA_SIM_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) {
    return enter<Symbol::cuMemFreeAsync_ptsz>(dptr, hStream);
}

CUDA_SIM_EXPORT CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment,
                                             CUdeviceptr addr, unsigned long long flags) {
    return enter<Symbol::cuMemAddressReserve>(ptr, size, alignment, addr, flags);
}

CUDA_SIM_EXPORT CUresult cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    return enter<Symbol::cuMemcpyDtoH_v2>(dstHost, srcDevice, ByteCount);
}

CUDA_SIM_EXPORT CUresult cuMemcpyDtoHAsync_v2_ptsz(void* dstHost, CUdeviceptr srcDevice,
                                                   size_t ByteCount, CUstream hStream) {
    return enter<Symbol::cuMemcpyDtoHAsync_v2_ptsz>(dstHost, srcDevice, ByteCount, hStream);
}

CUDA_SIM_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned ui, size_t N) {
    return enter<Symbol::cuMemsetD32_v2>(dstDevice, ui, N);
}

CUDA_SIM_EXPORT CUresult cuStreamCreate(CUstream* phStream, unsigned Flags) {
    return enter<Symbol::cuStreamCreate>(phStream, Flags);
}

CUDA_SIM_EXPORT CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
    return enter<Symbol::cuStreamEndCapture>(hStream, phGraph);
}

CUDA_SIM_EXPORT CUresult cuEventCreate(CUevent* phEvent, unsigned Flags) {
    return enter<Symbol::cuEventCreate>(phEvent, Flags);
}

CUDA_SIM_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f,
                                          void** kernelParams, void** extra) {
    return enter<Symbol::cuLaunchKernelEx>(config, f, kernelParams, extra);
}

CUDA_SIM_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gridDimX,
                                                   unsigned gridDimY, unsigned gridDimZ,
                                                   unsigned blockDimX, unsigned blockDimY,
                                                   unsigned blockDimZ, unsigned sharedMemBytes,
                                                   CUstream hStream, void** kernelParams) {
    return enter<Symbol::cuLaunchCooperativeKernel>(f, gridDimX, gridDimY, gridDimZ, blockDimX,
                                                    blockDimY, blockDimZ, sharedMemBytes, hStream,
                                                    kernelParams);
}

CUDA_SIM_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph,
                                                     unsigned long long flags) {
    return enter<Symbol::cuGraphInstantiateWithFlags>(phGraphExec, hGraph, flags);
}
