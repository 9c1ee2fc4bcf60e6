//go:build gpu

#include "blas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static struct {
  int (*create)(void **);
  int (*destroy)(void *);
  int (*set_stream)(void *, void *);
  int (*version)(void *, int *);
  int (*math_mode)(void *, int);
  int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int, long long, const void *, int, int, long long,
              const void *, void *, int, int, long long, int, int, int);
  int (*workspace)(void *, void *, size_t);  // may be missing
} blas;

const char *blas_open(const char *library, const char *helper) {
  static char why[512];
  // cuBLAS needs its sibling cublasLt, which the loader finds by itself only where that is on its path.
  if (*helper) dlopen(helper, RTLD_NOW | RTLD_GLOBAL);
  void *l = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!l) {
    snprintf(why, sizeof why, "%s", dlerror());
    return why;
  }
  struct {
    const char *name;
    void *slot;
  } symbols[] = {
      {"cublasCreate_v2", &blas.create},        {"cublasDestroy_v2", &blas.destroy},
      {"cublasSetStream_v2", &blas.set_stream}, {"cublasGetVersion_v2", &blas.version},
      {"cublasSetMathMode", &blas.math_mode},   {"cublasGemmStridedBatchedEx", &blas.gemm},
  };
  for (unsigned i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *p = dlsym(l, symbols[i].name);
    if (!p) {
      snprintf(why, sizeof why, "%s has no function %s", library, symbols[i].name);
      dlclose(l);
      return why;
    }
    memcpy(symbols[i].slot, &p, sizeof p);
  }
  void *p = dlsym(l, "cublasSetWorkspace_v2");
  memcpy(&blas.workspace, &p, sizeof p);
  return NULL;
}

int blas_create(void **handle, void *stream, int *version) {
  // Sums are those of the compute type, float32, also where the result is float16. Without CUBLAS_TF32_TENSOR_OP_MATH
  // float32 is multiplied as float32; float16 goes to the tensor cores by itself.
  enum { DEFAULT_MATH = 0, DISALLOW_REDUCED_PRECISION_REDUCTION = 16 };
  int status = blas.create(handle);
  if (status) return status;
  status = blas.version(*handle, version);
  if (!status) status = blas.set_stream(*handle, stream);
  if (!status) status = blas.math_mode(*handle, DEFAULT_MATH | DISALLOW_REDUCED_PRECISION_REDUCTION);
  if (status) blas.destroy(*handle);
  return status;
}

int blas_takes_workspace(void) { return blas.workspace != NULL; }

int blas_set_workspace(void *handle, uint64_t address, size_t bytes) { return blas.workspace(handle, (void *)address, bytes); }

int blas_destroy(void *handle) { return blas.destroy(handle); }

int blas_run(void *handle, const blas_product *p) {
  enum { COMPUTE_32F = 68, GEMM_DEFAULT = -1 };
  return blas.gemm(handle, p->transa, p->transb, p->m, p->n, p->k, &p->alpha, (void *)p->a.address, p->a.type, p->a.ld, p->a.stride,
                   (void *)p->b.address, p->b.type, p->b.ld, p->b.stride, &p->beta, (void *)p->c.address, p->c.type, p->c.ld,
                   p->c.stride, p->batch, COMPUTE_32F, GEMM_DEFAULT);
}
