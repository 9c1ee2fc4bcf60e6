package cuda

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The places of cuBLAS: those of the active environment first, and no version that is newer than the driver.
func TestLibraries(t *testing.T) {
	root := t.TempDir()
	venv := filepath.Join(root, "home/a[1]*")
	for _, name := range []string{
		"home/a[1]*/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12",
		"home/a[1]*/lib/python3.11/site-packages/nvidia/cu13/lib/libcublas.so.13",
		"home/a1x/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12", // of an environment that isn't active
		"usr/local/cuda-11.8/lib64/libcublas.so.11",
		"usr/local/cuda-12.4/lib64/libcublas.so.12",
		"usr/local/cuda-12.6/lib64/libcublas.so.12",
		"usr/local/lib/python3.10/dist-packages/nvidia/cublas/lib/libcublas.so.12",
		"home/.local/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12",
		"home/env/lib/libcublas.so.11",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	variables := map[string]string{"VIRTUAL_ENV": venv, "CONDA_PREFIX": filepath.Join(root, "home/env"), "HOME": filepath.Join(root, "home")}
	for _, c := range []struct {
		version int
		env     map[string]string
		want    []string
	}{
		{12, variables, []string{
			"libcublas.so.12",
			"home/a[1]*/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12",
			"usr/local/cuda-12.6/lib64/libcublas.so.12",
			"usr/local/cuda-12.4/lib64/libcublas.so.12",
			"usr/local/lib/python3.10/dist-packages/nvidia/cublas/lib/libcublas.so.12",
			"home/.local/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12",
			"libcublas.so.11",
			"home/env/lib/libcublas.so.11",
			"usr/local/cuda-11.8/lib64/libcublas.so.11",
		}},
		{11, nil, []string{"libcublas.so.11", "usr/local/cuda-11.8/lib64/libcublas.so.11"}},
		{14, map[string]string{"VIRTUAL_ENV": venv}, []string{
			"libcublas.so.13", "home/a[1]*/lib/python3.11/site-packages/nvidia/cu13/lib/libcublas.so.13", "libcublas.so.12",
		}},
	} {
		var got []string
		for _, l := range libraries(c.version, func(name string) string { return c.env[name] }, root) {
			short := strings.TrimPrefix(l.path, root+"/")
			got = append(got, short)
			want := ""
			if short != filepath.Base(short) {
				want = strings.Replace(l.path, "libcublas.so", "libcublasLt.so", 1)
			}
			if l.helper != want {
				t.Errorf("%s: the helper is %q, want %q", l.path, l.helper, want)
			}
		}
		if len(got) < len(c.want) || !slices.Equal(got[:len(c.want)], c.want) {
			t.Errorf("CUDA %d: %q, want %q", c.version, got, c.want)
		}
	}
}

// What is said of a code: a fault of a kernel loses the context, a call that is refused doesn't.
func TestCodes(t *testing.T) {
	for code, want := range map[int]struct{ lost, kernel bool }{
		1: {}, 2: {}, 46: {}, 100: {}, 600: {}, 801: {}, 900: {}, 701: {},
		214: {lost: true}, 709: {lost: true}, 999: {lost: true},
		700: {true, true}, 702: {true, true}, 710: {true, true}, 716: {true, true}, 719: {true, true},
	} {
		if loses(code) != want.lost || fromKernels(code) != want.kernel {
			t.Errorf("code %d: lost %v, of a kernel %v", code, loses(code), fromKernels(code))
		}
	}
	if err := blasError("cublasCreate_v2", 0); err != nil {
		t.Errorf("success is %v", err)
	}
	for status, want := range map[int]string{
		3:  "cublasCreate_v2: CUBLAS_STATUS_ALLOC_FAILED (error 3): the card has no memory left for cuBLAS",
		14: "cublasCreate_v2: CUBLAS_STATUS_INTERNAL_ERROR (error 14)",
		77: "cublasCreate_v2: unknown status of cuBLAS (error 77)",
	} {
		if err := blasError("cublasCreate_v2", status); err == nil || err.Error() != want {
			t.Errorf("status %d: %v, want %q", status, err, want)
		}
	}
}
