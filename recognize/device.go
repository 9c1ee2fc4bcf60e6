package recognize

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"konkanitrain/device/cuda"
	"konkanitrain/op"
)

// DeviceSetting is what settings say of the device that computes.
type DeviceSetting struct {
	Name   string // auto, cpu, cuda or cuda:N; "" is auto
	Driver string // file of the CUDA driver's library; "" is the system's
	BLAS   string // file of cuBLAS; "" is the newest that is found
	nvml   string // for tests: file of NVML
}

// Device is what computes, and why. Whoever opened it closes it, when all that uses it is closed.
type Device struct {
	Name string    // "cpu", or a card's "cuda:0"
	Why  string    // it was chosen
	Card cuda.Card // nil on the CPU

	passedOver bool // there is a card, or a driver of one, that can't be used

	context int64 // of the card's memory, which this process had when it had no buffer yet, bytes
	setting DeviceSetting
}

// DeviceError says why the device that was asked for can't be used. The setting is wrong, or this machine or this build
// is another one than it is for: nothing was begun.
type DeviceError struct {
	Setting string // as it was given
	Err     error  // one of package cuda's kinds
}

// Error says what to do, too.
func (e *DeviceError) Error() string {
	if errors.Is(e.Err, cuda.ErrNoSupport) {
		return fmt.Sprintf("device %s: %v: use the program that `make gpu` builds, konkanitrain-gpu, or --device cpu; "+
			"--device auto takes what there is", e.Setting, cuda.ErrNoSupport)
	}
	return fmt.Sprintf("device %s: %v; --device cpu does without a card, --device auto takes what there is", e.Setting, e.Err)
}

// Unwrap is why.
func (e *DeviceError) Unwrap() error { return e.Err }

// Settings are the keys that it is about.
func (e *DeviceError) Settings() []string { return []string{"device"} }

// Check refuses a name that is no device's. Whether there is such a device is for Open to find.
func (s DeviceSetting) Check() error {
	_, _, err := s.parse()
	return err
}

// parse splits the name: the kind of device, and of a card its number; -1: any.
func (s DeviceSetting) parse() (kind string, index int, err error) {
	kind, number, numbered := strings.Cut(s.Name, ":")
	if !numbered {
		switch kind {
		case "":
			return "auto", -1, nil
		case "auto", "cpu", "cuda":
			return kind, -1, nil
		}
	} else if n, err := strconv.ParseUint(number, 10, 16); err == nil && kind == "cuda" {
		return kind, int(n), nil
	}
	return "", 0, fmt.Errorf("device is %q, want auto, cpu, cuda or cuda:N, of which cuda:0 is the first card", s.Name)
}

// Open chooses the device and opens it. auto is the first card that can be used, or else the CPU, and Why names what is
// wrong with the cards. cuda is the first card that can be used, cuda:N that one: where there is none the error is a
// *DeviceError, and nothing takes its place.
func (s DeviceSetting) Open() (*Device, error) { return s.choose(cuda.Open) }

func (s DeviceSetting) choose(open func(cuda.Options) (cuda.Card, error)) (*Device, error) {
	kind, index, err := s.parse()
	if err != nil {
		return nil, err
	}
	if kind == "cpu" {
		return &Device{Name: "cpu", Why: "as asked for", setting: s}, nil
	}
	var failed []error
	for i := max(index, 0); i <= max(index, mostCards); i++ {
		d, err := s.openCard(open, i)
		if err == nil {
			d.Why = "as asked for"
			switch {
			case len(failed) > 0:
				d.Why = "the first card that can be used: " + whyNot(failed)
			case kind == "auto":
				d.Why = "auto: there is a card"
			}
			return d, nil
		}
		if !errors.Is(err, cuda.ErrNoDevice) || len(failed) == 0 { // else these were all
			failed = append(failed, err)
		}
		if index >= 0 || !ofOneCard(err) {
			break
		}
	}
	if kind == "auto" {
		return &Device{Name: "cpu", Why: "auto: " + whyNot(failed), passedOver: slices.ContainsFunc(failed, ofACard), setting: s}, nil
	}
	return nil, &DeviceError{s.Name, errors.Join(failed...)}
}

// mostCards is more than a machine has.
const mostCards = 64

// ofACard says whether an error is about a card or a driver that is there.
func ofACard(err error) bool {
	return !errors.Is(err, cuda.ErrNoSupport) && !errors.Is(err, cuda.ErrNoDriver) && !errors.Is(err, cuda.ErrNoDevice)
}

// ofOneCard says whether an error is about one card, so that another one may be usable.
func ofOneCard(err error) bool {
	for _, all := range []error{cuda.ErrNoSupport, cuda.ErrNoDriver, cuda.ErrOldDriver, cuda.ErrNoDevice, cuda.ErrNoBLAS} {
		if errors.Is(err, all) {
			return false
		}
	}
	return true
}

// others is the memory of a card that other processes have, as far as it is known, in bytes.
func (s DeviceSetting) others(index int) (bytes int64) {
	users, err := s.users(index)
	if err != nil {
		return 0
	}
	for _, u := range users {
		bytes += max(u.Bytes, 0)
	}
	return bytes
}

// openCard opens a card with the kernels of all ops, and looks at its memory.
func (s DeviceSetting) openCard(open func(cuda.Options) (cuda.Card, error), index int) (*Device, error) {
	card, err := open(s.options(index))
	if err != nil {
		return nil, err
	}
	d := &Device{Name: card.Name(), Card: card, setting: s}
	err = card.Load(op.Modules())
	var m CardMemory
	if err == nil {
		m, err = d.Memory()
	}
	if err != nil {
		return nil, errors.Join(err, card.Close())
	}
	d.context = min(max(m.Other-s.others(index), 0), mostContext)
	return d, nil
}

// whyNot is what is wrong with the cards, in one line.
func whyNot(failed []error) string {
	var list []string
	for _, err := range failed {
		text := err.Error()
		if errors.Is(err, cuda.ErrNoSupport) {
			text = "this build has no CUDA support"
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// String is the name, and what a card is.
func (d *Device) String() string {
	if d.Card == nil {
		return d.Name
	}
	i := d.Card.Info()
	return fmt.Sprintf("%s, %v, %d multiprocessors, CUDA %d.%d, %s", d.Name, i, i.Processors, i.Driver/1000, i.Driver%1000/10, i.BLAS)
}

// Target is what programs are compiled for.
func (d *Device) Target() op.Target {
	if d.Card == nil {
		return op.CPU
	}
	return op.CUDA
}

// Kernels are what computes on the device: others round differently. Where cuBLAS lies is no part of that, but which
// card it is: cuBLAS chooses by it.
func (d *Device) Kernels() string {
	if d.Card == nil {
		return op.Kernels()
	}
	i := d.Card.Info()
	return fmt.Sprintf("%s, CUDA %d.%d, cuBLAS %s", i.Name, i.Major, i.Minor, i.BLASVersion)
}

// Close gives a card back. A second call does nothing.
func (d *Device) Close() {
	if d != nil && d.Card != nil {
		_ = d.Card.Close() // after a lost context it fails, and there is nothing left to give back
		d.Card = nil
	}
}
