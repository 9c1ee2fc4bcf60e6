// Log-softmax of one row of logits by a warp.
#pragma once
#include "warp.cuh"

// LogSoftmax gives log p = (x - top) - log(sum): the largest logit is taken off first, exactly.
struct LogSoftmax {
  float top, log_sum;
  __device__ __forceinline__ float operator()(float x) const { return (x - top) - log_sum; }
};

// row_log_softmax: every lane of the warp gets it; all must call. x [v].
static __device__ __forceinline__ LogSoftmax row_log_softmax(const float* x, int v) {
  int lane = threadIdx.x % 32;
  float top = LOWEST, sum = 0.f;
  for (int c = lane; c < v; c += 32) top = fmaxf(top, x[c]);
  top = warp_max(top);
  for (int c = lane; c < v; c += 32) sum += expf(x[c] - top);
  return LogSoftmax{top, logf(warp_sum(sum))};
}
