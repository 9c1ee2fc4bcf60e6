#include "card.cuh"
#include "lanes.cuh"

// drops_branch: the whole utterance is dropped, by the first draw of the site's row 1. A threshold of 0 draws nothing.
static __device__ __forceinline__ bool drops_branch(const int32_t* seeds, uint32_t site, uint32_t threshold) {
  if (threshold == 0) return false;
  uint32_t draws[4];
  philox((uint32_t)seeds[2 * blockIdx.y], (uint32_t)seeds[2 * blockIdx.y + 1], 0, 1, site, 0, draws);
  return (draws[0] & 0xffffu) < threshold;
}

// residual: z = x + alpha*drop(y), or x where the utterance's branch is dropped. x, y, z [batch, n], seeds [batch, 2] or
// null.
template <class T>
static __device__ __forceinline__ void residual(const T* x, const T* y, T* z, float alpha, int n, const int32_t* seeds, uint32_t site,
                                                uint32_t threshold, float scale, uint32_t branch) {
  Lanes at(n, seeds, site, threshold, scale);
  bool dropped = drops_branch(seeds, site, branch);
  for (int v = 0; v < 8; v++) {
    if (!at.inside(v)) break;
    float sum = load(&x[at.element(v)]);
    if (!dropped) sum += alpha * (at.factor(v) * load(&y[at.element(v)]));
    store(&z[at.element(v)], sum);
  }
}

// residual_dy: dy = alpha*drop(dz), or 0 where the utterance's branch is dropped. dz, dy [batch, n], seeds [batch, 2] or
// null.
template <class T>
static __device__ __forceinline__ void residual_dy(const T* dz, T* dy, float alpha, int n, const int32_t* seeds, uint32_t site,
                                                   uint32_t threshold, float scale, uint32_t branch) {
  Lanes at(n, seeds, site, threshold, scale);
  bool dropped = drops_branch(seeds, site, branch);
  for (int v = 0; v < 8; v++) {
    if (!at.inside(v)) break;
    store(&dy[at.element(v)], dropped ? 0.f : alpha * (at.factor(v) * load(&dz[at.element(v)])));
  }
}

#define KERNELS(suffix, T)                                                                                                    \
  extern "C" __global__ void residual_##suffix(const T* x, const T* y, T* z, float alpha, int n, const int32_t* seeds,        \
                                               uint32_t site, uint32_t threshold, float scale, uint32_t branch) {             \
    residual(x, y, z, alpha, n, seeds, site, threshold, scale, branch);                                                       \
  }                                                                                                                           \
  extern "C" __global__ void residual_dy_##suffix(const T* dz, T* dy, float alpha, int n, const int32_t* seeds, uint32_t site, \
                                                  uint32_t threshold, float scale, uint32_t branch) {                         \
    residual_dy(dz, dy, alpha, n, seeds, site, threshold, scale, branch);                                                     \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
