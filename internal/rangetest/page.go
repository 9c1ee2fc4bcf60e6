package rangetest

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"konkanitrain/internal/page"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	ownCSS string

	pageCSS = page.CSS + ownCSS
)

var kind = page.New(page.Kind{Body: pageHTML, CSS: pageCSS, Functions: template.FuncMap{
	"digits": func(v float64) string { return fmt.Sprintf("%.3g", v) },
}})

// WritePage writes a result as a page: one HTML file with a picture, which loads nothing else and needs no JavaScript.
// Texts are shown as they are: none is taken for HTML. The error says that w takes no more.
func WritePage(w io.Writer, title string, r Result) error {
	shown := map[string]any{"Title": title, "Result": r, "Course": r.course(), "Plot": (*picture)(nil)}
	if r.Updates > 0 {
		shown["Plot"], shown["Table"] = r.picture(), r.table()
	}
	return kind.Write(w, title, shown, nil)
}

// picture is the plot of a page, in the units of its own.
type picture struct {
	Width, Height            int
	Left, Right, Top, Bottom float64 // of the plot itself
	Across, Up               []tick  // losses, rates
	Points                   []spot
	Curve                    string
	Marks                    []mark
}

type tick struct {
	At   float64
	Text string
}

type spot struct {
	X, Y float64
	Text string
}

type mark struct {
	tick
	Class string
	Down  int  // where its text stands: each mark has its own line
	Left  bool // its text stands on this side, for want of room on the other
}

func (r Result) picture() *picture {
	p := &picture{Width: 1100, Height: 520, Left: 80, Right: 1080, Top: 15, Bottom: 480}
	low, high := r.Losses[0], r.Losses[0]
	for i := range r.Losses {
		low, high = min(low, r.Losses[i], r.Smoothed[i]), max(high, r.Losses[i], r.Smoothed[i])
	}
	low, high = low/1.05, high*1.05
	last := r.Rates[r.Updates-1]
	x := func(rate float64) float64 { return tenths(p.Left + part(rate, r.Rates[0], last)*(p.Right-p.Left)) }
	y := func(loss float64) float64 { return tenths(p.Bottom - part(loss, low, high)*(p.Bottom-p.Top)) }
	for _, v := range ticks(low, high) {
		p.Across = append(p.Across, tick{y(v), fmt.Sprintf("%g", v)})
	}
	for d := math.Ceil(math.Log10(r.Rates[0]) - 1e-9); d <= math.Log10(last)+1e-9; d++ {
		p.Up = append(p.Up, tick{x(math.Pow(10, d)), fmt.Sprintf("1e%.0f", d)})
	}
	var curve strings.Builder
	for i, rate := range r.Rates {
		p.Points = append(p.Points, spot{x(rate), y(r.Losses[i]), fmt.Sprintf("update %d, rate %.3g: %.3g nats a second, smoothed %.3g", i+1, rate, r.Losses[i], r.Smoothed[i])})
		fmt.Fprintf(&curve, "%v,%v ", x(rate), y(r.Smoothed[i]))
	}
	p.Curve = strings.TrimSpace(curve.String())
	const wide = 220 // of a text
	add := func(class, text string, rate float64, left bool) {
		p.Marks = append(p.Marks, mark{tick{x(rate), fmt.Sprintf("%s %.2g", text, rate)}, class, 18 + 26*len(p.Marks), left})
	}
	if r.Suggested > 0 {
		add("suggested", "suggested", r.Suggested, x(r.Suggested) > p.Left+wide) // the bound is to its right
	}
	if r.Lowest != nil {
		add("lowest", "lowest loss", r.Lowest.Rate, x(r.Lowest.Rate) > p.Right-wide)
		add("steepest", "falls fastest", r.Steepest.Rate, x(r.Steepest.Rate) > p.Right-wide)
	}
	if r.Bound != nil {
		add("bound", "as low up to", r.Bound.Rate, x(r.Bound.Rate) > p.Right-wide)
	}
	return p
}

// ticks are 1, 2 and 5 times powers of ten between two values, or fewer or more where these are many or few.
func ticks(low, high float64) (list []float64) {
	steps := []float64{1, 2, 5}
	switch {
	case high/low > 1e4:
		steps = []float64{1}
	case high/low < 4:
		steps = []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}
	}
	for d := math.Floor(math.Log10(low)); d <= math.Log10(high); d++ {
		for _, s := range steps {
			if v := s * math.Pow(10, d); v >= low && v <= high {
				list = append(list, v)
			}
		}
	}
	return list
}

// tenths has a digit behind the point: more is nothing that can be seen.
func tenths(v float64) float64 { return math.Round(10*v) / 10 }
