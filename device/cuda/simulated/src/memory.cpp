// Memory of the cards and pinned memory. Each allocation has pages of its own. Around its bytes these are filled with
// canaries, which are looked at when it is freed, and under guard at each wait; and under guard there are pages before and
// behind that can't be touched, and freed memory can't be touched any more.
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include "sim.h"

namespace sim {

static const size_t page = 4096, align = 256;
static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// The driver takes large allocations in chunks of their own, and shares chunks between small ones.
static const size_t chunk = 2 << 20;
static bool is_large(size_t n) { return n > chunk / 2; }
static size_t charge(size_t n) { return is_large(n) ? round_up(n, chunk) : round_up(n, 512); }

static std::map<CUdeviceptr, Allocation> allocations;
static std::map<const char*, size_t> pinned;
struct Freed { Allocation was; };
static std::deque<Freed> graves;  // memory that nothing may touch, until there are too many
static const size_t most_graves = 4096;
static uint64_t numbers;

size_t live_allocations() { return allocations.size(); }
size_t live_pinned() { return pinned.size(); }
size_t live_bytes() {
  size_t n = 0;
  for (auto& a : allocations) n += a.second.size;
  return n;
}

Allocation* allocation_at(CUdeviceptr p) {
  auto a = allocations.upper_bound(p);
  if (a == allocations.begin()) return nullptr;
  --a;
  return p < a->first + a->second.size ? &a->second : nullptr;
}
bool on_device(Context* c, CUdeviceptr p, size_t bytes) {
  Allocation* a = allocation_at(p);
  return a && a->context == c && p + bytes <= a->start + a->size && p + bytes >= p;
}
bool is_pinned(const void* p, size_t bytes) {
  auto a = pinned.upper_bound((const char*)p);
  return a != pinned.begin() && (--a, (const char*)p + bytes <= a->first + a->second);
}

std::string place_of(CUdeviceptr p) {
  char text[200];
  auto describe = [&](const Allocation& a, const char* what) {
    if (p >= a.start + a.size)
      snprintf(text, sizeof text, "%zu bytes past the end of allocation %zu of %zu bytes%s", (size_t)(p - a.start - a.size), (size_t)a.number, a.size, what);
    else if (p < a.start)
      snprintf(text, sizeof text, "%zu bytes before allocation %zu of %zu bytes%s", (size_t)(a.start - p), (size_t)a.number, a.size, what);
    else
      snprintf(text, sizeof text, "byte %zu of allocation %zu of %zu bytes%s", (size_t)(p - a.start), (size_t)a.number, a.size, what);
    return std::string(text);
  };
  auto near = [&](const Allocation& a) { return p + page >= (uintptr_t)a.body && p < (uintptr_t)a.body + a.body_size + page; };
  for (auto& x : allocations)
    if (near(x.second)) return describe(x.second, "");
  for (auto& g : graves)
    if (near(g.was)) return describe(g.was, ", which is freed");
  snprintf(text, sizeof text, "address %#llx, which is in no allocation", (unsigned long long)p);
  return text;
}

// poisoned maps pages full of 0xff, which is NaN in every type. Large ones share a file's pages until they are written, so
// that a card of many GiB fits into a small machine.
static char* poisoned(char* at, size_t bytes) {
  static const size_t piece = 16 << 20;
  static int file = [] {
    int f = memfd_create("poison", 0);
    std::vector<char> ff(piece, (char)0xff);
    if (f >= 0 && write(f, ff.data(), piece) != (ssize_t)piece) return -1;
    return f;
  }();
  for (size_t done = 0; done < bytes; done += piece) {
    size_t n = std::min(piece, bytes - done);
    if (file >= 0 && n >= page * 64) {
      if (mmap(at + done, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED) return nullptr;
    } else {
      if (mprotect(at + done, n, PROT_READ | PROT_WRITE)) return nullptr;
      memset(at + done, 0xff, n);
    }
  }
  return at;
}

// check looks at the canaries of an allocation, and puts right what it has told once.
static bool check(Allocation& a) {
  char *start = (char*)a.start, *end = start + a.size, *limit = a.body + a.body_size;
  bool good = true;
  auto zone = [&](char* from, char* to) {
    char* bad = std::find_if(from, to, [](char c) { return c != (char)0xff; });
    if (bad == to) return;
    good = false;
    found("written: %s", place_of((CUdeviceptr)bad).c_str());
    memset(from, 0xff, to - from);
  };
  zone(a.body, start);
  zone(end, limit);
  return good;
}
void check_canaries(Context* c) {
  if (!settings.guard) return;
  for (auto& a : allocations)
    if (a.second.context == c && !check(a.second) && !c->sticky) c->sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
}

static CUresult allocate(Context* c, CUdeviceptr* p, size_t n) {
  if (!n) return CUDA_ERROR_INVALID_VALUE;
  size_t& sum = is_large(n) ? c->card->large : c->card->small;
  sum += charge(n);
  if (c->card->used() > c->card->memory) return sum -= charge(n), CUDA_ERROR_OUT_OF_MEMORY;
  size_t body = round_up(round_up(n, align), page);
  char* map = (char*)mmap(nullptr, body + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED || !poisoned(map + page, body)) {
    found("the host has no %zu bytes for a simulated card", n);
    return sum -= charge(n), CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (!settings.guard) mprotect(map, page, PROT_READ | PROT_WRITE), mprotect(map + page + body, page, PROT_READ | PROT_WRITE);
  *p = (CUdeviceptr)(map + page + body - round_up(n, align));
  allocations[*p] = {c, *p, n, ++numbers, map + page, body};
  return CUDA_SUCCESS;
}
static void release(Allocation a) {
  (is_large(a.size) ? a.context->card->large : a.context->card->small) -= charge(a.size);
  free_shadow(&a);
  allocations.erase(a.start);
  if (!settings.guard) {
    munmap(a.body - page, a.body_size + 2 * page);
    return;
  }
  mmap(a.body - page, a.body_size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  graves.push_back({a});
  if (graves.size() <= most_graves) return;
  Allocation& old = graves.front().was;
  munmap(old.body - page, old.body_size + 2 * page);
  graves.pop_front();
}
void free_all(Context* c) {
  for (auto a = allocations.begin(); a != allocations.end();) {
    Allocation x = (a++)->second;
    if (x.context == c) check(x), release(x);
  }
}

}  // namespace sim

using namespace sim;

API cuMemGetInfo_v2(size_t* free, size_t* total) {
  ENTER;
  size_t used = context->card->used();
  *total = context->card->memory;
  *free = *total > used ? *total - used : 0;
  return CUDA_SUCCESS;
}
API cuMemAlloc_v2(CUdeviceptr* p, size_t n) {
  ENTER;
  return allocate(context, p, n);
}
API cuMemFree_v2(CUdeviceptr p) {
  ENTER;
  if (!p) return CUDA_SUCCESS;
  auto a = allocations.find(p);
  if (a == allocations.end() || a->second.context != context) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = wait_for_all(context);
  if (!check(a->second) && !r) r = context->sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  release(a->second);
  return r;
}
API cuMemGetAddressRange_v2(CUdeviceptr* start, size_t* size, CUdeviceptr p) {
  ENTER;
  Allocation* a = allocation_at(p);
  if (!a) return CUDA_ERROR_NOT_FOUND;
  if (start) *start = a->start;
  if (size) *size = a->size;
  return CUDA_SUCCESS;
}

static CUresult pin(void** p, size_t n) {
  if (!n) return CUDA_ERROR_INVALID_VALUE;
  *p = aligned_alloc(page, round_up(n, page));
  if (!*p) return CUDA_ERROR_OUT_OF_MEMORY;
  memset(*p, 0xff, n);
  pinned[(char*)*p] = n;
  return CUDA_SUCCESS;
}
API cuMemHostAlloc(void** p, size_t n, unsigned) {
  ENTER;
  return pin(p, n);
}
API cuMemAllocHost_v2(void** p, size_t n) {
  ENTER;
  return pin(p, n);
}
API cuMemFreeHost(void* p) {
  ENTER;
  if (!pinned.count((char*)p)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = wait_for_all(context);
  pinned.erase((char*)p);
  free(p);
  return r;
}
