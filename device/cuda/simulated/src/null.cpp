// libcuda.so.1 of a card that does nothing and succeeds: for the cost of the calls themselves. Memory is a count, and
// nothing lies behind its addresses.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "abi.h"

static CUdeviceptr top = 1 << 20;
static uintptr_t handle;
template <class T> static CUresult make(T* h) { return *h = (T)(handle += 16), CUDA_SUCCESS; }

API cuInit(unsigned) { return CUDA_SUCCESS; }
API cuDriverGetVersion(int* v) { return *v = 12040, CUDA_SUCCESS; }
API cuGetErrorName(CUresult, const char** s) { return *s = "an error of the null driver", CUDA_SUCCESS; }
API cuGetErrorString(CUresult, const char** s) { return *s = "an error of the null driver", CUDA_SUCCESS; }
API cuDeviceGetCount(int* n) { return *n = 1, CUDA_SUCCESS; }
API cuDeviceGet(CUdevice* d, int i) { return *d = 0, i ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; }
API cuDeviceGetName(char* s, int n, CUdevice) { return snprintf(s, n, "null device"), CUDA_SUCCESS; }
API cuDeviceTotalMem_v2(size_t* n, CUdevice) { return *n = 16ull << 30, CUDA_SUCCESS; }
API cuDeviceGetPCIBusId(char* s, int n, CUdevice) { return snprintf(s, n, "0000:00:00.0"), CUDA_SUCCESS; }
API cuDeviceGetUuid(CUuuid* u, CUdevice) { return memset(u, 0, sizeof *u), CUDA_SUCCESS; }
API cuDeviceGetUuid_v2(CUuuid* u, CUdevice) { return memset(u, 0, sizeof *u), CUDA_SUCCESS; }
API cuDeviceGetAttribute(int* v, CUdevice_attribute a, CUdevice) {
  switch (a) {
    case COMPUTE_CAPABILITY_MAJOR: *v = 7; break;
    case COMPUTE_CAPABILITY_MINOR: *v = 5; break;
    case WARP_SIZE: *v = 32; break;
    case MAX_THREADS_PER_BLOCK: *v = 1024; break;
    case MAX_SHARED_MEMORY_PER_BLOCK: *v = 48 << 10; break;
    case MULTIPROCESSOR_COUNT: *v = 40; break;
    default: *v = 0;
  }
  return CUDA_SUCCESS;
}
API cuCtxCreate_v2(CUcontext* c, unsigned, CUdevice) { return make(c); }
API cuCtxGetCurrent(CUcontext* c) { return *c = (CUcontext)8, CUDA_SUCCESS; }
API cuCtxGetDevice(CUdevice* d) { return *d = 0, CUDA_SUCCESS; }
API cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice) { return *c = (CUcontext)8, CUDA_SUCCESS; }
API cuMemGetInfo_v2(size_t* free, size_t* total) { return *free = *total = 16ull << 30, CUDA_SUCCESS; }
API cuMemAlloc_v2(CUdeviceptr* p, size_t n) { return *p = top, top += (n + 511) & ~511ull, CUDA_SUCCESS; }
API cuMemHostAlloc(void** p, size_t n, unsigned) { return *p = calloc(1, n), CUDA_SUCCESS; }
API cuMemAllocHost_v2(void** p, size_t n) { return *p = calloc(1, n), CUDA_SUCCESS; }
API cuMemFreeHost(void* p) { return free(p), CUDA_SUCCESS; }
API cuModuleLoadData(CUmodule* m, const void*) { return make(m); }
API cuModuleLoadDataEx(CUmodule* m, const void*, unsigned, void*, void**) { return make(m); }
API cuModuleGetFunction(CUfunction* f, CUmodule, const char*) { return make(f); }
API cuFuncGetAttribute(int* v, int, CUfunction) { return *v = 0, CUDA_SUCCESS; }
API cuStreamCreate(CUstream* s, unsigned) { return make(s); }
API cuStreamCreateWithPriority(CUstream* s, unsigned, int) { return make(s); }
API cuEventCreate(CUevent* e, unsigned) { return make(e); }
API cuEventElapsedTime(float* ms, CUevent, CUevent) { return *ms = 0, CUDA_SUCCESS; }
API cuStreamIsCapturing(CUstream, int* status) { return *status = 0, CUDA_SUCCESS; }
API cuStreamEndCapture(CUstream, CUgraph* g) { return make(g); }
API cuGraphInstantiate(CUgraphExec* e, CUgraph, void*, char*, size_t) { return make(e); }
API cuGraphInstantiate_v2(CUgraphExec* e, CUgraph, void*, char*, size_t) { return make(e); }
API cuGraphInstantiateWithFlags(CUgraphExec* e, CUgraph, unsigned long long) { return make(e); }

#define NOTHING(f) API f() { return CUDA_SUCCESS; }
NOTHING(cuCtxDestroy_v2) NOTHING(cuCtxSetCurrent) NOTHING(cuCtxPushCurrent_v2) NOTHING(cuCtxSynchronize)
NOTHING(cuDevicePrimaryCtxRelease) NOTHING(cuDevicePrimaryCtxRelease_v2) NOTHING(cuDevicePrimaryCtxSetFlags_v2)
NOTHING(cuMemFree_v2) NOTHING(cuModuleUnload) NOTHING(cuFuncSetAttribute)
NOTHING(cuMemcpyHtoD_v2) NOTHING(cuMemcpyDtoH_v2) NOTHING(cuMemcpyDtoD_v2) NOTHING(cuMemcpyHtoDAsync_v2)
NOTHING(cuMemcpyDtoHAsync_v2) NOTHING(cuMemcpyDtoDAsync_v2)
NOTHING(cuMemsetD8_v2) NOTHING(cuMemsetD32_v2) NOTHING(cuMemsetD8Async) NOTHING(cuMemsetD32Async)
NOTHING(cuLaunchKernel) NOTHING(cuStreamDestroy_v2) NOTHING(cuStreamSynchronize) NOTHING(cuStreamQuery)
NOTHING(cuStreamWaitEvent) NOTHING(cuEventRecord) NOTHING(cuEventSynchronize) NOTHING(cuEventQuery) NOTHING(cuEventDestroy_v2)
NOTHING(cuStreamBeginCapture) NOTHING(cuStreamBeginCapture_v2) NOTHING(cuGraphLaunch) NOTHING(cuGraphDestroy)
NOTHING(cuGraphExecDestroy) NOTHING(cuGraphUpload)

// cuBLAS of the null driver is in the same library.
API cublasCreate_v2(void** h) { return make(h); }
API cublasGetVersion_v2(void*, int* v) { return *v = 120400, CUDA_SUCCESS; }
NOTHING(cublasDestroy_v2) NOTHING(cublasSetStream_v2) NOTHING(cublasSetMathMode) NOTHING(cublasSetWorkspace_v2)
NOTHING(cublasGemmStridedBatchedEx)
