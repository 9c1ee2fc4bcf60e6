//go:build gpu

package cuda

/*
#include <cuda.h>

static const char *name_of(int code) {
	const char *name = NULL;
	cuGetErrorName(code, &name);
	return name;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"gorgonia.org/cu"

	"konkanitrain/device/cuda/shim"
)

// oldestDriver is the CUDA version that a driver must know at least, as cuDriverGetVersion counts: 11.8.
const oldestDriver = 11080

// oldestCard is the compute capability that the kernels are made for.
const oldestCard = 6 // .0

// codeOf is the driver's number of an error of package cu, whose type for these is its own.
func codeOf(err error) int {
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
		return int(v.Int())
	}
	return codeUnknown
}

// driverError is the error of a driver's call that returned code, nil for 0. kernel is the one that the call is about,
// "" for none.
func driverError(call, kernel string, code int) error {
	if code == 0 {
		return nil
	}
	e := &Error{Call: call, Kernel: kernel, Code: code, Text: C.GoString(C.name_of(C.int(code))), Hint: hints[code], Lost: loses(code)}
	if e.Text == "" {
		e.Text = "unknown CUDA error"
	}
	if kernel == "" && fromKernels(code) {
		e.Hint += unnamed
	}
	return e
}

// said is driverError for an error that package cu returned.
func said(call string, err error) error {
	if err == nil {
		return nil
	}
	return driverError(call, "", codeOf(err))
}

// start opens the driver, and says how many cards it has.
func start(o Options) (cards int, err error) {
	if _, err := shim.Open(o.Driver); err != nil {
		var missing *shim.NotFound
		var stopped *shim.NotStarted
		switch {
		case errors.As(err, &missing) && o.Driver != "":
			return 0, fmt.Errorf("%w in the file that was named for it: %w; name NVIDIA's libcuda.so.1, or none: then the "+
				"system's is looked for", ErrNoDriver, missing)
		case errors.As(err, &missing):
			return 0, fmt.Errorf("%w: install NVIDIA's driver; in a container, start it "+
				"with the card (docker run --gpus all); tried %w", ErrNoDriver, missing)
		case errors.As(err, &stopped) && stopped.Code == codeNoDevice:
			return 0, fmt.Errorf("%w: the driver finds no card at all%s", ErrNoDevice, hidden())
		case errors.As(err, &stopped):
			return 0, fmt.Errorf("%w starts: %w", ErrNoDriver, driverError("cuInit of "+stopped.Library, "", stopped.Code))
		}
		return 0, err
	}
	if v := driverVersion(); v < oldestDriver {
		return 0, fmt.Errorf("%w: it knows CUDA %s, and this program needs %s or newer: update NVIDIA's driver (520 or newer)",
			ErrOldDriver, version(v), version(oldestDriver))
	}
	cards, err = cu.NumDevices()
	if err != nil {
		return 0, said("cuDeviceGetCount", err)
	}
	if cards == 0 {
		return 0, fmt.Errorf("%w: the driver finds no card at all%s", ErrNoDevice, hidden())
	}
	return cards, nil
}

// driverVersion is 0 where the driver doesn't say.
func driverVersion() int {
	var v C.int
	if C.cuDriverGetVersion(&v) != 0 {
		return 0
	}
	return int(v)
}

// version is "11.8" for 11080.
func version(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// hidden says what hides cards, "" for nothing.
func hidden() string {
	if v, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
		return fmt.Sprintf("; CUDA_VISIBLE_DEVICES is %q, which hides others from the driver", v)
	}
	return ""
}

// describe is what the driver says of a card without a context.
func describe(index int) (i Info, err error) {
	d := cu.Device(index)
	i = Info{Index: index, Driver: driverVersion()}
	if i.Name, err = d.Name(); err != nil {
		return i, said("cuDeviceGetName", err)
	}
	i.Name = strings.TrimRight(i.Name, "\x00")
	if i.Total, err = d.TotalMem(); err != nil {
		return i, said("cuDeviceTotalMem", err)
	}
	for _, a := range []struct {
		what cu.DeviceAttribute
		to   *int
	}{
		{cu.ComputeCapabilityMajor, &i.Major}, {cu.ComputeCapabilityMinor, &i.Minor}, {cu.MultiprocessorCount, &i.Processors},
	} {
		if *a.to, err = d.Attribute(a.what); err != nil {
			return i, said("cuDeviceGetAttribute", err)
		}
	}
	return i, nil
}

// Available lists the machine's cards, also those that are too old or in use, and keeps nothing on them. An error is
// that of Open for a machine without any.
func Available(o Options) ([]Info, error) {
	n, err := start(o)
	if err != nil {
		return nil, err
	}
	var all []Info
	for k := range n {
		i, err := describe(k)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// find is the card with a number.
func find(o Options) (Info, error) {
	all, err := Available(o)
	if err != nil {
		return Info{}, err
	}
	if o.Index >= 0 && o.Index < len(all) {
		return all[o.Index], nil
	}
	var names []string
	for _, i := range all {
		names = append(names, fmt.Sprintf("cuda:%d %s", i.Index, i.Name))
	}
	verb := "are"
	if len(names) == 1 {
		verb = "is"
	}
	return Info{}, fmt.Errorf("%w: cuda:%d; there %s %d: %s%s", ErrNoDevice, o.Index, verb, len(names), strings.Join(names, ", "), hidden())
}

// choose is find for a card that kernels run on.
func choose(o Options) (Info, error) {
	i, err := find(o)
	if err == nil && i.Major < oldestCard {
		return Info{}, fmt.Errorf("%w: cuda:%d, %s, has compute capability %d.%d, and the kernels need %d.0 (Pascal, 2016) or newer: "+
			"use another card", ErrOldCard, i.Index, i.Name, i.Major, i.Minor, oldestCard)
	}
	return i, err
}
