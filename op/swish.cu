#include "card.cuh"
#include "lanes.cuh"

// swish: y = drop(x*sigmoid(x)). x, y [batch, n], seeds [batch, 2] or null.
template <class T>
static __device__ __forceinline__ void swish(const T* x, T* y, int n, const int32_t* seeds, uint32_t site, uint32_t threshold, float scale) {
  Lanes at(n, seeds, site, threshold, scale);
  for (int v = 0; v < 8; v++) {
    if (!at.inside(v)) break;
    float a = load(&x[at.element(v)]);
    store(&y[at.element(v)], at.factor(v) * (a / (1.f + expf(-a))));
  }
}

// swish_grad: dx = drop(dy) * s*(1 + x*(1-s)), s = sigmoid(x).
template <class T>
static __device__ __forceinline__ void swish_grad(const T* x, const T* dy, T* dx, int n, const int32_t* seeds, uint32_t site,
                                                  uint32_t threshold, float scale) {
  Lanes at(n, seeds, site, threshold, scale);
  for (int v = 0; v < 8; v++) {
    if (!at.inside(v)) break;
    float a = load(&x[at.element(v)]), s = 1.f / (1.f + expf(-a));
    store(&dx[at.element(v)], at.factor(v) * load(&dy[at.element(v)]) * s * (1.f + a * (1.f - s)));
  }
}

#define KERNELS(suffix, T)                                                                                                       \
  extern "C" __global__ void swish_##suffix(const T* x, T* y, int n, const int32_t* seeds, uint32_t site, uint32_t threshold,    \
                                            float scale) {                                                                       \
    swish(x, y, n, seeds, site, threshold, scale);                                                                               \
  }                                                                                                                              \
  extern "C" __global__ void swish_grad_##suffix(const T* x, const T* dy, T* dx, int n, const int32_t* seeds, uint32_t site,     \
                                                 uint32_t threshold, float scale) {                                              \
    swish_grad(x, dy, dx, n, seeds, site, threshold, scale);                                                                     \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
