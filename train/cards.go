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
}

// Cards are the cards whose memory is known, by size. Memory is what PyTorch reports for them
// (torch.cuda.get_device_properties(0).total_memory), which is less than the number in their name says: error
// correction and the driver have their part already.
func Cards() []Card {
	gib := func(n float64) int64 { return int64(n * (1 << 30)) }
	return []Card{
		{"rtx3060", "RTX 3060 12 GB", gib(11.76)},
		{"t4", "T4 16 GB", gib(14.74)},
		{"v100", "V100 16 GB", gib(15.77)},
		{"p100", "P100 16 GB", gib(15.89)},
		{"l4", "L4 24 GB", gib(22.03)},
		{"a10", "A10 24 GB", gib(22.05)},
		{"rtx4090", "RTX 4090 24 GB", gib(23.64)},
		{"a100-40", "A100 40 GB", gib(39.39)},
		{"h100", "H100 80 GB", gib(79.10)},
	}
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
