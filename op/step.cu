#include "card.cuh"

// embed_at: y = scale*w[token] + positions[at], 0 where at is -1. tokens, at [prefixes], y [prefixes, d]. blockIdx.x is
// the prefix.
extern "C" __global__ void embed_at_f32(const int32_t* tokens, const int32_t* at, const float* w, const float* positions, float* y,
                                        float scale, int d) {
  int r = blockIdx.x, place = at[r];
  int64_t from = (int64_t)tokens[r] * d, step = (int64_t)place * d;
  for (int j = threadIdx.x; j < d; j += blockDim.x)
    y[(int64_t)r * d + j] = place < 0 ? 0.f : scale * w[from + j] + positions[step + j];
}

#define COLUMNS 8  // of a thread, 32 apart

// score_of is scale times the product of q and a key, [dh] each. All lanes of the warp have it.
static __device__ __forceinline__ float score_of(const float* q, const float* key, float scale, int dh) {
  float sum = 0.f;
  for (int j = threadIdx.x; j < dh; j += 32) sum += q[j] * key[j];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
  return scale * sum;
}

// attention_step: a warp has the prefix blockIdx.x and the head blockIdx.y. q, k, v, y [prefixes, d], keys, values
// [prefixes, kept, d], at [prefixes]. It sees the at kept rows and its own, which is the last one here.
extern "C" __global__ void attention_step_f32(const float* q, const float* k, const float* v, const float* keys, const float* values,
                                              const int32_t* at, float* y, float scale, int kept, int d, int dh) {
  int n = at[blockIdx.x];
  int64_t own = (int64_t)blockIdx.x * d + blockIdx.y * dh, first = (int64_t)blockIdx.x * kept * d + blockIdx.y * dh;
  float most = LOWEST, sum = 0.f;
  for (int c = 0; c <= n; c++) {
    float score = score_of(q + own, c < n ? keys + first + (int64_t)c * d : k + own, scale, dh);
    float higher = score > most ? score : most;
    sum = sum * expf(most - higher) + expf(score - higher);
    most = higher;
  }
  for (int from = 0; from < dh; from += 32 * COLUMNS) {
    float out[COLUMNS] = {};
    for (int c = 0; c <= n; c++) {
      const float* value = c < n ? values + first + (int64_t)c * d : v + own;
      float weight = expf(score_of(q + own, c < n ? keys + first + (int64_t)c * d : k + own, scale, dh) - most) / sum;
      for (int i = 0; i < COLUMNS; i++) {
        int j = from + 32 * i + threadIdx.x;
        if (j < dh) out[i] += weight * value[j];
      }
    }
    for (int i = 0; i < COLUMNS; i++) {
      int j = from + 32 * i + threadIdx.x;
      if (j < dh) y[own + j] = out[i];
    }
  }
}
