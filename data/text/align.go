package text

// edits is one cell of the alignment table: the cost and of what it is made up.
type edits struct{ cost, sub, del int32 }

// Align counts the edits of a cheapest alignment. Where several are cheapest, a pair of tokens is preferred to
// a deletion, and a deletion to an insertion, seen from the end. Errors() of the result is the
// Levenshtein distance; the table is two rows of counts, so no path is stored.
func Align[T comparable](ref, hyp []T) Counts {
	out := Counts{Ref: len(ref)}
	ref, hyp = trim(ref, hyp)
	if len(ref) == 0 || len(hyp) == 0 {
		out.Del, out.Ins = len(ref), len(hyp)
		return out
	}
	row := make([]edits, len(hyp)+1)
	for j := range row {
		row[j] = edits{cost: int32(j)}
	}
	for i, r := range ref {
		diagonal, left := row[0], edits{cost: int32(i + 1), del: int32(i + 1)}
		row[0] = left
		for j, h := range hyp {
			up, best := row[j+1], diagonal
			if r != h {
				best.cost++
				best.sub++
				if up.cost+1 < best.cost {
					best = edits{up.cost + 1, up.sub, up.del + 1}
				}
				if left.cost+1 < best.cost {
					best = edits{left.cost + 1, left.sub, left.del}
				}
			}
			diagonal, left = up, best
			row[j+1] = best
		}
	}
	last := row[len(hyp)]
	out.Sub, out.Del, out.Ins = int(last.sub), int(last.del), int(last.cost-last.sub-last.del)
	return out
}

// trim takes the common start and end off both: some cheapest alignment pairs them with themselves.
func trim[T comparable](a, b []T) ([]T, []T) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}
