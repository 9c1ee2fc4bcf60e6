// The libraries of NVIDIA's driver, opened at run time.
#pragma once

enum { SHIM_NO_LIBRARY = -1 };

// shim_open_cuda loads a library and starts the driver in it. It returns 0, SHIM_NO_LIBRARY (shim_why says why), or what
// cuInit returned. Before it has succeeded every driver call but cuInit returns an error.
int shim_open_cuda(const char *library);

// shim_open_nvml loads NVML. It returns 0 or SHIM_NO_LIBRARY.
int shim_open_nvml(const char *library);

const char *shim_why(void);
