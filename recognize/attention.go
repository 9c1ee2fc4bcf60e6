package recognize

import (
	"cmp"
	"math"
	"slices"

	"konkanitrain/data/text"
	"konkanitrain/model"
	"konkanitrain/recognize/decode"
	"konkanitrain/update"
)

// listened is what the network said of an utterance, kept for a search.
type listened struct {
	said   string          // its text, where one is known
	frames int             // feature frames
	logits []float32       // [S, V] of the CTC head
	memory []update.Memory // what the decoder's steps read; nil where it isn't asked
}

// bytes is what it takes.
func (l *listened) bytes() int64 {
	n := len(l.logits)
	for _, m := range l.memory {
		n += len(m.Keys) + len(m.Values)
	}
	return 4 * int64(n)
}

// speller is the network's decoder as a language model of the tokens of one utterance ([decode.Preparer]). It keeps a
// tree of the prefixes that it was asked about: of each the log-probabilities of what follows, and keys and values of
// its last step, so that a prefix costs one step, and prefixes share the steps of what they begin with.
type speller struct {
	net  model.Config
	u    *listened
	make func(*update.Step) error // makes a step
	err  error                    // of a step: what follows is of no use

	nodes    []spelling
	known    map[decode.State]int32 // their nodes, of states that were prepared
	logProbs []float32              // [nodes, V]
	kept     []float32              // [nodes, blocks, 2, d]: keys and values
	asked    []int32                // nodes of the step at hand
	step     update.Step
}

// spelling is a prefix, its parent's tokens and one more.
type spelling struct{ parent, token, depth int32 }

func newSpeller(net model.Config) *speller {
	s := &speller{net: net, known: map[decode.State]int32{}}
	s.step.Keep, s.step.Take = s.keep, s.take
	return s
}

// begins takes up an utterance.
func (s *speller) begins(u *listened, make func(*update.Step) error) {
	s.u, s.make, s.err = u, make, nil
	s.nodes, s.logProbs, s.kept = s.nodes[:0], s.logProbs[:0], s.kept[:0]
	clear(s.known)
	s.step.Frames, s.step.Memory = u.frames, u.memory
}

// A state is the node of a prefix plus 1, and in its low half the token that comes behind it.

// ID has no use: tokens have their ids.
func (s *speller) ID([]byte) (int32, bool) { return text.Unk, false }

// Begin is the state before the first token.
func (s *speller) Begin() decode.State { return decode.State(text.SosEos) }

// Score is what the decoder gives a token behind a prefix.
func (s *speller) Score(from decode.State, id int32) (float64, decode.State) {
	node, ok := s.known[from]
	if !ok || s.err != nil {
		return math.Inf(-1), from
	}
	return float64(s.logProbs[int(node)*s.net.Vocab+int(id)]), decode.State(uint64(node+1)<<32 | uint64(uint32(id)))
}

// End is what it gives the end.
func (s *speller) End(from decode.State) float64 {
	p, _ := s.Score(from, text.SosEos)
	return p
}

// Prepare makes the steps of states that are new.
func (s *speller) Prepare(states []decode.State) {
	s.asked = s.asked[:0]
	s.step.Tokens, s.step.At = s.step.Tokens[:0], s.step.At[:0]
	for _, x := range states {
		if _, known := s.known[x]; known || s.err != nil {
			continue
		}
		n := spelling{parent: int32(uint64(x)>>32) - 1, token: int32(uint32(x))}
		if n.parent >= 0 {
			n.depth = s.nodes[n.parent].depth + 1
		}
		node := int32(len(s.nodes))
		s.nodes = append(s.nodes, n)
		s.known[x] = node
		s.asked = append(s.asked, node)
		s.step.Tokens, s.step.At = append(s.step.Tokens, n.token), append(s.step.At, n.depth)
		if len(s.asked) == update.MostPrefixes {
			s.flush()
		}
	}
	s.flush()
}

// flush makes the step of the nodes that were asked for.
func (s *speller) flush() {
	if len(s.asked) == 0 {
		return
	}
	s.logProbs = longer(s.logProbs, len(s.nodes)*s.net.Vocab)
	s.kept = longer(s.kept, len(s.nodes)*s.size())
	s.err = s.make(&s.step)
	s.asked, s.step.Tokens, s.step.At = s.asked[:0], s.step.Tokens[:0], s.step.At[:0]
}

// size is how many numbers are kept of a node.
func (s *speller) size() int { return 2 * s.net.DecoderLayers * s.net.DModel }

// keep writes what block n keeps of the steps before asked node i.
func (s *speller) keep(i, n int, keys, values []float32) {
	d := s.net.DModel
	for at := s.nodes[s.asked[i]].parent; at >= 0; at = s.nodes[at].parent {
		own := s.kept[int(at)*s.size()+2*n*d:][:2*d]
		to := int(s.nodes[at].depth) * d
		copy(keys[to:][:d], own[:d])
		copy(values[to:][:d], own[d:])
	}
}

// take reads what came out for asked node i.
func (s *speller) take(i int, logits []float32, kept []update.Memory) {
	node, d := int(s.asked[i]), s.net.DModel
	f := decode.Frames{LogProbs: s.logProbs[node*s.net.Vocab:][:0:s.net.Vocab]}
	f.Set(logits, s.net.Vocab)
	for n, m := range kept {
		own := s.kept[node*s.size()+2*n*d:][:2*d]
		copy(own[:d], m.Keys)
		copy(own[d:], m.Values)
	}
}

// Bytes is the most that an utterance of so many encoder frames takes in a beam of this width: a frame asks for no more
// than all prefixes of the beam, and hypotheses for one more each.
func (s *speller) Bytes(frames, width int) int64 {
	const node = 12 + 2*16 // in the list, and in the table
	return growth * int64(width) * int64(frames+2) * (4*int64(s.net.Vocab+s.size()) + node)
}

// growth is how much larger than what it holds a slice may be that grew by appending.
const growth = 2

// longer is x with n elements in all, those that were there before and any others.
func longer(x []float32, n int) []float32 {
	for cap(x) < n {
		x = append(x[:cap(x)], 0)
	}
	return x[:n]
}

// rescore adds what the decoder gives to hypotheses, whole texts, with this weight, and orders them anew. Prefixes that
// they share are asked for once.
func (s *speller) rescore(best []decode.Hypothesis, weight float64) {
	at := make([]decode.State, len(best))
	sums := make([]float64, len(best))
	for i := range at {
		at[i] = s.Begin()
	}
	for depth, more := 0, true; more; depth++ {
		states := at[:0:0]
		for i, h := range best {
			if depth <= len(h.Tokens) {
				states = append(states, at[i])
			}
		}
		s.Prepare(states)
		more = false
		for i, h := range best {
			switch {
			case depth < len(h.Tokens):
				p, to := s.Score(at[i], h.Tokens[depth])
				sums[i] += p
				at[i], more = to, true
			case depth == len(h.Tokens):
				sums[i] += s.End(at[i])
			}
		}
	}
	for i := range best {
		best[i].Decoder = decode.Part{LogProb: sums[i], Units: len(best[i].Tokens)}
		best[i].Score += weight * max(sums[i], -1e10)
	}
	slices.SortStableFunc(best, func(a, b decode.Hypothesis) int { return cmp.Compare(b.Score, a.Score) })
}
