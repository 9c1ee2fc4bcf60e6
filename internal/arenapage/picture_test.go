package arenapage

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit/browser"
)

func TestPicture(t *testing.T) {
	b := browser.Start(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, b *browser.Browser)
	}{
		{"buffers are drawn where they lie", testDrawn},
		{"marks and the curve", testMarks},
		{"the picture follows the window", testWindow},
		{"the table is that of the static page", testTable},
		{"pointing at something tells what it is", testPoint},
		{"a click pins a step", testPin},
		{"the wheel zooms around the pointer", testWheel},
		{"dragging moves, a double click shows all", testDrag},
		{"keys do what the mouse does", testKeys},
		{"parts open and show their buffers", testParts},
		{"the legend takes color from the others", testLegend},
		{"another program is another picture", testPrograms},
		{"texts are only texts", testEvil},
		{"many buffers", testLarge},
		{"without JavaScript", testNoScript},
	} {
		b.Run(t, c.name, c.test)
	}
}

// Every buffer has its kind's color at its place, and what is between them that of free memory; in the light, in the
// dark, and with pixels of any size.
func testDrawn(t *testing.T, b *browser.Browser) {
	p := small().Programs[0]
	defer b.Screen(1, "light")
	for scheme, color := range browser.Colors(t, pageCSS) {
		for _, ratio := range []float64{1, 1.5, 2} {
			b.Screen(ratio, scheme)
			b.Open(written(t, small()))
			picture, plot := b.Screenshot(), plotOf(b)
			all := view{Right: float64(len(p.Steps)), Top: float64(p.Size)}
			check := func(what, want string, step, byte float64) {
				t.Helper()
				x, y := all.point(plot, step, byte)
				if got := colorAt(picture, ratio, x, y); got != want {
					t.Errorf("%s, %v pixels: %s is %s at step %v, byte %v, want %s", scheme, ratio, what, got, step, byte, want)
				}
			}
			for _, buffer := range p.Buffers {
				if buffer.Size == 0 {
					continue
				}
				want := color[fmt.Sprintf("k%d", buffer.kind())]
				first, last := float64(max(buffer.First, 0)), float64(min(buffer.Last, len(p.Steps)-1))
				low, high := float64(buffer.Offset), float64(buffer.Offset+buffer.Size)
				// Near the corners; a name is in the middle, and marks are in the middle of steps and where they begin.
				for _, step := range []float64{first + 0.1, last + 0.9} {
					for _, byte := range []float64{low + 6, high - 6} {
						check(buffer.Name, want, step, byte)
					}
				}
			}
			check("below the losses", color["free"], 4.1, 890)
			check("above them", color["free"], 4.1, 960)
			check("before them", color["free"], 3.9, 925)
			check("after the attention", color["free"], 6.1, 650)
		}
	}
}

// A broken line stands where the backward pass begins and nowhere else; the curve ends at each step's bytes in use.
func testMarks(t *testing.T, b *browser.Browser) {
	p := small().Programs[0]
	b.Open(written(t, small()))
	picture, plot, all, light := b.Screenshot(), plotOf(b), viewOf(b), browser.Colors(t, pageCSS)["light"]
	for step := range p.Steps[1:] {
		dashes := 0
		for _, x := range []float64{-1, 0, 1} { // a line that is one pixel wide
			for byte := 710.0; byte < 890; byte++ {
				atX, atY := all.point(plot, float64(step), byte)
				if colorAt(picture, 1, atX+x, atY) == light["ink"] {
					dashes++
				}
			}
		}
		if (dashes > 0) != (step == 6) {
			t.Errorf("%d dark points where step %d begins; the backward pass begins at step 6", dashes, step)
		}
	}
	curve := browser.Eval[browser.Box](b, `(top => ({Left: top.left, Top: top.top + margin.top, Bottom: top.top + margin.top + margin.curve}))
		(canvas.getBoundingClientRect())`)
	for step, live := range p.live() {
		part := 0.8
		if step == peak(p.live()) {
			part = 0.2 // then comes its mark
		}
		x, _ := all.point(plot, float64(step)+part, 0)
		y := curve.Bottom - float64(live)/float64(p.Size)*(curve.Bottom-curve.Top)
		if above, below := colorAt(picture, 1, x, y-4), colorAt(picture, 1, x, y+6); above != light["page"] || below != light["free"] {
			t.Errorf("step %d: the curve at %d bytes has %s above and %s below", step, live, above, below)
		}
	}
}

// A page that is open follows the size of its window, and the reader's change from light to dark.
func testWindow(t *testing.T, b *browser.Browser) {
	defer b.Screen(1, "light")
	b.Open(written(t, small()))
	before := plotOf(b)
	for _, change := range []struct {
		ratio  float64
		scheme string
	}{{1, "light"}, {1, "dark"}, {2, "dark"}} {
		b.Window(600, change.ratio, change.scheme)
		picture, plot, color := b.Screenshot(), plotOf(b), browser.Colors(t, pageCSS)[change.scheme]
		if plot.Right > before.Right-300 {
			t.Errorf("the picture reaches from %v to %v in a window of 600", plot.Left, plot.Right)
		}
		for step, want := range map[float64]string{1.8: color["free"], 2.2: color["k2"]} { // a buffer begins at step 2
			if x, y := viewOf(b).point(plot, step, 590); colorAt(picture, change.ratio, x, y) != want {
				t.Errorf("%+v: step %v is %s, want %s", change, step, colorAt(picture, change.ratio, x, y), want)
			}
		}
	}
}

// The script's arithmetic is Go's: its table of each step, and of the peak when the page is opened.
func testTable(t *testing.T, b *browser.Browser) {
	for _, page := range []Page{small(), large(120)} {
		b.Open(written(t, page))
		p := page.Programs[0]
		top := peak(p.live())
		if diff := cmp.Diff(rowsOf(p, top), rowsShown(b)); diff != "" {
			t.Errorf("%s, the peak: Go (-), script (+)\n%s", page.Title, diff)
		}
		if got := b.TextOf("#holders h2"); got != "Who holds what at the peak" {
			t.Errorf("%q, want the peak", got)
		}
		for step, got := range browser.Eval[[][][]string](b, "shown.program.ops.map((_, i) => { pin(i); return "+tableNow+"})") {
			if diff := cmp.Diff(rowsOf(p, step), got); diff != "" {
				t.Fatalf("%s, step %d: Go (-), script (+)\n%s", page.Title, step, diff)
			}
		}
	}
}

func testParts(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	closed := rowsShown(b)
	button := "#holders tbody tr:nth-child(3) button" // row 2 is the first part's only buffer
	b.Press(button)
	open := slices.Concat(closed[:2], [][]string{
		{"encoder.blocks.0.ffn1.up", "200 B", "20.0 %"}, {"encoder.blocks.0.attn scratch", "100 B", "10.0 %"},
	}, closed[2:])
	if diff := cmp.Diff(open, rowsShown(b)); diff != "" {
		t.Errorf("opened: want (-), got (+)\n%s", diff)
	}
	if got, want := b.TextOf("#holders tbody tr:nth-child(4) td:last-child"), "steps 2 to 7"; got != want {
		t.Errorf("the first buffer lives %q, want %q", got, want)
	}

	// Pointing at a buffer's row puts a frame around it.
	all, plot := viewOf(b), plotOf(b)
	x, y := all.point(plot, 2, 500)
	ink := browser.Colors(t, pageCSS)["light"]["ink"]
	if got := colorAt(b.Screenshot(), 1, x, y); got == ink {
		t.Errorf("a frame before its row is pointed at")
	}
	b.MoveTo(b.BoxOf("#holders tbody tr:nth-child(4) th").At(0.5, 0.5))
	if got := colorAt(b.Screenshot(), 1, x, y); got != ink {
		t.Errorf("the left edge of the buffer is %s, want the frame's %s", got, ink)
	}

	// A part stays open at another step, and closes by the keyboard.
	browser.Eval[bool](b, "pin(6), true")
	if rows := rowsShown(b); len(rows) < 3 || rows[2][0] != "encoder.blocks.0.ffn1.up" && rows[1][0] != "encoder.blocks.0.ffn1.up" {
		t.Errorf("step 6: the part doesn't stay open: %q", rows)
	}
	browser.Eval[bool](b, "pin(5), document.querySelector('"+button+"').focus(), true")
	b.Key("Enter", 0)
	if diff := cmp.Diff(closed, rowsShown(b)); diff != "" {
		t.Errorf("closed again: want (-), got (+)\n%s", diff)
	}
}

func testLegend(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	var names []string
	for _, k := range []int{0, 1, 2, 3, 8, 10} { // kinds of small's buffers
		names = append(names, kinds[k].name)
	}
	var got []string
	for _, line := range browser.Eval[[]string](b, "[...document.querySelectorAll('#legend button')].map(b => b.textContent)") {
		got = append(got, regexp.MustCompile(` \d+ B$`).ReplaceAllString(line, ""))
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("want (-), got (+)\n%s", diff)
	}
	all, plot, light := viewOf(b), plotOf(b), browser.Colors(t, pageCSS)["light"]
	expect := func(when string, want map[[2]float64]string) {
		t.Helper()
		picture := b.Screenshot()
		for at, name := range want {
			if x, y := all.point(plot, at[0], at[1]); colorAt(picture, 1, x, y) != light[name] {
				t.Errorf("%s: %v is %s, want %s (%s)", when, at, colorAt(picture, 1, x, y), light[name], name)
			}
		}
	}
	subsampling, feedForward := [2]float64{1.1, 394}, [2]float64{3.1, 594}
	b.Press("#legend [data-kind='2']")
	if got := browser.Eval[string](b, "document.activeElement.dataset.kind"); got != "2" {
		t.Errorf("the focus is lost to %q", got)
	}
	expect("pressed", map[[2]float64]string{subsampling: "dimmed", feedForward: "k2"})
	b.Press("#legend [data-kind='1']")
	expect("another", map[[2]float64]string{subsampling: "k1", feedForward: "dimmed"})
	b.Press("#legend [data-kind='1']")
	expect("pressed again", map[[2]float64]string{subsampling: "k1", feedForward: "k2"})
}

func testPrograms(t *testing.T, b *browser.Browser) {
	page := small()
	b.Open(written(t, page))
	want := []string{"2 rows: 1.0 kB", "1 row: 64 B"}
	if got := browser.Eval[[]string](b, "[...document.getElementById('program').options].map(o => o.textContent)"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b.Press("#zoom-in")
	browser.Eval[bool](b, "document.getElementById('program').focus(), true")
	b.Key("ArrowDown", 0)
	if v := viewOf(b); v != (view{0, 1, 0, 64}) {
		t.Errorf("the second program is shown as %+v", v)
	}
	if diff := cmp.Diff(rowsOf(page.Programs[1], 0), rowsShown(b)); diff != "" {
		t.Errorf("want (-), got (+)\n%s", diff)
	}
	x, y := plotOf(b).At(0.9, 0.1)
	if got, want := colorAt(b.Screenshot(), 1, x, y), browser.Colors(t, pageCSS)["light"]["k8"]; got != want {
		t.Errorf("the loss is %s, want %s", got, want)
	}
}

func testEvil(t *testing.T, b *browser.Browser) {
	evil := "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" '{{.}}' ${1}"
	page := small()
	page.Title = evil
	page.Facts = []Fact{{evil, evil}}
	p := &page.Programs[0]
	p.Name, p.Buffers[2].Name, p.Steps[2].Name, p.Steps[3].Place = evil, evil, evil, evil
	b.Open(written(t, page))
	for _, of := range []string{"document.title", "document.querySelector('h1').textContent", "document.querySelector('dt').textContent",
		"document.querySelector('dd').textContent", "shown.program.name"} {
		if got := browser.Eval[string](b, of); got != evil {
			t.Errorf("%s is %q, want %q", of, got, evil)
		}
	}
	x, y := viewOf(b).point(plotOf(b), 3.2, 500)
	b.Click(x, y, 1)
	b.MoveTo(x+1, y)
	if got := b.TextOf("#tooltip"); !strings.Contains(got, evil) {
		t.Errorf("%q doesn't name %q", got, evil)
	}
	if n := browser.Eval[int](b, "document.querySelectorAll('img').length"); n != 0 {
		t.Errorf("%d images", n)
	}
}

// A program of the largest size that is to be expected: everything is drawn and can be asked.
func testLarge(t *testing.T, b *browser.Browser) {
	page := large(4000)
	b.Open(written(t, page))
	p := page.Programs[0]
	if diff := cmp.Diff(rowsOf(p, peak(p.live())), rowsShown(b)); diff != "" {
		t.Errorf("want (-), got (+)\n%s", diff)
	}
	b.MoveTo(plotOf(b).At(0.5, 0.6))
	if got := b.TextOf("#tooltip"); !strings.HasPrefix(got, "encoder.blocks.") {
		t.Errorf("%q, want a buffer", got)
	}
}

func testNoScript(t *testing.T, b *browser.Browser) {
	page := small()
	b.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	defer b.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.Load(written(t, page))
	if diff := cmp.Diff(rowsOf(page.Programs[0], 5), rowsShown(b)); diff != "" {
		t.Errorf("want (-), got (+)\n%s", diff)
	}
	if got := b.TextOf("#facts"); got != "weights\n1.0 MB\nverdict\nit fits" {
		t.Errorf("the facts are %q", got)
	}
	if got := b.TextOf("#picture"); got != "" {
		t.Errorf("there is no picture, but %q", got)
	}
	if got := b.TextOf("noscript"); !strings.Contains(got, "needs JavaScript") {
		t.Errorf("nothing says what is missing, but %q", got)
	}
}
