// NVML of a simulated card, as far as the test of Processes asks: it knows two processes with memory and one that draws.
// What the test says is in the environment: NVML_CARD is the card's place on the bus, NVML_OWN the test's own process.
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, INSUFFICIENT_SIZE = 7 };

typedef struct {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
} process;

static int card;

int nvmlInit_v2(void) { return SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(int code) { return code == INVALID_ARGUMENT ? "Invalid Argument" : "Unknown Error"; }

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **handle) {
  *handle = &card;
  return strcmp(bus, getenv("NVML_CARD")) ? INVALID_ARGUMENT : SUCCESS;
}

static int list(void *handle, unsigned *count, process *to, const process *from, unsigned n) {
  if (handle != &card) return INVALID_ARGUMENT;
  unsigned room = *count;
  *count = n;
  if (room < n) return INSUFFICIENT_SIZE;
  memcpy(to, from, n * sizeof *from);
  return SUCCESS;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *handle, unsigned *count, process *to) {
  process all[] = {{1, 1 << 20, ~0u, ~0u}, {atoi(getenv("NVML_OWN")), 5 << 20, ~0u, ~0u}, {1 << 30, 3 << 20, ~0u, ~0u}};
  return list(handle, count, to, all, 3);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *handle, unsigned *count, process *to) {
  process all[] = {{1, 1 << 20, ~0u, ~0u}, {(1 << 30) + 1, ~0ull, ~0u, ~0u}};
  return list(handle, count, to, all, 2);
}
