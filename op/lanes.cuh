// How kernels that go element by element share the work: a thread has 8 elements of one utterance, 16 apart, whose
// dropout draws come from one call of the generator. blockIdx.y is the utterance.
#pragma once
#include "card.cuh"

struct Lanes {
  int64_t start;  // of the utterance, in elements
  int first, n;   // the thread's first element in the utterance, which has n
  uint32_t draws[4], threshold;
  float scale;
  bool dropping;

  __device__ __forceinline__ Lanes(int n, const int32_t* seeds, uint32_t site, uint32_t threshold, float scale)
      : n(n), threshold(threshold), scale(scale), dropping(seeds != nullptr) {
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    first = (int)(thread / 16 * 128 + thread % 16);
    start = (int64_t)blockIdx.y * n;
    if (dropping && first < n)
      philox((uint32_t)seeds[2 * blockIdx.y], (uint32_t)seeds[2 * blockIdx.y + 1], thread, 0, site, 0, draws);
  }
  __device__ __forceinline__ bool inside(int v) const { return first + 16 * v < n; }
  __device__ __forceinline__ int64_t element(int v) const { return start + first + 16 * v; }
  // factor is 0 where element v is dropped, else the scale; 1 without dropout.
  __device__ __forceinline__ float factor(int v) const {
    if (!dropping) return 1.f;
    return (draws[v / 2] >> (16 * (v % 2)) & 0xffffu) < threshold ? 0.f : scale;
  }
};
