package recognize

import (
	"errors"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/internal/testkit"
)

// under is a model that has so many bytes for all but the program itself.
func under(t testing.TB, path string, limit int64) *Model {
	t.Helper()
	m := mustLoad(t, path, LoadOptions{Workers: 2})
	if m.program <= 0 || m.pools.Host.Usage().Held != m.program {
		t.Fatalf("the program takes %d bytes, %+v", m.program, m.pools.Host.Usage())
	}
	m.program = 0
	_ = m.pools.Host.Hold("the program itself", 0)
	m.pools.Host.ResetPeaks()
	m.pools.Host.SetLimit(limit)
	return m
}

// A manifest is scored as without a limit, or without what doesn't fit, which is named, or is refused before it is
// read.
func TestEvaluateKeepsToALimit(t *testing.T) {
	lines := babble(10, 1)
	lines[3].samples = 60 * 16000
	manifest, _ := speak(t, lines)
	path := saved(t, t.TempDir(), 1, described(t), 1, nil)
	var counts [3]int // all, all but the long one, nothing
	for limit := int64(200 << 20); limit > 1<<20; limit = limit * 4 / 5 {
		m := under(t, path, limit)
		var said strings.Builder
		e, report, err := m.Evaluate(t.Context(), manifest, EvaluateOptions{Progress: &said})
		var oom *device.OutOfMemory
		switch {
		case errors.As(err, &oom):
			testkit.MustContain(t, err.Error(), manifest, "reading 32 utterances at a time", "the longest of its utterances is utt0003 ("+manifest+", line 4), 60.0 s")
			counts[2]++
		case err != nil:
			t.Fatal(err)
		case e.Failed == 0 && e.Score.Utterances == 10:
			counts[0]++
		case e.Failed == 1 && e.Score.Utterances == 9:
			testkit.MustContain(t, said.String(), "utt0003", "a pass over it alone takes")
			if n := report.Notes; len(n) == 0 || n[len(n)-1].Kind != data.NoMemory || n[len(n)-1].ID != "utt0003" || !n[len(n)-1].Skipped {
				t.Errorf("limit %d: the report has %v", limit, n)
			}
			counts[1]++
		case e.Failed < 10:
			t.Errorf("limit %d: %d scored, %d failed", limit, e.Score.Utterances, e.Failed)
		}
		if u := m.pools.Host.Usage(); u.PeakReserved > limit {
			t.Errorf("limit %d: %d bytes were held", limit, u.PeakReserved)
		}
	}
	if counts[0] == 0 || counts[1] == 0 || counts[2] == 0 {
		t.Errorf("scored in full, without the long one, and refused: %v: this test says little", counts)
	}
}
