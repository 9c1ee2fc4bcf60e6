#include "card.cuh"
#include "lanes.cuh"

// dropout: y = x, times the scale or 0. x, y [batch, n], seeds [batch, 2].
template <class T>
static __device__ __forceinline__ void dropout(const T* x, T* y, int n, const int32_t* seeds, uint32_t site, uint32_t threshold,
                                               float scale) {
  Lanes at(n, seeds, site, threshold, scale);
  for (int v = 0; v < 8; v++) {
    if (!at.inside(v)) break;
    store(&y[at.element(v)], at.factor(v) * load(&x[at.element(v)]));
  }
}

#define KERNELS(suffix, T)                                                                                                       \
  extern "C" __global__ void dropout_##suffix(const T* x, T* y, int n, const int32_t* seeds, uint32_t site, uint32_t threshold,  \
                                              float scale) {                                                                     \
    dropout(x, y, n, seeds, site, threshold, scale);                                                                             \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
