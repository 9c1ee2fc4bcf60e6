// What a .cu file may use: for NVRTC and nvcc (a card), and for g++ (the simulated device, with CUDASIM defined).
// float16 is a type of our own, so that no header of a toolkit is needed. No kernel uses floating-point atomics.
#pragma once
#ifdef CUDASIM
#include "cudasim.h"
struct f16 { _Float16 v; };
static inline float to_float(f16 h) { return (float)h.v; }
static inline f16 to_f16(float x) { return f16{(_Float16)x}; }
#else
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
struct f16 { unsigned short bits; };
static __device__ __forceinline__ float to_float(f16 h) { float x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h.bits)); return x; }
static __device__ __forceinline__ f16 to_f16(float x) { f16 h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x)); return h; }
#define DYN_SHARED(T, name) extern __shared__ __align__(16) unsigned char dynamic_shared_memory[]; T* name = (T*)dynamic_shared_memory
#endif

#define ALL_LANES 0xffffffffu
#define LOWEST (-3.402823466e38f)

// load and store see an element of either type as a float.
static __device__ __forceinline__ float load(const float* x) { return *x; }
static __device__ __forceinline__ float load(const f16* x) { return to_float(*x); }
static __device__ __forceinline__ void store(float* y, float v) { *y = v; }
static __device__ __forceinline__ void store(f16* y, float v) { *y = to_f16(v); }

// Philox4x32 with 7 rounds: package philox has the specification.
static __device__ __forceinline__ void philox(uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t out[4]) {
  for (int round = 0; round < 7; round++) {
    uint64_t p0 = (uint64_t)c0 * 0xD2511F53u, p1 = (uint64_t)c2 * 0xCD9E8D57u;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = c0; out[1] = c1; out[2] = c2; out[3] = c3;
}

// dropout_factor is what element j of a row at a site of an utterance is multiplied by: 0 or scale. seeds nullptr: 1.
static __device__ __forceinline__ float dropout_factor(const int32_t* seeds, int utterance, uint32_t site, uint32_t row, uint32_t j,
                                                       uint32_t threshold, float scale) {
  if (!seeds) return 1.f;
  uint32_t o = j % 128, lane = o % 16, v = o / 16, out[4];
  philox((uint32_t)seeds[2 * utterance], (uint32_t)seeds[2 * utterance + 1], (j / 128) * 16 + lane, row, site, 0, out);
  uint32_t draw = out[v / 2] >> (16 * (v % 2)) & 0xffffu;
  return draw < threshold ? 0.f : scale;
}
