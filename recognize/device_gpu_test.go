//go:build gpu

package recognize

import (
	"slices"
	"strings"
	"testing"

	"konkanitrain/device"
	"konkanitrain/device/cuda/simulated"
)

// Of a simulated card that others use it is said who they are, and a budget leaves them what they have.
func TestSimulatedCardOfOthers(t *testing.T) {
	l := simulated.Build(t, simulated.Options{})
	control := l.Control(t)
	for name, value := range map[string]string{"processes": "0:75955:15214921646", "context": "300M"} {
		if err := control.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	s := DeviceSetting{Name: "cuda", Driver: l.Driver, BLAS: l.BLAS, nvml: l.NVML}
	cards, err := s.Cards()
	if err != nil || len(cards) != 1 || len(cards[0].Users) != 1 || cards[0].Unknown != "" {
		t.Fatalf("%+v, %v", cards, err)
	}
	if got := cards[0].Users[0].String(); !strings.HasPrefix(got, "Process 75955") || !strings.HasSuffix(got, " has 14.17 GiB memory in use") {
		t.Error(got)
	}
	if err := control.Set("processes", ""); err != nil {
		t.Fatal(err)
	}
	d, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Context() != 300<<20 {
		t.Errorf("the context is taken for %d bytes", d.Context())
	}
	if users := d.OtherUsers(); len(users) > 0 {
		t.Errorf("alone on the card: %q", users)
	}
	const theirs = 12 << 30
	if !control.Take(0, theirs) {
		t.Fatal("the simulated card is too small")
	}
	defer control.Take(0, -theirs)
	if err := control.Set("processes", "0:75955:15214921646"); err != nil {
		t.Fatal(err)
	}
	users := d.OtherUsers()
	if len(users) != 2 || !strings.HasPrefix(users[0], "on cuda:0 other programs use 12.0") || !slices.ContainsFunc(users, func(u string) bool { return strings.HasSuffix(u, "14.17 GiB memory in use") }) {
		t.Errorf("%q", users)
	}
	p, err := d.Pools(Memory{}, device.NewHost())
	if err != nil {
		t.Fatal(err)
	}
	now, err := d.Memory()
	if limit := p.Replica.Usage().Limit; err != nil || limit > now.Free+d.Context() || limit < (now.Free+d.Context())*3/4 {
		t.Errorf("a limit of %d, where %+v, %v", limit, now, err)
	}
}
