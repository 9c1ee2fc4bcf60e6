// The cards that can be imitated, and what the driver says of them.
#include <cstdlib>
#include <cstring>
#include "sim.h"

namespace sim {

// clock and memory clock in kHz, bus in bits, L2 in bytes; memory in bytes, as the driver reports it.
static const Spec specs[] = {
    {"t4", "Tesla T4", 7, 5, 40, 1590000, 5001000, 256, 4 << 20, 15828320256},
    {"p100", "Tesla P100-PCIE-16GB", 6, 0, 56, 1328500, 715000, 4096, 4 << 20, 17059545088},
    {"v100", "Tesla V100-SXM2-16GB", 7, 0, 80, 1530000, 877000, 4096, 6 << 20, 16945512448},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 1980000, 2619000, 5120, 50 << 20, 84978958336},
    {"laptop", "NVIDIA GeForce RTX 3050 Laptop GPU", 8, 6, 16, 1057500, 5501000, 128, 1 << 20, 4294508544},
    {"old", "GeForce GTX 960", 5, 2, 8, 1253000, 3505000, 128, 1 << 20, 2099904512},
};

static const size_t chunk = 2 << 20;  // the driver takes memory of the card in chunks
size_t Card::used() const { return large + (small + chunk - 1) / chunk * chunk + contexts + taken; }

static std::vector<std::unique_ptr<Card>> installed;
std::vector<Card*> visible;

static void uuid(const Card* c, unsigned char bytes[16]) {
  memset(bytes, 0, 16);
  memcpy(bytes, c->spec->key, strlen(c->spec->key));
  bytes[15] = (unsigned char)c->number;
}
static std::string uuid_text(const Card* c) {
  unsigned char b[16];
  uuid(c, b);
  std::string s = "GPU-";
  for (int i = 0; i < 16; i++) {
    char hex[4];
    snprintf(hex, sizeof hex, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
    s += hex;
  }
  return s;
}

static std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < list.size();) {
    size_t end = std::min(list.find(',', at), list.size());
    parts.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// find_cards installs the cards of the settings, and shows those that CUDA_VISIBLE_DEVICES names by number or UUID, up to
// the first that there is not. cards "" is a machine without any.
bool find_cards(std::string* why) {
  std::vector<std::unique_ptr<Card>> cards;
  for (const std::string& key : split(settings.cards)) {
    const Spec* spec = nullptr;
    for (const Spec& s : specs)
      if (key == s.key) spec = &s;
    if (!spec) return *why = "no card " + key, false;
    auto c = std::make_unique<Card>();
    c->spec = spec;
    c->number = (int)cards.size();
    c->memory = settings.memory ? settings.memory : spec->memory;
    cards.push_back(std::move(c));
  }
  installed = std::move(cards);
  visible.clear();
  const char* list = getenv("CUDA_VISIBLE_DEVICES");
  if (!list) {
    for (auto& c : installed) visible.push_back(c.get());
  } else {
    for (const std::string& item : split(list)) {
      Card* match = nullptr;
      char* end;
      long number = strtol(item.c_str(), &end, 10);
      for (auto& c : installed)
        if (*end == 0 && end != item.c_str() ? c->number == number : !item.empty() && !uuid_text(c.get()).compare(0, item.size(), item))
          match = c.get();
      if (!match) break;
      visible.push_back(match);
    }
  }
  for (size_t i = 0; i < visible.size(); i++) visible[i]->index = (int)i;
  return true;
}

static Card* card(CUdevice d) { return d >= 0 && d < (int)visible.size() ? visible[d] : nullptr; }

}  // namespace sim

using namespace sim;

#define DEVICE(d)                                       \
  CALL;                                                 \
  if (!started) return CUDA_ERROR_NOT_INITIALIZED;      \
  Card* c = card(d);                                    \
  if (!c) return CUDA_ERROR_INVALID_DEVICE

API cuInit(unsigned flags) {
  CALL;
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  std::string why;
  if (contexts.empty() && !find_cards(&why)) return found("%s", why.c_str()), CUDA_ERROR_UNKNOWN;
  started = true;
  return visible.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
API cuDriverGetVersion(int* v) {
  CALL;
  return *v = settings.driver, CUDA_SUCCESS;
}
API cuDeviceGetCount(int* n) {
  CALL;
  if (!started) return CUDA_ERROR_NOT_INITIALIZED;
  return *n = (int)visible.size(), CUDA_SUCCESS;
}
API cuDeviceGet(CUdevice* d, int i) {
  DEVICE(i);
  return *d = c->index, CUDA_SUCCESS;
}
API cuDeviceGetName(char* s, int n, CUdevice d) {
  DEVICE(d);
  return snprintf(s, n, "%s", c->spec->name), CUDA_SUCCESS;
}
API cuDeviceTotalMem_v2(size_t* n, CUdevice d) {
  DEVICE(d);
  return *n = c->memory, CUDA_SUCCESS;
}
API cuDeviceGetUuid(CUuuid* u, CUdevice d) {
  DEVICE(d);
  return uuid(c, u->bytes), CUDA_SUCCESS;
}
API cuDeviceGetUuid_v2(CUuuid* u, CUdevice d) {
  DEVICE(d);
  return uuid(c, u->bytes), CUDA_SUCCESS;
}
API cuDeviceGetPCIBusId(char* s, int n, CUdevice d) {
  DEVICE(d);
  return snprintf(s, n, "0000:%02X:00.0", c->number + 1), CUDA_SUCCESS;
}
API cuDeviceComputeCapability(int* major, int* minor, CUdevice d) {
  DEVICE(d);
  return *major = c->spec->major, *minor = c->spec->minor, CUDA_SUCCESS;
}
API cuDeviceGetAttribute(int* v, CUdevice_attribute a, CUdevice d) {
  DEVICE(d);
  const Spec* s = c->spec;
  switch (a) {
    case MAX_THREADS_PER_BLOCK: case MAX_BLOCK_DIM_X: case MAX_BLOCK_DIM_Y: *v = 1024; break;
    case MAX_BLOCK_DIM_Z: *v = 64; break;
    case MAX_GRID_DIM_X: *v = 2147483647; break;
    case MAX_GRID_DIM_Y: case MAX_GRID_DIM_Z: *v = 65535; break;
    case MAX_SHARED_MEMORY_PER_BLOCK: *v = 48 << 10; break;
    case WARP_SIZE: *v = 32; break;
    case MAX_REGISTERS_PER_BLOCK: *v = 65536; break;
    case CLOCK_RATE: *v = s->clock_khz; break;
    case MULTIPROCESSOR_COUNT: *v = s->processors; break;
    case COMPUTE_MODE: *v = settings.mode == "exclusive" ? 3 : settings.mode == "prohibited" ? 2 : 0; break;
    case PCI_BUS_ID: *v = c->number + 1; break;
    case PCI_DEVICE_ID: case PCI_DOMAIN_ID: *v = 0; break;
    case MEMORY_CLOCK_RATE: *v = s->memory_khz; break;
    case GLOBAL_MEMORY_BUS_WIDTH: *v = s->bus_bits; break;
    case L2_CACHE_SIZE: *v = s->l2; break;
    case UNIFIED_ADDRESSING: *v = 1; break;
    case COMPUTE_CAPABILITY_MAJOR: *v = s->major; break;
    case COMPUTE_CAPABILITY_MINOR: *v = s->minor; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

API cuGetErrorName(CUresult r, const char** text) {
#define X(name, number) if (r == number) return *text = #name, CUDA_SUCCESS;
  RESULTS(X)
#undef X
  return *text = nullptr, CUDA_ERROR_INVALID_VALUE;
}
API cuGetErrorString(CUresult r, const char** text) { return cuGetErrorName(r, text); }

// cudasim_card tells the name and UUID of a card of the machine, visible or not: 0 if there is none. Either may be null.
extern "C" __attribute__((visibility("default"))) int cudasim_card(int number, char* name, char* id, size_t size) {
  std::lock_guard<std::recursive_mutex> lock(sim::mutex);
  std::string why;
  if (installed.empty() && (started || !find_cards(&why))) return 0;
  if (number < 0 || number >= (int)installed.size()) return 0;
  if (name) snprintf(name, size, "%s", installed[number]->spec->name);
  if (id) snprintf(id, size, "%s", uuid_text(installed[number].get()).c_str());
  return 1;
}
