#include "card.cuh"

#define SOS_EOS 1  // op.SosEos: the token of step 0

// token_of is the token at a place p of the batch's steps: place b*(u+1) + l is step l of utterance b. targets [batch, u].
static __device__ __forceinline__ int token_of(const int32_t* targets, int p, int u) {
  int b = p / (u + 1), l = p - b * (u + 1);
  return l == 0 ? SOS_EOS : targets[(int64_t)b * u + l - 1];
}

// embed: y = scale*w[token] + positions[step]. w [v, d], positions [u+1, d], y [batch, u+1, d]. blockIdx.x is the place.
template <class T>
static __device__ __forceinline__ void embed(const int32_t* targets, const float* w, const float* positions, T* y, float scale, int u,
                                             int d) {
  int64_t from = (int64_t)token_of(targets, blockIdx.x, u) * d, at = (int64_t)(blockIdx.x % (u + 1)) * d;
  for (int j = threadIdx.x; j < d; j += blockDim.x)
    store(&y[(int64_t)blockIdx.x * d + j], scale * w[from + j] + positions[at + j]);
}

#define WARPS 8
#define COLUMNS 4  // of a thread, 32 apart

// embed_grad: dw[v] = scale times the sum of dy over the places of token v, or that added to dw. dy [batch, u+1, d],
// targets [batch, u], dw [v, d]. A block has one token and 128 columns: its warps look for the token at 32 places each
// time, 8 warps side by side, and sum what they find in the order of places; then the warps' sums are added in theirs.
template <class T>
static __device__ __forceinline__ void embed_grad(const T* dy, const int32_t* targets, float* dw, float scale, int places, int u, int d,
                                                  int add) {
  __shared__ float parts[WARPS][32 * COLUMNS];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = blockIdx.y * 32 * COLUMNS;
  float sum[COLUMNS] = {};
  for (int start = warp * 32; start < places; start += WARPS * 32) {
    int p = start + lane;
    unsigned found = __ballot_sync(ALL_LANES, p < places && token_of(targets, p, u) == (int)blockIdx.x);
    for (; found; found &= found - 1) {
      const T* row = dy + (int64_t)(start + __ffs((int)found) - 1) * d;
      for (int k = 0; k < COLUMNS; k++)
        if (column + 32 * k + lane < d) sum[k] += load(&row[column + 32 * k + lane]);
    }
  }
  for (int k = 0; k < COLUMNS; k++) parts[warp][32 * k + lane] = sum[k];
  __syncthreads();
  int j = threadIdx.x;
  if (j >= 32 * COLUMNS || column + j >= d) return;
  float all = 0.f;
  for (int k = 0; k < WARPS; k++) all += parts[k][j];
  float* to = &dw[(int64_t)blockIdx.x * d + column + j];
  *to = add ? *to + scale * all : scale * all;
}

#define KERNELS(suffix, T)                                                                                                    \
  extern "C" __global__ void embed_##suffix(const int32_t* targets, const float* w, const float* positions, T* y, float scale, \
                                            int u, int d) {                                                                   \
    embed(targets, w, positions, y, scale, u, d);                                                                             \
  }                                                                                                                           \
  extern "C" __global__ void embed_grad_##suffix(const T* dy, const int32_t* targets, float* dw, float scale, int places,     \
                                                 int u, int d, int add) {                                                     \
    embed_grad(dy, targets, dw, scale, places, u, d, add);                                                                    \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
