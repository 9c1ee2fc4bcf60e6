package decode

import (
	"math"
	"strings"
	"testing"
)

// Token by token, what counts for a prefix is what its text says: models of the words that have ended and of all
// tokens, the likeliest word that the last one may become, hotwords that are complete and the one that is begun. And no
// token adds more than its bound.
func TestEachTokenCounts(t *testing.T) {
	reached := 0
	for name, c := range vocabularies {
		v := vocabulary(t, c.texts...)
		for what, o := range searches(t, v, 17, c.words) {
			o.Width = 1
			b, r := mustBeam(t, v, o), rng(1)
			for range 100 {
				b.start()
				at, tokens, before := b.now[0].node, []int32{}, b.tree.at(b.now[0].node).fused
				for range 8 {
					id := int32(1 + r.IntN(v.Size()-1))
					if o.Decoder != nil {
						o.Decoder.Model.(*strict).Prepare([]State{b.tree.at(at).decoder.state})
					}
					at, tokens = b.child(at, id), append(tokens, id)
					got := b.tree.at(at).fused
					if want := soFar(b, c.words, tokens); !near(got, want) {
						t.Fatalf("%s, %s: %v counts %v, want %v", name, what, tokens, got, want)
					}
					gain := got - before
					if gain > b.gains[id]+roundoff {
						t.Fatalf("%s, %s: the last of %v adds %v, the bound is %v", name, what, tokens, gain, b.gains[id])
					}
					if gain > 0 && gain > b.gains[id]-roundoff {
						reached++
					}
					before = got
				}
			}
		}
	}
	if reached < 100 {
		t.Errorf("bounds were reached %d times: they are too wide", reached)
	}
}

// soFar is what counts for a prefix, from its text.
func soFar(b *Beam, list []Hotword, tokens []int32) float64 {
	raw := ""
	for _, id := range tokens {
		raw += b.v.piece(id).text
	}
	words, last := strings.Fields(raw), ""
	if raw != "" && raw[len(raw)-1] != ' ' && len(words) > 0 {
		last = words[len(words)-1]
		words = words[:len(words)-1]
	}
	sum := 0.0
	if f := b.o.Words; f != nil {
		p := part(f.Model, words)
		sum += f.Weight*(p.LogProb-endOf(f.Model, words)) + f.Bonus*float64(p.Units) + f.Unknown*float64(p.Unknown)
		if last != "" && f.Lexicon != nil {
			at := int32(0)
			for i := range len(last) {
				at = f.Lexicon.step(at, last[i:i+1])
			}
			if sum += f.Weight*f.Lexicon.best(at) + f.Bonus; at == strange {
				sum += f.Unknown
			}
		}
	}
	if f := b.o.Tokens; f != nil {
		units := unitsOf(b.o, b.v, tokens)
		p := part(f.Model, units)
		sum += f.Weight*(p.LogProb-endOf(f.Model, units)) + f.Bonus*float64(p.Units) + f.Unknown*float64(p.Unknown)
	}
	if f := b.o.Decoder; f != nil {
		m := f.Model.(*strict).chance
		at := m.Begin()
		for _, id := range tokens {
			nats, to := m.Score(at, id)
			sum += f.Weight*nats + f.Bonus
			at = to
		}
	}
	if b.o.Hotwords == nil {
		return sum
	}
	text := " " + strings.Join(words, " ")
	if len(words) > 0 {
		text += " "
	}
	text += last
	begun := 0.0
	for _, w := range list {
		phrase := " " + w.Phrase + " "
		if w.AnyEnding {
			phrase = " " + w.Phrase
		}
		sum += w.Boost * float64(len([]rune(w.Phrase))) * float64(overlapping(text, phrase))
		for n := len(phrase) - 1; n > 0; n-- {
			if strings.HasSuffix(text, phrase[:n]) {
				begun = math.Max(begun, w.Boost*float64(len([]rune(strings.ToValidUTF8(phrase[1:n], "")))))
				break
			}
		}
	}
	return sum + begun
}

// endOf is the log-probability that a sentence ends behind these units.
func endOf(m LanguageModel, units []string) float64 {
	at := m.Begin()
	for _, u := range units {
		id, _ := m.ID([]byte(u))
		_, at = m.Score(at, id)
	}
	return m.End(at)
}
