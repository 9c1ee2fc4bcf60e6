package arenapage

import (
	"fmt"
	"math"
	"testing"

	"konkanitrain/internal/testkit/browser"
)

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

// Any two kinds differ, and each from free memory, for everybody: by 0.09, about four times what is just seen side by
// side (0.02). Palettes with as many colors that are recommended for the color-blind have pairs below 0.03.
func TestColorsDiffer(t *testing.T) {
	for scheme, color := range browser.Colors(t, pageCSS) {
		names := []string{"free"}
		for k := range kinds {
			names = append(names, fmt.Sprintf("k%d", k))
		}
		for sight, matrix := range sights {
			for i, a := range names {
				for _, b := range names[:i] {
					p, q := oklab(times(matrix, browser.Linear(t, color[a]))), oklab(times(matrix, browser.Linear(t, color[b])))
					if d := math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2])); d < 0.09 {
						t.Errorf("%s, %s: %s (%s) and %s (%s) differ by %.3f", scheme, sight, a, color[a], b, color[b], d)
					}
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
