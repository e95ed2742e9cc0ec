// Exported functions that begin with endbr64; push %rbp, as compilers make them with
// -fcf-protection=branch. On other architectures they begin as the compiler likes. The rows of
// exports.def that say ENDBR, in their order.

#include "entry.h"

using cuda_sim::enter;
using cuda_sim::Symbol;

CUDA_SIM_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return enter<Symbol::cuDeviceGet>(device, ordinal);
}

CUDA_SIM_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
    return enter<Symbol::cuDevicePrimaryCtxRetain>(pctx, dev);
}

CUDA_SIM_EXPORT CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned flags, CUdevice dev) {
    return enter<Symbol::cuCtxCreate_v2>(pctx, flags, dev);
}

CUDA_SIM_EXPORT CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
    return enter<Symbol::cuModuleGetFunction>(hfunc, hmod, name);
}

CUDA_SIM_EXPORT CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library,
                                            const char* name) {
    return enter<Symbol::cuLibraryGetKernel>(pKernel, library, name);
}

CUDA_SIM_EXPORT CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
    return enter<Symbol::cuMemGetInfo_v2>(free, total);
}

CUDA_SIM_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes,
                                            size_t Height, unsigned ElementSizeBytes) {
    return enter<Symbol::cuMemAllocPitch_v2>(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);
}

CUDA_SIM_EXPORT CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute,
                                               CUdeviceptr ptr) {
    return enter<Symbol::cuPointerGetAttribute>(data, attribute, ptr);
}

CUDA_SIM_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
    return enter<Symbol::cuMemAllocAsync>(dptr, bytesize, hStream);
}

CUDA_SIM_EXPORT CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    return enter<Symbol::cuMemMap>(ptr, size, offset, handle, flags);
}

CUDA_SIM_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost,
                                         size_t ByteCount) {
    return enter<Symbol::cuMemcpyHtoD_v2>(dstDevice, srcHost, ByteCount);
}

CUDA_SIM_EXPORT CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dstDevice, const void* srcHost,
                                                   size_t ByteCount, CUstream hStream) {
    return enter<Symbol::cuMemcpyHtoDAsync_v2_ptsz>(dstDevice, srcHost, ByteCount, hStream);
}

CUDA_SIM_EXPORT CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned ui, size_t N,
                                          CUstream hStream) {
    return enter<Symbol::cuMemsetD32Async>(dstDevice, ui, N, hStream);
}

CUDA_SIM_EXPORT CUresult cuStreamSynchronize(CUstream hStream) {
    return enter<Symbol::cuStreamSynchronize>(hStream);
}

CUDA_SIM_EXPORT CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
    return enter<Symbol::cuStreamBeginCapture_v2>(hStream, mode);
}

CUDA_SIM_EXPORT CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
    return enter<Symbol::cuEventRecord>(hEvent, hStream);
}

CUDA_SIM_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gridDimX, unsigned gridDimY,
                                             unsigned gridDimZ, unsigned blockDimX,
                                             unsigned blockDimY, unsigned blockDimZ,
                                             unsigned sharedMemBytes, CUstream hStream,
                                             void** kernelParams, void** extra) {
    return enter<Symbol::cuLaunchKernel_ptsz>(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,
                                              blockDimZ, sharedMemBytes, hStream, kernelParams,
                                              extra);
}

CUDA_SIM_EXPORT CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream) {
    return enter<Symbol::cuGraphLaunch>(hGraph, hStream);
}
