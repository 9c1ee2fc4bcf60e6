// cuBLAS, opened at run time: version 13, 12 or 11. The functions used here have one ABI in all three.
#pragma once
#include <stddef.h>
#include <stdint.h>

// One batch of matrices of a product, as BLAS sees it. type 0 is float32, 2 is float16.
typedef struct {
  uint64_t address;
  int type, ld;
  long long stride;
} blas_matrix;

// A product, column-major: C [m, n] = alpha op(A) op(B) + beta C.
typedef struct {
  int transa, transb, m, n, k, batch;
  float alpha, beta;
  blas_matrix a, b, c;
} blas_product;

// blas_open loads a library and returns NULL, or why it can't be used. One library serves the process.
const char *blas_open(const char *library, const char *helper);

// blas_takes_workspace says whether this cuBLAS has blas_set_workspace.
int blas_takes_workspace(void);

// These return cuBLAS's status, 0 for success.
int blas_create(void **handle, void *stream, int *version);
int blas_set_workspace(void *handle, uint64_t address, size_t bytes);
int blas_destroy(void *handle);
int blas_run(void *handle, const blas_product *p);
