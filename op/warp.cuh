// Sums and maxima over the lanes of a warp and the threads of a block, in an order that is always the same.
#pragma once
#include "card.cuh"

// warp_sum and warp_max: every lane gets the result; all 32 lanes must call.
template <class T>
static __device__ __forceinline__ T warp_sum(T v) {
  for (int x = 16; x > 0; x >>= 1) v += __shfl_xor_sync(ALL_LANES, v, x);
  return v;
}
static __device__ __forceinline__ float warp_max(float v) {
  for (int x = 16; x > 0; x >>= 1) v = fmaxf(v, __shfl_xor_sync(ALL_LANES, v, x));
  return v;
}

// block_sum: every thread gets the result; all threads of the block must call, a multiple of 32 of them.
template <class T>
static __device__ __forceinline__ T block_sum(T v) {
  __shared__ T part[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  v = warp_sum(v);
  __syncthreads();  // an earlier sum may still be read
  if (lane == 0) part[warp] = v;
  __syncthreads();
  return warp_sum(lane < warps ? part[lane] : (T)0);
}
