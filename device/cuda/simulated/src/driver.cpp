// libcuda.so.1 of the simulated device: the part of the driver API that a trainer uses, on host memory.
//
// Settings, read by cuInit:
//   CUDASIM_MEM=512M   size of the device memory; beyond it cuMemAlloc says out of memory   (default 1G)
//   CUDASIM_LAZY=1     queued work runs only when something waits for it; otherwise at once
//   CUDASIM_GUARD=1    each allocation ends at a page that can't be touched
//   CUDASIM_SEED=n     blocks of a grid run in a random order
#include "abi.h"
#include <pthread.h>
#include <sys/mman.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>
#include "runtime.h"


using Task = std::function<CUresult()>;
struct Stream { std::deque<Task> queue; };
struct Event {
  bool done = true;
  Stream* stream = nullptr;
  std::chrono::steady_clock::time_point time;
};
struct Module { std::set<std::string> entries; };
struct Allocation { size_t size; void* map; size_t map_size; };

static std::recursive_mutex mutex;
static bool started, lazy, guard;
static unsigned seed;
static size_t memory, used;
static CUresult sticky = CUDA_SUCCESS;  // a fault in a kernel: every later call returns it, as on the real device
static std::map<CUdeviceptr, Allocation> allocations;
static std::map<const char*, size_t> pinned;
static Stream null_stream;
static std::set<Stream*> streams;
static pthread_key_t context;  // per OS thread; not thread_local, which here means shared memory of a kernel

static size_t setting(const char* name, size_t fallback) {
  const char* s = getenv(name);
  if (!s) return fallback;
  char* end;
  size_t n = strtoull(s, &end, 0);
  return n << (*end == 'G' ? 30 : *end == 'M' ? 20 : *end == 'K' ? 10 : 0);
}

#define LOCK std::lock_guard<std::recursive_mutex> lock(mutex)
// A call that needs a context: locks, and returns early where the real driver would.
#define ENTER                                            \
  LOCK;                                                  \
  if (!started) return CUDA_ERROR_NOT_INITIALIZED;       \
  if (!pthread_getspecific(context)) return CUDA_ERROR_INVALID_CONTEXT; \
  if (sticky) return sticky

API cuInit(unsigned) {
  LOCK;
  if (started) return CUDA_SUCCESS;
  started = true;
  pthread_key_create(&context, nullptr);
  memory = setting("CUDASIM_MEM", 1ull << 30);
  lazy = setting("CUDASIM_LAZY", 0);
  guard = setting("CUDASIM_GUARD", 0);
  seed = setting("CUDASIM_SEED", 0);
  return CUDA_SUCCESS;
}
API cuDriverGetVersion(int* v) { *v = 11080; return CUDA_SUCCESS; }

// ---- devices and contexts

API cuDeviceGetCount(int* n) { *n = 1; return CUDA_SUCCESS; }
API cuDeviceGet(CUdevice* d, int i) { *d = 0; return i ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; }
API cuDeviceGetName(char* s, int n, CUdevice) { snprintf(s, n, "simulated device"); return CUDA_SUCCESS; }
API cuDeviceTotalMem_v2(size_t* n, CUdevice) { *n = memory; return CUDA_SUCCESS; }
API cuDeviceGetAttribute(int* v, CUdevice_attribute a, CUdevice) {
  switch (a) {
    case COMPUTE_CAPABILITY_MAJOR: *v = 7; break;
    case COMPUTE_CAPABILITY_MINOR: *v = 5; break;
    case MULTIPROCESSOR_COUNT: *v = 2; break;
    case WARP_SIZE: *v = 32; break;
    case MAX_THREADS_PER_BLOCK: *v = 1024; break;
    case MAX_SHARED_MEMORY_PER_BLOCK: *v = 48 << 10; break;
    default: *v = 0;
  }
  return CUDA_SUCCESS;
}
static CUresult make_current(CUcontext c) { pthread_setspecific(context, c); return CUDA_SUCCESS; }
API cuCtxCreate_v2(CUcontext* c, unsigned, CUdevice) {
  static uintptr_t count;
  LOCK;
  *c = (CUcontext)(++count * 16);
  return make_current(*c);
}
API cuCtxDestroy_v2(CUcontext c) { return pthread_getspecific(context) == c ? make_current(nullptr) : CUDA_SUCCESS; }
API cuCtxSetCurrent(CUcontext c) { return make_current(c); }
API cuCtxGetCurrent(CUcontext* c) { *c = (CUcontext)pthread_getspecific(context); return CUDA_SUCCESS; }
API cuCtxGetDevice(CUdevice* d) { ENTER; *d = 0; return CUDA_SUCCESS; }
API cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice) { *c = (CUcontext)8; return CUDA_SUCCESS; }
API cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }

// ---- streams and events: a stream is a queue of tasks, drained at once or (lazy) when something waits

static Stream* stream_of(CUstream s) { return (uintptr_t)s > 2 ? (Stream*)s : &null_stream; }
static CUresult run_first(Stream* s) {
  Task task = std::move(s->queue.front());
  s->queue.pop_front();
  CUresult r = task();
  if (r) sticky = r;
  return r;
}
static CUresult drain(Stream* s) {
  while (!s->queue.empty())
    if (CUresult r = run_first(s)) return r;
  return CUDA_SUCCESS;
}
static CUresult drain_all() {
  for (Stream* s : streams)
    if (CUresult r = drain(s)) return r;
  return drain(&null_stream);
}
static CUresult submit(CUstream s, Task task) {
  stream_of(s)->queue.push_back(std::move(task));
  return lazy ? CUDA_SUCCESS : drain(stream_of(s));
}
static CUresult finish(Event* e) {
  while (!e->done)
    if (CUresult r = run_first(e->stream)) return r;
  return CUDA_SUCCESS;
}

API cuCtxSynchronize() { ENTER; return drain_all(); }
API cuStreamCreate(CUstream* s, unsigned) { ENTER; *s = (CUstream)*streams.insert(new Stream).first; return CUDA_SUCCESS; }
API cuStreamDestroy_v2(CUstream s) {
  ENTER;
  CUresult r = drain(stream_of(s));
  streams.erase(stream_of(s));
  delete stream_of(s);
  return r;
}
API cuStreamSynchronize(CUstream s) { ENTER; return drain(stream_of(s)); }
API cuStreamQuery(CUstream s) { ENTER; return stream_of(s)->queue.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
API cuStreamWaitEvent(CUstream s, CUevent e, unsigned) { ENTER; return submit(s, [e] { return finish((Event*)e); }); }
API cuEventCreate(CUevent* e, unsigned) { *e = (CUevent) new Event; return CUDA_SUCCESS; }
API cuEventDestroy_v2(CUevent e) { delete (Event*)e; return CUDA_SUCCESS; }
API cuEventRecord(CUevent event, CUstream s) {
  ENTER;
  Event* e = (Event*)event;
  e->done = false;
  e->stream = stream_of(s);
  return submit(s, [e] {
    e->done = true;
    e->time = std::chrono::steady_clock::now();
    return CUDA_SUCCESS;
  });
}
API cuEventSynchronize(CUevent e) { ENTER; return finish((Event*)e); }
API cuEventQuery(CUevent e) { return ((Event*)e)->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
API cuEventElapsedTime(float* ms, CUevent a, CUevent b) {
  *ms = std::chrono::duration<float, std::milli>(((Event*)b)->time - ((Event*)a)->time).count();
  return CUDA_SUCCESS;
}

// ---- memory

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }
static size_t charged(size_t n) { return round_up(n, 512); }

API cuMemGetInfo_v2(size_t* free, size_t* total) { ENTER; *free = memory - used; *total = memory; return CUDA_SUCCESS; }
API cuMemAlloc_v2(CUdeviceptr* p, size_t n) {
  ENTER;
  if (!n) return CUDA_ERROR_INVALID_VALUE;
  if (used + charged(n) > memory) return CUDA_ERROR_OUT_OF_MEMORY;
  const size_t page = 4096;
  size_t body = round_up(n, page), fence = guard ? page : 0;
  char* map = (char*)mmap(nullptr, body + 2 * fence, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  char* start = map;
  if (guard) {
    mprotect(map, page, PROT_NONE);
    mprotect(map + page + body, page, PROT_NONE);
    start = map + page + body - round_up(n, 16);  // alignment leaves up to 15 bytes unguarded
  }
  memset(start, 0xff, n);  // fresh memory is NaN
  used += charged(n);
  *p = (CUdeviceptr)start;
  allocations[*p] = {n, map, body + 2 * fence};
  return CUDA_SUCCESS;
}
API cuMemFree_v2(CUdeviceptr p) {
  ENTER;
  auto a = allocations.find(p);
  if (a == allocations.end()) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = drain_all();
  used -= charged(a->second.size);
  munmap(a->second.map, a->second.map_size);
  allocations.erase(a);
  return r;
}
API cuMemHostAlloc(void** p, size_t n, unsigned) {
  ENTER;
  *p = aligned_alloc(4096, round_up(n, 4096));
  if (!*p) return CUDA_ERROR_OUT_OF_MEMORY;
  pinned[(char*)*p] = n;
  return CUDA_SUCCESS;
}
API cuMemFreeHost(void* p) {
  ENTER;
  if (!pinned.erase((char*)p)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = drain_all();
  free(p);
  return r;
}

static bool on_device(CUdeviceptr p, size_t n) {
  auto a = allocations.upper_bound(p);
  return a != allocations.begin() && (--a, p + n <= a->first + a->second.size);
}
static bool is_pinned(const void* p) {
  auto a = pinned.upper_bound((const char*)p);
  return a != pinned.begin() && (--a, (const char*)p < a->first + a->second);
}
// As on the real device, only pinned memory is read later; other memory is copied before the call returns.
static CUresult to_device(CUdeviceptr d, const void* h, size_t n, CUstream s, bool async) {
  if (!on_device(d, n)) return CUDA_ERROR_INVALID_VALUE;
  if (async && is_pinned(h)) return submit(s, [=] { memcpy((void*)d, h, n); return CUDA_SUCCESS; });
  std::vector<char> copy((const char*)h, (const char*)h + n);
  CUresult r = submit(s, [=] { memcpy((void*)d, copy.data(), n); return CUDA_SUCCESS; });
  return async || r ? r : drain(stream_of(s));
}
static CUresult to_host(void* h, CUdeviceptr d, size_t n, CUstream s, bool async) {
  if (!on_device(d, n)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = submit(s, [=] { memcpy(h, (void*)d, n); return CUDA_SUCCESS; });
  return (async && is_pinned(h)) || r ? r : drain(stream_of(s));
}
API cuMemcpyHtoD_v2(CUdeviceptr d, const void* h, size_t n) { ENTER; return to_device(d, h, n, nullptr, false); }
API cuMemcpyHtoDAsync_v2(CUdeviceptr d, const void* h, size_t n, CUstream s) { ENTER; return to_device(d, h, n, s, true); }
API cuMemcpyDtoH_v2(void* h, CUdeviceptr d, size_t n) { ENTER; return to_host(h, d, n, nullptr, false); }
API cuMemcpyDtoHAsync_v2(void* h, CUdeviceptr d, size_t n, CUstream s) { ENTER; return to_host(h, d, n, s, true); }
API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
  ENTER;
  if (!on_device(to, n) || !on_device(from, n)) return CUDA_ERROR_INVALID_VALUE;
  return submit(s, [=] { memmove((void*)to, (void*)from, n); return CUDA_SUCCESS; });
}
API cuMemsetD8Async(CUdeviceptr d, unsigned char v, size_t n, CUstream s) {
  ENTER;
  if (!on_device(d, n)) return CUDA_ERROR_INVALID_VALUE;
  return submit(s, [=] { memset((void*)d, v, n); return CUDA_SUCCESS; });
}
API cuMemsetD32Async(CUdeviceptr d, unsigned v, size_t n, CUstream s) {
  ENTER;
  if (!on_device(d, 4 * n)) return CUDA_ERROR_INVALID_VALUE;
  return submit(s, [=] { std::fill_n((unsigned*)d, n, v); return CUDA_SUCCESS; });
}

// ---- modules and kernels

// Compares the parameters that the PTX declares with those of the kernel compiled by g++: a PTX older than its source fails.
static bool same_params(const char* declaration, const cusim::Kernel* k) {
  int i = 0;
  for (const char *p = declaration, *end = strchr(p, ')'); end && (p = strstr(p, ".param .")) && p < end; i++) {
    p += strlen(".param .");
    int bits = atoi(p + 1);  // u64, f32, ...
    if (i >= k->params || bits != 8 * k->sizes[i]) return false;
  }
  return i == k->params;
}
API cuModuleLoadData(CUmodule* m, const void* image) {
  ENTER;
  if (!strstr((const char*)image, ".version")) return CUDA_ERROR_INVALID_IMAGE;
  std::set<std::string> entries;
  for (const char* p = (const char*)image; (p = strstr(p, ".entry "));) {
    p += strlen(".entry ");
    std::string name(p, strcspn(p, "( \n"));
    cusim::Kernel* k = cusim::find(name.c_str());
    if (!k || !same_params(p, k)) {
      fprintf(stderr, "cudasim: PTX entry %s: %s\n", name.c_str(), k ? "other parameters than in the simulated kernel" : "no simulated kernel");
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    entries.insert(name);
  }
  *m = (CUmodule) new Module{entries};
  return CUDA_SUCCESS;
}
API cuModuleLoadDataEx(CUmodule* m, const void* image, unsigned, void*, void**) { return cuModuleLoadData(m, image); }
API cuModuleUnload(CUmodule m) { delete (Module*)m; return CUDA_SUCCESS; }
API cuModuleGetFunction(CUfunction* f, CUmodule m, const char* name) {
  ENTER;
  if (!((Module*)m)->entries.count(name)) return CUDA_ERROR_NOT_FOUND;
  *f = (CUfunction)cusim::find(name);
  return CUDA_SUCCESS;
}
API cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   CUstream s, void** params, void**) {
  ENTER;
  auto* k = (cusim::Kernel*)f;
  bool fits = gx && gy && gz && bx && by && bz && bx * by * bz <= 1024 && gy <= 65535 && gz <= 65535 && shared <= 48 << 10;
  if (!fits) return CUDA_ERROR_INVALID_VALUE;
  std::vector<uint64_t> cells(2 * k->params);  // parameters are taken at the launch, not when the kernel runs
  for (int i = 0; i < k->params; i++) memcpy(&cells[2 * i], params[i], k->sizes[i]);
  return submit(s, [=]() mutable {
    std::vector<void*> p;
    for (int i = 0; i < k->params; i++) p.push_back(&cells[2 * i]);
    const char* fault = cusim::launch(k, {gx, gy, gz}, {bx, by, bz}, shared, p.data(), seed);
    if (!fault) return CUDA_SUCCESS;
    fprintf(stderr, "cudasim: kernel %s: %s\n", k->name, fault);
    return CUDA_ERROR_LAUNCH_FAILED;
  });
}
