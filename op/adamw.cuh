// AdamW for one weight: the op adamw and the update of all weights share it.
#pragma once
#include "card.cuh"

// AdamStep is what an update has in common for all its weights: the fields of op.AdamStep, in the order of Put.
struct AdamStep {
  float lr, decay, beta1, beta2, eps, grad_scale, correct1, correct2;
};

// adamw updates both moments and returns the new weight.
static __device__ __forceinline__ float adamw(const AdamStep& s, float decay, float p, float* m, float* v, float g) {
  g *= s.grad_scale;
  float first = s.beta1 * *m + (1.f - s.beta1) * g;
  float second = s.beta2 * *v + (1.f - s.beta2) * g * g;
  *m = first;
  *v = second;
  return p * (1.f - s.lr * decay) - s.lr * (first * s.correct1) / (sqrtf(second * s.correct2) + s.eps);
}
