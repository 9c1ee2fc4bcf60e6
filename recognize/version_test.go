package recognize

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
)

// version1 is a checkpoint of before models described themselves, and what an early version made of it: see its README.
const version1 = "../checkpoint/testdata/version1"

// It opens and scores as it did, bit for bit, whichever kernels this processor has; and so do its files.
func TestOldCheckpointScoresAsItDid(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(version1, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		AMD64 []struct {
			Kernels    string
			Eval       Evaluation
			Hypotheses []string
		}
	}
	if err := json.Unmarshal(b, &recorded); err != nil {
		t.Fatal(err)
	}
	m := mustLoad(t, version1, LoadOptions{Workers: 2})
	testkit.MustContain(t, m.String(), "step-00000302: update 302, 12454 parameters", "vocabulary 15", "validation WER 71.43 % CER 38.71 %")
	var got, paths []string
	e, _, err := m.Evaluate(t.Context(), filepath.Join(version1, "validation.jsonl"), EvaluateOptions{PerUtterance: func(h Hypothesis) error {
		got, paths = append(got, h.Text), append(paths, h.Utt.Path())
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var losses []Nats
	for _, r := range recorded.AMD64 {
		w := r.Eval
		losses = append(losses, w.Loss)
		if !slices.Equal(got, r.Hypotheses) {
			t.Errorf("%q, %s gave %q", got, r.Kernels, r.Hypotheses)
		}
		if e.Score.String() != w.Score.String() || e.Score.Exact != w.Score.Exact || e.Score.EmptyHyps != w.Score.EmptyHyps ||
			e.WER != w.WER || e.CER != w.CER || e.BlankShare != w.BlankShare || e.Audio != w.Audio || e.Infeasible != 0 || e.Failed != 0 {
			t.Errorf("%+v, %s gave %+v", e, r.Kernels, w)
		}
	}
	// Kinds of kernels differ by 1e-8 of the loss; each has its own to the bit, unless OpenBLAS makes the products.
	tolerance := testkit.Products(1e-6)
	matches := func(want Nats) bool { return math.Abs(float64(e.Loss-want)) <= tolerance*float64(want) }
	if len(losses) != 3 || !slices.ContainsFunc(losses, matches) {
		t.Errorf("loss %v, recorded are %v", float64(e.Loss), losses)
	}
	if texts := transcripts(t, m, paths...); !slices.Equal(texts, got) {
		t.Errorf("%q as files, %q in the manifest", texts, got)
	}
}
