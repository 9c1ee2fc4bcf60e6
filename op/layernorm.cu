#include "warp.cuh"

// Warps that take a row each: a block of 256 threads has 8.
#define WARPS 8
static __device__ __forceinline__ int warp_lane() { return threadIdx.x % 32; }
static __device__ __forceinline__ int block_warp() { return threadIdx.x / 32; }

// moments are mean and 1/sqrt(variance + eps) of a row. All lanes of the warp must call, and get them.
template <class T>
static __device__ __forceinline__ void moments(const T* x, int d, float eps, float* mean, float* inverse) {
  float sum = 0.f, squares = 0.f;
  for (int j = warp_lane(); j < d; j += 32) sum += load(&x[j]);
  float m = warp_sum(sum) / d;
  for (int j = warp_lane(); j < d; j += 32) {
    float off = load(&x[j]) - m;
    squares += off * off;
  }
  *mean = m;
  *inverse = 1.f / sqrtf(warp_sum(squares) / d + eps);
}

// layernorm: y = (x-mean)*inverse*gamma + beta; y may be x. x, y [n, d], gamma, beta [d].
template <class T>
static __device__ __forceinline__ void layernorm(const T* x, const float* gamma, const float* beta, T* y, int n, int d, float eps) {
  int row = blockIdx.x * WARPS + block_warp();
  if (row >= n) return;
  x += (int64_t)row * d;
  y += (int64_t)row * d;
  float mean, inverse;
  moments(x, d, eps, &mean, &inverse);
  for (int j = warp_lane(); j < d; j += 32) store(&y[j], (load(&x[j]) - mean) * inverse * gamma[j] + beta[j]);
}

// layernorm_grad: with h = (x-mean)*inverse and g = dy*gamma, dx = (g - mean(g) - h*mean(g*h))*inverse, and the sums of
// dy*h and of dy over chunks of LAYERNORM_CHUNK rows -> partials [batch, chunks, 2, d]. x, dy, dx [batch, rows, d]. Of a
// block x is the chunk, y the utterance: warps take rows, then threads take columns of what is in the cache by then.
#define LAYERNORM_CHUNK 16  // layerNormChunk in layernorm_cuda.go
template <class T>
static __device__ __forceinline__ void layernorm_grad(const T* x, const float* gamma, const T* dy, T* dx, float* partials, int rows, int d,
                                                      float eps) {
  __shared__ float means[LAYERNORM_CHUNK], inverses[LAYERNORM_CHUNK];
  int first = blockIdx.x * LAYERNORM_CHUNK, count = min(LAYERNORM_CHUNK, rows - first);
  int64_t start = ((int64_t)blockIdx.y * rows + first) * d;
  x += start;
  dy += start;
  dx += start;
  for (int r = block_warp(); r < count; r += WARPS) {
    const T *xr = &x[(int64_t)r * d], *dyr = &dy[(int64_t)r * d];
    float mean, inverse, sum = 0.f, product = 0.f;
    moments(xr, d, eps, &mean, &inverse);
    for (int j = warp_lane(); j < d; j += 32) {
      float g = load(&dyr[j]) * gamma[j];
      sum += g;
      product += g * ((load(&xr[j]) - mean) * inverse);
    }
    sum = warp_sum(sum) / d;
    product = warp_sum(product) / d;
    for (int j = warp_lane(); j < d; j += 32) {
      float h = (load(&xr[j]) - mean) * inverse;
      store(&dx[(int64_t)r * d + j], (load(&dyr[j]) * gamma[j] - sum - h * product) * inverse);
    }
    if (warp_lane() == 0) means[r] = mean, inverses[r] = inverse;
  }
  __syncthreads();
  partials += ((int64_t)blockIdx.y * gridDim.x + blockIdx.x) * 2 * d;
  for (int j = threadIdx.x; j < d; j += blockDim.x) {
    float dgamma = 0.f, dbeta = 0.f;
    for (int r = 0; r < count; r++) {
      float v = load(&dy[(int64_t)r * d + j]);
      dgamma += v * ((load(&x[(int64_t)r * d + j]) - means[r]) * inverses[r]);
      dbeta += v;
    }
    partials[j] = dgamma;
    partials[d + j] = dbeta;
  }
}

#define KERNELS(suffix, T)                                                                                                    \
  extern "C" __global__ void layernorm_##suffix(const T* x, const float* gamma, const float* beta, T* y, int n, int d,        \
                                                float eps) {                                                                  \
    layernorm(x, gamma, beta, y, n, d, eps);                                                                                  \
  }                                                                                                                           \
  extern "C" __global__ void layernorm_grad_##suffix(const T* x, const float* gamma, const T* dy, T* dx, float* partials,     \
                                                     int rows, int d, float eps) {                                            \
    layernorm_grad(x, gamma, dy, dx, partials, rows, d, eps);                                                                 \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
