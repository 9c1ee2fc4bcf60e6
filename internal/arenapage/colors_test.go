package arenapage

import (
	"fmt"
	"testing"

	"konkanitrain/internal/testkit/browser"
)

// Any two kinds differ, and each from free memory, for everybody: by 0.09, about four times what is just seen side by
// side (0.02). Palettes with as many colors that are recommended for the color-blind have pairs below 0.03.
func TestColorsDiffer(t *testing.T) {
	for scheme, color := range browser.Colors(t, pageCSS) {
		names := []string{"free"}
		for k := range kinds {
			names = append(names, fmt.Sprintf("k%d", k))
		}
		for i, a := range names {
			for _, b := range names[:i] {
				if d, sight := browser.Difference(t, color[a], color[b]); d < 0.09 {
					t.Errorf("%s, %s: %s (%s) and %s (%s) differ by %.3f", scheme, sight, a, color[a], b, color[b], d)
				}
			}
		}
	}
}

// Texts can be read: contrast of 4.5 and more, as WCAG asks for.
func TestTextsCanBeRead(t *testing.T) {
	for scheme, color := range browser.Colors(t, pageCSS) {
		for _, ink := range []string{"ink", "quiet", "accent", "peak"} {
			for _, on := range []string{"page", "free"} {
				if c := browser.Contrast(browser.Linear(t, color[ink]), browser.Linear(t, color[on])); c < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", scheme, ink, on, c)
				}
			}
		}
	}
}
