#include "adamw.cuh"
#include "ema.cuh"
#include "squares.cuh"

// The update of all weights on a card: see card_update.go.

// Constants are op.CardStep as Put writes it.
struct Constants {
  double lr, decay, beta1, beta2, eps, correct1, correct2, clip, loss_scale, share;
};

// Status is shared with the host: see op.CardUpdate.
struct Status {
  double squares, odd_losses, applied, reserved;
};

// Decision is what every weight's thread asks for.
struct Decision {
  AdamStep step;
  float share;
  int32_t applied;
};

// update_decide: the norm of the gradient, whether the update is made, and its constants in float32. One block.
// partials [count] are sums of squares.
extern "C" __global__ void update_decide(const double* partials, int count, const Constants* constants, Status* status, Decision* decision) {
  double squares = sum_partials(partials, count);
  if (threadIdx.x > 0) return;
  Constants c = *constants;
  double norm = sqrt(squares) / c.loss_scale, factor = c.clip / (norm + 1e-6);
  bool applied = norm - norm == 0 && status->odd_losses == 0;
  if (factor > 1) factor = 1;
  decision->step = AdamStep{(float)c.lr,  (float)c.decay,                 (float)c.beta1,    (float)c.beta2,
                            (float)c.eps, (float)(factor / c.loss_scale), (float)c.correct1, (float)c.correct2};
  decision->share = (float)c.share;
  decision->applied = applied;
  status->squares = squares;
  status->applied = applied;
}

// update_weights: AdamW for all weights and a step of their averages, where the update is made. p, m, v, g [n], half and
// average [n] or null, decays [n/16].
extern "C" __global__ void update_weights(float* p, float* m, float* v, const float* g, f16* half, float* average,
                                          const uint8_t* decays, const Decision* decision, int64_t n) {
  int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || !decision->applied) return;
  AdamStep s = decision->step;
  float w = adamw(s, decays[i / 16] ? s.decay : 0.f, p[i], &m[i], &v[i], g[i]);
  p[i] = w;
  if (half) half[i] = to_f16(w);
  if (average) average[i] = ema(average[i], w, decision->share);
}

// update_losses adds the number of losses that are not finite to status. One block. losses [n].
extern "C" __global__ void update_losses(const float* losses, int n, Status* status) {
  int odd = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) odd += !(losses[i] - losses[i] == 0);
  odd = block_sum(odd);
  if (threadIdx.x == 0) status->odd_losses += odd;
}

// update_halves: the float16 copy of the weights. p, half [n].
extern "C" __global__ void update_halves(const float* p, f16* half, int64_t n) {
  int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) half[i] = to_f16(p[i]);
}

// update_exchange: weights and averages change places. p, average [n].
extern "C" __global__ void update_exchange(float* p, float* average, int64_t n) {
  int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float w = p[i];
  p[i] = average[i];
  average[i] = w;
}
