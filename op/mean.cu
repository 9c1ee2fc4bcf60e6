#include "card.cuh"

// mean_add: see op.NewMeanAdd. sum, lost, x, out [n]; out may be sum. There is no product that could be fused with a sum.
extern "C" __global__ void mean_add(const float* sum, float* lost, const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float before = sum[i], y = x[i] - lost[i], after = before + y;
  lost[i] = (after - before) - y;
  out[i] = after;
}

// mean_end: out = sum / count. sum, out [n]; out may be sum.
extern "C" __global__ void mean_end(const float* sum, float* out, int n, float count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sum[i] / count;
}
