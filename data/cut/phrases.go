package cut

import (
	"fmt"
	"math"
)

// Phrases say what the utterances are like that a network has learned from, in seconds. It does best on pieces that are
// like them. Quiet is what [Quiet] measures.
type Phrases struct {
	Typical float64 `json:"typical"` // the middle length
	Longest float64 `json:"longest"` // hardly any is longer; 0 where it isn't known
	Before  float64 `json:"before"`  // quiet before what is said, the middle one
	Within  float64 `json:"within"`  // the longest pause that is common in what is said
	Behind  float64 `json:"behind"`  // quiet behind it, the middle one

	MostBefore float64 `json:"most_before"` // the most quiet before what is said that is common
	MostBehind float64 `json:"most_behind"` // and behind it
}

// Sentences are what a network is taken to have learned from that doesn't say: sentences, each recorded or spoken by a
// program alone.
func Sentences() Phrases { return Phrases{Typical: 20.0 / 3, Behind: 0.4} }

// String is what they are like: "typically 5.7 s, up to 31.6 s, with pauses of up to 0.25 s; 0.39 s of quiet behind
// what is said".
func (p Phrases) String() string {
	s := fmt.Sprintf("typically %.1f s, up to %.1f s", p.Typical, p.Longest)
	if p.Within > 0 {
		s += fmt.Sprintf(", with pauses of up to %.2f s", p.Within)
	}
	switch {
	case p.Before > 0 && p.Behind > 0:
		return s + fmt.Sprintf("; %.2f s of quiet before what is said and %.2f s behind it", p.Before, p.Behind)
	case p.Before > 0:
		return s + fmt.Sprintf("; %.2f s of quiet before what is said", p.Before)
	case p.Behind > 0:
		return s + fmt.Sprintf("; %.2f s of quiet behind what is said", p.Behind)
	}
	return s + "; no quiet around what is said"
}

// Validate names what can't be.
func (p Phrases) Validate() error {
	for _, seconds := range []float64{p.Typical, p.Longest, p.Before, p.Within, p.Behind, p.MostBefore, p.MostBehind} {
		if !(seconds >= 0 && seconds < math.Inf(1)) {
			return fmt.Errorf("phrases of training of %+v: want seconds, 0 or more", p)
		}
	}
	return nil
}

// MostQuiet is the most quiet, in seconds, that stays on either side of a piece, whatever phrases were like.
const MostQuiet = 1.0

// A piece isn't cut earlier than after this share of a typical phrase, and no later than that a much longer pause is
// looked for: at most so many frames.
const (
	early, mostEarly = 0.15, 100
	soon, mostSoon   = 0.45, 300
)

// leastClear is the fewest frames of a pause that is clear.
const leastClear = 25

// early is how many frames of a piece there are at least before a pause in which it is cut.
func (p Phrases) early() int { return min(frames(early*p.Typical), mostEarly) }

// soon is how many frames later a much longer pause may follow one that is clear.
func (p Phrases) soon() int { return min(frames(soon*p.Typical), mostSoon) }

// clearly is how many frames of a pause are clear: as many as there are between two phrases that follow each other at
// once, and more than in one.
func (p Phrases) clearly() int {
	return max(leastClear, p.before()+p.behind(), frames(unlike*min(p.Within, MostQuiet)))
}

// unlike is how much longer a clear pause is than those that are common in phrases.
const unlike = 1.25

// longest is how many frames sound may have that stays whole; 0 where it isn't known how long phrases are.
func (p Phrases) longest() int { return frames(1.5 * p.Longest) }

// before and behind are the frames of quiet that stay on the sides of a piece.
func (p Phrases) before() int { return frames(min(p.Before, MostQuiet)) }
func (p Phrases) behind() int { return frames(min(p.Behind, MostQuiet)) }

// slackBefore and slackBehind are how many frames of quiet more than these the sides of sound may have that isn't cut.
func (p Phrases) slackBefore() int { return more + max(frames(p.MostBefore)-p.before(), 0) }
func (p Phrases) slackBehind() int { return more + max(frames(p.MostBehind)-p.behind(), 0) }

// more is how many frames of quiet more than is common are too much.
const more = 10

// frames is about so many seconds, in frames of 10 ms.
func frames(seconds float64) int { return int(math.Round(100 * seconds)) }

// Quiet is for how many seconds an utterance is quiet before what is said in it, in its longest pause, and behind it;
// wave is sound of so many samples a second. ok is false where nothing is said that could be told from noise, or there
// is too little sound.
func Quiet(wave []float32, rate int) (before, within, behind float64, ok bool) {
	if rate < lowestRate {
		return 0, 0, 0, false
	}
	l := (&Cutter{o: Options{Rate: rate}}).levels(wave)
	n := len(l.energy)
	onset, fade := l.quietFrom(0), l.quietTail()
	if n == 0 || l.nothing() || onset == n {
		return 0, 0, 0, false
	}
	if l.clear(0, onset) {
		before = float64(l.onset(onset)) / 100
	}
	if l.clear(fade, n) {
		behind = float64(n-l.fade(fade)) / 100
	}
	for at := onset; at < fade; at++ {
		end := l.quietFrom(at)
		if l.clear(at, end) {
			within = max(within, float64(end-at)/100)
		}
		at = end
	}
	return before, within, behind, true
}
