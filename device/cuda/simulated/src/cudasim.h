// The device language for g++: enough of it to compile the project's .cu files unchanged.
//
// A kernel's threads are fibers on one OS thread and blocks run one after another, so plain memory is coherent and
// atomics are plain. The builder compiles each .cu file twice, with and without a check of every access, inside an
// unnamed namespace, so that the two never share code or shared variables.
#pragma once
#ifndef CUDASIM_SCAN  // the builder's search for kernels runs the preprocessor alone, and keeps the word __global__
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#define __global__ __attribute__((noinline))  // inlined into the call of it, it would not be checked
#endif

#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
// Shared variables are the only data of a kernel file without a first value: the builder moves them all to a section of
// the file's own, which the runtime fills with NaN before each block.
#define __shared__ static
#define DYN_SHARED(T, name) T* name = (T*)cusim::dynamic_shared

#ifndef CUDASIM_SCAN
struct dim3 { unsigned x, y, z; };

namespace cusim {
struct Thread { dim3 index; unsigned linear; };
extern Thread* current;
extern dim3 block_idx, block_dim, grid_dim;
extern char* dynamic_shared;

// What a warp's lanes do together. All lanes of the mask must come, with the same mask.
enum Exchange { SHUFFLE, SYNCWARP, BALLOT };
void barrier();
uint64_t exchange(Exchange what, uint64_t value, unsigned mask, unsigned source_lane);

template <class T> static inline T shuffle(T v, unsigned mask, unsigned source) {
  static_assert(sizeof v <= 8);
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &v, sizeof v);
  bits = exchange(SHUFFLE, bits, mask, source);
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}
static inline unsigned lane() { return current->linear & 31; }

// A kernel as the driver sees it: a name, the sizes of its parameters, a call from an array of pointers to them, and
// where the shared variables of its file are.
struct Kernel {
  const char* name;
  void (*call)(void** params);
  int params;
  const uint8_t* sizes;
  bool checked;  // compiled with a check of every access
  char *shared_start, *shared_end;
  Kernel* next;
};
void add(Kernel*);

// Own is a type of the file and its variant: without one the linker would merge those of the two variants.
template <auto F, class Own> struct Parameters;
template <class... A, void (*F)(A...), class Own> struct Parameters<F, Own> {
  // The arguments lie in the host's memory: reading them isn't checked.
  template <size_t... I> __attribute__((no_sanitize("thread"))) static void expand(void** p, std::index_sequence<I...>) { F(*(A*)p[I]...); }
  __attribute__((no_sanitize("thread"))) static void call(void** p) { expand(p, std::index_sequence_for<A...>{}); }
  static constexpr uint8_t sizes[] = {(uint8_t)sizeof(A)..., 0};
  static constexpr int count = sizeof...(A);
};
}  // namespace cusim

// The builder adds one such line for each kernel of the file, and defines Own, CUSIM_CHECKED, CUSIM_START and CUSIM_STOP.
#define CUSIM_KERNEL(f)                                                                                             \
  static cusim::Kernel cusim_##f = {#f, cusim::Parameters<f, Own>::call, cusim::Parameters<f, Own>::count,          \
                                    cusim::Parameters<f, Own>::sizes, CUSIM_CHECKED, CUSIM_START, CUSIM_STOP,       \
                                    (cusim::Kernel*)1};                                                             \
  __attribute__((constructor, no_sanitize("thread"))) static void cusim_add_##f() { cusim::add(&cusim_##f); }

#define threadIdx (cusim::current->index)
#define blockIdx cusim::block_idx
#define blockDim cusim::block_dim
#define gridDim cusim::grid_dim
#define warpSize 32

static inline void __syncthreads() { cusim::barrier(); }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { cusim::exchange(cusim::SYNCWARP, 0, mask, 0); }
static inline unsigned __ballot_sync(unsigned mask, int set) { return (unsigned)cusim::exchange(cusim::BALLOT, set != 0, mask, 0); }
static inline int __any_sync(unsigned mask, int set) { return __ballot_sync(mask, set) != 0; }
static inline int __all_sync(unsigned mask, int set) { return __ballot_sync(mask, !set) == 0; }
template <class T> static inline T __shfl_sync(unsigned mask, T v, int source) { return cusim::shuffle(v, mask, source & 31); }
template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int x) { return cusim::shuffle(v, mask, (cusim::lane() ^ x) & 31); }
template <class T> static inline T __shfl_down_sync(unsigned mask, T v, unsigned d) {
  unsigned lane = cusim::lane();
  return cusim::shuffle(v, mask, lane + d < 32 ? lane + d : lane);
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T v, unsigned d) {
  unsigned lane = cusim::lane();
  return cusim::shuffle(v, mask, lane >= d ? lane - d : lane);
}

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static inline int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline float rsqrtf(float x) { return 1.f / sqrtf(x); }
static inline float __frcp_rn(float x) { return 1.f / x; }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __int_as_float(int x) { float f; __builtin_memcpy(&f, &x, 4); return f; }
static inline int __float_as_int(float f) { int x; __builtin_memcpy(&x, &f, 4); return x; }
static inline unsigned __float_as_uint(float f) { unsigned x; __builtin_memcpy(&x, &f, 4); return x; }
static inline float __uint_as_float(unsigned x) { float f; __builtin_memcpy(&f, &x, 4); return f; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
// Macros, because glibc declares functions of these names.
#define __expf(x) expf(x)
#define __logf(x) logf(x)
#define __powf(x, y) powf(x, y)
template <class T> static inline T __ldg(const T* p) { return *p; }
#endif
