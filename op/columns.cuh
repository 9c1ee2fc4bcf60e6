// Blocks of 256 threads that sum over rows: 32 columns, side by side in memory, and 8 lanes that share the rows.
#pragma once
#include "card.cuh"

#define COLUMNS 32
#define LANES 8

static __device__ __forceinline__ int block_column() { return threadIdx.x % COLUMNS; }
static __device__ __forceinline__ int block_lane() { return threadIdx.x / COLUMNS; }

// over_lanes is the sum of v over the lanes of a column, in their order; lane 0 gets it. All threads must call.
static __device__ __forceinline__ float over_lanes(float v) {
  __shared__ float part[LANES][COLUMNS];
  __syncthreads();  // an earlier sum may still be read
  part[block_lane()][block_column()] = v;
  __syncthreads();
  if (block_lane() == 0)
    for (int l = 1; l < LANES; l++) v += part[l][block_column()];
  return v;
}
