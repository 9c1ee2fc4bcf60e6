#include "columns.cuh"

// Convolutions over time of each channel with its own K taps: see depthwise.go. A block has 32 channels and TIME frames;
// it holds what they see of x, TAPS taps at a time, in shared memory. Of a block x is the channels, y the frames, z the
// utterance.
#define TIME 64
#define TAPS 32
#define EACH (TIME / LANES)  // frames of a thread, one after the other

// tile fills rows of 32 channels with x from frame `first` on: 0 where there is no frame or channel. x [frames, d].
template <int ROWS, class T>
static __device__ __forceinline__ void tile(float (*rows)[COLUMNS], const T* x, int first, int frames, int c, int d) {
  for (int r = block_lane(); r < ROWS; r += LANES) {
    int t = first + r;
    rows[r][block_column()] = c < d && t >= 0 && t < frames ? load(&x[(int64_t)t * d + c]) : 0.f;
  }
}

// depthwise: y[t] = bias + the sum of w[j]*x[t+j-p] over the taps j, p = (k-1)/2. With BACK the taps count from the last
// one on and there is no bias: that is dx. x, y [batch, frames, d], w [d, k], bias [d].
template <bool BACK, class T>
static __device__ __forceinline__ void depthwise(const T* x, const float* w, const float* bias, T* y, int frames, int d, int k) {
  __shared__ float xs[TIME + TAPS][COLUMNS], ws[TAPS][COLUMNS];
  int column = block_column(), c = blockIdx.x * COLUMNS + column, first = blockIdx.y * TIME, mine = block_lane() * EACH;
  x += (int64_t)blockIdx.z * frames * d;
  y += (int64_t)blockIdx.z * frames * d;
  float sum[EACH];
  for (int i = 0; i < EACH; i++) sum[i] = !BACK && c < d ? bias[c] : 0.f;
  for (int from = 0; from < k; from += TAPS) {
    __syncthreads();  // the tile before may still be read
    tile<TIME + TAPS>(xs, x, first + from - (k - 1) / 2, frames, c, d);
    for (int i = threadIdx.x; i < TAPS * COLUMNS; i += blockDim.x) {  // neighbors read neighboring taps
      int j = from + i % TAPS, channel = blockIdx.x * COLUMNS + i / TAPS;
      ws[i % TAPS][i / TAPS] = j < k && channel < d ? w[(int64_t)channel * k + (BACK ? k - 1 - j : j)] : 0.f;
    }
    __syncthreads();
    // Frame i meets tap j at see[i + j]: EACH more frames are read for EACH taps, and the last ones kept.
    float see[2 * EACH];
    for (int i = 0; i < EACH; i++) see[EACH + i] = xs[mine + i][column];
    for (int j = 0; j < TAPS && from + j < k; j += EACH) {
#pragma unroll
      for (int i = 0; i < EACH; i++) {
        see[i] = see[EACH + i];
        see[EACH + i] = xs[mine + j + EACH + i][column];
      }
#pragma unroll
      for (int tap = 0; tap < EACH; tap++) {
        float weight = ws[j + tap][column];
#pragma unroll
        for (int i = 0; i < EACH; i++) sum[i] += weight * see[i + tap];
      }
    }
  }
  for (int i = 0; i < EACH; i++) {
    int t = first + mine + i;
    if (c < d && t < frames) store(&y[(int64_t)t * d + c], sum[i]);
  }
}

// depthwise_dw: the sums of dy[t]*x[t+j-p] over chunks of DEPTHWISE_CHUNK frames -> partials [batch, chunks, k, d]. A
// lane has 4 of 32 taps. Of a block y is the chunk, z the utterance, and x 32 taps of 32 channels: all channels for the
// first taps, then for the next.
#define DEPTHWISE_CHUNK 128  // depthwiseChunk in depthwise_cuda.go
#define MINE (TAPS / LANES)
template <class T>
static __device__ __forceinline__ void depthwise_dw(const T* dy, const T* x, float* partials, int frames, int d, int k) {
  __shared__ float xs[TIME + TAPS][COLUMNS], dys[TIME][COLUMNS];
  int groups = (d + COLUMNS - 1) / COLUMNS, column = block_column(), c = blockIdx.x % groups * COLUMNS + column;
  int first = blockIdx.y * DEPTHWISE_CHUNK, end = min(first + DEPTHWISE_CHUNK, frames), taps = blockIdx.x / groups * TAPS;
  int mine = block_lane() * MINE;
  x += (int64_t)blockIdx.z * frames * d;
  dy += (int64_t)blockIdx.z * frames * d;
  float sum[MINE] = {};
  for (int t = first; t < end; t += TIME) {
    __syncthreads();  // the tiles before may still be read
    tile<TIME + TAPS>(xs, x, t + taps - (k - 1) / 2, frames, c, d);
    tile<TIME>(dys, dy, t, end, c, d);
    __syncthreads();
    float see[2 * MINE];
    for (int i = 0; i < MINE; i++) see[MINE + i] = xs[mine + i][column];
    for (int r = 0; r < TIME; r += MINE) {
#pragma unroll
      for (int i = 0; i < MINE; i++) {
        see[i] = see[MINE + i];
        see[MINE + i] = xs[mine + r + MINE + i][column];
      }
#pragma unroll
      for (int i = 0; i < MINE; i++) {
        float out = dys[r + i][column];
#pragma unroll
        for (int tap = 0; tap < MINE; tap++) sum[tap] += out * see[i + tap];
      }
    }
  }
  partials += ((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * k * d;
  for (int tap = 0; tap < MINE; tap++)
    if (c < d && taps + mine + tap < k) partials[(int64_t)(taps + mine + tap) * d + c] = sum[tap];
}

#define KERNELS(suffix, T)                                                                                                      \
  extern "C" __global__ void depthwise_##suffix(const T* x, const float* w, const float* bias, T* y, int frames, int d, int k) { \
    depthwise<false>(x, w, bias, y, frames, d, k);                                                                              \
  }                                                                                                                             \
  extern "C" __global__ void depthwise_dx_##suffix(const T* dy, const float* w, T* dx, int frames, int d, int k) {              \
    depthwise<true>(dy, w, nullptr, dx, frames, d, k);                                                                          \
  }                                                                                                                             \
  extern "C" __global__ void depthwise_dw_##suffix(const T* dy, const T* x, float* partials, int frames, int d, int k) {        \
    depthwise_dw(dy, x, partials, frames, d, k);                                                                                \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
