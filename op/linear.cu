#include "columns.cuh"

// linear_bias: y = b in each row; add 1 adds it. y [n, o], b [o]. A warp has 128 columns of a row, a block 32 rows.
template <class T>
static __device__ __forceinline__ void linear_bias(const float* b, T* y, int n, int o, int add) {
  for (int v = 0; v < 4; v++) {
    int column = (blockIdx.y * 4 + v) * COLUMNS + block_column();
    if (column >= o) return;
    float bias = b[column];
    for (int i = 0; i < 4; i++) {
      int row = blockIdx.x * 32 + i * LANES + block_lane();
      if (row >= n) break;
      T* to = &y[(int64_t)row * o + column];
      store(to, add ? load(to) + bias : bias);
    }
  }
}

// column_sum: the sums of x [batch, rows, columns] over chunks of rows -> partials [batch, chunks, columns]. Of a block
// x is the columns, y the chunk, z the utterance.
template <class T>
static __device__ __forceinline__ void column_sum(const T* x, float* partials, int rows, int columns, int chunk) {
  int column = blockIdx.x * COLUMNS + block_column(), first = blockIdx.y * chunk, end = min(first + chunk, rows);
  float sum = 0.f;
  if (column < columns)
    for (int row = first + block_lane(); row < end; row += LANES)
      sum += load(&x[((int64_t)blockIdx.z * rows + row) * columns + column]);
  sum = over_lanes(sum);
  if (block_lane() == 0 && column < columns) partials[((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * columns + column] = sum;
}

#define KERNELS(suffix, T)                                                                                              \
  extern "C" __global__ void linear_bias_##suffix(const float* b, T* y, int n, int o, int add) {                        \
    linear_bias(b, y, n, o, add);                                                                                       \
  }                                                                                                                     \
  extern "C" __global__ void column_sum_##suffix(const T* x, float* partials, int rows, int columns, int chunk) {       \
    column_sum(x, partials, rows, columns, chunk);                                                                      \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
