//go:build gpu

package cuda_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"konkanitrain/device/cuda"
	"konkanitrain/device/cuda/simulated"
)

// Processes finds the card by its place on the bus, whatever number CUDA_VISIBLE_DEVICES gives it, leaves this process
// out, counts a process once, and says the names of programs that it may read.
func TestProcessesSimulated(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "1")
	l := libraries(t)
	control := l.Control(t)
	(&rig{T: t, Control: control}).set("cards=p100,t4",
		fmt.Sprintf("processes=1:1:1M,1:%d:5M,1:%d:3M,1:1:1Mg,1:%d:?g,0:7:8M", os.Getpid(), 1<<30, 1<<30+1))

	o := cuda.Options{Driver: l.Driver, NVML: "/nonexistent/libnvidia-ml.so.1"}
	if _, err := cuda.Processes(o); err == nil || !strings.Contains(err.Error(), "/nonexistent/libnvidia-ml.so.1") {
		t.Errorf("without NVML: %v", err)
	}
	o.NVML = l.NVML
	all, err := cuda.Processes(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 3 {
		all[1].Name = strings.TrimSpace(all[1].Name) // that of process 1, whose name depends on the machine
		if all[1].Name == "" {
			t.Error("process 1 has no name")
		}
		all[1].Name = ""
	}
	want := []cuda.Process{{PID: 1 << 30, Bytes: 3 << 20}, {PID: 1, Bytes: 1 << 20}, {PID: 1<<30 + 1, Bytes: -1}}
	if !slices.Equal(all, want) {
		t.Errorf("processes %+v, want %+v", all, want)
	}
	if n := control.Count("cuDevicePrimaryCtxRetain"); n != 0 {
		t.Errorf("%d contexts were made", n)
	}

	control.Fail(simulated.Fault{Call: "nvmlDeviceGetHandleByPciBusId", Code: 2})
	if _, err := cuda.Processes(o); err == nil || err.Error() != "nvmlDeviceGetHandleByPciBusId of 0000:02:00.0: Invalid Argument (error 2)" {
		t.Errorf("a card that NVML doesn't know: %v", err)
	}
	o.Index = 1
	if _, err := cuda.Processes(o); err == nil || !strings.Contains(err.Error(), `CUDA_VISIBLE_DEVICES is "1"`) {
		t.Errorf("a card that is hidden: %v", err)
	}
}
