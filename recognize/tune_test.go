package recognize

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"konkanitrain/internal/ngram"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize/transcript"
)

// The best of all trials is best, and recognizing the set with its weights gives its score; greedy decoding is one of
// the trials.
func TestTune(t *testing.T) {
	manifest, _ := speak(t, babble(20, 1))
	d := described(t)
	m := random(t, d, 2)
	greedy, _ := mustScore(t, m, manifest, 4)
	// A language model of what the random network would write: there is something to find.
	lm := lmOf(t, ngram.Options{Unit: ngram.Characters, Order: 3}, "ch c", "c d hc", "d", "hdh", "cdcd")
	emitted := 0
	got, err := m.Tune(t.Context(), []string{manifest}, Decoding{Decoder: Beam, Width: 8, LM: lm, LMWeight: 0.5, AttentionWeight: 0.25}, EvaluateOptions{}, func(Trial) { emitted++ })
	if err != nil {
		t.Fatal(err)
	}
	if got.Greedy.Score.Words != greedy.Score.Words || emitted != len(got.Trials)+1 || len(got.Trials) < 13 {
		t.Errorf("greedy %+v, want %+v; %d trials, %d told", got.Greedy.Score, greedy.Score, len(got.Trials), emitted)
	}
	seen := map[[2]float64]bool{}
	plain := 0
	for _, x := range got.Trials {
		if x.better(&got.Best) {
			t.Errorf("%+v is better than the best, %+v", x, got.Best)
		}
		key := [2]float64{x.LMWeight, x.LengthWeight}
		if seen[key] || x.LMWeight < 0 {
			t.Errorf("%v is tried twice, or no weight", key)
		}
		seen[key] = true
		if x.LMWeight == 0 { // what the search alone does
			plain++
		}
	}
	if plain != 1 {
		t.Errorf("%d trials without the language model", plain)
	}
	for i, x := range got.Trials[1:] {
		if x.weights() == got.Trials[i].weights() || x.AttentionWeight != 0.25 {
			t.Errorf("trial %d, %+v, changes nothing, or what doesn't take part", i+1, x)
		}
	}
	if err := m.SetDecoding(got.Best.Decoding); err != nil {
		t.Fatal(err)
	}
	again, _ := mustScore(t, m, manifest, 7)
	if again.Score.Words != got.Best.Score.Words || again.Score.Chars != got.Best.Score.Chars {
		t.Errorf("the best weights give %+v, and in the search %+v", again.Score, got.Best.Score)
	}
	if n := got.Judge.Reliability(nil).Units; n == 0 {
		t.Error("no words were judged")
	}
}

func TestTuneStops(t *testing.T) {
	manifest, _ := speak(t, babble(5, 1))
	m := random(t, described(t), 1)
	_, err := m.Tune(t.Context(), []string{manifest}, Decoding{}, EvaluateOptions{}, nil)
	testkit.MustFail(t, err, "nothing to tune in greedy decoding")
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	_, err = m.Tune(ctx, []string{manifest}, Decoding{Decoder: Beam}, EvaluateOptions{}, func(Trial) {
		if n++; n == 3 {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("after %d trials: %v", n, err)
	}
	path := saved(t, t.TempDir(), 1, described(t), 1, nil)
	limited := mustLoad(t, path, LoadOptions{Workers: 1})
	limited.pools.Host.SetLimit(limited.pools.Host.Usage().Reserved + limited.pools.Host.Usage().Held + 1<<20)
	if _, err := limited.Tune(t.Context(), []string{manifest}, Decoding{Decoder: Beam}, EvaluateOptions{}, nil); !OutOfMemory(err) {
		t.Errorf("without memory: %v", err)
	}
}

// A word is right where the cheapest alignment has it against itself.
func TestJudge(t *testing.T) {
	var j Judge
	units := func(words string, confidences ...float64) (list []transcript.Unit) {
		for i, w := range strings.Fields(words) {
			list = append(list, transcript.Unit{Text: w, Confidence: confidences[i]})
		}
		return list
	}
	j.add("a b c d", "a x c e d", units("a x c e d", 0.9, 0.2, 0.8, 0.1, 0.7))
	j.add("a", "a b", units("a", 0.5)) // words without times: passed over
	j.Add(Hypothesis{Err: errors.New("unread"), Ref: "a"})
	r := j.Reliability(nil)
	if r.Units != 5 || math.Abs(r.Right-0.6) > 1e-12 || r.Bins[9].Units != 1 || r.Bins[1].Units != 1 || r.Bins[2].Units != 1 || r.Bins[2].Right != 0 {
		t.Errorf("%v", r)
	}
	if r := j.Reliability(&Calibration{Offset: math.Log(1.5)}); math.Abs(r.ECE) > 1e-12 { // 0.6 of each
		t.Errorf("%v", r)
	}
	_, err := j.Calibrate()
	testkit.MustFail(t, err, "it takes 20, some right and some wrong")
}
