package browser

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Colors are those of a style sheet by their names, light and dark.
func Colors(t *testing.T, css string) map[string]map[string]string {
	t.Helper()
	variable := regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`)
	light, dark, found := strings.Cut(css, "@media (prefers-color-scheme: dark)")
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

// Linear is a color #rrggbb as amounts of light.
func Linear(t *testing.T, color string) (rgb [3]float64) {
	t.Helper()
	for i := range rgb {
		n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatalf("%q: %v", color, err)
		}
		if c := float64(n) / 255; c <= 0.04045 {
			rgb[i] = c / 12.92
		} else {
			rgb[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return rgb
}

func luminance(rgb [3]float64) float64 { return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2] }

// Contrast is that of WCAG, 1 to 21.
func Contrast(a, b [3]float64) float64 {
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}
