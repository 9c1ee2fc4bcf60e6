//go:build gpu

package cuda

/*
#include <cuda.h>
*/
import "C"

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"konkanitrain/device/cuda/shim"
)

// Processes are the other processes that have memory of the card with number o.Index, the largest first. NVML tells it,
// and is opened for that. Inside a container the numbers of processes are the host's, and this process may be among
// them.
func Processes(o Options) ([]Process, error) {
	bus, err := busID(o)
	if err != nil {
		return nil, err
	}
	path, err := shim.OpenNVML(o.NVML)
	if err != nil {
		return nil, fmt.Errorf("NVML, which knows the processes on a card, comes with NVIDIA's driver and isn't there: %w", err)
	}
	n := nvml.New(nvml.WithLibraryPath(path))
	if err := nvmlError("nvmlInit", n, n.Init()); err != nil {
		return nil, err
	}
	defer n.Shutdown()
	card, code := n.DeviceGetHandleByPciBusId(bus)
	if err := nvmlError("nvmlDeviceGetHandleByPciBusId of "+bus, n, code); err != nil {
		return nil, err
	}
	var all []Process
	for _, kind := range []struct {
		call string
		list func() ([]nvml.ProcessInfo, nvml.Return)
	}{
		{"nvmlDeviceGetComputeRunningProcesses", card.GetComputeRunningProcesses},
		{"nvmlDeviceGetGraphicsRunningProcesses", card.GetGraphicsRunningProcesses},
	} {
		list, code := kind.list()
		if err := nvmlError(kind.call, n, code); err != nil {
			return nil, err
		}
		for _, p := range list {
			if pid := int(p.Pid); pid != os.Getpid() && !slices.ContainsFunc(all, func(q Process) bool { return q.PID == pid }) {
				all = append(all, Process{PID: pid, Name: programName("/proc", pid), Bytes: usedBytes(p.UsedGpuMemory)})
			}
		}
	}
	slices.SortFunc(all, func(a, b Process) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.PID, b.PID)) })
	return all, nil
}

// usedBytes is what NVML says, whose largest number means that it doesn't know.
func usedBytes(n uint64) int64 {
	if n > math.MaxInt64 {
		return -1
	}
	return int64(n)
}

// busID is the place of a card on the machine's bus: the one name of it that the driver and NVML share, whatever
// CUDA_VISIBLE_DEVICES makes of the numbers.
func busID(o Options) (string, error) {
	i, err := find(o)
	if err != nil {
		return "", err
	}
	var name [32]C.char
	if err := driverError("cuDeviceGetPCIBusId", "", int(C.cuDeviceGetPCIBusId(&name[0], C.int(len(name)), C.CUdevice(i.Index)))); err != nil {
		return "", err
	}
	return C.GoString(&name[0]), nil
}

// nvmlError is the error of a call of NVML, nil for success.
func nvmlError(call string, n nvml.Interface, code nvml.Return) error {
	if code == nvml.SUCCESS {
		return nil
	}
	return fmt.Errorf("%s: %s (error %d)", call, n.ErrorString(code), code)
}

// programName is the name of a process's program, below a folder as /proc is.
func programName(proc string, pid int) string {
	folder := filepath.Join(proc, fmt.Sprint(pid))
	if line, err := os.ReadFile(filepath.Join(folder, "cmdline")); err == nil {
		if program, _, _ := strings.Cut(string(line), "\x00"); program != "" {
			return filepath.Base(program)
		}
	}
	name, _ := os.ReadFile(filepath.Join(folder, "comm")) // what can't be read has no name
	return strings.TrimSpace(string(name))
}
