package learnpage

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"konkanitrain/internal/testkit/browser"
)

// TestLook looks at the page in a headless Chromium.
func TestLook(t *testing.T) {
	b := browser.Start(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, b *browser.Browser)
	}{
		{"curves are drawn as they are", testCurves},
		{"values of very different size are drawn by their logarithms", testLogarithms},
		{"a point says what it is, by pointer and by key", testPoint},
		{"the legend gives colors and takes them", testLegend},
		{"colors are given as far as there are any", testManyCurves},
		{"another task is another picture", testTasks},
		{"all can be read in a narrow window", testNarrow},
		{"light and dark", testSchemes},
		{"nothing to show", testNothing},
		{"without JavaScript", testNoScript},
	} {
		b.Run(t, c.name, c.test)
	}
}

// points are the corners of a curve of the first chart, in pixels of its drawing.
func points(b *browser.Browser, name string) [][2]float64 {
	b.T.Helper()
	return browser.Eval[[][2]float64](b, fmt.Sprintf(
		`[...document.querySelector("#charts svg .curve[data-name='%s']").points].map(p => [p.x, p.y])`, name))
}

// pixel is how far from its place a point may be, for what is written to the page has few digits.
const pixel = 0.5

// Both curves fall along straight lines, and all values are within a factor of 20, so that the axis is even.
func testCurves(t *testing.T, b *browser.Browser) {
	p := small()
	p.Tasks[0].Charts[0].Curves = []Curve{straight("base", 30, 10, 2), straight("mix", 20, 4, 1)} // from 3 to 32
	b.Open(written(t, p))
	base, mix := points(b, "base"), points(b, "mix")
	if len(base) != 3 || len(mix) != 3 {
		t.Fatalf("%d and %d corners", len(base), len(mix))
	}
	unit := (base[2][1] - base[0][1]) / 20 // pixels of a nat
	for i, c := range []struct{ got, nats float64 }{
		{base[1][1] - base[0][1], 30 - 20}, {mix[0][1] - base[0][1], 30 - 20}, {mix[1][1] - base[0][1], 30 - 12}, {mix[2][1] - base[0][1], 30 - 4},
	} {
		if want := unit * c.nats; unit <= 0 || math.Abs(c.got-want) > pixel {
			t.Errorf("%d: %v pixels for %v nats, want %v", i, c.got, c.nats, want)
		}
	}
	if step := base[1][0] - base[0][0]; math.Abs(base[2][0]-base[1][0]-step) > pixel || math.Abs(base[0][0]-step-browser.Eval[float64](b, "margin.left")) > pixel {
		t.Errorf("updates 100, 200 and 300 are at %v: not even from 0 on", base)
	}
	if n := browser.Eval[int](b, "document.querySelectorAll('#charts .band').length"); n != 1 {
		t.Errorf("%d bands, want that of the curve in color", n)
	}
	text := browser.Eval[string](b, `document.querySelector("#charts svg").textContent`)
	for _, want := range []string{"10", "20", "30", "100", "200", "update"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q at the axes: %q", want, text)
		}
	}
}

func testLogarithms(t *testing.T, b *browser.Browser) {
	p := small()
	p.Tasks[0].Charts[0].Curves = []Curve{{Name: "base", X: []float64{1, 2, 3}, Mean: []float64{100, 10, 1}, Low: []float64{100, 10, 1}, High: []float64{100, 10, 1}}}
	b.Open(written(t, p))
	c := points(b, "base")
	if math.Abs((c[1][1]-c[0][1])-(c[2][1]-c[1][1])) > pixel || c[1][1] <= c[0][1] {
		t.Errorf("100, 10 and 1 are at %v", c)
	}
}

func testPoint(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	said := func(want string) {
		t.Helper()
		if got := b.TextOf("#charts figure p"); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	said("")
	b.Eval("document.querySelector('#charts svg').scrollIntoView()")
	box, at := b.BoxOf("#charts svg"), points(b, "mix")[1]
	b.MoveTo(box.Left+at[0]+3, box.Top+at[1]+3)
	said("mix, update 200: 15 (14 to 16) nats")
	if n := browser.Eval[string](b, "document.querySelector('#charts .pointed').dataset.name"); n != "mix" {
		t.Errorf("%s is pointed at", n)
	}
	b.MoveTo(1, 1)
	said("")
	for range 10 { // the select and the legend come before
		if b.Key("Tab", 0); browser.Eval[string](b, "document.activeElement.tagName") == "svg" {
			break
		}
	}
	for _, step := range []struct{ key, want string }{
		{"ArrowRight", "base, update 100: 30 (28 to 32) nats"},
		{"ArrowRight", "base, update 200: 20 (18 to 22) nats"},
		{"ArrowDown", "mix, update 200: 15 (14 to 16) nats"},
		{"End", "mix, update 300: 2 (1 to 3) nats"},
		{"ArrowRight", "mix, update 300: 2 (1 to 3) nats"},
		{"ArrowDown", "base, update 300: 10 (8 to 12) nats"},
		{"ArrowUp", "mix, update 300: 2 (1 to 3) nats"},
		{"Home", "mix, update 100: 28 (27 to 29) nats"},
		{"ArrowLeft", "mix, update 100: 28 (27 to 29) nats"},
		{"Escape", ""},
	} {
		b.Key(step.key, 0)
		said(step.want)
	}
}

// pressed are the recipes in color.
func pressed(b *browser.Browser) string {
	b.T.Helper()
	return browser.Eval[string](b, `[...document.querySelectorAll("#legend button[aria-pressed=true]")].map(b => b.textContent).join()`)
}

func testLegend(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	stroke := func() string {
		return browser.Eval[string](b, `getComputedStyle(document.querySelector("#charts .curve[data-name=mix]")).stroke`)
	}
	if got := pressed(b); got != "base" {
		t.Errorf("%s in color at first", got)
	}
	gray := stroke()
	b.Press("#legend button:nth-child(2)")
	if got := pressed(b); got != "base,mix" || stroke() == gray {
		t.Errorf("in color are %s, and mix is %s", got, stroke())
	}
	if n := browser.Eval[int](b, "document.querySelectorAll('#charts .band').length"); n != 2 {
		t.Errorf("%d bands", n)
	}
	if got := browser.Eval[string](b, "document.activeElement.textContent"); got != "mix" {
		t.Errorf("the focus is on %q", got)
	}
	b.Press("#legend button:nth-child(2)")
	if got := pressed(b); got != "base" || stroke() != gray {
		t.Errorf("in color are %s, and mix is %s", got, stroke())
	}
}

func testManyCurves(t *testing.T, b *browser.Browser) {
	p := small()
	p.First = nil
	p.Tasks[0].Charts[0].Curves = nil
	for i := range 9 {
		name := fmt.Sprintf("r%d", i)
		p.First = append(p.First, name)
		p.Tasks[0].Charts[0].Curves = append(p.Tasks[0].Charts[0].Curves, straight(name, float64(20+i), float64(10+i), 1))
	}
	b.Open(written(t, p))
	if got := pressed(b); got != "r0,r1,r2,r3,r4,r5,r6" {
		t.Errorf("%s in color at first", got)
	}
	b.Press("#legend button:nth-child(9)") // the one longest in color gives its own
	if got := pressed(b); got != "r1,r2,r3,r4,r5,r6,r8" {
		t.Errorf("%s in color", got)
	}
	colors := browser.Eval[[]string](b, `[...new Set([...document.querySelectorAll("#charts .colored")].map(p => getComputedStyle(p).stroke))]`)
	if len(colors) != 7 {
		t.Errorf("%d colors: %v", len(colors), colors)
	}
}

func testTasks(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	if n := browser.Eval[int](b, "document.querySelectorAll('#charts figure').length"); n != 1 {
		t.Errorf("%d charts of the first task, of which one has curves", n)
	}
	b.Eval("document.getElementById('task').selectedIndex = 1, document.getElementById('task').dispatchEvent(new Event('change'))")
	b.Painted()
	if got := b.TextOf("#charts figcaption"); got != "Training loss, nats" {
		t.Errorf("the first chart is %q", got)
	}
	if n := browser.Eval[int](b, "document.querySelectorAll('#charts .curve').length"); n != 2 {
		t.Errorf("%d curves in the two charts", n)
	}
	if got := pressed(b); got != "base" {
		t.Errorf("%s in color", got)
	}
}

// In a window of 400 pixels nothing lies outside but wide tables, which scroll by themselves.
func testNarrow(t *testing.T, b *browser.Browser) {
	p := small()
	long := strings.Repeat("a-very-long-name-", 10)
	p.Title, p.Tasks[0].Name, p.Tasks[0].Charts[0].Curves[1].Name = long, long, long
	p.Tables[0].Rows = append(p.Tables[0].Rows, []string{long, long})
	defer b.Screen(1, "light")
	b.FitsPhone(t, written(t, p))
	if box := b.BoxOf("#charts svg"); box.Left < 0 || box.Right > 400 {
		t.Errorf("the drawing is at %v", box)
	}
}

func testSchemes(t *testing.T, b *browser.Browser) { b.HasSchemes(t, pageCSS, written(t, small())) }

func testNothing(t *testing.T, b *browser.Browser) {
	b.Open(written(t, Page{Title: "x", Summary: "no runs"}))
	if b.TextOf("#summary") != "no runs" || b.TextOf("#picture") != "" {
		t.Error("something is shown")
	}
	b.Open(written(t, Page{Title: "x", Tasks: []Task{{Name: "digits"}}})) // runs that have all failed
	if b.TextOf("#charts") != "" {
		t.Error("something is drawn")
	}
}

func testNoScript(t *testing.T, b *browser.Browser) {
	b.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	defer b.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.Load(written(t, small()))
}
