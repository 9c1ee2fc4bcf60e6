package browser

import (
	"fmt"
	"testing"
)

// HasSchemes fails where a page, in each color scheme of its style sheet, hasn't the variable page of it behind
// everything.
func (b *Browser) HasSchemes(t *testing.T, css, page string) {
	t.Helper()
	defer b.Screen(1, "light")
	for scheme, color := range Colors(t, css) {
		b.Screen(1, scheme)
		b.Open(page)
		red, green, blue, _ := b.Screenshot().At(2, 2).RGBA()
		if got := fmt.Sprintf("#%02x%02x%02x", red>>8, green>>8, blue>>8); got != color["page"] {
			t.Errorf("%s: the page is %s, want %s", scheme, got, color["page"])
		}
	}
}

// FitsPhone opens a page in a window of 400 pixels, and fails where the page is wider, or texts in it are smaller than
// 11 pixels. The window stays so.
func (b *Browser) FitsPhone(t *testing.T, page string) {
	t.Helper()
	b.Window(400, 1, "light")
	b.Open(page)
	if w := Eval[float64](b, "document.documentElement.scrollWidth"); w > 400 {
		t.Errorf("the page is %v pixels wide", w)
	}
	if small := Eval[[]string](b, `[...document.querySelectorAll("p, b, button, li, td, th, summary, text")].filter(
		e => e.checkVisibility() && parseFloat(getComputedStyle(e).fontSize) < 11).map(e => e.textContent)`); len(small) > 0 {
		t.Errorf("smaller than 11 pixels: %q", small)
	}
}
