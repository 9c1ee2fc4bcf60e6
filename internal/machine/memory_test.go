package machine

import (
	"strings"
	"testing"
)

// checkAuto holds Auto to what must be true of it whatever the machine is.
func checkAuto(t *testing.T, m Memory, own int64) {
	t.Helper()
	bytes, why := m.Auto(own)
	if bytes < 0 || why == "" {
		t.Errorf("%+v, own %d: %d bytes, %q", m, own, bytes, why)
	}
	if m.Total > 0 && bytes > m.Total || m.Limit > 0 && bytes > m.Limit || m.Available > 0 && bytes > m.Available+own {
		t.Errorf("%+v, own %d: %d bytes are more than there are", m, own, bytes)
	}
	if more := m; m.Limit > 0 {
		more.Limit *= 2
		if plan, _ := more.Auto(own); plan < bytes && more.Limit > 0 {
			t.Errorf("%+v, own %d: a limit of twice as much gives %d bytes and not %d", m, own, plan, bytes)
		}
	}
}

func TestAuto(t *testing.T) {
	group := Memory{16 * gib, 12 * gib, 4 * gib, "control group /a (memory.max)", 1 * gib}
	for name, c := range map[string]struct {
		m          Memory
		own, bytes int64
		why        string
	}{
		"nothing known":               {Memory{}, 100 * mib, 0, "doesn't say"},
		"total alone":                 {Memory{Total: 10 * gib}, 100 * mib, 9 * gib, "this machine has 10.7 GB"},
		"more than all available":     {Memory{Total: 10 * gib, Available: 9 * gib}, 2 * gib, 9 * gib, "this machine has 10.7 GB"},
		"what is available":           {Memory{Total: 16 * gib, Available: 9 * gib}, gib, 9 * gib, "10.7 GB of this machine's memory are free or this program's"},
		"a large machine":             {Memory{Total: 1 << 40, Available: 1 << 39}, 0, 1<<39 - 2*gib, "549.8 GB"},
		"a small one":                 {Memory{Total: 512 * mib, Available: 256 * mib}, 0, 192 * mib, "268.4 MB"},
		"hardly any":                  {Memory{Total: 512 * mib, Available: 10 * mib}, 0, 5 * mib, "10.5 MB"},
		"a group for us alone":        {group, 1 * gib, 4*gib - 4*gib/10, "control group /a (memory.max) allows 4.3 GB, of which 0 bytes are taken"},
		"a group with others":         {group, 256 * mib, 3*gib + 256*mib - (3*gib+256*mib)/10, "of which 805.3 MB are taken"},
		"more of ours than counted":   {group, 2 * gib, 4*gib - 4*gib/10, "of which 0 bytes are taken"},
		"the machine has less free":   {Memory{16 * gib, 2 * gib, 4 * gib, "x", 0}, 0, 2*gib - 2*gib/10, "are free or"},
		"a group that is full":        {Memory{16 * gib, 2 * gib, 4 * gib, "x", 5 * gib}, 0, 0, "x allows 4.3 GB, of which 4.3 GB are taken"},
		"a limit and nothing else":    {Memory{Limit: 10 * gib, Source: "x"}, 0, 9 * gib, "x allows"},
		"a negative count of our own": {group, -1, 3*gib - 3*gib/10, "of which 1.1 GB are taken"},
	} {
		t.Run(name, func(t *testing.T) {
			bytes, why := c.m.Auto(c.own)
			if bytes != c.bytes || !strings.Contains(why, c.why) {
				t.Errorf("%d bytes, %q; want %d and %q in it", bytes, why, c.bytes, c.why)
			}
			checkAuto(t, c.m, max(c.own, 0))
		})
	}
}

func TestBase(t *testing.T) {
	for _, c := range []struct {
		m    Memory
		want int64
	}{{Memory{}, 0}, {Memory{Total: 5}, 5}, {Memory{Total: 5, Limit: 3}, 3}} {
		if got := c.m.Base(); got != c.want {
			t.Errorf("%+v: %d", c.m, got)
		}
	}
}
