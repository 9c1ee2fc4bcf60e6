package recognize

import (
	"fmt"
	"os"
	"path/filepath"

	"konkanitrain/device/cuda"
	"konkanitrain/internal/words"
)

// CardUse is a card of this machine and who uses its memory.
type CardUse struct {
	Device string     `json:"device"` // cuda:0
	Title  string     `json:"title"`
	Total  int64      `json:"total"` // bytes
	Users  []CardUser `json:"processes"`
	// Unknown is why it isn't known who uses it; "" where it is.
	Unknown string `json:"unknown,omitempty"`
}

// CardUser is a process that uses a card's memory.
type CardUser struct {
	PID   int    `json:"pid"`
	Name  string `json:"name"`  // of its program; "" where the system doesn't say
	Bytes int64  `json:"bytes"` // -1: not known
}

// String is "Process 75955 (python3) has 14.17 GiB memory in use".
func (u CardUser) String() string {
	name, memory := "", "an unknown amount of"
	if u.Name != "" {
		name = " (" + u.Name + ")"
	}
	if u.Bytes >= 0 {
		memory = words.Binary(u.Bytes)
	}
	return fmt.Sprintf("Process %d%s has %s memory in use", u.PID, name, memory)
}

// Cards lists the cards of this machine, as the driver numbers them, and takes none of their memory. The error is of
// one of package cuda's kinds where there is none.
func (s DeviceSetting) Cards() ([]CardUse, error) {
	infos, err := cuda.Available(s.options(0))
	if err != nil {
		return nil, err
	}
	list := []CardUse{}
	for _, i := range infos {
		c := CardUse{Device: fmt.Sprintf("cuda:%d", i.Index), Title: i.Name, Total: i.Total}
		if c.Users, err = s.users(i.Index); err != nil {
			c.Unknown = err.Error()
		}
		list = append(list, c)
	}
	return list, nil
}

// users are the other processes that have memory of a card.
func (s DeviceSetting) users(index int) ([]CardUser, error) {
	list := []CardUser{}
	all, err := cuda.Processes(s.options(index))
	for _, p := range all {
		list = append(list, CardUser(p))
	}
	return list, err
}

// options are those of package cuda. NVML comes with the driver: where that was named, it is looked for beside it
// first.
func (s DeviceSetting) options(index int) cuda.Options {
	o := cuda.Options{Index: index, Driver: s.Driver, BLAS: s.BLAS, NVML: s.nvml}
	if beside := filepath.Join(filepath.Dir(s.Driver), "libnvidia-ml.so.1"); s.Driver != "" && o.NVML == "" {
		if _, err := os.Stat(beside); err == nil {
			o.NVML = beside
		}
	}
	return o
}

// OtherUsers says, a line each, who else uses the card's memory: nobody where that is little. In a container the driver
// may name no process.
func (d *Device) OtherUsers() []string {
	now, err := d.Memory()
	if err != nil {
		return nil
	}
	others := now.Other - d.Context()
	if others < now.Total/64 {
		return nil
	}
	lines := []string{fmt.Sprintf("on %s other programs use %s of %s", d.Name, words.Binary(others), words.Binary(now.Total))}
	users, err := d.setting.users(d.Card.Info().Index)
	for _, u := range users {
		lines = append(lines, u.String())
	}
	if err != nil || len(users) == 0 {
		lines[0] += "; nvidia-smi may show which"
	}
	return lines
}
