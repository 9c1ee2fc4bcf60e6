package train

import (
	"fmt"
	"strings"

	"konkanitrain/internal/settings"
)

// Card is a graphics card that a run can be planned for.
type Card struct {
	Name   string // as --card takes it
	Title  string
	Memory int64 // bytes

	limitFrom string // what sets Memory, of a card of this machine
}

// Cards are the cards whose memory is known, by size. Memory is what PyTorch reports for them
// (torch.cuda.get_device_properties(0).total_memory), which is less than the number in their name says: error
// correction and the driver have their part already.
func Cards() []Card {
	gib := func(n float64) int64 { return int64(n * (1 << 30)) }
	return []Card{
		{Name: "rtx3060", Title: "RTX 3060 12 GB", Memory: gib(11.76)},
		{Name: "t4", Title: "T4 16 GB", Memory: gib(14.74)},
		{Name: "v100", Title: "V100 16 GB", Memory: gib(15.77)},
		{Name: "p100", Title: "P100 16 GB", Memory: gib(15.89)},
		{Name: "l4", Title: "L4 24 GB", Memory: gib(22.03)},
		{Name: "a10", Title: "A10 24 GB", Memory: gib(22.05)},
		{Name: "rtx4090", Title: "RTX 4090 24 GB", Memory: gib(23.64)},
		{Name: "a100-40", Title: "A100 40 GB", Memory: gib(39.39)},
		{Name: "h100", Title: "H100 80 GB", Memory: gib(79.10)},
	}
}

// OwnCard is the card of this machine that a run would compute on, with what it may hold there; nil where it would
// compute on the CPU. Where the device can't be used the error is a *recognize.DeviceError.
func (c RunConfig) OwnCard() (*Card, error) {
	d, err := c.OpenDevice()
	if err != nil || d.Card == nil {
		return nil, err
	}
	defer d.Close()
	bytes, why, err := c.memory().CardBudget(d)
	return &Card{Name: d.Name, Title: d.String(), Memory: bytes - d.Context(), limitFrom: why + ", less the driver's context"}, err
}

// FindCard is the card of a name, in any case. The error for a name that isn't known names the nearest one.
func FindCard(name string) (Card, error) {
	var names []string
	for _, c := range Cards() {
		if strings.EqualFold(c.Name, strings.TrimSpace(name)) {
			return c, nil
		}
		names = append(names, c.Name)
	}
	hint := ""
	if near := settings.Nearest(name, names); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	return Card{}, fmt.Errorf("card %q is not known%s; known are %s; for another one say what PyTorch reports for it: --memory 10.75GiB",
		name, hint, strings.Join(names, ", "))
}
