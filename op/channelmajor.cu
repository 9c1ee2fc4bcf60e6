#include "card.cuh"

#define TILE 32  // rows and columns that a block of 8 warps turns

// channelmajor: each of the matrices x [n, r, c] becomes its transpose y [n, c, r]. blockIdx.x is the matrix.
template <class T>
static __device__ __forceinline__ void channelmajor(const T* x, T* y, int r, int c) {
  __shared__ float tile[TILE][TILE + 1];  // a column's elements lie in 32 banks
  x += (int64_t)blockIdx.x * r * c;
  y += (int64_t)blockIdx.x * r * c;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.y * TILE, column = blockIdx.z * TILE;
  for (int i = warp; i < TILE; i += 8)
    if (row + i < r && column + lane < c) tile[i][lane] = load(&x[(int64_t)(row + i) * c + column + lane]);
  __syncthreads();
  for (int i = warp; i < TILE; i += 8)
    if (column + i < c && row + lane < r) store(&y[(int64_t)(column + i) * r + row + lane], tile[lane][i]);
}

extern "C" __global__ void channelmajor_f32(const float* x, float* y, int r, int c) { channelmajor(x, y, r, c); }
extern "C" __global__ void channelmajor_f16(const f16* x, f16* y, int r, int c) { channelmajor(x, y, r, c); }
