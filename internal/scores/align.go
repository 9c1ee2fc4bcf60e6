package scores

import "strings"

// Pair is a token of a reference and the token of the hypothesis that is put against it; "" where there is none.
type Pair struct {
	Ref string `json:"ref"`
	Hyp string `json:"hyp"`
}

// Edit is what a Pair is: Same, Substituted, Deleted (it is in the reference alone) or Inserted.
type Edit byte

// The edits.
const (
	Same        Edit = ' '
	Substituted Edit = 'S'
	Deleted     Edit = 'D'
	Inserted    Edit = 'I'
)

// Edit says what became of it.
func (p Pair) Edit() Edit {
	switch {
	case p.Hyp == "":
		return Deleted
	case p.Ref == "":
		return Inserted
	case p.Ref == p.Hyp:
		return Same
	}
	return Substituted
}

// AlignWords puts the words of two texts against each other with the fewest edits: those that text.Align counts.
func AlignWords(ref, hyp string) []Pair {
	return alignTokens(strings.Fields(ref), strings.Fields(hyp), func(string) bool { return false })
}

// AlignClusters puts the clusters of two texts against each other with the fewest edits. No space is put against a
// letter, so that words stay beside each other.
func AlignClusters(ref, hyp string) []Pair {
	return alignTokens(Clusters(ref), Clusters(hyp), func(s string) bool { return s == " " })
}

// alignTokens aligns tokens; special ones are only put against the same.
func alignTokens(ref, hyp []string, special func(string) bool) []Pair {
	ids := map[string]int32{}
	number := func(tokens []string) []token {
		list := make([]token, len(tokens))
		for i, s := range tokens {
			id, known := ids[s]
			if !known {
				id = int32(len(ids))
				ids[s] = id
			}
			list[i] = token{id, special(s)}
		}
		return list
	}
	edits := align(number(ref), number(hyp), cells)
	list := make([]Pair, 0, len(edits))
	for _, e := range edits {
		var p Pair
		if e != Inserted {
			p.Ref, ref = ref[0], ref[1:]
		}
		if e != Deleted {
			p.Hyp, hyp = hyp[0], hyp[1:]
		}
		list = append(list, p)
	}
	return list
}

// token is a number that stands for a word or a cluster.
type token struct {
	id      int32
	special bool // no other is put against it
}

// cells is how large the table of an alignment may be, in bytes: that of two texts of 4000 tokens each.
const cells = 16 << 20

// align finds a cheapest alignment (Levenshtein 1966). Where several are cheapest, a pair of tokens is preferred to a
// deletion, and a deletion to an insertion, seen from the end, as in text.Align. Where the table would be larger than
// most, the texts are cut in two where a cheapest alignment goes through (Hirschberg 1975), and that order of
// preference holds in the parts alone.
func align(ref, hyp []token, most int) []Edit {
	start, end := 0, 0
	for start < min(len(ref), len(hyp)) && ref[start] == hyp[start] {
		start++
	}
	for end < min(len(ref), len(hyp))-start && ref[len(ref)-1-end] == hyp[len(hyp)-1-end] {
		end++
	}
	r, h := ref[start:len(ref)-end], hyp[start:len(hyp)-end]
	edits := repeated(nil, Same, start)
	switch {
	case len(r) == 0 || len(h) == 0:
		edits = repeated(repeated(edits, Deleted, len(r)), Inserted, len(h))
	case len(r) > 1 && len(r)*len(h) > most:
		i := len(r) / 2
		j := crossing(r, h, i)
		edits = append(append(edits, align(r[:i], h[:j], most)...), align(r[i:], h[j:], most)...)
	default:
		edits = append(edits, trace(r, h)...)
	}
	return repeated(edits, Same, end)
}

func repeated(edits []Edit, e Edit, n int) []Edit {
	for range n {
		edits = append(edits, e)
	}
	return edits
}

// next is the cheapest of three ways into a cell, from cells with these costs, and what it costs.
func next(r, h token, diagonal, up, left int32) (Edit, int32) {
	if r == h {
		return Same, diagonal
	}
	e, cost := Deleted, up+1
	if !r.special && !h.special && diagonal < up+1 {
		e, cost = Substituted, diagonal+1
	}
	if left+1 < cost {
		e, cost = Inserted, left+1
	}
	return e, cost
}

// trace fills the table and goes back through it.
func trace(ref, hyp []token) []Edit {
	table := make([]Edit, len(ref)*len(hyp))
	row := firstRow(len(hyp))
	for i, r := range ref {
		diagonal := row[0]
		row[0]++
		for j, h := range hyp {
			up := row[j+1]
			table[i*len(hyp)+j], row[j+1] = next(r, h, diagonal, up, row[j])
			diagonal = up
		}
	}
	edits := make([]Edit, len(ref)+len(hyp))
	at, i, j := len(edits), len(ref), len(hyp)
	for i > 0 || j > 0 {
		e := Inserted
		switch {
		case j == 0:
			e = Deleted
		case i > 0:
			e = table[(i-1)*len(hyp)+j-1]
		}
		if e != Inserted {
			i--
		}
		if e != Deleted {
			j--
		}
		at--
		edits[at] = e
	}
	return edits[at:]
}

func firstRow(n int) []int32 {
	row := make([]int32, n+1)
	for j := range row {
		row[j] = int32(j)
	}
	return row
}

// crossing is how many tokens of the hypothesis a cheapest alignment puts against the first i of the reference.
func crossing(ref, hyp []token, i int) int {
	before := costs(ref[:i], hyp)
	after := costs(reversed(ref[i:]), reversed(hyp))
	best := 0
	for j := range before {
		if before[j]+after[len(hyp)-j] < before[best]+after[len(hyp)-best] {
			best = j
		}
	}
	return best
}

// costs are those of aligning ref with each start of hyp.
func costs(ref, hyp []token) []int32 {
	row := firstRow(len(hyp))
	for _, r := range ref {
		diagonal := row[0]
		row[0]++
		for j, h := range hyp {
			up := row[j+1]
			_, row[j+1] = next(r, h, diagonal, up, row[j])
			diagonal = up
		}
	}
	return row
}

func reversed(tokens []token) []token {
	list := make([]token, len(tokens))
	for i, t := range tokens {
		list[len(list)-1-i] = t
	}
	return list
}
