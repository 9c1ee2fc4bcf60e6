package engine

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"konkanitrain/op"
)

// Profile is where the time of runs went, by kind of op. It belongs to one worker; Merge adds others.
type Profile struct {
	Rows map[string]*ProfileRow
}

// ProfileRow is one kind of op.
type ProfileRow struct {
	Calls int
	Time  time.Duration
	FLOPs float64 // floating-point operations
	Bytes float64 // read and written, each operand once
}

// NewProfile is an empty profile.
func NewProfile() *Profile { return &Profile{Rows: map[string]*ProfileRow{}} }

func (p *Profile) add(o *Work, bytes float64, t time.Duration) {
	r := p.Rows[o.Name]
	if r == nil {
		r = &ProfileRow{}
		p.Rows[o.Name] = r
	}
	r.Calls++
	r.Time += t
	r.FLOPs += o.FLOPs
	r.Bytes += bytes
}

// Merge adds another worker's rows.
func (p *Profile) Merge(other *Profile) {
	for name, o := range other.Rows {
		r := p.Rows[name]
		if r == nil {
			r = &ProfileRow{}
			p.Rows[name] = r
		}
		r.Calls += o.Calls
		r.Time += o.Time
		r.FLOPs += o.FLOPs
		r.Bytes += o.Bytes
	}
}

// Limits is what one core, or a card, can do at best.
type Limits struct {
	Of    string  // whose they are: "one core"
	FLOPs float64 // floating-point operations a second
	Bytes float64 // bytes a second, read and written
}

// share is how near a row comes to its own limit: the time that its operations or its bytes need at best, whichever is
// longer, over the time it took.
func (l Limits) share(r ProfileRow) float64 {
	return max(r.FLOPs/l.FLOPs, r.Bytes/l.Bytes) / max(r.Time.Seconds(), 1e-12)
}

// Write prints a table, the most expensive op first: op, calls, milliseconds of one core or the card, GFLOP/s, GB/s,
// the share of the op's own limit and its share of the whole time. Over 100 % of a limit means that operands came from
// a nearer cache than the limit was measured in.
func (p *Profile) Write(w io.Writer, limits Limits) error {
	names, total := make([]string, 0, len(p.Rows)), ProfileRow{}
	for name, r := range p.Rows {
		names = append(names, name)
		total.Calls += r.Calls
		total.Time += r.Time
		total.FLOPs += r.FLOPs
		total.Bytes += r.Bytes
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.Rows[b].Time, p.Rows[a].Time), cmp.Compare(a, b))
	})
	_, err := fmt.Fprintf(w, "limits of %s: %.1f GFLOP/s, %.1f GB/s\n%-22s %7s %10s %9s %7s %9s %7s\n",
		cmp.Or(limits.Of, "one core"), limits.FLOPs/1e9, limits.Bytes/1e9, "op", "calls", "ms", "GFLOP/s", "GB/s", "of limit", "share")
	if err != nil {
		return err
	}
	row := func(name string, r ProfileRow) error {
		s := max(r.Time.Seconds(), 1e-12)
		_, err := fmt.Fprintf(w, "%-22s %7d %10.2f %9.1f %7.1f %8.0f%% %6.1f%%\n",
			name, r.Calls, 1e3*s, r.FLOPs/s/1e9, r.Bytes/s/1e9, 100*limits.share(r), 100*s/max(total.Time.Seconds(), 1e-12))
		return err
	}
	for _, name := range names {
		if err := row(name, *p.Rows[name]); err != nil {
			return err
		}
	}
	return row("all ops", total)
}

// MeasureLimits measures them on this core, in some 50 milliseconds.
func MeasureLimits() Limits {
	flops, bytes := op.Limits()
	return Limits{Of: "one core", FLOPs: flops, Bytes: bytes}
}
