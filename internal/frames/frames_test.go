package frames

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"konkanitrain/internal/testkit"
)

func TestCount(t *testing.T) {
	for _, c := range []struct{ samples, rate, want int }{
		{0, 16000, 0}, {-5, 16000, 0}, {79, 16000, 0}, {80, 16000, 1}, {239, 16000, 1}, {240, 16000, 2}, {400, 16000, 3}, {16000, 16000, 100},
		{40, 8000, 1}, {39, 8000, 0}, {8000, 8000, 100}, {1000, 99, 0}, {100, 0, 0}, {100, -1, 0}, {22050, 22050, 100}, {11025, 11025, 100},
	} {
		if got := Count(c.samples, c.rate); got != c.want {
			t.Errorf("Count(%d, %d) = %d, want %d", c.samples, c.rate, got, c.want)
		}
	}
}

// A stage halves and rounds up, so all stages together divide by the factor and round up.
func TestSubsampledRoundsUp(t *testing.T) {
	for n := range 3000 {
		for _, factor := range []int{1, 2, 4, 8} {
			if got, want := Subsampled(n, factor), (n+factor-1)/factor; got != want {
				t.Fatalf("Subsampled(%d, %d) = %d, want %d", n, factor, got, want)
			}
		}
	}
}

// The need is the length of the shortest path that collapses to the tokens, found
// here by trying all paths, shorter ones first.
func TestNeedIsTheShortestPath(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		tokens := make([]int32, r.IntN(5))
		for i := range tokens {
			tokens[i] = 1 + r.Int32N(2)
		}
		length := 0
		for !pathExists(tokens, length) {
			length++
		}
		if got := CTCNeed(tokens); got != length {
			t.Errorf("CTCNeed(%v) = %d, the shortest path has %d", tokens, got, length)
		}
		if !Feasible(length, 1, tokens) || length > 0 && Feasible(length-1, 1, tokens) {
			t.Errorf("Feasible disagrees for %v", tokens)
		}
	}
}

// pathExists tries all paths of a length over blank, 1 and 2.
func pathExists(tokens []int32, length int) bool {
	total := 1
	for range length {
		total *= 3
	}
	for p := range total {
		var out []int32
		last := int32(0)
		for i, rest := 0, p; i < length; i, rest = i+1, rest/3 {
			s := int32(rest % 3)
			if s != 0 && s != last {
				out = append(out, s)
			}
			last = s
		}
		same := len(out) == len(tokens)
		for i := 0; same && i < len(out); i++ {
			same = out[i] == tokens[i]
		}
		if same {
			return true
		}
	}
	return false
}

// lines reads shared/cases/numbers/NAME, one JSON object a line.
func lines[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open(filepath.Join(testkit.Shared(t), "cases", "numbers", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	for s := bufio.NewScanner(f); s.Scan(); {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return all
}

func TestCaseFrames(t *testing.T) {
	for _, c := range lines[struct {
		Samples int `json:"samples_16k"`
		Frames  int `json:"feature_frames"`
	}](t, "frames.jsonl") {
		if got := Count(c.Samples, 16000); got != c.Frames {
			t.Errorf("%d samples: %d frames, want %d", c.Samples, got, c.Frames)
		}
	}
}

func TestCaseLengths(t *testing.T) {
	for _, c := range lines[struct {
		Frames     int `json:"feature_frames"`
		X2, X4, X8 int
	}](t, "lengths.jsonl") {
		if a, b, d := Subsampled(c.Frames, 2), Subsampled(c.Frames, 4), Subsampled(c.Frames, 8); a != c.X2 || b != c.X4 || d != c.X8 {
			t.Errorf("%d frames: %d, %d, %d, want %d, %d, %d", c.Frames, a, b, d, c.X2, c.X4, c.X8)
		}
	}
}

// The least frames and samples for each text, and that one less is too few.
func TestCaseFeasible(t *testing.T) {
	type least struct {
		Frames  int `json:"feature_frames"`
		Samples int `json:"samples_16k"`
	}
	for _, c := range lines[struct {
		Text       string
		Tokens     int
		Repeats    int
		Need       int `json:"least_encoder_frames"`
		X2, X4, X8 least
	}](t, "feasible.jsonl") {
		var tokens []int32
		for _, r := range c.Text {
			tokens = append(tokens, r)
		}
		if len(tokens) != c.Tokens || CTCNeed(tokens) != c.Need || c.Need != c.Tokens+c.Repeats {
			t.Errorf("%q: %d tokens need %d frames, want %d and %d", c.Text, len(tokens), CTCNeed(tokens), c.Tokens, c.Need)
		}
		for factor, l := range map[int]least{2: c.X2, 4: c.X4, 8: c.X8} {
			if !Feasible(l.Frames, factor, tokens) || Feasible(l.Frames-1, factor, tokens) {
				t.Errorf("%q at factor %d: %d frames should be the least", c.Text, factor, l.Frames)
			}
			if Count(l.Samples, 16000) != l.Frames || Count(l.Samples-1, 16000) != l.Frames-1 {
				t.Errorf("%q at factor %d: %d samples should be the least for %d frames", c.Text, factor, l.Samples, l.Frames)
			}
		}
	}
}

// An absent row has feature length 0 or target length -1, and no frames by any factor.
func TestSubsampledOfAbsentRows(t *testing.T) {
	for _, factor := range []int{1, 2, 4, 8} {
		for _, n := range []int{0, -1} {
			if got := Subsampled(n, factor); got > 0 {
				t.Errorf("%d frames by %d: %d are left", n, factor, got)
			}
		}
	}
}
