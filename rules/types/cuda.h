// The CUDA driver API: the toolkit's header if it is installed, else ours.
//
// The toolkit's names are macros for their newest forms (cuCtxCreate is cuCtxCreate_v4), and programs
// call older ones, too. Told that it is compiled for the driver itself, the header declares each form.
#ifndef MLBCC_TYPES_CUDA_H
#define MLBCC_TYPES_CUDA_H
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#ifndef MLBCC_WITHOUT_TOOLKIT
// Declared for the driver, these have other names for their parameters than their documentation has
// and than their per-thread forms. A rule needs one name for all forms.
CUresult CUDAAPI cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream);
CUresult CUDAAPI cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream);
CUresult CUDAAPI cuStreamCopyAttributes(CUstream dst, CUstream src);
CUresult CUDAAPI cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr,
                                      CUstreamAttrValue* value_out);
CUresult CUDAAPI cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                                      const CUstreamAttrValue* value);
#if __has_include(<cudaProfiler.h>)
#include <cudaProfiler.h>
#endif
#endif

// <cuda.h> was this file: its own folder is searched, too, before the machine's.
#elif __has_include_next(<cuda.h>)
#include_next <cuda.h>
#elif !defined(MLBCC_WITHOUT_TOOLKIT)
#define MLBCC_WITHOUT_TOOLKIT
#undef __CUDA_API_VERSION_INTERNAL
#include "cuda_driver.h"
#endif
