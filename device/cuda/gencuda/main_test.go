package main

import (
	"fmt"
	"strings"
	"testing"
)

// header is one as the module has it, with some calls of the real one's and many others.
func header(start string) string {
	var s strings.Builder
	s.WriteString("typedef long unsigned int size_t;\n" + start)
	s.WriteString("CUresult cuInit(unsigned int Flags);\nCUresult cuMemAlloc(CUdeviceptr* p, size_t n);\n__declspec CUresult cuLaunchKernel(CUfunction f,\n  void** extra);\n")
	for i := range fewestCalls {
		fmt.Fprintf(&s, "CUresult cuOther%03d(int x);\n", i)
	}
	return s.String()
}

func TestDriver(t *testing.T) {
	files := map[string]string{}
	if err := driver(header("typedef uint32_t cuuint32_t;\n"), files); err != nil {
		t.Fatal(err)
	}
	cuda := files["include/cuda.h"]
	if strings.Contains(cuda, "typedef long unsigned int size_t") || !strings.Contains(cuda, "#define cuMemAlloc cuMemAlloc_v2\n") ||
		!strings.Contains(cuda, "CUresult cuInit(unsigned int Flags);") {
		t.Errorf("cuda.h: %s", cuda)
	}
	calls := strings.Split(strings.TrimSpace(files["include/cuda_calls.h"]), "\n")
	want := []string{strings.TrimSpace(notice), "CALL(0, cuGraphInstantiateWithFlags)", "CALL(1, cuLaunchKernel)", "CALL(2, cuMemAlloc_v2)", "CALL(3, cuOther000)"}
	for i, line := range want {
		if calls[i] != line {
			t.Errorf("line %d of the calls is %q, want %q", i, calls[i], line)
		}
	}
	if len(calls) != 4+fewestCalls {
		t.Errorf("%d lines, want those of %d calls", len(calls), 3+fewestCalls)
	}
}

func TestNVML(t *testing.T) {
	var s strings.Builder
	s.WriteString("#define DECLDIR\nconst DECLDIR char* nvmlErrorString(nvmlReturn_t result);\nDEPRECATED(13.0) nvmlReturn_t DECLDIR nvmlDeviceGetPowerState (int x);\n")
	for i := range fewestCalls {
		fmt.Fprintf(&s, "nvmlReturn_t DECLDIR nvmlOther%03d_v2(int x,\n  int y);\n", i)
	}
	files := map[string]string{}
	if err := nvml(s.String(), files); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"CALL(0, nvmlDeviceGetPowerState)\n", "CALL(1, nvmlErrorString)\n", "CALL(2, nvmlOther000_v2)\n"} {
		if !strings.Contains(files["include/nvml_calls.h"], line) {
			t.Errorf("no line %q in %s", line, files["include/nvml_calls.h"])
		}
	}
}

// A header of another layout is refused, not half understood.
func TestOtherLayout(t *testing.T) {
	files := map[string]string{}
	for _, text := range []string{header(""), "typedef uint32_t cuuint32_t;\nCUresult cuMemAlloc(int);\n"} {
		if err := driver(text, files); err == nil || !strings.HasPrefix(err.Error(), "another layout: ") {
			t.Errorf("error %v", err)
		}
	}
	if err := nvml("nothing", files); err == nil || err.Error() != "another layout: 0 calls" {
		t.Errorf("error %v", err)
	}
}
