// Kernels for the tests of package cuda. x, y [n].
#include "card.cuh"

// multiply_add: y = a*x + y.
extern "C" __global__ void multiply_add(const float* x, float* y, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

// count: y[i] = the number of the thread in a grid of three dimensions, plus what a launch's last argument says.
extern "C" __global__ void count(float* y, int64_t first) {
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  y[block * blockDim.x + threadIdx.x] = (float)(first + block * (int)blockDim.x + (int)threadIdx.x);
}

// write_far writes where no memory is.
extern "C" __global__ void write_far(float* y, int n) { y[(int64_t)n * 1000000 + threadIdx.x] = 1.f; }
