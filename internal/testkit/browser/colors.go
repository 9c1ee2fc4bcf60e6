package browser

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Colors are those of a style sheet, or of several one behind the other, by their names, light and dark.
func Colors(t *testing.T, css string) map[string]map[string]string {
	t.Helper()
	variable := regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`)
	parts := strings.Split(css, "@media (prefers-color-scheme: dark)")
	if len(parts) == 1 {
		t.Fatal("the style sheet has no colors for the dark")
	}
	sets := map[string]map[string]string{"light": {}, "dark": {}}
	take := func(scheme, text string) {
		for _, m := range variable.FindAllStringSubmatch(text, -1) {
			sets[scheme][m[1]] = m[2]
		}
	}
	take("light", parts[0])
	for _, part := range parts[1:] {
		dark, light, _ := strings.Cut(part, "}") // it holds the variables alone
		take("dark", dark)
		take("light", light)
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

// sights are how eyes see linear red, green and blue: with all three receptors, and without one of them (Machado,
// Oliveira and Fernandes 2009, severity 1).
var sights = map[string][3][3]float64{
	"trichromat":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanope":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranope": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanope":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func times(m [3][3]float64, v [3]float64) (product [3]float64) {
	for i := range m {
		for j := range v {
			product[i] += m[i][j] * v[j]
		}
	}
	return product
}

// oklab is a color in the space OKLab (Ottosson 2020), in which distances are differences as they are seen: black and
// white are 1 apart.
func oklab(rgb [3]float64) [3]float64 {
	for i := range rgb {
		rgb[i] = min(max(rgb[i], 0), 1)
	}
	lms := times([3][3]float64{
		{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005},
	}, rgb)
	for i := range lms {
		lms[i] = math.Cbrt(lms[i])
	}
	return times([3][3]float64{
		{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099}, {0.0259040371, 0.7827717662, -0.8086757660},
	}, lms)
}

// Difference is how much two colors #rrggbb differ for the eyes that see least of it, in OKLab, and whose these are.
func Difference(t *testing.T, a, b string) (least float64, sight string) {
	t.Helper()
	least = math.Inf(1)
	for name, matrix := range sights {
		p, q := oklab(times(matrix, Linear(t, a))), oklab(times(matrix, Linear(t, b)))
		if d := math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2])); d < least {
			least, sight = d, name
		}
	}
	return least, sight
}
