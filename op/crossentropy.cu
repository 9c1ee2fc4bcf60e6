#include "lengths.cuh"
#include "softmax.cuh"

// crossentropy: op/crossentropy.go has the mathematics. A warp has a step.

#define SOS_EOS 1

// Step is a warp's: step l of utterance b, which has n, and its token.
struct Step {
  int b, l, n, lane, token;
  int64_t row;
  __device__ __forceinline__ Step(const int32_t* targets, const int32_t* lengths, int steps) {
    b = blockIdx.y;
    l = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    n = own_rows(lengths[b], 1, 1, steps);
    lane = threadIdx.x % 32;
    row = (int64_t)b * steps + l;
    token = SOS_EOS;
    if (l < n - 1) token = targets[(int64_t)b * (steps - 1) + l];
  }
};

// crossentropy_rows: x [B, steps, v], targets [B, steps-1], lengths [B] -> losses [B, steps] of the true steps.
extern "C" __global__ void crossentropy_rows(const float* x, const int32_t* targets, const int32_t* lengths, double* losses, int steps, int v,
                                             double smoothing) {
  Step at(targets, lengths, steps);
  if (at.l >= at.n) return;
  x += at.row * v;
  LogSoftmax log_p = row_log_softmax(x, v);
  double sum = (1 - smoothing) * (double)log_p(x[at.token]);
  if (smoothing > 0) {
    float all = 0.f;
    for (int c = at.lane; c < v; c += 32) all += log_p(x[c]);
    sum += smoothing / v * (double)warp_sum(all);
  }
  if (at.lane == 0) losses[at.row] = -sum;
}

// crossentropy_sum: losses [B, steps] -> loss [B], a warp for each utterance.
extern "C" __global__ void crossentropy_sum(const double* losses, const int32_t* lengths, float* loss, int steps) {
  int b = blockIdx.x, n = own_rows(lengths[b], 1, 1, steps);
  double sum = 0;
  for (int l = threadIdx.x; l < n; l += 32) sum += losses[(int64_t)b * steps + l];
  sum = warp_sum(sum);
  if (threadIdx.x == 0) loss[b] = (float)sum;
}

// crossentropy_grad: dloss [B], x, dx [B, steps, v]; dx may be x.
template <class T>
static __device__ __forceinline__ void crossentropy_grad(const float* dloss, const float* x, const int32_t* targets, const int32_t* lengths,
                                                         T* dx, int steps, int v, float uniform, float rest) {
  Step at(targets, lengths, steps);
  if (at.l >= steps) return;
  x += at.row * v;
  dx += at.row * v;
  if (at.l >= at.n) {
    for (int c = at.lane; c < v; c += 32) store(&dx[c], 0.f);
    return;
  }
  float top = LOWEST, sum = 0.f;
  for (int c = at.lane; c < v; c += 32) top = fmaxf(top, x[c]);
  top = warp_max(top);
  for (int c = at.lane; c < v; c += 32) sum += expf(x[c] - top);
  sum = warp_sum(sum);
  for (int c = at.lane; c < v; c += 32) {
    float p = expf(x[c] - top) / sum - uniform;
    if (c == at.token) p -= rest;
    store(&dx[c], dloss[at.b] * p);
  }
}

#define GRAD(suffix, T)                                                                                                           \
  extern "C" __global__ void crossentropy_grad_##suffix(const float* dloss, const float* x, const int32_t* targets,              \
                                                        const int32_t* lengths, T* dx, int steps, int v, float uniform, float rest) { \
    crossentropy_grad(dloss, x, targets, lengths, dx, steps, v, uniform, rest);                                                   \
  }
GRAD(f32, float)
GRAD(f16, f16)
