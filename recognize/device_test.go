package recognize

import (
	"errors"
	"fmt"
	"testing"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
	"konkanitrain/internal/testkit"
)

// nowhere is a setting with which no build finds a driver.
func nowhere(name string) DeviceSetting {
	return DeviceSetting{Name: name, Driver: "/nowhere/libcuda.so.1", BLAS: "/nowhere/libcublas.so"}
}

// fakeCard is a card of which only the memory is there.
type fakeCard struct {
	cuda.Card
	*device.Host
	info   cuda.Info
	others int64 // bytes that other programs use
	lost   error
	closed int
}

func (c *fakeCard) Name() string                                      { return fmt.Sprintf("cuda:%d", c.info.Index) }
func (c *fakeCard) Alloc(n int64, what string) (device.Buffer, error) { return c.Host.Alloc(n, what) }
func (c *fakeCard) Usage() device.Usage                               { return c.Host.Usage() }
func (c *fakeCard) Trim() int64                                       { return c.Host.Trim() }
func (c *fakeCard) Load(map[string][]byte) error                      { return nil }
func (c *fakeCard) Info() cuda.Info                                   { return c.info }
func (c *fakeCard) Memory() (free, total int64, err error) {
	return c.info.Total - c.others - c.Host.Usage().Reserved, c.info.Total, c.lost
}
func (c *fakeCard) Close() error {
	c.closed++
	return c.lost
}

// shop opens cards: each is an error, or nil for one that is fine. It keeps what was asked for.
type shop struct {
	cards []error
	asked []cuda.Options
	sold  []*fakeCard
}

func (s *shop) open(o cuda.Options) (cuda.Card, error) {
	s.asked = append(s.asked, o)
	if o.Index >= len(s.cards) {
		return nil, fmt.Errorf("%w: cuda:%d of %d", cuda.ErrNoDevice, o.Index, len(s.cards))
	}
	if err := s.cards[o.Index]; err != nil {
		return nil, fmt.Errorf("cuda:%d: %w", o.Index, err)
	}
	c := &fakeCard{Host: device.NewHost(), info: cuda.Info{Index: o.Index, Name: "Tesla T4", Major: 7, Minor: 5, Total: 16 << 30, Driver: 12020, BLAS: "cuBLAS 12", BLASVersion: "12.2.5"}, others: 300 << 20}
	s.sold = append(s.sold, c)
	return c, nil
}

// What each setting comes to on machines with several cards, and what is said of it.
func TestDeviceIsChosen(t *testing.T) {
	fine, inUse, old, noDriver := error(nil), cuda.ErrCardInUse, cuda.ErrOldCard, cuda.ErrNoDriver
	for _, c := range []struct {
		setting string
		cards   []error
		want    string // the device, or what the error says
		why     string
		asked   int // cards that are looked at
	}{
		{"cpu", []error{fine}, "cpu", "as asked for", 0},
		{"auto", []error{fine, fine}, "cuda:0", "auto: there is a card", 1},
		{"", []error{fine}, "cuda:0", "auto: there is a card", 1},
		{"auto", []error{inUse, fine}, "cuda:1", "the first card that can be used: cuda:0: the card is in exclusive use", 2},
		{"auto", []error{inUse, old}, "cpu", "auto: cuda:0: the card is in exclusive use; cuda:1: the card is too old", 3},
		{"auto", nil, "cpu", "auto: no such card: cuda:0 of 0", 1},
		{"auto", []error{noDriver}, "cpu", "auto: cuda:0: no CUDA driver", 1},
		{"auto", []error{cuda.ErrNoSupport}, "cpu", "auto: this build has no CUDA support", 1},
		{"cuda", []error{fine}, "cuda:0", "as asked for", 1},
		{"cuda", []error{old, fine}, "cuda:1", "the first card that can be used: cuda:0: the card is too old", 2},
		{"cuda:1", []error{fine, fine}, "cuda:1", "as asked for", 1},
		{"cuda", []error{noDriver}, "device cuda: cuda:0: no CUDA driver; --device cpu does without a card", "", 1},
		{"cuda", []error{inUse, old}, "device cuda: cuda:0: the card is in exclusive use\ncuda:1: the card is too old; --device", "", 3},
		{"cuda:0", []error{inUse, fine}, "device cuda:0: cuda:0: the card is in exclusive use; --device", "", 1},
		{"cuda:7", []error{fine}, "no such card: cuda:7 of 1", "", 1},
		{"cuda", []error{cuda.ErrNoSupport}, "has no CUDA support: use the program that `make gpu` builds", "", 1},
		{"gpu", nil, `device is "gpu", want auto, cpu, cuda or cuda:N`, "", 0},
		{"cuda:", nil, `device is "cuda:", want`, "", 0},
		{"cuda:-1", nil, `device is "cuda:-1", want`, "", 0},
		{"cpu:0", nil, `device is "cpu:0", want`, "", 0},
	} {
		s := &shop{cards: c.cards}
		d, err := DeviceSetting{Name: c.setting, Driver: "libcuda", BLAS: "libcublas"}.choose(s.open)
		if c.why == "" {
			testkit.MustFail(t, err, c.want)
		} else if err != nil || d.Name != c.want || d.Why != c.why || (d.Card == nil) != (d.Name == "cpu") {
			t.Errorf("%q with %v: %+v, %v", c.setting, c.cards, d, err)
		}
		if len(s.asked) != c.asked {
			t.Errorf("%q with %v: %d cards were looked at, want %d", c.setting, c.cards, len(s.asked), c.asked)
		}
		for _, o := range s.asked {
			if o.Driver != "libcuda" || o.BLAS != "libcublas" || o.NVML != "" {
				t.Errorf("%q: %+v", c.setting, o)
			}
		}
	}
	if err := (DeviceSetting{Name: "cuda:1"}).Check(); err != nil {
		t.Error(err)
	}
	var refused *DeviceError
	if _, err := nowhere("cuda").Open(); !errors.As(err, &refused) {
		t.Errorf("%v is no *DeviceError", err)
	}
	if d, err := nowhere("auto").Open(); err != nil || d.Name != "cpu" || d.String() != "cpu" {
		t.Errorf("%+v, %v", d, err)
	}
}

// A card that can't say how much memory it has is given back.
func TestDeviceWithoutMemory(t *testing.T) {
	var sold *fakeCard
	_, err := DeviceSetting{Name: "cuda:0"}.choose(func(cuda.Options) (cuda.Card, error) {
		sold = &fakeCard{Host: device.NewHost(), lost: cuda.ErrLost}
		return sold, nil
	})
	if testkit.MustFail(t, err, "the memory of cuda:0"); sold.closed != 1 {
		t.Error("it is still open")
	}
}

// card is a card that is open, with so many bytes of memory of which others have some.
func card(t *testing.T, total, others int64) (*Device, *fakeCard) {
	t.Helper()
	c := &fakeCard{Host: device.NewHost(), info: cuda.Info{Total: total}, others: others}
	d, err := DeviceSetting{Name: "cuda"}.choose(func(cuda.Options) (cuda.Card, error) { return c, nil })
	if err != nil {
		t.Fatal(err)
	}
	return d, c
}

func TestCardBudget(t *testing.T) {
	const gib = 1 << 30
	for name, c := range map[string]struct {
		memory        Memory
		total, others int64
		want          int64
		why           string
	}{
		"all of it":           {Memory{}, 16 * gib, gib / 4, 16*gib - gib/4, "16.00 GiB of the card's 16.00 GiB are free or this program's"},
		"others use most":     {Memory{}, 16 * gib, 12 * gib, 5*gib - gib/4, "5.00 GiB of the card's 16.00 GiB are free"},
		"a limit":             {Memory{Limit: "2GiB"}, 16 * gib, gib / 4, 2 * gib, "memory_limit"},
		"a fraction":          {Memory{Limit: "auto", Fraction: 0.25}, 16 * gib, gib / 4, 4 * gib, "memory_fraction 0.25 of the card's 16.00 GiB"},
		"less than a byte":    {Memory{Limit: "auto", Fraction: 1e-12}, 16 * gib, gib / 4, 1, "memory_fraction 1e-12 of the card's 16.00 GiB"},
		"a fraction of both":  {Memory{Limit: "2GiB", Fraction: 0.5}, 16 * gib, gib / 4, gib, "memory_fraction 0.5 of memory_limit 2GiB"},
		"more than there is":  {Memory{Limit: "20GiB"}, 16 * gib, gib / 4, 16*gib - gib/4, "are free or this program's"},
		"a small card":        {Memory{}, gib / 4, 0, gib/4 - gib/32, "256.0 MiB of the card's 256.0 MiB"},
		"nothing is left":     {Memory{}, 16 * gib, 16 * gib, gib - gib/4, "1.00 GiB of the card's"},
		"a limit of nonsense": {Memory{Limit: "much"}, 16 * gib, 0, 0, "memory_limit: "},
	} {
		d, _ := card(t, c.total, c.others)
		bytes, why, err := c.memory.CardBudget(d)
		if c.want == 0 {
			testkit.MustFail(t, err, c.why)
			continue
		}
		if err != nil || bytes != c.want {
			t.Errorf("%s: %d bytes (%s), %v; want %d", name, bytes, why, err, c.want)
		}
		testkit.MustContain(t, why, c.why)
	}
}

// Buffers on a card count in its pool, the rest of the process in that of the host; together with the context they
// keep to the limit.
func TestPoolsOfACard(t *testing.T) {
	d, c := card(t, 1<<30, 100<<20)
	p, err := d.Pools(Memory{Limit: "200MiB"}, device.NewHost())
	if err != nil {
		t.Fatal(err)
	}
	if p.Host == p.Replica || p.Why != "memory_limit" || p.Replica.Name() != "cuda:0" || p.Host.Name() != "cpu" {
		t.Errorf("%+v", p)
	}
	b, err := p.Replica.Alloc(90<<20, "weights")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Replica.Alloc(20<<20, "arena"); err == nil {
		t.Error("above the limit, with the context's 100 MiB")
	}
	m, err := d.Memory()
	if want := (CardMemory{Free: 834 << 20, Total: 1 << 30, Other: 100 << 20}); err != nil || m != want {
		t.Errorf("%+v, %v; want %+v", m, err, want)
	}
	if b.Free(); p.Trim() != 90<<20 || c.Host.Usage().Reserved != 0 {
		t.Error("idle memory of the card stays")
	}
	d.Close()
	if d.Close(); c.closed != 1 {
		t.Errorf("closed %d times", c.closed)
	}
	if _, err := d.Memory(); err == nil {
		t.Error("memory of no card")
	}
}

// Where cuBLAS lies is no part of what rounds; its version and the card are.
func TestCardKernels(t *testing.T) {
	kernels := func(name, blas, version string) string {
		d := &Device{Name: "cuda:0", Card: &fakeCard{info: cuda.Info{Name: name, Major: 7, Minor: 5, BLAS: blas, BLASVersion: version}}}
		return d.Kernels()
	}
	here := kernels("Tesla T4", "libcublas.so.12 12.4.5", "12.4.5")
	if here != "Tesla T4, CUDA 7.5, cuBLAS 12.4.5" || kernels("Tesla T4", "/opt/cuda/libcublas.so.12 12.4.5", "12.4.5") != here {
		t.Errorf("kernels %q", here)
	}
	if kernels("Tesla T4", "libcublas.so.12 12.2.1", "12.2.1") == here || kernels("RTX 2080", "libcublas.so.12 12.4.5", "12.4.5") == here {
		t.Error("another card or cuBLAS has the same kernels")
	}
}

// A share of the memory that comes to no byte is a limit of one: 0 would be none.
func TestBudgetOfLessThanAByte(t *testing.T) {
	for _, limit := range []string{"auto", "1GiB"} {
		if bytes, why, err := (Memory{Limit: limit, Fraction: 1e-12}).Budget(); err != nil || bytes != 1 {
			t.Errorf("%s: a budget of %d (%s), %v, want 1 byte", limit, bytes, why, err)
		}
	}
}
