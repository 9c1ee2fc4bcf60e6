package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"konkanitrain/model"
	"konkanitrain/op"
)

// A profiled run computes the same, counts each step once and all operations of the program.
func TestProfile(t *testing.T) {
	r, _ := networkRig(t, tiny(4, 1), model.Shape{Batch: 2, Frames: 37, Tokens: 4}, model.Training)
	p := r.compile()
	m := r.bind(p)
	r.run(m, false)
	want := r.results(m)
	profile := NewProfile()
	for range 2 {
		r.fill(m)
		m.Run(&op.Env{BLAS: op.NewBLAS()}, false, profile)
	}
	for name, got := range r.results(m) {
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s: a profiled run gives other values", name)
		}
	}
	all := NewProfile()
	all.Merge(profile)
	all.Merge(profile)
	calls, flops := 0, 0.0
	for _, row := range all.Rows {
		calls += row.Calls
		flops += row.FLOPs
	}
	if calls != 4*len(p.Steps) || flops < 3.999*p.FLOPs() || flops > 4.001*p.FLOPs() {
		t.Errorf("%d calls and %g operations, want %d and %g", calls, flops, 4*len(p.Steps), 4*p.FLOPs())
	}
	var s strings.Builder
	if err := all.Write(&s, Limits{FLOPs: 1e11, Bytes: 1e11}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(s.String()), "\n")
	if len(lines) != len(all.Rows)+3 || lines[0] != "limits of one core: 100.0 GFLOP/s, 100.0 GB/s" || !strings.HasPrefix(lines[1], "op ") || !strings.HasPrefix(lines[len(lines)-1], "all ops ") || !strings.HasSuffix(lines[len(lines)-1], "100.0%") {
		t.Errorf("the table is\n%s", s.String())
	}
}

// The table gives what was measured in its units, the longest first, and the share of the tighter limit.
func TestProfileTable(t *testing.T) {
	p := NewProfile()
	p.Rows["glu"] = &ProfileRow{Calls: 2, Time: 10 * time.Millisecond, FLOPs: 1e6, Bytes: 5e8}
	p.Rows["linear"] = &ProfileRow{Calls: 3, Time: 30 * time.Millisecond, FLOPs: 1.5e9, Bytes: 3e7}
	var s strings.Builder
	if err := p.Write(&s, Limits{FLOPs: 1e11, Bytes: 1e11}); err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"linear", "3", "30.00", "50.0", "1.0", "50%", "75.0%"},
		{"glu", "2", "10.00", "0.1", "50.0", "50%", "25.0%"},
		{"all", "ops", "5", "40.00", "37.5", "13.2", "38%", "100.0%"},
	}
	lines := strings.Split(strings.TrimSpace(s.String()), "\n")
	for i, w := range want {
		if got := strings.Fields(lines[len(lines)-len(want)+i]); !slices.Equal(got, w) {
			t.Errorf("%q, want %q", got, w)
		}
	}
}
