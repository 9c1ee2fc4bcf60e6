//go:build gpu

#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>

// The program's own definitions of the calls of CUDA's driver and of NVML jump through tables, so that it links and starts
// without either. They are hidden: no shared library takes them for the real ones. A call that has no entry in its table
// returns an error.

#ifndef __x86_64__
#error "the jumps to the driver are written for x86-64"
#endif

// A jump leaves every argument where it is, and so fits a call of any signature.
#define JUMP(table, absent, index, name)            \
  __asm__(                                          \
      ".text\n"                                     \
      ".globl " #name "\n"                          \
      ".hidden " #name "\n"                         \
      ".type " #name ", @function\n" #name ":\n"    \
      "\tmovq " #table "+8*" #index "(%rip), %r11\n" \
      "\ttestq %r11, %r11\n"                        \
      "\tjz " #absent "\n"                          \
      "\tjmp *%r11\n"                               \
      ".size " #name ", .-" #name "\n");
#define ABSENT(label, code) __asm__(".text\n" #label ":\n\tmovl " #code "(%rip), %eax\n\tret\n");

#define HIDDEN __attribute__((visibility("hidden")))

static const char *const cuda_names[] = {
#define CALL(index, name) #name,
#include "cuda_calls.h"
#undef CALL
};
enum { CUDA_CALLS = sizeof cuda_names / sizeof *cuda_names };
HIDDEN void *shim_cuda_table[CUDA_CALLS];
HIDDEN int shim_cuda_absent = 3;  // CUDA_ERROR_NOT_INITIALIZED, as long as no driver is open
ABSENT(shim_cuda_missing, shim_cuda_absent)
#define CALL(index, name) JUMP(shim_cuda_table, shim_cuda_missing, index, name)
#include "cuda_calls.h"
#undef CALL

static const char *const nvml_names[] = {
#define CALL(index, name) #name,
#include "nvml_calls.h"
#undef CALL
};
enum { NVML_CALLS = sizeof nvml_names / sizeof *nvml_names };
HIDDEN void *shim_nvml_table[NVML_CALLS];
HIDDEN int shim_nvml_absent = 1;  // NVML_ERROR_UNINITIALIZED, as long as it isn't open
ABSENT(shim_nvml_missing, shim_nvml_absent)
#define CALL(index, name) JUMP(shim_nvml_table, shim_nvml_missing, index, name)
#include "nvml_calls.h"
#undef CALL

// The init function of package cu calls this before main, and ends the process where it fails. So it never does;
// shim_open_cuda is what starts the driver.
HIDDEN int cuInit(unsigned flags) {
  (void)flags;
  return 0;
}

static char why[512];

const char *shim_why(void) { return why; }

static void *load(const char *library) {
  void *l = dlopen(library, RTLD_NOW | RTLD_GLOBAL);  // global: cuBLAS looks for the driver's symbols
  if (!l) snprintf(why, sizeof why, "%s", dlerror());
  return l;
}

int shim_open_cuda(const char *library) {
  void *driver = load(library);
  if (!driver) return SHIM_NO_LIBRARY;
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
  if (!init) {
    snprintf(why, sizeof why, "%s has no function cuInit: it is no CUDA driver", library);
    dlclose(driver);
    return SHIM_NO_LIBRARY;
  }
  int result = init(0);
  if (result) {
    dlclose(driver);
    return result;
  }
  for (int i = 0; i < CUDA_CALLS; i++) shim_cuda_table[i] = dlsym(driver, cuda_names[i]);
  shim_cuda_absent = 801;  // CUDA_ERROR_NOT_SUPPORTED: this driver doesn't have the call
  return 0;
}

int shim_open_nvml(const char *library) {
  void *nvml = load(library);
  if (!nvml) return SHIM_NO_LIBRARY;
  for (int i = 0; i < NVML_CALLS; i++) shim_nvml_table[i] = dlsym(nvml, nvml_names[i]);
  shim_nvml_absent = 13;  // NVML_ERROR_FUNCTION_NOT_FOUND
  return 0;
}
