// Copies and fills. As on a card, only pinned memory is read and written later: other memory of the host is copied before
// the call returns. Ranges are checked when work is queued, and again when it runs.
#include <algorithm>
#include <cstring>
#include "sim.h"

namespace sim {

static uint64_t checksum(const void* p, size_t n) {
  uint64_t h = 1469598103934665603u, w;
  const char* c = (const char*)p;
  for (; n >= 8; n -= 8, c += 8) memcpy(&w, c, 8), h = (h ^ w) * 1099511628211u, h ^= h >> 29;
  for (; n; n--, c++) h = (h ^ (unsigned char)*c) * 1099511628211u;
  return h;
}

// still says that memory which was there when work was queued is there yet.
static bool still(Context* c, const char* what, CUdeviceptr p, size_t n) {
  if (on_device(c, p, n)) return true;
  found("%s of %zu bytes at %s: the memory was freed while this was queued", what, n, place_of(p).c_str());
  return false;
}

static CUresult to_device(Context* c, CUdeviceptr d, const void* h, size_t n, CUstream s) {
  if (!on_device(c, d, n)) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Stream> stream = stream_of(c, s);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!is_pinned(h, n)) {
    std::vector<char> copy((const char*)h, (const char*)h + n);
    return submit(c, s, {[=] {
                     if (!still(c, "a copy", d, n)) return CUDA_ERROR_ILLEGAL_ADDRESS;
                     return memcpy((void*)d, copy.data(), n), CUDA_SUCCESS;
                   }, {}});
  }
  // A captured copy takes what is there at each launch.
  bool captured = stream->capture;
  uint64_t sum = captured || !settings.lazy ? 0 : checksum(h, n);
  bool check = !captured && settings.lazy;
  return submit(c, s, {[=] {
                   if (!still(c, "a copy", d, n)) return CUDA_ERROR_ILLEGAL_ADDRESS;
                   if (check && checksum(h, n) != sum) {
                     found("a copy of %zu bytes of pinned memory to %s: the pinned memory has changed since the copy was queued", n,
                           place_of(d).c_str());
                     return CUDA_ERROR_LAUNCH_FAILED;
                   }
                   return memcpy((void*)d, h, n), CUDA_SUCCESS;
                 }, {}});
}
static CUresult to_host(Context* c, void* h, CUdeviceptr d, size_t n, CUstream s) {
  if (!on_device(c, d, n)) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Stream> stream = stream_of(c, s);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  bool later = is_pinned(h, n);
  if (later && settings.lazy && !stream->capture) memset(h, 0xff, n);  // who reads too early sees NaN
  CUresult r = submit(c, s, {[=] {
                        if (!still(c, "a copy", d, n)) return CUDA_ERROR_ILLEGAL_ADDRESS;
                        return memcpy(h, (void*)d, n), CUDA_SUCCESS;
                      }, {}});
  return r || later ? r : wait_for(stream.get(), stream->submitted);
}
static CUresult inside(Context* c, CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
  if (!on_device(c, to, n) || !on_device(c, from, n)) return CUDA_ERROR_INVALID_VALUE;
  if (to < from + n && from < to + n && n) {
    found("a copy of %zu bytes from %s to %s: they overlap", n, place_of(from).c_str(), place_of(to).c_str());
    return CUDA_ERROR_INVALID_VALUE;
  }
  return submit(c, s, {[=] {
                   if (!still(c, "a copy", to, n) || !still(c, "a copy", from, n)) return CUDA_ERROR_ILLEGAL_ADDRESS;
                   return memcpy((void*)to, (void*)from, n), CUDA_SUCCESS;
                 }, {}});
}
template <class T> static CUresult fill(Context* c, CUdeviceptr d, T v, size_t n, CUstream s) {
  if (!on_device(c, d, n * sizeof v) || d % sizeof v) return CUDA_ERROR_INVALID_VALUE;
  return submit(c, s, {[=] {
                   if (!still(c, "a fill", d, n * sizeof v)) return CUDA_ERROR_ILLEGAL_ADDRESS;
                   return std::fill_n((T*)d, n, v), CUDA_SUCCESS;
                 }, {}});
}
// at_once waits for a call without a stream.
static CUresult at_once(Context* c, CUresult r) {
  return r ? r : wait_for(c->null_stream.get(), c->null_stream->submitted);
}

}  // namespace sim

using namespace sim;

#define SYNC(work)                                                  \
  ENTER;                                                            \
  if (CUresult r = refuse_capture(context)) return r;               \
  return at_once(context, work)

API cuMemcpyHtoD_v2(CUdeviceptr d, const void* h, size_t n) { SYNC(to_device(context, d, h, n, nullptr)); }
API cuMemcpyDtoH_v2(void* h, CUdeviceptr d, size_t n) { SYNC(to_host(context, h, d, n, nullptr)); }
API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n) { SYNC(inside(context, to, from, n, nullptr)); }
API cuMemsetD8_v2(CUdeviceptr d, unsigned char v, size_t n) { SYNC(fill(context, d, v, n, nullptr)); }
API cuMemsetD32_v2(CUdeviceptr d, unsigned v, size_t n) { SYNC(fill(context, d, v, n, nullptr)); }
API cuMemcpyHtoDAsync_v2(CUdeviceptr d, const void* h, size_t n, CUstream s) {
  ENTER;
  return to_device(context, d, h, n, s);
}
API cuMemcpyDtoHAsync_v2(void* h, CUdeviceptr d, size_t n, CUstream s) {
  ENTER;
  return to_host(context, h, d, n, s);
}
API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
  ENTER;
  return inside(context, to, from, n, s);
}
API cuMemsetD8Async(CUdeviceptr d, unsigned char v, size_t n, CUstream s) {
  ENTER;
  return fill(context, d, v, n, s);
}
API cuMemsetD32Async(CUdeviceptr d, unsigned v, size_t n, CUstream s) {
  ENTER;
  return fill(context, d, v, n, s);
}
// cudasim_on_device says whether the current context has the bytes; else it is found, with what wanted them.
extern "C" __attribute__((visibility("default"))) int cudasim_on_device(const void* p, size_t bytes, const char* what) {
  std::lock_guard<std::recursive_mutex> lock(sim::mutex);
  Context* c = current_context();
  if (c && on_device(c, (CUdeviceptr)p, bytes)) return 1;
  return found("%s: %zu bytes at %s", what, bytes, place_of((CUdeviceptr)p).c_str()), 0;
}
