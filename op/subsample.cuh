// Convolutions 3x3 with stride 2 and padding 1 over (time, frequency): see subsample.go. A thread has one channel, a warp
// 32 of them and one frame, whose bins it goes along: what is right of one output is left of the next. What lies past
// an utterance's own frames is selected away and never multiplied: it may be NaN. Indices: y[b][t][f][c], x[b][u][h][c].
#pragma once
#include "columns.cuh"
#include "lengths.cuh"

#define SUBSAMPLE_CHUNK 32  // output frames of a block that sums: subsampleChunk in subsample_cuda.go

struct Subsampling {
  int t, f, c, factor;  // of x: frames, bins, channels of y, the subsampling of x
  __device__ __forceinline__ int t_out() const { return (t + 1) / 2; }
  __device__ __forceinline__ int f_out() const { return (f + 1) / 2; }
  __device__ __forceinline__ int own(const int32_t* lengths, int b) const { return own_frames(lengths[b], factor, t); }
};

// Window is what one channel of an output sees, three frames and three bins, while it goes along the bins. x has
// CHANNELS of its own, or one that all share.
template <bool CHANNELS, class T>
struct Window {
  const T* frame[3];
  float left[3], center[3], right[3];
  int f, step;

  // An utterance's x, of which n frames are its own, at output frame t. An output past its own sees nothing.
  __device__ __forceinline__ Window(const T* x, const Subsampling& s, int n, int t, int c) : f(s.f), step(CHANNELS ? s.c : 1) {
    if (t >= (n + 1) / 2) n = 0;
    for (int i = 0; i < 3; i++) {
      int u = 2 * t + i - 1;
      frame[i] = u >= 0 && u < n ? x + (int64_t)u * f * step + (CHANNELS ? c : 0) : nullptr;
      right[i] = 0.f;
    }
  }
  // at goes to output bin j: they must come one after the other, from 0.
  __device__ __forceinline__ void at(int j) {
    for (int i = 0; i < 3; i++) {
      left[i] = right[i];
      center[i] = frame[i] ? load(frame[i] + (int64_t)(2 * j) * step) : 0.f;
      right[i] = frame[i] && 2 * j + 1 < f ? load(frame[i] + (int64_t)(2 * j + 1) * step) : 0.f;
    }
  }
};

// subsample: y = bias + the products of taps and window, then, with RELU, 0 where that is below 0. w [c, 9]. Of a block x
// is the channels, y 8 frames, z the utterance.
template <bool CHANNELS, bool RELU, class X, class Y>
static __device__ __forceinline__ void subsample(const X* x, const float* w, const float* bias, const int32_t* lengths, Y* y, Subsampling s) {
  int c = blockIdx.x * COLUMNS + block_column(), t = blockIdx.y * LANES + block_lane(), b = blockIdx.z;
  if (c >= s.c || t >= s.t_out()) return;
  float taps[9], start = bias[c];
  for (int i = 0; i < 9; i++) taps[i] = w[c * 9 + i];
  Window<CHANNELS, X> window(x + (int64_t)b * s.t * s.f * (CHANNELS ? s.c : 1), s, s.own(lengths, b), t, c);
  y += ((int64_t)b * s.t_out() + t) * s.f_out() * s.c + c;
  for (int j = 0; j < s.f_out(); j++) {
    window.at(j);
    float sum = start;
    for (int i = 0; i < 3; i++)
      sum += taps[3 * i] * window.left[i] + taps[3 * i + 1] * window.center[i] + taps[3 * i + 2] * window.right[i];
    store(y + (int64_t)j * s.c, RELU && sum <= 0.f ? 0.f : sum);  // NaN stays visible
  }
}

// subsample_dw: the sums of dy*x at each tap over chunks of frames -> partials [batch, chunks, 9, c]. Of a block x is the
// channels, y the chunk, z the utterance; the 8 lanes share the chunk's frames.
template <bool CHANNELS, class X, class Y>
static __device__ __forceinline__ void subsample_dw(const Y* dy, const X* x, const int32_t* lengths, float* partials, Subsampling s) {
  int c = blockIdx.x * COLUMNS + block_column(), b = blockIdx.z, n = s.own(lengths, b);
  int first = blockIdx.y * SUBSAMPLE_CHUNK, end = min(first + SUBSAMPLE_CHUNK, (n + 1) / 2);
  float taps[9] = {};
  x += (int64_t)b * s.t * s.f * (CHANNELS ? s.c : 1);
  if (c < s.c)
    for (int t = first + block_lane(); t < end; t += LANES) {
      Window<CHANNELS, X> window(x, s, n, t, c);
      const Y* out = dy + ((int64_t)b * s.t_out() + t) * s.f_out() * s.c + c;
      for (int j = 0; j < s.f_out(); j++) {
        window.at(j);
        float d = load(out + (int64_t)j * s.c);
        for (int i = 0; i < 3; i++) {
          taps[3 * i] += d * window.left[i];
          taps[3 * i + 1] += d * window.center[i];
          taps[3 * i + 2] += d * window.right[i];
        }
      }
    }
  partials += ((int64_t)b * gridDim.y + blockIdx.y) * 9 * s.c;
  for (int i = 0; i < 9; i++) {
    float sum = over_lanes(taps[i]);
    if (block_lane() == 0 && c < s.c) partials[i * s.c + c] = sum;
  }
}

// Meeting is where input frame u (or bin) meets outputs: an even one output u/2 at the tap in the middle, an odd one the
// outputs on its two sides, at the last tap of the first and the first tap of the second.
struct Meeting {
  int out[2], tap[2], count;
  __device__ __forceinline__ Meeting(int u, int outputs) {
    out[0] = u / 2;
    tap[0] = u % 2 ? 2 : 1;
    out[1] = u / 2 + 1;
    tap[1] = 0;
    count = u % 2 && out[1] < outputs ? 2 : 1;
  }
};
