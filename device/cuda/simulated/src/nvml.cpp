// libnvidia-ml.so.1 of the simulated cards: it knows every card of the machine, by its place on the bus, its UUID or its
// number, and the processes that the setting "processes" makes up: card:pid:bytes, by commas. bytes "?" is what NVML says
// where it doesn't know, and a "g" behind them makes the process one of graphics.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) int
enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

extern "C" size_t cudasim_processes(char* to, size_t size);
extern "C" int cudasim_called(const char* name);
extern "C" int cudasim_card(int number, char* name, char* uuid, size_t size);

typedef uintptr_t Device;  // the card's number + 1
struct Process {
  unsigned pid;
  unsigned long long bytes;
};
struct ProcessOfInstance {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};

static int users;  // calls of nvmlInit
#define CALL                                                  \
  if (int made = cudasim_called(__func__)) return made;       \
  if (!users) return UNINITIALIZED

API nvmlInit_v2() {
  if (int made = cudasim_called(__func__)) return made;
  return users++, SUCCESS;
}
API nvmlShutdown() {
  CALL;
  return users--, SUCCESS;
}
extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(int code) {
  switch (code) {
    case SUCCESS: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_FOUND: return "Not Found";
    case INSUFFICIENT_SIZE: return "Insufficient Size";
    default: return "an error made by a test";
  }
}

static bool is_card(int number, char* name = nullptr, char* uuid = nullptr, size_t size = 0) { return cudasim_card(number, name, uuid, size); }

API nvmlDeviceGetCount_v2(unsigned* n) {
  CALL;
  for (*n = 0; is_card((int)*n);) ++*n;
  return SUCCESS;
}
API nvmlDeviceGetHandleByIndex_v2(unsigned i, Device* d) {
  CALL;
  return *d = i + 1, is_card((int)i) ? SUCCESS : INVALID_ARGUMENT;
}
API nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device* d) {
  CALL;
  unsigned domain, bus;
  if (sscanf(id, "%x:%x:", &domain, &bus) != 2 || domain || !bus || !is_card((int)bus - 1)) return NOT_FOUND;
  return *d = bus, SUCCESS;
}
API nvmlDeviceGetHandleByUUID(const char* uuid, Device* d) {
  CALL;
  char has[80];
  for (int i = 0; is_card(i, nullptr, has, sizeof has); i++)
    if (!strcmp(has, uuid)) return *d = i + 1, SUCCESS;
  return NOT_FOUND;
}
API nvmlDeviceGetName(Device d, char* name, unsigned size) {
  CALL;
  return is_card((int)d - 1, name, nullptr, size) ? SUCCESS : INVALID_ARGUMENT;
}
API nvmlDeviceGetUUID(Device d, char* uuid, unsigned size) {
  CALL;
  return is_card((int)d - 1, nullptr, uuid, size) ? SUCCESS : INVALID_ARGUMENT;
}

static unsigned long long bytes_of(const char* s, bool* graphics) {
  char* end = (char*)s + 1;
  unsigned long long n = *s == '?' ? ~0ull : strtoull(s, &end, 10);
  if (*end == 'G') n <<= 30, end++;
  else if (*end == 'M') n <<= 20, end++;
  else if (*end == 'K') n <<= 10, end++;
  *graphics = *end == 'g';
  return n;
}
static std::vector<Process> processes(Device d, bool graphics) {
  std::string list(cudasim_processes(nullptr, 0) + 1, 0);
  cudasim_processes(list.data(), list.size());
  std::vector<Process> some;
  for (const char* p = list.c_str(); *p;) {
    unsigned card, pid;
    int n = 0;
    bool other = false;
    if (sscanf(p, "%u:%u:%n", &card, &pid, &n) == 2 && n) {
      unsigned long long bytes = bytes_of(p + n, &other);
      if (card + 1 == d && other == graphics) some.push_back({pid, bytes});
    }
    p += strcspn(p, ",");
    p += *p == ',';
  }
  return some;
}
// give copies processes to the caller's array, if it has room: the number is told in any case.
template <class P> static int give(Device d, bool graphics, unsigned* n, P* to) {
  if (!is_card((int)d - 1)) return INVALID_ARGUMENT;
  std::vector<Process> all = processes(d, graphics);
  unsigned room = *n;
  *n = (unsigned)all.size();
  if (room < all.size()) return INSUFFICIENT_SIZE;
  for (size_t i = 0; i < all.size(); i++) {
    to[i] = P{};
    to[i].pid = all[i].pid;
    to[i].bytes = all[i].bytes;
  }
  return SUCCESS;
}
#define PROCESSES(name, graphics, P)          \
  API name(Device d, unsigned* n, P* to) {    \
    CALL;                                     \
    return give(d, graphics, n, to);          \
  }
PROCESSES(nvmlDeviceGetComputeRunningProcesses, false, Process)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, false, ProcessOfInstance)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, false, ProcessOfInstance)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, true, Process)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, true, ProcessOfInstance)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, true, ProcessOfInstance)
