#include "squares.cuh"

// reduce: see op.NewReduce. The sum goes into the first of the vectors [n], one vector a launch.
extern "C" __global__ void reduce_add(float* sum, const float* x, int64_t n) {
  int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] += x[i];
}

// reduce_squares: x [n] -> partials [n / SQUARES_RUN, rounded up].
extern "C" __global__ void reduce_squares(const float* x, int64_t n, double* partials) { sum_squares(x, n, partials); }

// reduce_partials: partials [count] -> y [1]. One block.
extern "C" __global__ void reduce_partials(const double* partials, int count, double* y) {
  double sum = sum_partials(partials, count);
  if (threadIdx.x == 0) *y = sum;
}
