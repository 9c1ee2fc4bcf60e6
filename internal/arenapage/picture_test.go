package arenapage

import (
	"fmt"
	"image"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// box is a part of the window, in CSS pixels.
type box struct{ Left, Top, Right, Bottom float64 }

// at is a point of a box: 0, 0 at its top left, 1, 1 at its bottom right.
func (b box) at(x, y float64) (float64, float64) {
	return b.Left + x*(b.Right-b.Left), b.Top + y*(b.Bottom-b.Top)
}

// view is the part of the arena that the picture shows.
type view struct{ Left, Right, Bottom, Top float64 }

// point is where a step and a byte of the arena lie in the window.
func (v view) point(plot box, step, byte float64) (x, y float64) {
	return plot.at((step-v.Left)/(v.Right-v.Left), (v.Top-byte)/(v.Top-v.Bottom))
}

func (b *browser) view() view { b.t.Helper(); return eval[view](b, viewNow) }

// plot is where the window shows the arena.
func (b *browser) plot() box {
	b.t.Helper()
	return eval[box](b, `(() => {
		const c = canvas.getBoundingClientRect(), p = plot();
		return {Left: c.left + p.left, Top: c.top + p.top, Right: c.left + p.right, Bottom: c.top + p.bottom};
	})()`)
}

const viewNow = `({Left: shown.left, Right: shown.right, Bottom: shown.bottom, Top: shown.top})`

// boxOf is where an element is.
func (b *browser) boxOf(selector string) box {
	b.t.Helper()
	return eval[box](b, fmt.Sprintf(`(() => {
		const r = document.querySelector(%q).getBoundingClientRect();
		return {Left: r.left, Top: r.top, Right: r.right, Bottom: r.bottom};
	})()`, selector))
}

func (b *browser) press(selector string) {
	b.t.Helper()
	x, y := b.boxOf(selector).at(0.5, 0.5)
	b.click(x, y, 1)
}

// textOf is what an element shows, "" if it is hidden.
func (b *browser) textOf(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("(e => e.checkVisibility() ? e.innerText : '')(document.querySelector(%q))", selector))
}

// rows are the texts of the table's rows that can be seen: place, bytes, share.
func (b *browser) rows() [][]string {
	b.t.Helper()
	return eval[[][]string](b, tableNow)
}

const tableNow = `[...document.querySelectorAll("#holders tbody tr, #holders tfoot tr")]
	.filter(row => !row.hidden).map(row => [...row.cells].slice(0, 3).map(cell => cell.textContent))`

// rowsOf are the rows that Go makes of a step.
func rowsOf(p Program, step int) (rows [][]string) {
	s := summarize(p, step)
	for _, r := range append(s.Rows, s.Live, s.Free, s.Arena) {
		rows = append(rows, []string{r.Name, r.Bytes, r.Share})
	}
	return rows
}

// colors are those of the style sheet by their names, light and dark.
func colors(t *testing.T) map[string]map[string]string {
	t.Helper()
	variable := regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`)
	light, dark, found := strings.Cut(pageCSS, "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("the style sheet has no colors for the dark")
	}
	sets := map[string]map[string]string{"light": {}, "dark": {}}
	for scheme, text := range map[string]string{"light": light, "dark": dark} {
		for _, m := range variable.FindAllStringSubmatch(text, -1) {
			sets[scheme][m[1]] = m[2]
		}
	}
	return sets
}

// colorAt is the color of a pixel of a screenshot with so many pixels to a CSS pixel.
func colorAt(picture image.Image, ratio, x, y float64) string {
	r, g, b, _ := picture.At(int(x*ratio), int(y*ratio)).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

func TestPicture(t *testing.T) {
	b := startBrowser(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, b *browser)
	}{
		{"buffers are drawn where they lie", testDrawn},
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
		t.Run(c.name, func(t *testing.T) {
			here := *b
			here.t = t
			defer func() { b.calls = here.calls }()
			c.test(t, &here)
			for _, complaint := range here.complaints() {
				t.Errorf("the browser says: %.500s", complaint)
			}
		})
	}
}

// Every buffer has its kind's color at its place, and what is between them that of free memory; in the light, in the
// dark, and with pixels of any size.
func testDrawn(t *testing.T, b *browser) {
	p := small().Programs[0]
	defer b.screen(1, "light")
	for scheme, color := range colors(t) {
		for _, ratio := range []float64{1, 1.5, 2} {
			b.screen(ratio, scheme)
			b.open(written(t, small()))
			picture, plot := b.screenshot(), b.plot()
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

// The script's arithmetic is Go's: its table of each step, and of the peak when the page is opened.
func testTable(t *testing.T, b *browser) {
	for _, page := range []Page{small(), large(120)} {
		b.open(written(t, page))
		p := page.Programs[0]
		top := peak(p.live())
		if diff := cmp.Diff(rowsOf(p, top), b.rows()); diff != "" {
			t.Errorf("%s, the peak: Go (-), script (+)\n%s", page.Title, diff)
		}
		if got := b.textOf("#holders h2"); got != "Who holds what at the peak" {
			t.Errorf("%q, want the peak", got)
		}
		for step, got := range eval[[][][]string](b, "shown.program.ops.map((_, i) => { pin(i); return "+tableNow+"})") {
			if diff := cmp.Diff(rowsOf(p, step), got); diff != "" {
				t.Fatalf("%s, step %d: Go (-), script (+)\n%s", page.Title, step, diff)
			}
		}
	}
}

func testPoint(t *testing.T, b *browser) {
	b.open(written(t, small()))
	plot, all := b.plot(), b.view()
	if got := b.textOf("#tooltip"); got != "" {
		t.Errorf("before anything is pointed at: %q", got)
	}
	for _, c := range []struct {
		step, byte float64
		want       []string
	}{
		{3.2, 500, []string{"encoder.blocks.0.ffn1.up", "200 bytes (200 B) at 400", "steps 2 to 7", "made by op2 at encoder.blocks.0.ffn1.s2", "step 3: op3 at encoder.blocks.0.ffn1.s3, 600 B in use"}},
		{0.5, 50, []string{"features", "100 bytes (100 B) at 0", "from before the run to step 8", "given before the run", "step 0: op0 at encoder.blocks.0.ffn1.s0, 400 B in use"}},
		{5.5, 650, []string{"encoder.blocks.0.attn scratch", "100 bytes (100 B) at 600", "step 5", "made by op5 at encoder.blocks.0.ffn1.s5", "step 5: op5 at encoder.blocks.0.ffn1.s5, 750 B in use"}},
		{9.9, 925, []string{"ctc.loss", "50 bytes (50 B) at 900", "steps 4 to the end of the run", "made by op4 at encoder.blocks.0.ffn1.s4", "step 9: op9 at encoder.blocks.0.ffn1.s9, 350 B in use"}},
		{9.5, 50, []string{"free", "step 9: op9 at encoder.blocks.0.ffn1.s9, 350 B in use"}},
		{1.5, 1100, []string{"step 1: op1 at encoder.blocks.0.ffn1.s1, 400 B in use"}}, // above the arena: the curve
	} {
		b.moveTo(all.point(plot, c.step, c.byte))
		if diff := cmp.Diff(c.want, strings.Split(b.textOf("#tooltip"), "\n")); diff != "" {
			t.Errorf("step %v, byte %v: want (-), got (+)\n%s", c.step, c.byte, diff)
		}
		if tip, frame := b.boxOf("#tooltip"), b.boxOf("#frame"); tip.Left < frame.Left || tip.Right > frame.Right+1 || tip.Top < frame.Top {
			t.Errorf("step %v, byte %v: the words at %v are not in the frame %v", c.step, c.byte, tip, frame)
		}
	}
	b.moveTo(5, 5)
	if got := b.textOf("#tooltip"); got != "" {
		t.Errorf("beside the picture: %q", got)
	}
}

func testPin(t *testing.T, b *browser) {
	p := small().Programs[0]
	b.open(written(t, small()))
	plot, all := b.plot(), b.view()
	for _, step := range []int{2, 9, 0} {
		x, y := all.point(plot, float64(step)+0.3, 300)
		b.click(x, y, 1)
		if diff := cmp.Diff(rowsOf(p, step), b.rows()); diff != "" {
			t.Errorf("step %d: want (-), got (+)\n%s", step, diff)
		}
		if got, want := b.textOf("#holders p"), fmt.Sprintf("2 rows: step %d, op%d at encoder.blocks.0.ffn1.s%d", step, step, step); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		x, y = all.point(plot, float64(step)+0.5, 700)
		if got, want := colorAt(b.screenshot(), 1, x, y), colors(t)["light"]["accent"]; got != want {
			t.Errorf("the mark of step %d is %s, want %s", step, got, want)
		}
	}
	b.press("#to-peak")
	if got := b.textOf("#holders h2"); got != "Who holds what at the peak" {
		t.Errorf("after Peak: %q", got)
	}
}

// near allows the rounding of a few operations on float64.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1) }

func testWheel(t *testing.T, b *browser) {
	b.open(written(t, small()))
	plot := b.plot()
	x, y := plot.at(0.25, 0.5)
	for _, c := range []struct {
		modifiers      int
		pixels         float64
		factorX, factY float64
	}{
		{0, -100, math.Exp(-0.25), math.Exp(-0.25)},
		{shift, -100, math.Exp(-0.25), 1},
		{alt, -100, 1, math.Exp(-0.25)},
		{0, 40, math.Exp(0.1), math.Exp(0.1)},
	} {
		before := b.view()
		b.wheel(x, y, c.pixels, c.modifiers)
		after := b.view()
		if got := (after.Right - after.Left) / (before.Right - before.Left); !near(got, c.factorX) {
			t.Errorf("keys %d, wheel by %v: %v times the steps, want %v", c.modifiers, c.pixels, got, c.factorX)
		}
		if got := (after.Top - after.Bottom) / (before.Top - before.Bottom); !near(got, c.factY) {
			t.Errorf("keys %d, wheel by %v: %v times the bytes, want %v", c.modifiers, c.pixels, got, c.factY)
		}
		if was, is := before.Left+0.25*(before.Right-before.Left), after.Left+0.25*(after.Right-after.Left); !near(was, is) {
			t.Errorf("keys %d: step %v was under the pointer, now %v is", c.modifiers, was, is)
		}
		if was, is := (before.Bottom+before.Top)/2, (after.Bottom+after.Top)/2; !near(was, is) {
			t.Errorf("keys %d: byte %v was under the pointer, now %v is", c.modifiers, was, is)
		}
	}
	// What is drawn follows: the buffer's color ends at its new edge.
	now, picture, light := b.view(), b.screenshot(), colors(t)["light"]
	for step, want := range map[float64]string{1.9: light["free"], 2.1: light["k2"]} {
		if x, y := now.point(plot, step, 580); colorAt(picture, 1, x, y) != want {
			t.Errorf("zoomed, step %v is %s, want %s", step, colorAt(picture, 1, x, y), want)
		}
	}
	if got, want := b.textOf("#range"), fmt.Sprintf("In view: steps %v to %v of 10, %.0f B to %.0f B of 1.0 kB",
		math.Floor(now.Left), math.Ceil(now.Right)-1, now.Bottom, now.Top); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// There is an end to it on both sides.
	for range 6 {
		b.wheel(x, y, -400, 0)
	}
	if v := b.view(); !near(v.Right-v.Left, 4) || !near(v.Top-v.Bottom, 256) {
		t.Errorf("zoomed in as far as it goes: %+v", v)
	}
	for range 6 {
		b.wheel(x, y, 400, 0)
	}
	if v := b.view(); v != (view{0, 10, 0, 1000}) {
		t.Errorf("zoomed out as far as it goes: %+v", v)
	}
}

func testDrag(t *testing.T, b *browser) {
	b.open(written(t, small()))
	plot := b.plot()
	fromX, fromY := plot.at(0.5, 0.5)
	b.wheel(fromX, fromY, -300, 0)
	before := b.view()
	b.drag(fromX, fromY, fromX-50, fromY+40)
	after := b.view()
	right := 50 / (plot.Right - plot.Left) * (before.Right - before.Left)
	up := 40 / (plot.Bottom - plot.Top) * (before.Top - before.Bottom)
	if want := (view{before.Left + right, before.Right + right, before.Bottom + up, before.Top + up}); !near(after.Left, want.Left) ||
		!near(after.Right, want.Right) || !near(after.Bottom, want.Bottom) || !near(after.Top, want.Top) {
		t.Errorf("dragged from %+v to %+v, want %+v", before, after, want)
	}
	if got := b.textOf("#holders h2"); got != "Who holds what at the peak" {
		t.Errorf("dragging is not clicking, but the table says %q", got)
	}
	b.drag(fromX, fromY, fromX-5000, fromY+5000)
	if v := b.view(); !near(v.Right, 10) || !near(v.Top, 1000) || !near(v.Right-v.Left, before.Right-before.Left) {
		t.Errorf("dragged beyond the end: %+v", v)
	}
	b.click(fromX, fromY, 2)
	if v := b.view(); v != (view{0, 10, 0, 1000}) {
		t.Errorf("after a double click: %+v", v)
	}
}

func testKeys(t *testing.T, b *browser) {
	b.open(written(t, small()))
	for range 30 {
		if b.key("Tab", 0); eval[string](b, "document.activeElement.id") == "chart" {
			break
		}
	}
	if got := eval[string](b, "document.activeElement.id"); got != "chart" {
		t.Fatalf("Tab doesn't lead to the picture but to %q", got)
	}
	heading := func(after, want string) {
		t.Helper()
		if got := b.textOf("#holders h2"); got != "Who holds what at "+want {
			t.Errorf("after %s: %q, want %q", after, got, want)
		}
	}
	tip := func(after, want string) {
		t.Helper()
		if got := strings.Split(b.textOf("#tooltip"), "\n"); got[0] != want {
			t.Errorf("after %s: %q, want %q first", after, got, want)
		}
	}
	for _, c := range []struct{ key, step string }{
		{"ArrowRight", "step 6"}, {"ArrowRight", "step 7"}, {"ArrowLeft", "step 6"}, {"PageUp", "the peak"}, {"PageDown", "step 6"},
		{"End", "step 9"}, {"ArrowRight", "step 9"}, {"Home", "step 0"}, {"ArrowLeft", "step 0"},
	} {
		b.key(c.key, 0)
		heading(c.key, c.step)
	}
	tip("Home", "step 0: op0 at encoder.blocks.0.ffn1.s0, 400 B in use")
	for _, c := range []struct{ key, name string }{
		{"ArrowUp", "features"}, {"ArrowUp", "encoder.subsample.conv.0"}, {"ArrowUp", "encoder.subsample.conv.0"}, {"ArrowDown", "features"},
	} {
		b.key(c.key, 0)
		tip(c.key, c.name)
	}
	b.key("Escape", 0)
	heading("Escape", "the peak")
	if got := b.textOf("#tooltip"); got != "" {
		t.Errorf("after Escape: %q", got)
	}

	b.key("+", 0)
	if v := b.view(); !near(v.Right-v.Left, 5) || !near(v.Top-v.Bottom, 500) || v.Left > 5 || v.Right < 6 {
		t.Errorf("after +: %+v", v)
	}
	before := b.view()
	b.key("ArrowLeft", shift)
	b.key("ArrowUp", shift)
	if v := b.view(); !near(v.Left, before.Left-0.5) || !near(v.Bottom, before.Bottom+50) {
		t.Errorf("moved from %+v to %+v, want half a step and 50 bytes", before, v)
	}
	b.key("Home", 0) // out of view: the picture follows
	if v := b.view(); v.Left > 0.5 || v.Right < 0.5 {
		t.Errorf("step 0 is not in view: %+v", v)
	}
	b.key("ArrowUp", 0) // a buffer that is out of view
	if v := b.view(); v.Bottom > 50 || v.Top < 50 {
		t.Errorf("the middle of the inputs, byte 50, is not in view: %+v", v)
	}
	b.key("-", 0)
	b.key("+", 0)
	b.key("0", 0)
	if v := b.view(); v != (view{0, 10, 0, 1000}) {
		t.Errorf("after 0: %+v", v)
	}
}

func testParts(t *testing.T, b *browser) {
	b.open(written(t, small()))
	closed := b.rows()
	button := "#holders tbody tr:nth-child(3) button" // row 2 is the first part's only buffer
	b.press(button)
	open := slices.Concat(closed[:2], [][]string{
		{"encoder.blocks.0.ffn1.up", "200 B", "20.0 %"}, {"encoder.blocks.0.attn scratch", "100 B", "10.0 %"},
	}, closed[2:])
	if diff := cmp.Diff(open, b.rows()); diff != "" {
		t.Errorf("opened: want (-), got (+)\n%s", diff)
	}
	if got, want := b.textOf("#holders tbody tr:nth-child(4) td:last-child"), "steps 2 to 7"; got != want {
		t.Errorf("the first buffer lives %q, want %q", got, want)
	}

	// Pointing at a buffer's row puts a frame around it.
	all, plot := b.view(), b.plot()
	x, y := all.point(plot, 2, 500)
	ink := colors(t)["light"]["ink"]
	if got := colorAt(b.screenshot(), 1, x, y); got == ink {
		t.Errorf("a frame before its row is pointed at")
	}
	b.moveTo(b.boxOf("#holders tbody tr:nth-child(4) th").at(0.5, 0.5))
	if got := colorAt(b.screenshot(), 1, x, y); got != ink {
		t.Errorf("the left edge of the buffer is %s, want the frame's %s", got, ink)
	}

	// A part stays open at another step, and closes by the keyboard.
	eval[bool](b, "pin(6), true")
	if rows := b.rows(); len(rows) < 3 || rows[2][0] != "encoder.blocks.0.ffn1.up" && rows[1][0] != "encoder.blocks.0.ffn1.up" {
		t.Errorf("step 6: the part doesn't stay open: %q", rows)
	}
	eval[bool](b, "pin(5), document.querySelector('"+button+"').focus(), true")
	b.key("Enter", 0)
	if diff := cmp.Diff(closed, b.rows()); diff != "" {
		t.Errorf("closed again: want (-), got (+)\n%s", diff)
	}
}

func testLegend(t *testing.T, b *browser) {
	b.open(written(t, small()))
	var names []string
	for _, k := range []int{0, 1, 2, 3, 8, 10} { // kinds of small's buffers
		names = append(names, kinds[k].name)
	}
	var got []string
	for _, line := range eval[[]string](b, "[...document.querySelectorAll('#legend button')].map(b => b.textContent)") {
		got = append(got, regexp.MustCompile(` \d+ B$`).ReplaceAllString(line, ""))
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("want (-), got (+)\n%s", diff)
	}
	all, plot, light := b.view(), b.plot(), colors(t)["light"]
	expect := func(when string, want map[[2]float64]string) {
		t.Helper()
		picture := b.screenshot()
		for at, name := range want {
			if x, y := all.point(plot, at[0], at[1]); colorAt(picture, 1, x, y) != light[name] {
				t.Errorf("%s: %v is %s, want %s (%s)", when, at, colorAt(picture, 1, x, y), light[name], name)
			}
		}
	}
	subsampling, feedForward := [2]float64{1.1, 394}, [2]float64{3.1, 594}
	b.press("#legend [data-kind='2']")
	if got := eval[string](b, "document.activeElement.dataset.kind"); got != "2" {
		t.Errorf("the focus is lost to %q", got)
	}
	expect("pressed", map[[2]float64]string{subsampling: "dimmed", feedForward: "k2"})
	b.press("#legend [data-kind='1']")
	expect("another", map[[2]float64]string{subsampling: "k1", feedForward: "dimmed"})
	b.press("#legend [data-kind='1']")
	expect("pressed again", map[[2]float64]string{subsampling: "k1", feedForward: "k2"})
}

func testPrograms(t *testing.T, b *browser) {
	page := small()
	b.open(written(t, page))
	want := []string{"2 rows: 1.0 kB", "1 row: 64 B"}
	if got := eval[[]string](b, "[...document.getElementById('program').options].map(o => o.textContent)"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b.press("#zoom-in")
	eval[bool](b, "document.getElementById('program').focus(), true")
	b.key("ArrowDown", 0)
	if v := b.view(); v != (view{0, 1, 0, 64}) {
		t.Errorf("the second program is shown as %+v", v)
	}
	if diff := cmp.Diff(rowsOf(page.Programs[1], 0), b.rows()); diff != "" {
		t.Errorf("want (-), got (+)\n%s", diff)
	}
	x, y := b.plot().at(0.9, 0.1)
	if got, want := colorAt(b.screenshot(), 1, x, y), colors(t)["light"]["k8"]; got != want {
		t.Errorf("the loss is %s, want %s", got, want)
	}
}

func testEvil(t *testing.T, b *browser) {
	evil := "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" '{{.}}' ${1}"
	page := small()
	page.Title = evil
	page.Facts = []Fact{{evil, evil}}
	p := &page.Programs[0]
	p.Name, p.Buffers[2].Name, p.Steps[2].Name, p.Steps[3].Place = evil, evil, evil, evil
	b.open(written(t, page))
	for _, of := range []string{"document.title", "document.querySelector('h1').textContent", "document.querySelector('dt').textContent",
		"document.querySelector('dd').textContent", "shown.program.name"} {
		if got := eval[string](b, of); got != evil {
			t.Errorf("%s is %q, want %q", of, got, evil)
		}
	}
	x, y := b.view().point(b.plot(), 3.2, 500)
	b.click(x, y, 1)
	b.moveTo(x+1, y)
	if got := b.textOf("#tooltip"); !strings.Contains(got, evil) {
		t.Errorf("%q doesn't name %q", got, evil)
	}
	if n := eval[int](b, "document.querySelectorAll('img').length"); n != 0 {
		t.Errorf("%d images", n)
	}
}

// A program of the largest size that is to be expected: everything is drawn and can be asked.
func testLarge(t *testing.T, b *browser) {
	page := large(4000)
	b.open(written(t, page))
	p := page.Programs[0]
	if diff := cmp.Diff(rowsOf(p, peak(p.live())), b.rows()); diff != "" {
		t.Errorf("want (-), got (+)\n%s", diff)
	}
	b.moveTo(b.plot().at(0.5, 0.6))
	if got := b.textOf("#tooltip"); !strings.HasPrefix(got, "encoder.blocks.") {
		t.Errorf("%q, want a buffer", got)
	}
}

func testNoScript(t *testing.T, b *browser) {
	page := small()
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	defer b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.load(written(t, page))
	if diff := cmp.Diff(rowsOf(page.Programs[0], 5), b.rows()); diff != "" {
		t.Errorf("want (-), got (+)\n%s", diff)
	}
	if got := b.textOf("#facts"); got != "weights\n1.0 MB\nverdict\nit fits" {
		t.Errorf("the facts are %q", got)
	}
	if got := b.textOf("#picture"); got != "" {
		t.Errorf("there is no picture, but %q", got)
	}
	if got := b.textOf("noscript"); !strings.Contains(got, "needs JavaScript") {
		t.Errorf("nothing says what is missing, but %q", got)
	}
}
