//go:build gpu

#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>

#include "calls.h"

// The program's own definitions of the driver's calls jump through this table, so that it links and starts without a
// driver. A call that has no entry returns shim_absent.
void *shim_table[CALLS] __attribute__((visibility("hidden")));
int shim_absent __attribute__((visibility("hidden"))) = 3;  // CUDA_ERROR_NOT_INITIALIZED, as long as no driver is open

#ifndef __x86_64__
#error "the jumps to the driver are written for x86-64"
#endif

// A jump leaves every argument where it is, and so fits a call of any signature.
__asm__(
    ".text\n"
    "shim_missing:\n"
    "\tmovl shim_absent(%rip), %eax\n"
    "\tret\n");
#define CALL(index, name)                      \
  __asm__(                                     \
      ".text\n"                                \
      ".globl " #name "\n"                     \
      ".type " #name ", @function\n" #name ":\n" \
      "\tmovq shim_table+8*" #index "(%rip), %r11\n" \
      "\ttestq %r11, %r11\n"                   \
      "\tjz shim_missing\n"                    \
      "\tjmp *%r11\n"                          \
      ".size " #name ", .-" #name "\n");
#include "calls.h"
#undef CALL

static const char *const names[] = {
#define CALL(index, name) #name,
#include "calls.h"
#undef CALL
};

// The init function of package cu calls this before main, and ends the process where it fails. So it never does;
// shim_open is what starts the driver.
int cuInit(unsigned flags) {
  (void)flags;
  return 0;
}

static char why[512];

const char *shim_why(void) { return why; }

int shim_open(const char *library) {
  void *driver = dlopen(library, RTLD_NOW | RTLD_GLOBAL);  // global: cuBLAS looks for the driver's symbols
  if (!driver) {
    snprintf(why, sizeof why, "%s", dlerror());
    return SHIM_NO_LIBRARY;
  }
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
  for (int i = 0; i < CALLS; i++) shim_table[i] = dlsym(driver, names[i]);
  shim_absent = 801;  // CUDA_ERROR_NOT_SUPPORTED: this driver doesn't have the call
  return 0;
}
