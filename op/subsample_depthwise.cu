#include "subsample.cuh"

// subsample_depthwise_dx: the sum over outputs that see x[u][h] of its channel, 0 past the utterance's frames. dy
// [B, T', F', C], w [C, 9], dx [B, T, F, C]. Of a block x is the channels, y 8 frames, z the utterance. An output is
// read once for the two bins that have it on their left or in the middle, and kept for the one before.
template <class T>
static __device__ __forceinline__ void subsample_depthwise_dx(const T* dy, const float* w, const int32_t* lengths, T* dx, Subsampling s) {
  int c = blockIdx.x * COLUMNS + block_column(), u = blockIdx.y * LANES + block_lane(), b = blockIdx.z, n = s.own(lengths, b);
  if (c >= s.c || u >= s.t) return;
  dx += ((int64_t)b * s.t + u) * s.f * s.c + c;
  if (u >= n) {
    for (int h = 0; h < s.f; h++) store(dx + (int64_t)h * s.c, 0.f);
    return;
  }
  Meeting frames(u, (n + 1) / 2);
  const T* out[2] = {nullptr, nullptr};
  float taps[2][3] = {}, here[2] = {}, next[2] = {};
  for (int i = 0; i < 2; i++) {
    if (i >= frames.count) break;
    out[i] = dy + ((int64_t)b * s.t_out() + frames.out[i]) * s.f_out() * s.c + c;
    for (int j = 0; j < 3; j++) taps[i][j] = w[c * 9 + 3 * frames.tap[i] + j];
    next[i] = load(out[i]);
  }
  for (int j = 0; j < s.f_out(); j++) {
    float even = 0.f, odd = 0.f;
    for (int i = 0; i < 2; i++) {
      here[i] = next[i];
      next[i] = out[i] && j + 1 < s.f_out() ? load(out[i] + (int64_t)(j + 1) * s.c) : 0.f;
      even += taps[i][1] * here[i];
      odd += taps[i][2] * here[i] + taps[i][0] * next[i];
    }
    store(dx + (int64_t)(2 * j) * s.c, even);
    if (2 * j + 1 < s.f) store(dx + (int64_t)(2 * j + 1) * s.c, odd);
  }
}

#define KERNELS(suffix, T)                                                                                                       \
  extern "C" __global__ void subsample_depthwise_##suffix(const T* x, const float* w, const float* bias, const int32_t* lengths, \
                                                          T* y, int t, int f, int c, int factor) {                               \
    subsample<true, false>(x, w, bias, lengths, y, Subsampling{t, f, c, factor});                                                \
  }                                                                                                                              \
  extern "C" __global__ void subsample_depthwise_dx_##suffix(const T* dy, const float* w, const int32_t* lengths, T* dx, int t,  \
                                                             int f, int c, int factor) {                                         \
    subsample_depthwise_dx(dy, w, lengths, dx, Subsampling{t, f, c, factor});                                                    \
  }                                                                                                                              \
  extern "C" __global__ void subsample_depthwise_dw_##suffix(const T* dy, const T* x, const int32_t* lengths, float* partials,   \
                                                             int t, int f, int c, int factor) {                                  \
    subsample_dw<true>(dy, x, lengths, partials, Subsampling{t, f, c, factor});                                                  \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
