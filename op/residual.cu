#include "card.cuh"
#include "lanes.cuh"

// residual: z = x + alpha*drop(y). x, y, z [batch, n], seeds [batch, 2] or null.
template <class T>
static __device__ __forceinline__ void residual(const T* x, const T* y, T* z, float alpha, int n, const int32_t* seeds, uint32_t site,
                                                uint32_t threshold, float scale) {
  Lanes at(n, seeds, site, threshold, scale);
  for (int v = 0; v < 8; v++) {
    if (!at.inside(v)) break;
    store(&z[at.element(v)], load(&x[at.element(v)]) + alpha * (at.factor(v) * load(&y[at.element(v)])));
  }
}

// residual_dy: dy = alpha*drop(dz). dz, dy [batch, n], seeds [batch, 2] or null.
template <class T>
static __device__ __forceinline__ void residual_dy(const T* dz, T* dy, float alpha, int n, const int32_t* seeds, uint32_t site,
                                                   uint32_t threshold, float scale) {
  Lanes at(n, seeds, site, threshold, scale);
  for (int v = 0; v < 8; v++) {
    if (!at.inside(v)) break;
    store(&dy[at.element(v)], alpha * (at.factor(v) * load(&dz[at.element(v)])));
  }
}

#define KERNELS(suffix, T)                                                                                                    \
  extern "C" __global__ void residual_##suffix(const T* x, const T* y, T* z, float alpha, int n, const int32_t* seeds,        \
                                               uint32_t site, uint32_t threshold, float scale) {                              \
    residual(x, y, z, alpha, n, seeds, site, threshold, scale);                                                               \
  }                                                                                                                           \
  extern "C" __global__ void residual_dy_##suffix(const T* dz, T* dy, float alpha, int n, const int32_t* seeds, uint32_t site, \
                                                  uint32_t threshold, float scale) {                                          \
    residual_dy(dz, dy, alpha, n, seeds, site, threshold, scale);                                                             \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
