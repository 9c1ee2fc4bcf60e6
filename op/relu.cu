#include "card.cuh"
#include "elements.cuh"

// relu: y = max(x, 0); what is not a number stays so. x, y [n].
template <class T>
static __device__ __forceinline__ void relu(const T* x, T* y, int64_t n) {
  for (int v = 0; v < 4; v++) {
    int64_t i = of_four(v);
    if (i >= n) break;
    float a = load(&x[i]);
    store(&y[i], a < 0.f ? 0.f : a);
  }
}

// relu_grad: dx = dy where y > 0, else 0. y, dy, dx [n].
template <class T>
static __device__ __forceinline__ void relu_grad(const T* y, const T* dy, T* dx, int64_t n) {
  for (int v = 0; v < 4; v++) {
    int64_t i = of_four(v);
    if (i >= n) break;
    store(&dx[i], load(&y[i]) > 0.f ? load(&dy[i]) : 0.f);
  }
}

#define KERNELS(suffix, T)                                                                                             \
  extern "C" __global__ void relu_##suffix(const T* x, T* y, int64_t n) { relu(x, y, n); }                             \
  extern "C" __global__ void relu_grad_##suffix(const T* y, const T* dy, T* dx, int64_t n) { relu_grad(y, dy, dx, n); }
KERNELS(f32, float)
KERNELS(f16, f16)
