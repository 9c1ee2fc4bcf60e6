package rangetest

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"konkanitrain/internal/testkit/browser"
)

// found is the result of a test that shows all there is to show.
func found() Result {
	test, end := run(func(d float64) float64 { return valley(d) * (1 + 0.1*wave(d)) })
	return test.Judge("new weights", end)
}

func written(t testing.TB, title string, r Result) string {
	t.Helper()
	var out strings.Builder
	if err := WritePage(&out, title, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The page is one file without a script, and says what the text says.
func TestPageIsOneFile(t *testing.T) {
	r := found()
	page := written(t, "Learning rates of runs/first", r)
	for _, other := range []string{"src=", "href=", "url(", "@import", "<script", "://"} {
		if at := strings.Index(page, other); at >= 0 {
			t.Errorf("%s in the page: %.60q", other, page[at:])
		}
	}
	for _, want := range []string{"<h1>Learning rates of runs/first</h1>", r.Verdict, "from new weights", "suggested 0.00", "lowest loss 0.00", "as low up to 0.0", "falls fastest "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(pageCSS, "</") || !strings.Contains(page, pageCSS) {
		t.Error("the style sheet is not in the page as it is, or could end its element")
	}
	if n := len(regexp.MustCompile("<circle").FindAllString(page, -1)); n != r.Updates {
		t.Errorf("%d dots for %d updates", n, r.Updates)
	}
}

// Losses are marked at round values, more of them where few of these lie in between.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0.9, 30, "[1 2 5 10 20]"}, {10, 100, "[10 20 50 100]"}, {0.03, 2e4, "[0.1 1 10 100 1000 10000]"}, {6, 7.5, "[6 7]"}, {9.5, 14, "[10 12]"},
	} {
		var near []float64 // powers of ten are rounded
		for _, v := range ticks(c.low, c.high) {
			near = append(near, math.Round(1e6*v)/1e6)
		}
		if got := fmt.Sprintf("%g", near); got != c.want {
			t.Errorf("from %g to %g: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// A result that suggests nothing has a page without marks, and one without updates a page without a picture.
func TestPageOfLittle(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "<svg", 10: "<svg"} {
		full, _ := run(valley)
		r := (&Test{Points: full.Points[:n]}).Judge("new weights", Interrupted)
		page := written(t, "x", r)
		if strings.Contains(page, "<svg") != (want != "") || strings.Contains(page, "class=\"suggested\"") || !strings.Contains(page, r.Verdict) {
			t.Errorf("%d updates:\n%s", n, page)
		}
	}
}

// Texts come from paths. None may end an element, or begin one.
func TestTextsAreOnlyTexts(t *testing.T) {
	evil := `</title><script>alert(1)</script>"<img src=x onerror=alert(2)> & '{{.}}'`
	r := found()
	r.Start, r.End, r.Verdict = evil, evil, evil
	page := written(t, evil, r)
	if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Count(page, "</title>") != 1+r.Updates {
		t.Errorf("%.3000s", page)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteSaysThatNothingMoreFits(t *testing.T) {
	if err := WritePage(full{}, "x", found()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
}

// Texts can be read, in the light and in the dark: contrast of 4.5 and more, as WCAG asks for; dots of 2.5.
func TestColorsCanBeSeen(t *testing.T) {
	for scheme, color := range browser.Colors(t, pageCSS) {
		for ink, least := range map[string]float64{"ink": 4.5, "quiet": 4.5, "accent": 4.5, "peak": 4.5, "doubt": 4.5, "bar": 2.5} {
			if c := browser.Contrast(browser.Linear(t, color[ink]), browser.Linear(t, color["page"])); c < least {
				t.Errorf("%s: %s has a contrast of %.2f", scheme, ink, c)
			}
		}
	}
}
