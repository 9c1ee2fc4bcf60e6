package decode

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// numbers is the generator of testdata/make.py.
type numbers int64

func (x *numbers) next() int {
	*x = (*x*1103515245 + 12345) % (1 << 31)
	return int(*x >> 8)
}

// torchaudio's forced_align finds the same frames for every token of 100 utterances: see testdata/make.py.
func TestAlignIsThatOfTorchaudio(t *testing.T) {
	file, err := os.ReadFile("testdata/forced_align.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Seed         numbers
		Frames, V    int
		Tokens       []int32
		Starts, Ends []int32
		LogProb      float64 `json:"log_prob"`
	}
	if err := json.Unmarshal(file, &cases); err != nil || len(cases) != 100 {
		t.Fatal(len(cases), err)
	}
	a := NewAligner(0)
	for _, c := range cases {
		draw := c.Seed
		for range 2 + len(c.Tokens) + 1 { // what V, the tokens, their number and the frames were drawn from
			draw.next()
		}
		logits := make([]float32, c.Frames*c.V)
		for i := range logits {
			logits[i] = float32(draw.next()%4096) / 512
		}
		var f Frames
		f.Set(logits, c.V)
		got, err := a.Align(f, c.Tokens)
		if err != nil || len(got.Spans) != len(c.Starts) {
			t.Fatalf("seed %d: %+v, %v", c.Seed, got, err)
		}
		for i, s := range got.Spans {
			if s.Start != c.Starts[i] || s.End != c.Ends[i] {
				t.Errorf("seed %d: token %d is in frames %d to %d, torchaudio has it in %d to %d", c.Seed, i, s.Start, s.End, c.Starts[i], c.Ends[i])
			}
		}
		if rounding := 1e-6 * float64(c.Frames); math.Abs(got.LogProb-c.LogProb) > rounding { // each float32 is rounded
			t.Errorf("seed %d: %v, torchaudio has %v", c.Seed, got.LogProb, c.LogProb)
		}
	}
}
