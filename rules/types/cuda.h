// The CUDA driver API: the toolkit's header if it is installed, else ours.
//
// The toolkit's names are macros for their newest forms (cuCtxCreate is cuCtxCreate_v4), and programs
// call older ones, too. Told that it is compiled for the driver itself, the header declares each form.
#if __has_include(<cuda.h>)
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#if __has_include(<cudaProfiler.h>)
#include <cudaProfiler.h>
#endif
#else
#include "cuda_driver.h"
#endif
