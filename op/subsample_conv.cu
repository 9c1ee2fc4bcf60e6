#include "subsample.cuh"
#include "warp.cuh"

// subsample_conv_dx: the sum over channels and over outputs that see x[u][h]. g [B, T', F', C], w [C, 9], dx [B, T, F]. A
// warp has one element; of a block x is 8 bins, y the frame, z the utterance.
template <class T>
static __device__ __forceinline__ void subsample_conv_dx(const T* g, const float* w, const int32_t* lengths, float* dx, Subsampling s) {
  int h = blockIdx.x * LANES + block_lane(), u = blockIdx.y, b = blockIdx.z, n = s.own(lengths, b);
  if (h >= s.f) return;
  float sum = 0.f;
  if (u < n) {
    Meeting frames(u, (n + 1) / 2), bins(h, s.f_out());
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++) {
        if (i >= frames.count || j >= bins.count) continue;
        const T* out = g + (((int64_t)b * s.t_out() + frames.out[i]) * s.f_out() + bins.out[j]) * s.c;
        const float* tap = w + 3 * frames.tap[i] + bins.tap[j];
        for (int c = block_column(); c < s.c; c += 32) sum += tap[(int64_t)c * 9] * load(&out[c]);
      }
  }
  sum = warp_sum(sum);
  if (block_column() == 0) dx[((int64_t)b * s.t + u) * s.f + h] = sum;
}

// x is float32 with any result: features keep their precision.
#define KERNELS(suffix, T)                                                                                                      \
  extern "C" __global__ void subsample_conv_##suffix(const float* x, const float* w, const float* bias, const int32_t* lengths, \
                                                     T* y, int t, int f, int c, int factor) {                                   \
    subsample<false, true>(x, w, bias, lengths, y, Subsampling{t, f, c, factor});                                               \
  }                                                                                                                             \
  extern "C" __global__ void subsample_conv_dx_##suffix(const T* g, const float* w, const int32_t* lengths, float* dx, int t,   \
                                                        int f, int c, int factor) {                                             \
    subsample_conv_dx(g, w, lengths, dx, Subsampling{t, f, c, factor});                                                         \
  }                                                                                                                             \
  extern "C" __global__ void subsample_conv_dw_##suffix(const T* g, const float* x, const int32_t* lengths, float* partials,    \
                                                        int t, int f, int c, int factor) {                                      \
    subsample_dw<false>(g, x, lengths, partials, Subsampling{t, f, c, factor});                                                 \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
