package train

import (
	"cmp"
	"math"
	"slices"

	"konkanitrain/engine"
	"konkanitrain/update"
)

const (
	mostShapes = 4    // that are all listed; of more only some are
	mostRows   = 1024 // of a micro-batch that is looked for
)

// shapes are the shapes of training's micro-batches as set, or of many the largest and some percentiles of the length,
// each with its price in every way.
func (p *planner) shapes() ([]PlanShape, error) {
	prices, err := p.replica.Prices(variants(p.whole.training))
	if err != nil {
		return nil, err
	}
	list := []PlanShape{}
	for _, s := range p.selected(prices) {
		for i := range s.Ways {
			if err := p.priceWay(s, &s.Ways[i]); err != nil {
				return nil, err
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// selected are the shapes to list, the longest first.
func (p *planner) selected(prices []engine.Price) (list []PlanShape) {
	met := slices.Clone(p.whole.training)
	if len(met) == 0 {
		return nil
	}
	add := func(what string, m update.Met) {
		list = append(list, PlanShape{what, m.Batch, m.Frames, m.Tokens, m.Times, everyWay()})
	}
	largest, total := 0, 0
	for i, m := range met {
		if prices[i].Bytes > prices[largest].Bytes {
			largest = i
		}
		total += m.Batch * m.Times
	}
	most := met[largest]
	slices.SortStableFunc(met, func(a, b update.Met) int {
		return cmp.Or(cmp.Compare(b.Frames, a.Frames), cmp.Compare(b.Batch, a.Batch), cmp.Compare(b.Tokens, a.Tokens))
	})
	if len(met) <= mostShapes {
		for _, m := range met {
			add("", m)
		}
		return list
	}
	add("largest", most)
	for _, x := range []struct {
		what   string
		longer float64 // share of the utterances that are longer
	}{{"90 %", 0.1}, {"50 %", 0.5}, {"10 %", 0.9}} {
		left := int(x.longer * float64(total))
		for _, m := range met {
			if left -= m.Batch * m.Times; left < 0 {
				add(x.what, m)
				break
			}
		}
	}
	return list
}

// priceWay prices a shape in one way, with its own rows and with the most that fit.
func (p *planner) priceWay(s PlanShape, w *PlanWay) error {
	var failed error
	price := func(rows int) int64 {
		prices, err := p.replica.Prices([]update.Variant{p.variant(s, *w, rows)})
		if err != nil {
			failed = err
			return math.MaxInt64
		}
		return prices[0].Bytes
	}
	w.Bytes = price(s.Rows)
	room := p.null.Room()
	if room == math.MaxInt64 {
		w.MaxRows = -1
		return failed
	}
	// Bytes rise with rows nearly in proportion, so a guess from one price is next to the answer.
	rows := 1
	for rows < mostRows && float64(2*rows)/float64(s.Rows)*float64(w.Bytes) <= float64(room) {
		rows *= 2
	}
	bytes := price(rows)
	for bytes > room && rows > 0 && failed == nil {
		w.NextBytes = bytes
		if rows /= 2; rows > 0 {
			bytes = price(rows)
		}
	}
	for rows > 0 && rows < mostRows && w.NextBytes == 0 && failed == nil {
		if next := price(2 * rows); next > room {
			w.NextBytes = next
		} else {
			rows, bytes = 2*rows, next
		}
	}
	if w.MaxRows = rows; rows > 0 {
		w.MaxBytes = bytes
	}
	return failed
}

// variant is the program of a shape in some way.
func (p *planner) variant(s PlanShape, w PlanWay, rows int) update.Variant {
	v := p.whole.training[0].Variant
	v.Batch, v.Frames, v.Tokens, v.Half = rows, s.Frames, s.Tokens, w.FP16
	for _, r := range (RunConfig{Recompute: "auto"}).ways() {
		if r.String() == w.Recompute {
			v.Recompute = r
		}
	}
	return v
}
