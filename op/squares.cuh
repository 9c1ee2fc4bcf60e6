// The sum of the squares of a vector in double: each block sums a run of fixed length, and one block the runs.
#pragma once
#include "warp.cuh"

#define SQUARES_RUN 8192  // elements of a block: squaresRun in reduce_cuda.go

static __device__ __forceinline__ void sum_squares(const float* x, int64_t n, double* partials) {
  int64_t start = (int64_t)blockIdx.x * SQUARES_RUN, end = start + SQUARES_RUN < n ? start + SQUARES_RUN : n;
  double sum = 0;
  for (int64_t i = start + threadIdx.x; i < end; i += blockDim.x) sum += (double)x[i] * (double)x[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// sum_partials: every thread of the one block gets the sum.
static __device__ __forceinline__ double sum_partials(const double* partials, int count) {
  double sum = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += partials[i];
  return block_sum(sum);
}
