package recognize

import (
	"math"
	"math/rand/v2"
	"testing"
)

func rated(wer, cer, loss float64) *Evaluation {
	return &Evaluation{WER: wer, CER: cer, Loss: Nats(loss)}
}

// Each list is from the best to the worst.
func TestBetter(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for by, order := range map[Measure][]*Evaluation{
		ByWER:  {rated(0.1, 0.5, nan), rated(0.2, 0.1, 9), rated(0.2, 0.2, 1), rated(0.2, 0.2, 2), rated(0.2, 0.2, inf), rated(0.95, 0.1, 0)},
		ByCER:  {rated(1, 0.1, nan), rated(0.3, 0.2, 9), rated(0.4, 0.2, 1), rated(0.4, 0.2, 2), rated(0.2, 0.3, 0)},
		ByLoss: {rated(1, 1, 0.5), rated(0.2, 0.9, 1), rated(0.3, 0.1, 1), rated(0.3, 0.2, 1), rated(0.1, 0.1, 1.1), rated(0.1, 0.1, inf), rated(0.2, 0.1, nan)},
		ByAuto: {
			rated(0.1, 0.5, nan), rated(0.89, 0.9, 9), rated(0.899, 0.1, 1), // words
			rated(0.97, 0.3, 1), rated(0.9, 0.4, 1), rated(1, 0.4, 1), rated(1, 0.4, 2), rated(0.92, 0.97, 1), // characters
		},
	} {
		for i := range order {
			for j := range order {
				if got := order[i].Better(order[j], by); got != (i < j) {
					t.Errorf("%s: %d better than %d: %v", by, i, j, got)
				}
			}
			if !order[i].Better(nil, by) {
				t.Errorf("%s: the first score is not the best so far", by)
			}
		}
	}
}

// The run of which this is measured: its CER fell from 97 to 61 % in fifteen epochs, and one word more was right in the
// fifth.
func TestCharactersDecideWhileNoWordIsRight(t *testing.T) {
	fifth, last := rated(0.985, 0.97, 30), rated(0.99, 0.61, 12)
	if !last.Better(fifth, ByAuto) || fifth.Better(last, ByAuto) || last.Better(fifth, ByWER) {
		t.Error("a word that happened to be right keeps the fifth epoch the best")
	}
}

// Whatever is compared, the order is one: of two that differ one is better, and better than better is better.
func TestBetterIsAnOrder(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	some := func() *Evaluation {
		e := rated(float64(draw.IntN(5))/20+0.8, float64(draw.IntN(4))/8, float64(draw.IntN(3)))
		e.Score.Utterances = 1
		return e
	}
	for _, by := range []Measure{ByAuto, ByWER, ByCER, ByLoss} {
		for range 20000 {
			a, b, c := some(), some(), some()
			same := a.WER == b.WER && a.CER == b.CER && a.Loss == b.Loss
			if (a.Better(b, by) != b.Better(a, by)) == same {
				t.Fatalf("%s: %+v and %+v: %v and %v", by, a, b, a.Better(b, by), b.Better(a, by))
			}
			if a.Better(b, by) && b.Better(c, by) && !a.Better(c, by) {
				t.Fatalf("%s: %+v, %+v, %+v go round in a circle", by, a, b, c)
			}
			if g := a.Gain(b, by); g > 0 && !a.Better(b, by) || g < 0 && a.Better(b, by) || g != -b.Gain(a, by) {
				t.Fatalf("%s: %+v gains %v on %+v", by, a, g, b)
			}
		}
	}
}

// Three good words of ten, the others' files gone, are not better than eight of ten; one file of many that is gone
// costs no more than itself.
func TestFilesThatAreGoneMakeNoBest(t *testing.T) {
	few, many := &Evaluation{Failed: 7, FailedWords: 7, FailedChars: 70, Loss: 1}, &Evaluation{WER: 0.2, CER: 0.2, Loss: 2}
	few.Score.Utterances, few.Score.Words.Ref, few.Score.Chars.Ref = 3, 3, 30
	most := &Evaluation{WER: 0.1, CER: 0.1, Failed: 1, FailedWords: 1, FailedChars: 5, Loss: 1.9}
	most.Score.Utterances = 90
	most.Score.Words.Ref, most.Score.Words.Sub, most.Score.Chars.Ref, most.Score.Chars.Sub = 90, 9, 450, 45
	for _, by := range []Measure{ByAuto, ByWER, ByCER, ByLoss} {
		if few.Better(many, by) || !many.Better(few, by) {
			t.Errorf("%s: what is left when files are gone makes the best score", by)
		}
		if !most.Better(many, by) {
			t.Errorf("%s: one file that is gone hides a better score", by)
		}
	}
	none := &Evaluation{Failed: 3, FailedWords: 3, FailedChars: 9, Loss: Nats(math.NaN())}
	if none.Better(few, ByLoss) || none.Better(few, ByAuto) {
		t.Error("no file that can be read is better than some")
	}
}

func TestGain(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		by   Measure
		a, b *Evaluation
		want float64
	}{
		{ByWER, rated(0.25, 0, 0), rated(0.5, 0, 0), 25}, {ByWER, rated(0.5, 0, 0), rated(0.25, 0, 0), -25},
		{ByCER, rated(0, 0.25, 0), rated(0, 0.75, 0), 50}, {ByLoss, rated(0, 0, 1.5), rated(0, 0, 2), 0.5},
		{ByAuto, rated(0.5, 1, 0), rated(0.75, 0, 0), 25}, {ByAuto, rated(1, 0.5, 0), rated(0.95, 0.75, 0), 25},
		{ByAuto, rated(0.89, 1, 0), rated(0.9, 0, 0), inf}, {ByAuto, rated(0.9, 0, 0), rated(0.89, 1, 0), -inf},
		{ByLoss, rated(0, 0, math.NaN()), rated(0, 0, inf), 0}, {ByWER, rated(0.3, 0.2, 1), rated(0.3, 0.1, 2), 0}, {ByLoss, rated(0, 0, 1), rated(0, 0, inf), inf}, {ByWER, rated(1, 1, 1), nil, inf},
	} {
		if got := c.a.Gain(c.b, c.by); !(got == c.want) {
			t.Errorf("%s: %v, want %v", c.by, got, c.want)
		}
	}
}
