package arenapage

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit/browser"
)

func testPoint(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	plot, all := plotOf(b), viewOf(b)
	if got := b.TextOf("#tooltip"); got != "" {
		t.Errorf("before anything is pointed at: %q", got)
	}
	for _, c := range []struct {
		step, byte float64
		want       []string
	}{
		{3.2, 500, []string{
			"encoder.blocks.0.ffn1.up", "200 bytes (200 B) at 400", "steps 2 to 7",
			"made by op2 at encoder.blocks.0.ffn1.s2", "step 3: op3 at encoder.blocks.0.ffn1.s3, 600 B in use",
		}},
		{0.5, 50, []string{
			"features", "100 bytes (100 B) at 0", "from before the run to step 8",
			"given before the run", "step 0: op0 at encoder.blocks.0.ffn1.s0, 400 B in use",
		}},
		{5.5, 650, []string{
			"encoder.blocks.0.attn scratch", "100 bytes (100 B) at 600", "step 5",
			"made by op5 at encoder.blocks.0.ffn1.s5", "step 5: op5 at encoder.blocks.0.ffn1.s5, 750 B in use",
		}},
		{9.9, 925, []string{
			"ctc.loss", "50 bytes (50 B) at 900", "steps 4 to the end of the run",
			"made by op4 at encoder.blocks.0.ffn1.s4", "step 9: op9 at encoder.blocks.0.ffn1.s9, 350 B in use",
		}},
		{9.5, 50, []string{"free", "step 9: op9 at encoder.blocks.0.ffn1.s9, 350 B in use"}},
		{1.5, 1100, []string{"step 1: op1 at encoder.blocks.0.ffn1.s1, 400 B in use"}}, // above the arena: the curve
	} {
		b.MoveTo(all.point(plot, c.step, c.byte))
		if diff := cmp.Diff(c.want, strings.Split(b.TextOf("#tooltip"), "\n")); diff != "" {
			t.Errorf("step %v, byte %v: want (-), got (+)\n%s", c.step, c.byte, diff)
		}
		tip, frame := b.BoxOf("#tooltip"), b.BoxOf("#frame")
		if tip.Left < frame.Left || tip.Right > frame.Right+1 || tip.Top < frame.Top {
			t.Errorf("step %v, byte %v: the words at %v are not in the frame %v", c.step, c.byte, tip, frame)
		}
	}
	b.MoveTo(5, 5)
	if got := b.TextOf("#tooltip"); got != "" {
		t.Errorf("beside the picture: %q", got)
	}
}

func testPin(t *testing.T, b *browser.Browser) {
	p := small().Programs[0]
	b.Open(written(t, small()))
	plot, all := plotOf(b), viewOf(b)
	for _, step := range []int{2, 9, 0} {
		x, y := all.point(plot, float64(step)+0.3, 300)
		b.Click(x, y, 1)
		if diff := cmp.Diff(rowsOf(p, step), rowsShown(b)); diff != "" {
			t.Errorf("step %d: want (-), got (+)\n%s", step, diff)
		}
		want := fmt.Sprintf("2 rows: step %d, op%[1]d at encoder.blocks.0.ffn1.s%[1]d", step)
		if got := b.TextOf("#holders p"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		x, y = all.point(plot, float64(step)+0.5, 700)
		if got, want := colorAt(b.Screenshot(), 1, x, y), browser.Colors(t, pageCSS)["light"]["accent"]; got != want {
			t.Errorf("the mark of step %d is %s, want %s", step, got, want)
		}
	}
	b.Press("#to-peak")
	if got := b.TextOf("#holders h2"); got != "Who holds what at the peak" {
		t.Errorf("after Peak: %q", got)
	}
}

// near allows the rounding of a few operations on float64.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1) }

func testWheel(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	plot := plotOf(b)
	x, y := plot.At(0.25, 0.5)
	for _, c := range []struct {
		modifiers      int
		pixels         float64
		factorX, factY float64
	}{
		{0, -100, math.Exp(-0.25), math.Exp(-0.25)},
		{browser.Shift, -100, math.Exp(-0.25), 1},
		{browser.Alt, -100, 1, math.Exp(-0.25)},
		{0, 40, math.Exp(0.1), math.Exp(0.1)},
	} {
		before := viewOf(b)
		b.Wheel(x, y, c.pixels, c.modifiers)
		after := viewOf(b)
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
	now, picture, light := viewOf(b), b.Screenshot(), browser.Colors(t, pageCSS)["light"]
	for step, want := range map[float64]string{1.9: light["free"], 2.1: light["k2"]} {
		if x, y := now.point(plot, step, 580); colorAt(picture, 1, x, y) != want {
			t.Errorf("zoomed, step %v is %s, want %s", step, colorAt(picture, 1, x, y), want)
		}
	}
	if got, want := b.TextOf("#range"), fmt.Sprintf("In view: steps %v to %v of 10, %.0f B to %.0f B of 1.0 kB",
		math.Floor(now.Left), math.Ceil(now.Right)-1, now.Bottom, now.Top); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// There is an end to it on both sides.
	for range 6 {
		b.Wheel(x, y, -400, 0)
	}
	if v := viewOf(b); !near(v.Right-v.Left, 4) || !near(v.Top-v.Bottom, 256) {
		t.Errorf("zoomed in as far as it goes: %+v", v)
	}
	for range 6 {
		b.Wheel(x, y, 400, 0)
	}
	if v := viewOf(b); v != (view{0, 10, 0, 1000}) {
		t.Errorf("zoomed out as far as it goes: %+v", v)
	}
}

func testDrag(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	plot := plotOf(b)
	fromX, fromY := plot.At(0.2, 0.5) // not at the peak
	b.Wheel(fromX, fromY, -300, 0)
	before := viewOf(b)
	b.Drag(fromX, fromY, fromX-50, fromY+40)
	after := viewOf(b)
	right := 50 / (plot.Right - plot.Left) * (before.Right - before.Left)
	up := 40 / (plot.Bottom - plot.Top) * (before.Top - before.Bottom)
	if want := (view{before.Left + right, before.Right + right, before.Bottom + up, before.Top + up}); !near(after.Left, want.Left) ||
		!near(after.Right, want.Right) || !near(after.Bottom, want.Bottom) || !near(after.Top, want.Top) {
		t.Errorf("dragged from %+v to %+v, want %+v", before, after, want)
	}
	if got := b.TextOf("#holders h2"); got != "Who holds what at the peak" {
		t.Errorf("dragging is not clicking, but the table says %q", got)
	}
	b.Drag(fromX, fromY, fromX-5000, fromY+5000)
	if v := viewOf(b); !near(v.Right, 10) || !near(v.Top, 1000) || !near(v.Right-v.Left, before.Right-before.Left) {
		t.Errorf("dragged beyond the end: %+v", v)
	}
	b.Click(fromX, fromY, 2)
	if v := viewOf(b); v != (view{0, 10, 0, 1000}) {
		t.Errorf("after a double click: %+v", v)
	}
}

func testKeys(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	for range 30 {
		if b.Key("Tab", 0); browser.Eval[string](b, "document.activeElement.id") == "chart" {
			break
		}
	}
	if got := browser.Eval[string](b, "document.activeElement.id"); got != "chart" {
		t.Fatalf("Tab doesn't lead to the picture but to %q", got)
	}
	heading := func(after, want string) {
		t.Helper()
		if got := b.TextOf("#holders h2"); got != "Who holds what at "+want {
			t.Errorf("after %s: %q, want %q", after, got, want)
		}
	}
	tip := func(after, want string) {
		t.Helper()
		if got := strings.Split(b.TextOf("#tooltip"), "\n"); got[0] != want {
			t.Errorf("after %s: %q, want %q first", after, got, want)
		}
	}
	for _, c := range []struct{ key, step string }{
		{"ArrowRight", "step 6"}, {"ArrowRight", "step 7"}, {"ArrowLeft", "step 6"}, {"PageUp", "the peak"}, {"PageDown", "step 6"},
		{"End", "step 9"}, {"ArrowRight", "step 9"}, {"Home", "step 0"}, {"ArrowLeft", "step 0"},
	} {
		b.Key(c.key, 0)
		heading(c.key, c.step)
	}
	tip("Home", "step 0: op0 at encoder.blocks.0.ffn1.s0, 400 B in use")
	for _, c := range []struct{ key, name string }{
		{"ArrowUp", "features"}, {"ArrowUp", "encoder.subsample.conv.0"}, {"ArrowUp", "encoder.subsample.conv.0"}, {"ArrowDown", "features"},
	} {
		b.Key(c.key, 0)
		tip(c.key, c.name)
	}
	b.Key("Escape", 0)
	heading("Escape", "the peak")
	if got := b.TextOf("#tooltip"); got != "" {
		t.Errorf("after Escape: %q", got)
	}

	b.Key("+", 0)
	if v := viewOf(b); !near(v.Right-v.Left, 5) || !near(v.Top-v.Bottom, 500) || v.Left > 5 || v.Right < 6 {
		t.Errorf("after +: %+v", v)
	}
	before := viewOf(b)
	b.Key("0", browser.Control) // the browser's own
	if v := viewOf(b); v != before {
		t.Errorf("Control and 0 moved the picture from %+v to %+v", before, v)
	}
	b.Key("ArrowLeft", browser.Shift)
	b.Key("ArrowUp", browser.Shift)
	if v := viewOf(b); !near(v.Left, before.Left-0.5) || !near(v.Bottom, before.Bottom+50) {
		t.Errorf("moved from %+v to %+v, want half a step and 50 bytes", before, v)
	}
	b.Key("Home", 0) // out of view: the picture follows
	if v := viewOf(b); v.Left > 0.5 || v.Right < 0.5 {
		t.Errorf("step 0 is not in view: %+v", v)
	}
	b.Key("ArrowUp", 0) // a buffer that is out of view
	if v := viewOf(b); v.Bottom > 50 || v.Top < 50 {
		t.Errorf("the middle of the inputs, byte 50, is not in view: %+v", v)
	}
	b.Key("-", 0)
	b.Key("+", 0)
	b.Key("0", 0)
	if v := viewOf(b); v != (view{0, 10, 0, 1000}) {
		t.Errorf("after 0: %+v", v)
	}
}
