package train

import (
	"fmt"
	"io"
	"slices"

	"konkanitrain/engine"
	"konkanitrain/internal/arenapage"
	"konkanitrain/internal/words"
	"konkanitrain/update"
)

// mostPictures is how many programs a page shows.
const mostPictures = 6

// writePage writes the picture of the memory of the largest programs: that with the peak as set, the same with values
// computed again, and the largest of what auto_fit would choose.
func (p *planner) writePage(w io.Writer, r *PlanReport) error {
	page := arenapage.Page{Title: "Memory of " + r.Title, Facts: p.facts(r)}
	for _, v := range p.pictured() {
		program, err := p.null.Program(v)
		if err != nil {
			return err
		}
		page.Programs = append(page.Programs, picture(pictureName(v), program))
	}
	return arenapage.Write(w, page)
}

// pictured are the programs of the page.
func (p *planner) pictured() (list []update.Variant) {
	add := func(v update.Variant) {
		if len(list) < mostPictures && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	add(p.whole.most.Variant)
	if len(p.whole.training) == 0 {
		return list
	}
	largest, _, err := p.updater.Runner.Largest(p.whole.training)
	if err != nil {
		return list // all have their prices already
	}
	for _, r := range (RunConfig{Recompute: "auto"}).ways() {
		v := largest.Variant
		v.Recompute = r
		add(v)
	}
	if p.fit().Limit() > 0 && p.passes.most.loader != nil {
		add(p.passes.most.Variant)
	}
	for _, m := range p.passes.training { // those with the most rows come first
		add(m.Variant)
	}
	return list
}

// pictureName tells a program from the others of its page.
func pictureName(v update.Variant) string {
	precision := "float32"
	if v.Half {
		precision = "fp16"
	}
	return fmt.Sprintf("%s of %.1f s, %d tokens, recompute %v, %s", words.Count(v.Batch, "row"), float64(v.Frames)/100, v.Tokens, v.Recompute, precision)
}

// facts are what is said above the picture, in its units.
func (p *planner) facts(r *PlanReport) []arenapage.Fact {
	t := r.AsSet
	list := []arenapage.Fact{
		{Name: "parameters", Value: fmt.Sprint(r.Parameters.Total)},
		{Name: "weights", Value: words.Bytes(t.Weights)},
		{Name: "gradients", Value: words.Bytes(t.Gradients)},
		{Name: "moments", Value: words.Bytes(t.Moments)},
	}
	if t.Averages > 0 {
		list = append(list, arenapage.Fact{Name: "averages of weights", Value: words.Bytes(t.Averages)})
	}
	list = append(list,
		arenapage.Fact{Name: "activations as set", Value: fmt.Sprintf("%s, %s each", words.Count(r.Workers, "worker"), words.Bytes(t.Arena))},
		arenapage.Fact{Name: "beside buffers", Value: words.Bytes(t.Beside)},
		arenapage.Fact{Name: "in all as set", Value: words.Bytes(t.Total)},
	)
	if r.Limit > 0 {
		list = append(list, arenapage.Fact{Name: "limit", Value: fmt.Sprintf("%s (%s)", words.Bytes(r.Limit), r.LimitFrom)})
	}
	list = append(list, arenapage.Fact{Name: "verdict", Value: r.Verdict})
	if r.Fitted != nil {
		list = append(list, arenapage.Fact{Name: "in all fitted", Value: words.Bytes(r.Fitted.Total)})
	}
	return list
}

// picture is a program as the page shows it.
func picture(name string, p *engine.Program) arenapage.Program {
	out := arenapage.Program{Name: name, Size: p.ArenaBytes()}
	for _, s := range p.Steps {
		out.Steps = append(out.Steps, arenapage.Step{Name: s.Op.Name, Place: s.Op.Place, Backward: s.Backward})
	}
	for i, b := range p.Plan.Buffers {
		out.Buffers = append(out.Buffers, arenapage.Buffer{Name: b.Name, Offset: p.Plan.Offsets[i], Size: b.Size, First: b.First, Last: b.Last})
	}
	return out
}
