package recognize

import (
	"math"

	"konkanitrain/internal/scores"
	"konkanitrain/recognize/decode"
	"konkanitrain/recognize/transcript"
)

// posteriorBest is how many hypotheses a word's posterior is made of, at most.
const posteriorBest = 64

// posteriors weighs the confidences of the best hypothesis' words, and of their characters, by the words' posteriors:
// the share of the hypotheses, each counting by its score, in which the word stands in the same place (Wessel,
// Schlüter, Macherey and Ney, "Confidence measures for large vocabulary continuous speech recognition", 2001, of lists
// of hypotheses). Entropy says how sure CTC was of what it heard; this is about what the search has made of it.
func (r *reader) posteriors(best []decode.Hypothesis, words, characters []transcript.Unit) {
	best = best[:min(len(best), posteriorBest)]
	text := r.write(best[0].Tokens)
	all, same := 0.0, make([]float64, len(words))
	for k, h := range best {
		weight := math.Exp(h.Score - best[0].Score)
		all += weight
		other := text
		if k > 0 {
			other = r.write(h.Tokens)
		}
		i := 0
		for _, p := range scores.AlignWords(text, other) {
			if p.Ref == "" {
				continue
			}
			if i < len(same) && p.Edit() == scores.Same {
				same[i] += weight
			}
			i++
		}
		if i != len(words) {
			return // the policy has joined or parted words: there is no telling which is which
		}
	}
	c := 0
	for i := range words {
		p := same[i] / all
		words[i].Confidence *= p
		for ; c < len(characters) && (i == len(words)-1 || characters[c].Start < words[i+1].Start); c++ {
			characters[c].Confidence *= p
		}
	}
}
