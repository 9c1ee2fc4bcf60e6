// One mistake in each kernel but the first, to show what the simulated card makes of it. x, y [n]; blocks of 64 threads.
#include "card.cuh"

// right: y = the sum of each warp's x; through shared memory, and with no mistake.
extern "C" __global__ void right(const float* x, float* y, int n) {
  __shared__ float part[64];
  DYN_SHARED(float, copy);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = x[i];
  __syncthreads();
  copy[63 - threadIdx.x] = part[threadIdx.x];
  __syncthreads();
  float v = copy[63 - threadIdx.x];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(ALL_LANES, v, d);
  y[i] = v;
}

// by_warps: lanes of one warp exchange through shared memory, with __syncwarp between.
extern "C" __global__ void by_warps(const float* x, float* y, int n) {
  __shared__ float part[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = x[i];
  __syncwarp();
  y[i] = part[threadIdx.x ^ 1];
}

extern "C" __global__ void read_past_end(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i + 1];
}

extern "C" __global__ void write_past_end(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i + 1] = x[i];
}

// write_far: to where nothing is mapped. Downwards, as y may lie within 64 GiB of the last address that there can be.
extern "C" __global__ void write_far(const float* x, float* y, int n) { y[threadIdx.x - ((int64_t)1 << 34)] = x[0]; }

// write_nowhere: to an address that no processor has memory at, however large its pages' tables.
extern "C" __global__ void write_nowhere(const float* x, float* y, int n) { y[((int64_t)1 << 60) + threadIdx.x] = x[0]; }

extern "C" __global__ void unset_shared(const float* x, float* y, int n) {
  __shared__ float part[64];
  if (threadIdx.x > 0) part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = part[63 - threadIdx.x];
}

extern "C" __global__ void missing_barrier(const float* x, float* y, int n) {
  __shared__ float part[64];
  part[threadIdx.x] = x[threadIdx.x];
  y[blockIdx.x * blockDim.x + threadIdx.x] = part[63 - threadIdx.x];
}

// missing_second_barrier: right values in the order in which the threads are simulated, but a write races with a read.
extern "C" __global__ void missing_second_barrier(const float* x, float* y, int n) {
  DYN_SHARED(float, part);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = x[i];
  __syncthreads();
  y[i] = part[threadIdx.x / 2];
  part[threadIdx.x] = 0.f;
}

// one_word: the lanes of a warp write the same value to one word.
extern "C" __global__ void one_word(const float* x, float* y, int n) { y[blockIdx.x] = x[0]; }

extern "C" __global__ void barrier_after_exit(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 10) return;
  __syncthreads();
  y[i] = x[i];
}

extern "C" __global__ void absent_lane(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((threadIdx.x & 31) < 16) y[i] = __shfl_xor_sync(ALL_LANES, x[i], 1);
}

extern "C" __global__ void different_masks(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x & 1)
    y[i] = __shfl_xor_sync(ALL_LANES, x[i], 1);
  else
    y[i] = __shfl_xor_sync(0x7fffffffu, x[i], 2);
}

// block_order reads what another block writes.
extern "C" __global__ void block_order(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + (i >= (int)blockDim.x ? y[i - blockDim.x] : 0.f);
}

// unset_memory adds to what was never set.
extern "C" __global__ void unset_memory(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += x[i];
}

extern "C" __global__ void misaligned(const float* x, float* y, int n) {
  const double* d = (const double*)(x + 1);
  y[blockIdx.x * blockDim.x + threadIdx.x] = (float)d[threadIdx.x / 4];
}

// zero_divisor: a card gives some number.
extern "C" __global__ void zero_divisor(const float* x, float* y, int n) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = (float)(n / (int)threadIdx.x);
}
