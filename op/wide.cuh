// Numbers with an exponent of their own, m * 2^(256 x): ctc_wide.go says why, and how sums and products keep mantissas in
// range. A sum or a product costs one operation in double.
#pragma once
#include "card.cuh"

#define WIDE_UP 1.157920892373162e+77      // 2^256
#define WIDE_DOWN 8.636168555094445e-78    // 2^-256
#define WIDE_MAX 3.402823669209385e+38     // 2^128
#define WIDE_MIN 2.938735877055719e-39     // 2^-128
#define WIDE_LOG 177.445678223345999       // log(2^256)
#define WIDE_ZERO (-(1 << 29))             // the exponent of 0

struct Wide {
  double m;
  int x;
};

static __device__ __forceinline__ Wide wide_zero() { return Wide{0, WIDE_ZERO}; }

// a + b. What is 2 units smaller has no bit in the sum.
static __device__ __forceinline__ Wide operator+(Wide a, Wide b) {
  if (a.x == b.x) return Wide{a.m + b.m, a.x};
  if (a.x < b.x) {
    Wide c = a;
    a = b;
    b = c;
  }
  if (a.x - b.x == 1) a.m += b.m * WIDE_DOWN;
  return a;
}

// a * b. NaN stays.
static __device__ __forceinline__ Wide operator*(Wide a, Wide b) {
  Wide c = {a.m * b.m, a.x + b.x};
  if (c.m >= WIDE_MIN && c.m < WIDE_MAX) return c;
  if (c.m == 0) return wide_zero();
  if (c.m < WIDE_MIN) return Wide{c.m * WIDE_UP, c.x - 1};
  if (c.m >= WIDE_MAX) return Wide{c.m * WIDE_DOWN, c.x + 1};
  return c;
}

// wide_exp is e^y for a logarithm of a probability. Below -1e7 it is 0. What float32 holds is computed in float32.
static __device__ __forceinline__ Wide wide_exp(float y) {
  if (!(y <= -69.f)) return Wide{(double)expf(y), 0};  // NaN as well
  if (y < -1e7f) return wide_zero();
  double k = rint((double)y / WIDE_LOG);
  return Wide{exp((double)y - k * WIDE_LOG), (int)k};
}

static __device__ __forceinline__ double wide_log(Wide a) { return log(a.m) + (double)a.x * WIDE_LOG; }

// wide_value is a number that is known to be about 1 at most.
static __device__ __forceinline__ double wide_value(double m, int x) {
  if (x == 0) return m;
  if (x == -1) return m * WIDE_DOWN;
  if (x == 1) return m * WIDE_UP;
  return 0;
}

// Wides is a vector of them.
struct Wides {
  double* m;
  int* x;
  __device__ __forceinline__ Wide get(int64_t i) const { return Wide{m[i], x[i]}; }
  __device__ __forceinline__ void set(int64_t i, Wide a) const {
    m[i] = a.m;
    x[i] = a.x;
  }
  __device__ __forceinline__ Wides at(int64_t i) const { return Wides{m + i, x + i}; }
};
