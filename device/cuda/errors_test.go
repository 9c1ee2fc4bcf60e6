//go:build gpu

package cuda_test

import (
	"errors"
	"strings"
	"testing"

	"konkanitrain/device/cuda"
	"konkanitrain/device/cuda/simulated"
)

// Codes of the driver.
const (
	invalidValue   = 1
	outOfMemory    = 2
	illegalAddress = 700
	launchFailed   = 719
)

func faultOf(call string, code int) simulated.Fault { return simulated.Fault{Call: call, Code: code} }

// freed frees what was allocated.
func freed[T interface{ Free() }](x T, err error) error {
	if err == nil {
		x.Free()
	}
	return err
}

// A call that fails is an error that names it, with the driver's name of the code, and the next one works.
func TestCallErrorsSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{NoGraphs: true})
	x, y, host := r.alloc(ramp(64)...), r.alloc(ramp(64)...), r.pinned(64)
	address := cuda.AddressOf(x)
	l := r.bind([]cuda.Launch{multiplyAdd(64, 1, 0, 1)}, x, y)
	queued := func(f func(q cuda.Queue) error) func() error { return func() error { return r.Do(f) } }
	for _, c := range []struct {
		call string
		do   func() error
	}{
		{"cuLaunchKernel", func() error { return r.run(l) }},
		{"cuMemcpyHtoDAsync", queued(func(q cuda.Queue) error { return q.Upload(address, host, 0, 64) })},
		{"cuMemcpyHtoDAsync", queued(func(q cuda.Queue) error { return q.Prefetch(address, host, 0, 64) })},
		{"cuMemcpyDtoHAsync", queued(func(q cuda.Queue) error { return q.Download(host, 0, address, 64) })},
		{"cuMemcpyDtoDAsync", queued(func(q cuda.Queue) error { return q.Copy(address, address+128, 64) })},
		{"cuMemsetD8Async", queued(func(q cuda.Queue) error { return q.Clear(address, 64) })},
		{"cuEventRecord", queued(func(q cuda.Queue) error { return q.Join() })},
		{"cuStreamWaitEvent", queued(func(q cuda.Queue) error { return q.Join() })},
		{"cuStreamSynchronize", queued(func(q cuda.Queue) error { return q.Wait() })},
		{"cuMemHostAlloc", func() error { return freed(r.Pinned(64, "a test")) }},
		{"cuMemAlloc", func() error { return freed(r.Alloc(64, "a test")) }},
		{"cuMemGetInfo", func() error { _, _, err := r.Memory(); return err }},
		{"cuMemcpyHtoDAsync", func() error { _, err := x.WriteAt([]byte{1}, 0); return err }},
		{"cuMemcpyDtoHAsync", func() error { _, err := x.ReadAt(make([]byte, 1), 0); return err }},
		{"cuModuleLoadDataEx", func() error { return r.Load(map[string][]byte{"again.cu": []byte(kernels)}) }},
	} {
		t.Run(c.call, func(t *testing.T) {
			r.Fail(faultOf(c.call, invalidValue))
			err := c.do()
			var e *cuda.Error
			if !errors.As(err, &e) || e.Call != c.call || e.Code != invalidValue || e.Text != "CUDA_ERROR_INVALID_VALUE" || e.Lost {
				t.Fatalf("error %v", err)
			}
			if err := c.do(); err != nil {
				t.Errorf("the next time: %v", err)
			}
		})
	}
}

// A fault in a kernel is told by the wait behind it; waiting for each launch names the kernel. The context is lost, and
// every later call says by what.
func TestKernelFaultSimulated(t *testing.T) {
	for _, sync := range []bool{false, true} {
		r := openRig(t, cuda.Options{Sync: sync}, "lazy=1")
		r.lost = true
		x, y := r.alloc(ramp(64)...), r.alloc(ramp(64)...)
		l := r.bind([]cuda.Launch{
			multiplyAdd(64, 1, 0, 1),
			{Kernel: "write_far", Block: 32, Args: []cuda.Arg{cuda.Ptr(cuda.In(0)), cuda.Int(1000)}},
			multiplyAdd(64, 1, 0, 1),
		}, x, y)
		err := r.run(l)
		var e *cuda.Error
		if !errors.As(err, &e) || !errors.Is(err, cuda.ErrLost) || e.Call != "cuStreamSynchronize" || e.Code != illegalAddress {
			t.Fatalf("error %v", err)
		}
		want := "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (error 700): a kernel read or wrote outside its memory; it was queued earlier"
		if sync {
			want = "cuStreamSynchronize of write_far: CUDA_ERROR_ILLEGAL_ADDRESS (error 700): a kernel read or wrote outside its memory"
		}
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %q, want %q", err, want)
		}
		if found := strings.Join(r.Findings(), "\n"); !strings.Contains(found, "kernel write_far") {
			t.Errorf("the simulated card found %q", found)
		}
		_, err = r.Alloc(10, "more")
		if !errors.Is(err, cuda.ErrLost) || !strings.Contains(err.Error(), want) {
			t.Errorf("the next call says %v", err)
		}
		if err := r.Close(); !errors.Is(err, cuda.ErrLost) {
			t.Errorf("closing says %v", err)
		}
	}
}

// cuBLAS hides what the driver said; where the context is lost the error has both.
func TestProductFaultSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{NoGraphs: true})
	r.lost = true
	m := cuda.Matrix{Ref: cuda.In(0), Row: 2}
	l := r.bind([]cuda.Launch{cuda.Multiply(cuda.Product{M: 2, N: 2, K: 2, A: m, B: m, C: cuda.Matrix{Ref: cuda.In(1), Row: 2}, Alpha: 1})},
		r.alloc(ramp(4)...), r.alloc(ramp(4)...))
	r.Fail(faultOf("cublasGemmStridedBatchedEx", 15))
	err := r.run(l)
	var e *cuda.Error
	if !errors.As(err, &e) || e.Call != "cublasGemmStridedBatchedEx" || e.Text != "CUBLAS_STATUS_NOT_SUPPORTED" || e.Lost {
		t.Errorf("error %v", err)
	}
	if err := r.run(l); err != nil {
		t.Errorf("the next time: %v", err)
	}
	r.Fail(faultOf("cublasGemmStridedBatchedEx", 13), simulated.Fault{Call: "cuStreamSynchronize", Code: launchFailed, Sticky: true})
	err = r.run(l)
	for _, part := range []string{"CUBLAS_STATUS_EXECUTION_FAILED (error 13)", "CUDA_ERROR_LAUNCH_FAILED (error 719)"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want %q in it", err, part)
		}
	}
	if !errors.Is(err, cuda.ErrLost) {
		t.Errorf("error %v, want a lost context", err)
	}
	if err := r.Close(); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("closing says %v", err)
	}
}

// A module that the driver can't compile is an error with what its compiler says, and the module's name.
func TestModuleErrorsSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{})
	err := r.Load(map[string][]byte{"broken.cu": []byte("no PTX")})
	if err == nil || !strings.Contains(err.Error(), "the kernels of broken.cu: cuModuleLoadDataEx: CUDA_ERROR_INVALID_IMAGE (error 200)") {
		t.Errorf("error %v", err)
	}
	r.Findings()
}

// A closed card takes no work, and what was its own can still be freed.
func TestClosedSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{})
	x := r.alloc(ramp(64)...)
	l := r.bind([]cuda.Launch{cuda.Zeros(cuda.In(0), 4)}, x)
	x.Free()
	l.Free()
	host := r.pinned(8)
	host.Free()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Do(func(cuda.Queue) error { return nil }); err == nil || err.Error() != "the card is closed" {
		t.Errorf("a closed card says %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}
