//go:build gpu

package cuda_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"konkanitrain/device/cuda"
	"konkanitrain/device/cuda/simulated"
)

// What keeps a card from being opened has an error of its own kind, which says what to do.
func TestOpenErrorsSimulated(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings string
		faults   []simulated.Fault
		change   func(o *cuda.Options)
		kind     error
		want     []string
	}{
		{"old driver", "driver=11040", nil, nil, cuda.ErrOldDriver, []string{"knows CUDA 11.4", "needs 11.8", "update NVIDIA's driver"}},
		{"old card", "cards=t4,old", nil, func(o *cuda.Options) { o.Index = 1 }, cuda.ErrOldCard,
			[]string{"cuda:1, GeForce GTX 960, has compute capability 5.2", "need 6.0", "use another card"}},
		{"no such number", "cards=t4", nil, func(o *cuda.Options) { o.Index = 1 }, cuda.ErrNoDevice,
			[]string{"no such card: cuda:1; there is 1: cuda:0 Tesla T4"}},
		{"no such number of two", "cards=t4,p100", nil, func(o *cuda.Options) { o.Index = -1 }, cuda.ErrNoDevice,
			[]string{"no such card: cuda:-1; there are 2: cuda:0 Tesla T4, cuda:1 Tesla P100-PCIE-16GB"}},
		{"in use", "mode=exclusive busy=1", nil, nil, cuda.ErrCardInUse,
			[]string{"compute mode Exclusive_Process", "nvidia-smi", "CUDA_ERROR_DEVICE_UNAVAILABLE (error 46)"}},
		{"prohibited", "mode=prohibited", nil, nil, cuda.ErrCardInUse, []string{"compute mode Prohibited, in which no program may use it", "nvidia-smi -c DEFAULT"}},
		{"no cuBLAS", "", nil, func(o *cuda.Options) { o.BLAS = "/nonexistent/libcublas.so.12" }, cuda.ErrNoBLAS,
			[]string{"no cuBLAS in the file that was named for it: /nonexistent/libcublas.so.12: ", "knows CUDA 12.4, or none"}},
		{"cuBLAS is another library", "", nil, func(o *cuda.Options) { o.BLAS = o.Driver }, cuda.ErrNoBLAS, []string{"has no function cublasCreate_v2"}},
		{"cuBLAS doesn't start", "", []simulated.Fault{faultOf("cublasCreate", 1)}, nil, cuda.ErrNoBLAS, []string{"CUBLAS_STATUS_NOT_INITIALIZED"}},
		{"no memory for a context", "memory=64M context=128M", nil, nil, nil, []string{"cuda:0, Tesla T4, has no memory left", "CUDA_ERROR_OUT_OF_MEMORY"}},
		{"no memory for the workspace", "memory=65M context=64M", nil, nil, nil, []string{"out of memory: no 4194304 bytes for the workspace of cuBLAS"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := libraries(t)
			control := l.Control(t)
			r := &rig{T: t, Control: control}
			r.set(strings.Fields(c.settings)...)
			control.Fail(c.faults...)
			before := alive(control)
			o := cuda.Options{Driver: l.Driver, BLAS: l.BLAS}
			if c.change != nil {
				c.change(&o)
			}
			card, err := cuda.Open(o)
			if err == nil {
				card.Close()
				t.Fatal("it is opened")
			}
			if c.kind != nil && !errors.Is(err, c.kind) {
				t.Errorf("error %v, want one of the kind %v", err, c.kind)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q, want %q in it", err, part)
				}
			}
			t.Log("simulated:", err)
			if list := left(control, before); len(list) > 0 {
				t.Errorf("there are %v left", list)
			}
		})
	}
}

// An error of any call of Open leaves nothing behind.
func TestOpenFaultsSimulated(t *testing.T) {
	l := libraries(t)
	control := l.Control(t)
	o := cuda.Options{Driver: l.Driver, BLAS: l.BLAS}
	before := alive(control)
	for n := 1; ; n++ {
		control.Fail(simulated.Fault{Call: simulated.Any, N: n, Code: invalidValue})
		c, err := cuda.Open(o)
		control.Forgive()
		if err == nil {
			// The fault met none of Open's calls, or one whose failure changes nothing.
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if n > 40 {
				return
			}
		}
		if list := left(control, before); len(list) > 0 {
			t.Fatalf("call %d fails: %v; there are %v left", n, err, list)
		}
	}
}

// Cards are listed without a context, also those that can't be used.
func TestAvailableSimulated(t *testing.T) {
	l := libraries(t)
	control := l.Control(t)
	(&rig{T: t, Control: control}).set("cards=h100,old", "mode=prohibited")
	all, err := cuda.Available(cuda.Options{Driver: l.Driver})
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	if all[0].String() != "NVIDIA H100 80GB HBM3, compute capability 9.0, 79.14 GiB" || all[0].Processors != 132 || all[1].Index != 1 || all[1].Major != 5 {
		t.Errorf("cards %+v", all)
	}
	if n := control.Count("cuDevicePrimaryCtxRetain"); n != 0 {
		t.Errorf("%d contexts were made", n)
	}
}

// An older cuBLAS has no workspace of ours.
func TestOldBLASSimulated(t *testing.T) {
	l := libraries(t)
	l.Control(t)
	c, err := cuda.Open(cuda.Options{Driver: l.Driver, BLAS: l.OldBLAS})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Info().Workspace != 0 || c.Usage().Allocated != 0 {
		t.Errorf("a workspace of %d bytes; %d are in use", c.Info().Workspace, c.Usage().Allocated)
	}
}

// The driver is opened once for a process, so what keeps it from that is tried in others: this test runs itself again,
// with a driver named in a variable, and prints what Open says.
func TestDriverErrorsSimulated(t *testing.T) {
	const variable = "CUDA_TEST_DRIVER"
	const result = "CUDA_TEST_CUINIT" // what cuInit returns
	if path, set := os.LookupEnv(variable); set {
		if code, _ := strconv.Atoi(os.Getenv(result)); code != 0 {
			simulated.Libraries{Driver: path}.Control(t).Fail(faultOf("cuInit", code))
		}
		_, err := cuda.Open(cuda.Options{Driver: path})
		for _, kind := range []error{cuda.ErrNoDriver, cuda.ErrNoDevice} {
			t.Logf("said: %v; %q: %v", err, kind, errors.Is(err, kind))
		}
		return
	}
	l := libraries(t)
	notADriver := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(notADriver, []byte(strings.Repeat("text ", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, driver, env string
		want              []string
	}{
		{"none", "/nonexistent/libcuda.so.1", "", []string{"no CUDA driver in the file that was named for it: /nonexistent/libcuda.so.1: cannot open", "or none", `"no CUDA driver": true`}},
		{"no library", notADriver, "", []string{"no CUDA driver in the file that was named for it: ", "invalid ELF header", `"no CUDA driver": true`}},
		{"another library", "libm.so.6", "", []string{"has no function cuInit: it is no CUDA driver", `"no CUDA driver": true`}},
		{"bad state", l.Driver, result + "=999", []string{"no CUDA driver starts: cuInit of " + l.Driver + ": ", "(error 999): the card or its driver is in a bad state", `"no CUDA driver": true`}},
		{"two versions", l.Driver, result + "=803", []string{"(error 803): the driver's library and its kernel module are of two versions: restart"}},
		{"no card", l.Driver, "CUDASIM_CARDS=", []string{"no such card: the driver finds no card at all", `"no such card": true`}},
		{"cards are hidden", l.Driver, "CUDA_VISIBLE_DEVICES=-1", []string{`CUDA_VISIBLE_DEVICES is "-1", which hides`, `"no such card": true`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestDriverErrorsSimulated$", "-test.v")
			cmd.Env = append(os.Environ(), variable+"="+c.driver)
			if c.env != "" {
				cmd.Env = append(cmd.Env, c.env)
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, part := range c.want {
				if !strings.Contains(string(out), part) {
					t.Errorf("want %q in %s", part, out)
				}
			}
		})
	}
}
