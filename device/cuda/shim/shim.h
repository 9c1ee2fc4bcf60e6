// The driver's library, opened at run time.
#pragma once

enum { SHIM_NO_LIBRARY = -1 };

// shim_open loads a library and starts the driver in it. It returns 0, SHIM_NO_LIBRARY (shim_why says why), or what cuInit
// returned. Before it has succeeded every driver call but cuInit returns an error.
int shim_open(const char *library);
const char *shim_why(void);
