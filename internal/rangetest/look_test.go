package rangetest

import (
	"fmt"
	"math"
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
		{"the picture is drawn as the losses are", testPicture},
		{"all can be read in a narrow window", testNarrow},
		{"light and dark", testSchemes},
	} {
		b.Run(t, c.name, c.test)
	}
}

// boxes are where elements are in the window: left, top, right and bottom of each.
func boxes(b *browser.Browser, selector string) [][4]float64 {
	b.T.Helper()
	return browser.Eval[[][4]float64](b, fmt.Sprintf(
		`[...document.querySelectorAll(%q)].map(e => e.getBoundingClientRect()).map(r => [r.left, r.top, r.right, r.bottom])`, selector))
}

// Dots lie where rates and losses put them on logarithmic scales, marks and decades at their rates, and no text lies on
// another or outside.
func testPicture(t *testing.T, b *browser.Browser) {
	r := found()
	b.Open(written(t, "x", r))
	dots := boxes(b, "circle")
	if len(dots) != r.Updates {
		t.Fatalf("%d dots", len(dots))
	}
	first, last := dots[0], dots[len(dots)-1]
	x := func(rate float64) float64 { // of a dot's left edge
		return first[0] + math.Log(rate/r.Rates[0])/math.Log(r.Rates[len(dots)-1]/r.Rates[0])*(last[0]-first[0])
	}
	high, low := 0, 0
	for i, v := range r.Losses {
		if v > r.Losses[high] {
			high = i
		}
		if v < r.Losses[low] {
			low = i
		}
	}
	for i, dot := range dots {
		y := dots[low][1] + math.Log(r.Losses[i]/r.Losses[low])/math.Log(r.Losses[high]/r.Losses[low])*(dots[high][1]-dots[low][1])
		if math.Abs(dot[0]-x(r.Rates[i])) > 0.5 || math.Abs(dot[1]-y) > 0.5 { // pixels
			t.Errorf("update %d is at %v, want left %.1f, top %.1f", i+1, dot, x(r.Rates[i]), y)
		}
	}
	if dots[low][1] < dots[high][1]+300 || last[0] < first[0]+800 {
		t.Errorf("the dots take from %v to %v", dots[high], dots[low])
	}
	half := (first[2] - first[0]) / 2
	for class, rate := range map[string]float64{"suggested": r.Suggested, "lowest": r.Lowest.Rate, "bound": r.Bound.Rate, "steepest": r.Steepest.Rate} {
		if line := boxes(b, "."+class+" line")[0]; math.Abs(line[0]-half-x(rate)) > 0.5 {
			t.Errorf("the mark %s is at %v, want %v", class, line[0], x(rate)+half)
		}
	}
	labels := browser.Eval[map[string]float64](b, `Object.fromEntries([...document.querySelectorAll("text.rate")].map(
		e => [e.textContent, (r => (r.left + r.right) / 2)(e.getBoundingClientRect())]))`)
	for _, d := range []int{-6, -5, -4, -3, -2, -1} {
		text := fmt.Sprintf("1e%d", d)
		if at, there := labels[text]; !there || math.Abs(at-half-x(math.Pow(10, float64(d)))) > 1.5 { // of a text's box
			t.Errorf("%s stands at %v, want %v", text, at, x(math.Pow(10, float64(d)))+half)
		}
	}
	svg := boxes(b, "svg")[0]
	for i, dot := range dots {
		if dot[0] < svg[0] || dot[1] < svg[1] || dot[2] > svg[2] || dot[3] > boxes(b, "text.rate")[0][1] {
			t.Fatalf("update %d is at %v, outside of the plot", i+1, dot)
		}
	}
	texts := boxes(b, "svg text")
	for i, a := range texts {
		if a[0] < svg[0] || a[1] < svg[1] || a[2] > svg[2] || a[3] > svg[3] {
			t.Errorf("text %d is at %v, outside of %v", i, a, svg)
		}
		for j, c := range texts[:i] {
			if a[0] < c[2] && c[0] < a[2] && a[1] < c[3] && c[1] < a[3] {
				t.Errorf("texts %d and %d lie on one another: %v, %v", j, i, a, c)
			}
		}
	}
}

// In a window of 400 pixels nothing lies outside but the picture, which scrolls by itself; its texts can be read.
func testNarrow(t *testing.T, b *browser.Browser) {
	r := found()
	long := "runs/एक_खूब_लांब_नांव_जें_खंयच_मोडना_आनी_ओळींत_मावना_runs/एक_खूब_लांब_नांव_जें_खंयच_मोडना"
	r.Start = long
	defer b.Screen(1, "light")
	b.FitsPhone(t, written(t, long, r))
	if h := browser.Eval[float64](b, "Math.min(...[...document.querySelectorAll('svg text')].map(e => e.getBoundingClientRect().height))"); h < 13 {
		t.Errorf("texts of the picture are %v pixels high", h)
	}
}

func testSchemes(t *testing.T, b *browser.Browser) {
	b.HasSchemes(t, pageCSS, written(t, "x", found()))
}
