package ngram

import (
	"slices"
	"strings"
)

// reference is modified Kneser-Ney as the paper has it: sums over maps from n-grams, written with spaces, to counts,
// and a recursion. Nothing is shared with the estimator but the fallback of the discounts.
type reference struct {
	order      int
	prune      []int
	seen       map[string]int            // by n-gram, how often it stands in the texts
	before     map[string]map[string]int // by n-gram, the words that stand in front of it
	behind     map[string][]string       // by history, the words that were seen behind it
	vocabulary []string                  // words that are predicted
	discounts  [][3]float64              // by order
	sums       map[string][2]float64     // by history: of the counts behind it, and of what is taken from them
}

func newReference(texts []string, order int, prune []int) *reference {
	r := &reference{order: order, prune: prune, seen: map[string]int{}, before: map[string]map[string]int{}, behind: map[string][]string{}, sums: map[string][2]float64{}}
	for _, text := range texts {
		sentence := slices.Concat([]string{"<s>"}, strings.Fields(text), []string{"</s>"})
		for from := range sentence {
			for to := from + 1; to <= min(from+order, len(sentence)); to++ {
				gram := strings.Join(sentence[from:to], " ")
				if r.seen[gram]++; r.seen[gram] == 1 && gram != "<s>" {
					history := strings.Join(sentence[from:to-1], " ")
					r.behind[history] = append(r.behind[history], sentence[to-1])
				}
				if from > 0 {
					if r.before[gram] == nil {
						r.before[gram] = map[string]int{}
					}
					r.before[gram][sentence[from-1]]++
				}
			}
		}
	}
	r.vocabulary = []string{"<unk>"}
	for _, w := range r.behind[""] {
		if r.kept(w) {
			r.vocabulary = append(r.vocabulary, w)
		}
	}
	for k := 1; k <= order; k++ {
		n := map[int]float64{}
		for gram := range r.seen {
			if gram != "<s>" && len(strings.Fields(gram)) == k {
				n[r.count(gram)]++
			}
		}
		d := [3]float64{0.5, 1, 1.5}
		if n[1] > 0 && n[2] > 0 && n[3] > 0 {
			y := n[1] / (n[1] + 2*n[2])
			own := [3]float64{1 - 2*y*n[2]/n[1], 2 - 3*y*n[3]/n[2], 3 - 4*y*n[4]/n[3]}
			if own[0] >= 0 && own[1] >= 0 && own[2] >= 0 {
				d = own
			}
		}
		r.discounts = append(r.discounts, d)
	}
	return r
}

// count is the c of the paper: of n-grams below the highest order how many words stand in front, but for those at the
// start of a sentence.
func (r *reference) count(gram string) int {
	if len(strings.Fields(gram)) == r.order || strings.HasPrefix(gram, "<s>") {
		return r.seen[gram]
	}
	return len(r.before[gram])
}

func (r *reference) kept(gram string) bool {
	k := len(strings.Fields(gram))
	if len(r.prune) == 0 || k == 1 && (gram == "</s>" || gram == "<s>") {
		return true
	}
	return r.seen[gram] > r.prune[min(k, len(r.prune))-1]
}

func (r *reference) discount(gram string) float64 {
	switch c := r.count(gram); {
	case c == 0:
		return 0
	default:
		return r.discounts[len(strings.Fields(gram))-1][min(c, 3)-1]
	}
}

// p is the probability of a word behind words, of which the last ones count.
func (r *reference) p(word string, history []string) float64 {
	if len(history) >= r.order {
		history = history[len(history)-r.order+1:]
	}
	h := strings.Join(history, " ")
	below := func() float64 {
		if len(history) == 0 {
			return 1 / float64(len(r.vocabulary))
		}
		return r.p(word, history[1:])
	}
	if len(history) > 0 && !r.kept(h) {
		return below()
	}
	sum, left := r.sum(h)
	if sum == 0 {
		return below()
	}
	own := 0.0
	if gram := strings.TrimSpace(h + " " + word); r.seen[gram] > 0 && r.kept(gram) {
		own = float64(r.count(gram)) - r.discount(gram)
	}
	return own/sum + left/sum*below()
}

func (r *reference) sum(h string) (sum, left float64) {
	if known, ok := r.sums[h]; ok {
		return known[0], known[1]
	}
	for _, w := range r.behind[h] {
		gram := strings.TrimSpace(h + " " + w)
		sum += float64(r.count(gram))
		if r.kept(gram) {
			left += r.discount(gram)
		} else {
			left += float64(r.count(gram))
		}
	}
	r.sums[h] = [2]float64{sum, left}
	return sum, left
}
