// Traps: a kernel that touches a page which it can't, or divides by zero, becomes an error, and the process goes on.
#include "traps.h"
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <algorithm>
#include <cstring>

namespace sim {

uintptr_t library_start, library_end;
static void find_library() {
  dl_iterate_phdr([](dl_phdr_info* info, size_t, void* here) {
    uintptr_t low = ~0ull, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
      const ElfW(Phdr)& p = info->dlpi_phdr[i];
      if (p.p_type != PT_LOAD) continue;
      low = std::min(low, (uintptr_t)(info->dlpi_addr + p.p_vaddr));
      high = std::max(high, (uintptr_t)(info->dlpi_addr + p.p_vaddr + p.p_memsz));
    }
    if ((uintptr_t)here < low || (uintptr_t)here >= high) return 0;
    library_start = low, library_end = high;
    return 1;
  }, (void*)find_library);
}
static struct sigaction before[3];  // handlers that were there
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE};
thread_local bool in_kernel;
static void on_trap(int signal, siginfo_t* info, void* context) {
  if (!in_kernel) {  // not ours: a Go program has its own
    const struct sigaction& old = before[std::find(signals, signals + 3, signal) - signals];
    if (old.sa_flags & SA_SIGINFO) return old.sa_sigaction(signal, info, context);
    if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) return old.sa_handler(signal);
    sigaction(signal, &old, nullptr);  // it happens again, and ends the process
    return;
  }
  const auto& registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  fault.pc = (void*)registers[REG_RIP];
  if (signal == SIGFPE) {
    fault.code = CUDA_ERROR_LAUNCH_FAILED;
    fault.why = "divides an integer by zero";
    leave();
  }
  fault.code = CUDA_ERROR_ILLEGAL_ADDRESS;
  // A general protection fault tells neither an address nor whether something was written; nor does a stack fault.
  if (info->si_code == SI_KERNEL) {
    fault.why = "reads or writes at an address that no memory can have, or that is misaligned";
    leave();
  }
  fault.trap = true;
  fault.write = registers[REG_ERR] & 2;
  fault.address = (uintptr_t)info->si_addr;
  leave();
}
void catch_traps() {
  static bool caught;
  if (caught) return;
  caught = true;
  struct sigaction a = {};
  a.sa_sigaction = on_trap;
  a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;  // leave doesn't return from the handler: it must block nothing
  for (int i = 0; i < 3; i++) sigaction(signals[i], &a, &before[i]);
  find_library();
}

std::string source_line(void* pc) {
  Dl_info info;
  if (!pc || !dladdr(pc, &info) || !info.dli_fname) return "";
  char command[600], line[600] = "";
  snprintf(command, sizeof command, "addr2line -e '%s' %#lx 2>/dev/null", info.dli_fname, (unsigned long)((char*)pc - 1 - (char*)info.dli_fbase));
  if (FILE* f = popen(command, "r")) {
    if (!fgets(line, sizeof line, f)) *line = 0;
    pclose(f);
  }
  line[strcspn(line, " \n")] = 0;
  const char* name = strrchr(line, '/');
  return !name || strchr(line, '?') ? "" : std::string(", ") + (name + 1);
}

}  // namespace sim
