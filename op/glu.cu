#include "card.cuh"
#include "lengths.cuh"

// A thread has one of the t*d elements of its utterance's result; blockIdx.y is the utterance.
struct GLU {
  int64_t result, first, second;  // elements: of the result, and of x in the first and the second half of its row
  bool inside, own;               // there is such an element; its frame is the utterance's own

  __device__ __forceinline__ GLU(const int32_t* lengths, int factor, int t, int d) {
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t frame = e / d;
    inside = frame < t;
    own = inside && frame < own_frames(lengths[blockIdx.y], factor, t);
    int64_t row = (int64_t)blockIdx.y * t + frame, column = e - frame * d;
    result = row * d + column;
    first = row * 2 * d + column;
    second = first + d;
  }
};

// glu: y = a*sigmoid(c) in the utterance's own frames, 0 past them. x [batch, t, 2d] = [a | c], lengths [batch], y [batch, t, d].
template <class T>
static __device__ __forceinline__ void glu(const T* x, const int32_t* lengths, T* y, int factor, int t, int d) {
  GLU at(lengths, factor, t, d);
  if (at.inside) store(&y[at.result], at.own ? load(&x[at.first]) / (1.f + expf(-load(&x[at.second]))) : 0.f);
}

// glu_grad: da = dy*s, dc = dy*a*s*(1-s), s = sigmoid(c); both 0 past the utterance's own frames. dx may be x.
template <class T>
static __device__ __forceinline__ void glu_grad(const T* x, const int32_t* lengths, const T* dy, T* dx, int factor, int t, int d) {
  GLU at(lengths, factor, t, d);
  if (!at.inside) return;
  float da = 0.f, dc = 0.f;
  if (at.own) {
    float a = load(&x[at.first]), s = 1.f / (1.f + expf(-load(&x[at.second]))), g = load(&dy[at.result]);
    da = g * s;
    dc = da * a * (1.f - s);
  }
  store(&dx[at.first], da);
  store(&dx[at.second], dc);
}

#define KERNELS(suffix, T)                                                                                                \
  extern "C" __global__ void glu_##suffix(const T* x, const int32_t* lengths, T* y, int factor, int t, int d) {           \
    glu(x, lengths, y, factor, t, d);                                                                                     \
  }                                                                                                                       \
  extern "C" __global__ void glu_grad_##suffix(const T* x, const int32_t* lengths, const T* dy, T* dx, int factor, int t, \
                                               int d) {                                                                   \
    glu_grad(x, lengths, dy, dx, factor, t, d);                                                                           \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
