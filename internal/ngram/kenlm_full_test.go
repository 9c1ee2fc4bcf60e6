//go:build kenlm

package ngram

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Scores of 1000 sentences are kenlm's, by models that are estimated here of other sentences. KONKANITRAIN_KENLM is a
// Python with PyPI's kenlm, KONKANITRAIN_SENTENCES a text with a sentence a line.
func TestAsKenlmInFull(t *testing.T) {
	python, path := os.Getenv("KONKANITRAIN_KENLM"), os.Getenv("KONKANITRAIN_SENTENCES")
	b, err := os.ReadFile(path)
	if err != nil || python == "" {
		t.Fatal("KONKANITRAIN_KENLM and KONKANITRAIN_SENTENCES are needed: ", err)
	}
	var train, held []string
	for i, s := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if i%4 == 0 && len(held) < 1000 {
			held = append(held, s)
		} else {
			train = append(train, s)
		}
	}
	for name, o := range map[string]Options{
		"words": {Order: 3}, "pruned": {Order: 4, Prune: []int{0, 1}}, "letters": {Order: 6, Unit: Characters},
	} {
		m, _ := estimated(t, train, o)
		scores := kenlmScores(t, python, m, o.Unit, held)
		worst, unknown := 0.0, 0
		for i, s := range held {
			got := m.Sentence(s, o.Unit)
			worst = max(worst, math.Abs(got.Log10()-scores[i]))
			unknown += got.Unknown
		}
		t.Logf("%s: of %d sentences with %d unknown words the log10 probabilities differ by %.2g at most", name, len(held), unknown, worst)
		if !(worst <= 1e-5) || len(held) < 1000 || unknown == 0 {
			t.Errorf("%s: that is too much, or there was too little to compare", name)
		}
	}
}

// kenlmScores are what kenlm makes of texts with a model.
func kenlmScores(t *testing.T, python string, m *Model, u Unit, texts []string) (scores []float64) {
	t.Helper()
	lm, list := filepath.Join(t.TempDir(), "lm.arpa"), filepath.Join(t.TempDir(), "texts")
	var spelled strings.Builder
	for _, s := range texts {
		for part := range u.Split(s) {
			spelled.WriteString(part + " ")
		}
		spelled.WriteString("\n")
	}
	if err := errors.Join(os.WriteFile(lm, []byte(written(t, m)), 0o666), os.WriteFile(list, []byte(spelled.String()), 0o666)); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, filepath.Join("testdata", "make.py"), "--score", lm, list)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(out)) {
		x, err := strconv.ParseFloat(line, 64)
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, x)
	}
	if len(scores) != len(texts) {
		t.Fatalf("%d scores of %d texts", len(scores), len(texts))
	}
	return scores
}
