#include "card.cuh"

#define NONE 0x7fffffff

static __device__ __forceinline__ int least(int a, int b) { return a < b ? a : b; }

// block_min: every thread gets the least of the block's numbers.
static __device__ __forceinline__ int block_min(int v) {
  __shared__ int part[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int x = 16; x > 0; x >>= 1) v = least(v, __shfl_xor_sync(ALL_LANES, v, x));
  if (lane == 0) part[warp] = v;
  __syncthreads();
  v = lane < warps ? part[lane] : NONE;
  for (int x = 16; x > 0; x >>= 1) v = least(v, __shfl_xor_sync(ALL_LANES, v, x));
  return v;
}

// finite_first: the index of the first number that is not finite in each block's run of so many elements. x [n].
extern "C" __global__ void finite_first(const float* x, int n, int run, int32_t* first) {
  int start = blockIdx.x * run, end = n - start > run ? start + run : n, found = NONE;
  for (int i = start + (int)threadIdx.x; i < end; i += blockDim.x)
    if (!(x[i] - x[i] == 0)) found = least(found, i);
  found = block_min(found);
  if (threadIdx.x == 0) first[blockIdx.x] = found;
}

// finite_least: the first of all, or -1. One block. first [count], y [1].
extern "C" __global__ void finite_least(const int32_t* first, int count, int32_t* y) {
  int found = NONE;
  for (int i = threadIdx.x; i < count; i += blockDim.x) found = least(found, first[i]);
  found = block_min(found);
  if (threadIdx.x == 0) *y = found == NONE ? -1 : found;
}
