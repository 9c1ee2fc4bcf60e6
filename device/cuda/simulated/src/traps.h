// What went wrong in the running kernel, and how it is caught.
#pragma once
#include "sim.h"

namespace sim {
struct Fault {
  CUresult code;
  std::string why;
  void* pc;          // in the kernel's code, null where no place is to blame
  bool trap, write;  // a page that can't be touched: by a write
  uintptr_t address;
};
extern Fault fault;

// in_kernel is set while the thread runs a kernel: then a trap is the kernel's. A signal handler reads it.
extern thread_local bool in_kernel __attribute__((tls_model("initial-exec")));
void catch_traps();
[[noreturn]] void leave();       // goes back to the scheduler, for ever
extern uintptr_t library_start, library_end;  // its code and variables, since catch_traps
inline bool in_library(uintptr_t address) { return address - library_start < library_end - library_start; }
std::string source_line(void* pc);  // ", softmax.cu:17", as far as binutils are there to say
}  // namespace sim
