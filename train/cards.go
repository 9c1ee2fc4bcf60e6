package train

import (
	"fmt"
	"strings"

	"konkanitrain/engine"
	"konkanitrain/internal/settings"
)

// Card is a graphics card that a run can be planned for.
type Card struct {
	Name   string // as --card takes it
	Title  string
	Memory int64            // bytes
	Speed  engine.CardSpeed // zero where it isn't known

	limitFrom string // what sets Memory, of a card of this machine
}

// Cards are the cards that are known, by size. Memory is what PyTorch reports for them
// (torch.cuda.get_device_properties(0).total_memory), which is less than the number in their name says: error
// correction and the driver have their part already. Speeds are those of NVIDIA's data sheets and white papers, at the
// boost clock and without sparsity: memory in GB/s, then TFLOP/s in float32, of tensor cores with float16 summed in
// float32 (on GeForce cards half of what they do with sums in float16), and in float64. The P100 and the V100 are those
// for PCIe, the A100s and the H100 those on a board of their own (SXM).
func Cards() []Card {
	card := func(name, title string, gib, bandwidth, float32s, tensor, doubles float64, processors int) Card {
		return Card{Name: name, Title: title, Memory: int64(gib * (1 << 30)), Speed: engine.CardSpeed{
			Bytes: 1e9 * bandwidth, Float32: 1e12 * float32s, Tensor: 1e12 * tensor, Double: 1e12 * doubles, Processors: processors,
		}}
	}
	return []Card{
		card("rtx3060-laptop", "RTX 3060 Laptop 6 GB", 5.80, 336, 10.9, 21.9, 0.171, 30),
		card("rtx3060", "RTX 3060 12 GB", 11.76, 360, 12.7, 25.5, 0.199, 28),
		card("t4", "T4 16 GB", 14.74, 320, 8.1, 65, 0.254, 40),
		card("v100", "V100 16 GB", 15.77, 900, 14, 112, 7, 80),
		card("p100", "P100 16 GB", 15.89, 732, 9.3, 0, 4.7, 56),
		card("l4", "L4 24 GB", 22.03, 300, 30.3, 121, 0.473, 58),
		card("a10", "A10 24 GB", 22.05, 600, 31.2, 125, 0.488, 72),
		card("rtx4090", "RTX 4090 24 GB", 23.64, 1008, 82.6, 165, 1.29, 128),
		card("a100-40", "A100 40 GB", 39.39, 1555, 19.5, 312, 9.7, 108),
		card("h100", "H100 80 GB", 79.10, 3350, 67, 989, 34, 132),
		card("a100-80", "A100 80 GB", 79.15, 2039, 19.5, 312, 9.7, 108),
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
