#include "card.cuh"
#include "ema.cuh"

// ema: see op.NewEMA. average, x, out [n]; out may be average. constants [1].
extern "C" __global__ void ema_f32(const float* average, const float* x, const float* constants, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = ema(average[i], x[i], constants[0]);
}
