#include "adamw.cuh"

// adamw: see op.NewAdamW. p, m, v, g, out [n]; out may be p.
extern "C" __global__ void adamw_f32(const float* p, float* m, float* v, const float* g, const AdamStep* constants, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  AdamStep s = *constants;
  out[i] = adamw(s, s.decay, p[i], &m[i], &v[i], g[i]);
}
