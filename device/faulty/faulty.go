// Package faulty is a device on which allocations fail when a test wants them to. Only tests import it.
package faulty

import (
	"errors"
	"sync"

	"konkanitrain/device"
)

// Err is the cause of the failures that [Nth] and [From] make.
var Err = errors.New("a failure made for a test")

// Rule says whether call n of Alloc, counted from 1, fails: the cause of the failure, or nil. It is called by one
// goroutine at a time, and must not call the device.
type Rule func(n int, size int64, what string) error

// Nth fails call n.
func Nth(n int) Rule { return failing(func(call int) bool { return call == n }) }

// From fails call n and all after it.
func From(n int) Rule { return failing(func(call int) bool { return call >= n }) }

func failing(fails func(n int) bool) Rule {
	return func(n int, _ int64, _ string) error {
		if fails(n) {
			return Err
		}
		return nil
	}
}

// Device is a device whose allocations fail by a rule. In all else it is the device below.
type Device struct {
	device.Device

	mu    sync.Mutex
	rule  Rule
	calls int
}

// New is a device over another. Without a rule (nil) it only counts.
func New(under device.Device, rule Rule) *Device { return &Device{Device: under, rule: rule} }

// Arm puts another rule in place, or none (nil), and counts from 1 again.
func (d *Device) Arm(rule Rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rule, d.calls = rule, 0
}

// Calls is the number of calls of Alloc since New or Arm, with those that failed.
func (d *Device) Calls() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

// Alloc asks the rule, and then the device below. A failure is a *device.OutOfMemory around the rule's cause.
func (d *Device) Alloc(size int64, what string) (device.Buffer, error) {
	if err := d.next(size, what); err != nil {
		return nil, d.Usage().OutOfMemory(size, what, err)
	}
	return d.Device.Alloc(size, what)
}

func (d *Device) next(size int64, what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if d.rule == nil {
		return nil
	}
	return d.rule(d.calls, size, what)
}
