#include "lengths.cuh"
#include "softmax.cuh"
#include "wide.cuh"

// ctc: op/ctc.go has the mathematics, with the same names. The recursions go frame by frame: one block has an utterance,
// and its threads the states of a frame, however many there are.

#define BLANK 0

// Lattice is the alignments of an utterance's target with its n frames.
struct Lattice {
  const float* x;          // logits [n, v]
  const LogSoftmax* rows;  // [n]
  const int32_t* target;   // [tokens]
  int v, n, tokens, states;

  __device__ __forceinline__ Lattice(const float* x, const LogSoftmax* rows, const int32_t* targets, const int32_t* lengths,
                                     const int32_t* target_lengths, int s, int v, int u, int factor, int b)
      : x(x + (int64_t)b * s * v), rows(rows + (int64_t)b * s), target(targets + (int64_t)b * u), v(v),
        n(own_frames(lengths[b], factor, s)), tokens(own_frames(target_lengths[b], 1, u)), states(2 * tokens + 1) {}

  // feasible: there are frames enough for the tokens, and for a blank between two equal ones.
  __device__ __forceinline__ bool feasible() const {
    int need = tokens;
    for (int i = 1; i < tokens; i++) need += target[i] == target[i - 1];
    return n > 0 && need <= n;
  }
  // skips: state s may follow state s-2.
  __device__ __forceinline__ bool skips(int s) const { return s % 2 == 1 && s > 1 && target[s / 2] != target[s / 2 - 1]; }
  __device__ __forceinline__ Wide emission(int t, int s) const {
    return wide_exp(rows[t](x[(int64_t)t * v + (s % 2 ? target[s / 2] : BLANK)]));
  }
};

// Band is the states that any alignment may be in at frame t of n: reached from the start, and near enough to the end.
struct Band {
  int from, to;
  __device__ __forceinline__ Band(int t, int n, int states) {
    from = states - 2 * (n - t) > 0 ? states - 2 * (n - t) : 0;
    to = states < 2 * (t + 1) ? states : 2 * (t + 1);
  }
};

// forward fills a table of alpha: row t has frame t, modulo the number of rows, 2 or more. A row has width states. All
// threads of the block call.
static __device__ __forceinline__ void forward(const Lattice& l, Wides table, int rows, int width) {
  for (int t = 0; t < l.n; t++) {
    Wides now = table.at((int64_t)(t % rows) * width), before = table.at((int64_t)((t + rows - 1) % rows) * width);
    Band band(t, l.n, l.states);
    int end = band.to + 2 < l.states ? band.to + 2 : l.states;  // the next frame looks there
    for (int s = band.from + (int)threadIdx.x; s < end; s += blockDim.x) {
      Wide a = wide_zero();
      if (s < band.to && t == 0) a = l.emission(t, s);
      if (s < band.to && t > 0) {
        a = before.get(s);
        if (s > 0) a = a + before.get(s - 1);
        if (l.skips(s)) a = a + before.get(s - 2);
        a = a * l.emission(t, s);
      }
      now.set(s, a);
    }
    __syncthreads();
  }
}

// total is P, from alpha of the last frame.
static __device__ __forceinline__ Wide total(Wides alpha, int states) {
  Wide p = alpha.get(states - 1);
  return states > 1 ? p + alpha.get(states - 2) : p;
}

// ctc_rows: a warp has a frame. x [B, s, v], lengths [B] -> rows [B, s].
extern "C" __global__ void ctc_rows(const float* x, const int32_t* lengths, LogSoftmax* rows, int s, int v, int factor) {
  int t = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (t >= own_frames(lengths[blockIdx.y], factor, s)) return;
  int64_t row = (int64_t)blockIdx.y * s + t;
  LogSoftmax p = row_log_softmax(x + row * v, v);
  if (threadIdx.x % 32 == 0) rows[row] = p;
}

// ctc_loss: a block has an utterance. m, e [B, 2, width] are two rows of alpha, loss [B]: likelihood times the logarithm,
// and with smoothing uniform times the sum of all log probabilities, both negative.
extern "C" __global__ void ctc_loss(const float* x, const int32_t* lengths, const int32_t* targets, const int32_t* target_lengths,
                                    const LogSoftmax* rows, double* m, int* e, float* loss, double likelihood, double uniform, int s,
                                    int v, int u, int factor) {
  int b = blockIdx.x, width = 2 * u + 1;
  Lattice l(x, rows, targets, lengths, target_lengths, s, v, u, factor, b);
  bool feasible = l.feasible();
  if (feasible) {
    Wides table = Wides{m, e}.at((int64_t)b * 2 * width);
    forward(l, table, 2, width);
    double spread = 0;
    if (uniform != 0) {
      for (int64_t i = threadIdx.x; i < (int64_t)l.n * v; i += blockDim.x) spread += l.rows[i / v](l.x[i]);
      spread = block_sum(spread);
    }
    if (threadIdx.x == 0)
      loss[b] = (float)(-likelihood * wide_log(total(table.at((l.n - 1) % 2 * width), l.states)) - uniform * spread);
  }
  if (!feasible && threadIdx.x == 0) loss[b] = 0.f;
}

// ctc_occupy: a block has an utterance. m [B, s, width] gets the probability of each state of the band at each frame,
// given the target; e goes with it, and later_m, later_e [B, 2, width] are rows of beta times the emissions. frames [B]
// is the number of frames with a gradient: 0 without an alignment. first [B, v] is the first token of each class, or -1,
// and next [B, u] the next of the same class behind a token.
extern "C" __global__ void ctc_occupy(const float* x, const int32_t* lengths, const int32_t* targets, const int32_t* target_lengths,
                                      const LogSoftmax* rows, double* m, int* e, double* later_m, int* later_e, int32_t* frames,
                                      int32_t* first, int32_t* next, int s, int v, int u, int factor) {
  int b = blockIdx.x, width = 2 * u + 1;
  Lattice l(x, rows, targets, lengths, target_lengths, s, v, u, factor, b);
  bool feasible = l.feasible();
  if (threadIdx.x == 0) frames[b] = feasible ? l.n : 0;
  if (!feasible) return;  // of the whole block
  for (int c = threadIdx.x; c < v + l.tokens; c += blockDim.x) {
    int token = c < v ? c : l.target[c - v], i = c < v ? 0 : c - v + 1;
    while (i < l.tokens && l.target[i] != token) i++;
    *(c < v ? &first[(int64_t)b * v + c] : &next[(int64_t)b * u + c - v]) = i < l.tokens ? i : -1;
  }

  Wides table = Wides{m, e}.at((int64_t)b * s * width), later = Wides{later_m, later_e}.at((int64_t)b * 2 * width);
  forward(l, table, s, width);
  Wide p = total(table.at((int64_t)(l.n - 1) * width), l.states);
  double inverse = 1 / p.m;
  __syncthreads();  // the last row of alpha is overwritten from here on
  for (int t = l.n - 1; t >= 0; t--) {
    Wides alpha = table.at((int64_t)t * width), now = later.at(t % 2 * width), behind = later.at((t + 1) % 2 * width);
    Band band(t, l.n, l.states);
    int start = band.from > 2 ? band.from - 2 : 0;  // the frame before looks there
    for (int k = start + (int)threadIdx.x; k < band.to; k += blockDim.x) {
      Wide beta = wide_zero();
      if (k >= band.from) {
        if (t == l.n - 1) {
          beta = Wide{1, 0};
        } else {
          beta = behind.get(k);
          if (k + 1 < l.states) beta = beta + behind.get(k + 1);
          if (k + 2 < l.states && l.skips(k + 2)) beta = beta + behind.get(k + 2);
        }
        Wide a = alpha.get(k);
        alpha.m[k] = wide_value(a.m * beta.m * inverse, a.x + beta.x - p.x);
        beta = beta * l.emission(t, k);
      }
      now.set(k, beta);
    }
    __syncthreads();
  }
}

// ctc_grad: a warp has a frame. dloss [B], x, dx [B, s, v]; dx may be x. The others are those of ctc_occupy, and of smoothing
// what it leaves of the likelihood and takes off each class.
template <class T>
static __device__ __forceinline__ void ctc_grad(const float* dloss, const float* x, const int32_t* target_lengths, const LogSoftmax* rows,
                                                const double* m, const int32_t* frames, const int32_t* first, const int32_t* next, T* dx,
                                                int s, int v, int u, double likelihood, float uniform) {
  int t = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32, b = blockIdx.y, n = frames[b];
  if (t >= s) return;
  int64_t row = (int64_t)b * s + t;
  x += row * v;
  dx += row * v;
  if (t >= n) {
    for (int c = lane; c < v; c += 32) store(&dx[c], 0.f);
    return;
  }
  Band band(t, n, 2 * own_frames(target_lengths[b], 1, u) + 1);
  const double* occupied = m + row * (2 * u + 1);
  double blank = 0;
  for (int k = band.from + band.from % 2 + 2 * lane; k < band.to; k += 64) blank += occupied[k];
  blank = warp_sum(blank);
  LogSoftmax log_p = rows[row];
  first += (int64_t)b * v;
  next += (int64_t)b * u;
  for (int c = lane; c < v; c += 32) {
    float p = expf(log_p(x[c]));
    int i = first[c];
    if (i >= 0 || c == BLANK) {
      double sum = c == BLANK ? blank : 0;
      for (; i >= 0; i = next[i])
        if (2 * i + 1 >= band.from && 2 * i + 1 < band.to) sum += occupied[2 * i + 1];
      p = (float)((double)p - likelihood * sum);
    }
    store(&dx[c], dloss[b] * (p - uniform));
  }
}

#define GRAD(suffix, T)                                                                                                              \
  extern "C" __global__ void ctc_grad_##suffix(const float* dloss, const float* x, const int32_t* target_lengths,                   \
                                               const LogSoftmax* rows, const double* m, const int32_t* frames, const int32_t* first, \
                                               const int32_t* next, T* dx, int s, int v, int u, double likelihood, float uniform) { \
    ctc_grad(dloss, x, target_lengths, rows, m, frames, first, next, dx, s, v, u, likelihood, uniform);                             \
  }
GRAD(f32, float)
GRAD(f16, f16)
