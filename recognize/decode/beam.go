package decode

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// BeamOptions say how wide a beam search looks, and what else than the network it asks.
type BeamOptions struct {
	Width int // prefixes that are kept after each frame, at least 1
	// Of each frame only the likeliest tokens make prefixes longer: so many, and those at most so many nats below the
	// likeliest of all. 0 is no bound. What keeps a prefix as it is, the blank and its last token, always counts.
	TopTokens int
	Margin    float64

	Words  *Fusion // asked where a word ends; nil: not at all
	Tokens *Fusion // asked of each token; nil: not at all
	// Characters has Tokens asked of each character of a token in place of the token.
	Characters bool
	Hotwords   *Hotwords // nil: none
	// Decoder is a model that is asked of each token by its id: the network's own decoder, with all of the utterance
	// before it; nil: not at all. (One-pass search by frames with both: Moritz, Hori and Le Roux, "Triggered attention
	// for end-to-end speech recognition", ICASSP 2019, has it of attention that sees less.) Where it is a Preparer, it
	// is asked of all prefixes of the beam at a time.
	Decoder *Fusion
}

func (o *BeamOptions) validate() error {
	switch {
	case o.Width < 1 || o.Width > mostWidth:
		return fmt.Errorf("a beam of %d: want 1 to %d prefixes", o.Width, mostWidth)
	case o.TopTokens < 0:
		return fmt.Errorf("%d tokens of each frame: want 1 or more, or 0 for all", o.TopTokens)
	case !(o.Margin >= 0):
		return fmt.Errorf("a margin of %v nats: want more than 0, or 0 for none", o.Margin)
	case o.Tokens != nil && o.Tokens.Lexicon != nil:
		return errors.New("a lexicon is for the language model of words, and that of tokens has one")
	case o.Decoder != nil && o.Decoder.Lexicon != nil:
		return errors.New("a lexicon is for the language model of words, and the decoder has one")
	case o.Characters && !o.Tokens.asks():
		return errors.New("characters are asked for, and there is no language model of tokens")
	}
	return errors.Join(o.Words.validate("the language model of words"), o.Tokens.validate("the language model of tokens"), o.Decoder.validate("the decoder"))
}

// mostWidth bounds the beam so that its memory is known: beyond that nothing is gained.
const mostWidth = 1 << 16

// Beam is the prefix beam search for CTC (Graves, "Supervised sequence labelling with recurrent neural networks", 2012,
// section 7.5.3; Hannun et al., "First-pass large vocabulary continuous speech recognition using bi-directional
// recurrent DNNs", 2014), in the log domain: it keeps the best prefixes of labellings, each with the sum over the paths
// that write it, those that end in a blank apart from those that don't. With a beam that holds all labellings it finds
// the best ones, with their probabilities.
//
// Prefixes are ordered by CTC, by what the models say of their complete words and of their tokens, and by the hotwords
// that they have or have begun. A hypothesis has that of its last word, too, and of its end.
type Beam struct {
	o     BeamOptions
	v     *Vocabulary
	plain bool      // the network alone decides
	gains []float64 // [V] the most that each token adds to a score beside its log-probability
	most  float64   // of gains
	units [][]unit  // of each token, for the model of tokens

	tree   tree
	now    []entry
	next   []entry
	tokens choices
	kept   top // of all prefixes
	word   []byte
	path   []int32
	states []State // that the decoder is asked to prepare
	stands []bool  // [V] of a prefix: longer by this token, it is in the beam itself

	out []Hypothesis
	buf []int32 // tokens of out
}

// entry is a prefix in the beam.
type entry struct {
	node   int32
	pb, pn float64 // log-probability of its paths that end in a blank, and that don't
	all    float64 // of both
}

// NewBeam makes a decoder for frames of v's tokens.
func NewBeam(v *Vocabulary, o BeamOptions) (*Beam, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("beam search: %w", err)
	}
	b := &Beam{o: o, v: v, plain: o.Words == nil && o.Tokens == nil && o.Hotwords == nil && o.Decoder == nil}
	b.kept.limit, b.tokens.limit = o.Width, o.TopTokens
	if o.TopTokens == 0 {
		b.tokens.limit = math.MaxInt
	}
	b.numberTokens()
	b.gains = make([]float64, v.Size())
	for id := range b.gains {
		b.gains[id] = b.gain(id)
	}
	b.most = slices.Max(b.gains)
	return b, nil
}

// Decode searches. There are at most Width hypotheses. Frames without the blank say nothing.
func (b *Beam) Decode(f Frames, max int) []Hypothesis {
	if f.V <= int(b.v.blank) {
		f = Frames{}
	}
	if len(b.stands) < f.V {
		b.stands = make([]bool, f.V)
	}
	b.start()
	for t := range f.T() {
		b.step(f.Row(t))
	}
	return b.finish(max)
}

func (b *Beam) start() {
	b.tree.reset()
	root := b.tree.add(nobody, nobody)
	n := b.tree.at(root)
	n.stand, n.entry = b.begin(), 0
	n.fused = b.value(&n.stand)
	b.tree.hold(root)
	b.now = append(b.now[:0], entry{node: root, pn: math.Inf(-1)})
}

// step goes on by a frame, [V].
func (b *Beam) step(row []float32) {
	b.choose(row)
	b.kept.clear()
	b.stay(row)
	if t, some := b.tokens.at(0); some { // else the frame makes no prefix longer
		b.prepare(t.p)
	}
	for i := range b.now {
		b.extend(i)
	}
	b.settle()
}

// choose finds the tokens that may make prefixes longer.
func (b *Beam) choose(row []float32) {
	least := math.Inf(-1)
	if b.o.Margin > 0 {
		least = float64(slices.Max(row)) - b.o.Margin
	}
	b.tokens.set(row, least, b.v.blank)
}

// prepare asks the decoder for what follows the prefixes of the beam that a token of this log-probability may make
// longer.
func (b *Beam) prepare(likeliest float64) {
	if !b.o.Decoder.asks() {
		return
	}
	p, ok := b.o.Decoder.Model.(Preparer)
	if !ok {
		return
	}
	b.states = b.states[:0]
	for _, e := range b.now {
		n := b.tree.at(e.node)
		if b.kept.full() && e.all+likeliest+n.fused+b.most < b.kept.worst() {
			continue // as extend has it
		}
		b.states = append(b.states, n.decoder.state)
	}
	p.Prepare(b.states)
}

// stay offers each prefix as it is: after a blank, after its last token said on, and where it is another prefix of the
// beam made longer.
func (b *Beam) stay(row []float32) {
	blank := float64(row[b.v.blank])
	for i := range b.now {
		e := &b.now[i]
		n := b.tree.at(e.node)
		c := candidate{from: int32(i), token: nobody, order: int64(i), pb: e.all + blank, pn: math.Inf(-1)}
		if n.parent != nobody {
			last := float64(row[n.token])
			c.pn = e.pn + last
			if p := b.tree.at(n.parent); p.entry != nobody {
				c.pn = logAdd(c.pn, b.longer(p, n.token)+last)
			}
		}
		c.score = logAdd(c.pb, c.pn) + n.fused
		b.offer(c)
	}
}

// offer leaves out what has no path.
func (b *Beam) offer(c candidate) {
	if c.score > math.Inf(-1) {
		b.kept.offer(c)
	}
}

// longer is the log-probability of the paths of a prefix that another token makes longer: where it is the prefix's
// last, those with a blank in between.
func (b *Beam) longer(n *node, token int32) float64 {
	e := &b.now[n.entry]
	if n.token == token {
		return e.pb
	}
	return e.all
}

// extend offers the prefix i of the beam with each token of the frame behind it, where that is no prefix of the beam.
func (b *Beam) extend(i int) {
	e := b.now[i]
	n := b.tree.at(e.node)
	for at := n.child; at != nobody; at = b.tree.at(at).sibling {
		if c := b.tree.at(at); c.entry != nobody {
			b.stands[c.token] = true
		}
	}
	for rank := 0; ; rank++ {
		t, more := b.tokens.at(rank)
		if !more || b.kept.full() && e.all+t.p+n.fused+b.most < b.kept.worst() {
			break // all others are less likely yet
		}
		id := t.id
		if b.stands[id] {
			continue
		}
		c := candidate{from: int32(i), token: id, order: int64(rank+1)*mostWidth + int64(i), pb: math.Inf(-1)}
		c.pn = b.longer(n, id) + t.p
		if c.score = c.pn + n.fused; !b.plain {
			if b.kept.full() && c.score+b.gains[id] < b.kept.worst() {
				continue
			}
			s := b.grow(n, id)
			c.score = c.pn + b.value(&s)
		}
		b.offer(c)
	}
	for at := n.child; at != nobody; at = b.tree.at(at).sibling {
		b.stands[b.tree.at(at).token] = false
	}
}

// settle makes the best candidates the beam. A frame that gives no token any probability is passed over.
func (b *Beam) settle() {
	if len(b.kept.items) == 0 {
		return
	}
	b.kept.sort()
	b.next = b.next[:0]
	for _, c := range b.kept.items {
		at := b.now[c.from].node
		if c.token != nobody {
			at = b.child(at, c.token)
		}
		b.tree.hold(at)
		b.next = append(b.next, entry{node: at, pb: c.pb, pn: c.pn, all: logAdd(c.pb, c.pn)})
	}
	for _, e := range b.now {
		b.tree.at(e.node).entry = nobody
	}
	for i, e := range b.next {
		b.tree.at(e.node).entry = int32(i)
	}
	for _, e := range b.now {
		b.tree.release(e.node)
	}
	b.now, b.next = b.next, b.now
}

// child is a prefix made longer, which may be there as the begin of others.
func (b *Beam) child(parent, token int32) int32 {
	if at := b.tree.find(parent, token); at != nobody {
		return at
	}
	s := b.grow(b.tree.at(parent), token)
	at := b.tree.add(parent, token)
	n := b.tree.at(at)
	n.stand, n.fused = s, b.value(&s)
	return at
}

// finish ends the sentence of each prefix and writes the best.
func (b *Beam) finish(most int) []Hypothesis {
	b.out, b.buf = b.out[:0], b.buf[:0]
	b.kept.clear() // the ends of all are asked for
	b.prepare(0)
	for _, e := range b.now {
		n := b.tree.at(e.node)
		s := b.end(n)
		h := Hypothesis{CTC: e.all, Score: e.all + b.value(&s), Parts: Parts{s.words.Part, s.tokens.Part, s.decoder.Part, s.hotwords}}
		from := len(b.buf)
		b.buf = b.tree.write(b.buf, e.node)
		h.Tokens = b.buf[from:len(b.buf):len(b.buf)]
		b.out = append(b.out, h)
	}
	slices.SortFunc(b.out, func(x, y Hypothesis) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), slices.Compare(x.Tokens, y.Tokens))
	})
	return b.out[:min(len(b.out), max(most, 1))]
}

// Bytes is the most that decoding so many frames makes it hold. Each frame adds at most Width prefixes.
func (b *Beam) Bytes(frames, _ int) int64 {
	width, size := int64(b.o.Width), int64(b.v.Size())
	nodes := width*int64(frames+1) + 1
	per := width*8 + nodes*int64(unsafe.Sizeof(node{})) + width*int64(2*unsafe.Sizeof(entry{})+unsafe.Sizeof(candidate{})+unsafe.Sizeof(Hypothesis{}))
	return growth*(per+2*size*int64(unsafe.Sizeof(choice{}))+width*int64(frames)*4) + size
}
