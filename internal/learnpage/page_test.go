package learnpage

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/page"
	"konkanitrain/internal/testkit"
	"konkanitrain/internal/testkit/browser"
)

// straight is a curve at three updates.
func straight(name string, from, to, around float64) Curve {
	middle := (from + to) / 2
	return Curve{Name: name, X: []float64{100, 200, 300}, Mean: []float64{from, middle, to},
		Low: []float64{from - around, middle - around, to - around}, High: []float64{from + around, middle + around, to + around}}
}

// small is a page with one of everything.
func small() Page {
	return Page{
		Title: "Learning from little", Summary: "6 runs", First: []string{"base"},
		Tasks: []Task{
			{Name: "digits", Charts: []Chart{
				{Title: "Training loss", Unit: "nats", Curves: []Curve{straight("base", 30, 10, 2), straight("mix", 28, 2, 1)}},
				{Title: "Validation", Unit: "%", Curves: []Curve{{Name: "base"}, {Name: "mix"}}}, // nothing to draw
			}},
			{Name: "words", Charts: []Chart{
				{Title: "Training loss", Unit: "nats", Curves: []Curve{straight("base", 500, 1, 0.5)}},
				{Title: "Validation", Unit: "%", Curves: []Curve{straight("mix", 90, 10, 0)}},
			}},
		},
		Tables: []page.Table{{Title: "digits", Head: []string{"recipe", "words right"}, Rows: [][]string{{"base", "84.20"}}, More: "of 500"}},
		Notes:  []string{"one run failed"},
	}
}

func written(t testing.TB, p Page) string {
	t.Helper()
	var out strings.Builder
	if err := Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// drawn is what a page's script reads.
type drawn struct {
	Tasks [][]Chart
	First []string
}

func dataOf(t testing.TB, page string) (d drawn) {
	t.Helper()
	_, rest, found := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, ends := strings.Cut(rest, "</script>")
	if !found || !ends {
		t.Fatal("the page has no data element")
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestScriptReadsWhatWasGiven(t *testing.T) {
	p := small()
	want := drawn{[][]Chart{p.Tasks[0].Charts[:1], p.Tasks[1].Charts}, []string{"base"}}
	if diff := cmp.Diff(want, dataOf(t, written(t, p))); diff != "" {
		t.Errorf("given (-) and what the script reads (+):\n%s", diff)
	}
}

// Curves that can't be drawn are told.
func TestBadCurves(t *testing.T) {
	for want, change := range map[string]func(*Curve){
		`digits, Training loss: curve "base": 3 updates, 2 means`: func(c *Curve) { c.Mean = c.Mean[:2] },
		"3 and 2 ends of the band":                                func(c *Curve) { c.High = c.High[:2] },
		"update 100 comes after 100":                              func(c *Curve) { c.X = []float64{100, 100, 300} },
		"unsupported value":                                       func(c *Curve) { c.Low = []float64{0, 0, inf()} },
	} {
		p := small()
		change(&p.Tasks[0].Charts[0].Curves[0])
		testkit.MustFail(t, Write(&strings.Builder{}, p), want)
	}
}

func inf() float64 { zero := 0.0; return 1 / zero }

// Names come from a file of recipes. None may end an element, begin one, or be lost.
func FuzzTextsAreOnlyTexts(f *testing.F) {
	for _, evil := range []string{
		"</script><script>alert(1)</script>", "<!-- <script>", "</title></style>", `" onload="alert(1)`, "a&lt;b & 'c' `${d}`",
		"\u2028 and \u2029", "{{.Title}}", "]]>", "\xff\xfe\x00", "",
	} {
		f.Add(evil)
	}
	page := func(t testing.TB, text string) string {
		p := small()
		p.Title, p.Summary, p.Notes[0], p.First[0] = text, text, text, text
		p.Tasks[0].Name, p.Tasks[0].Charts[0].Title, p.Tasks[0].Charts[0].Unit, p.Tasks[0].Charts[0].Curves[0].Name = text, text, text, text
		p.Tables[0] = tableOf(text)
		return written(t, p)
	}
	clean := page(f, "clean")
	f.Fuzz(func(t *testing.T, evil string) {
		if evil == "" {
			return // elements are left out
		}
		got := page(t, evil)
		for _, tag := range []string{"<script", "</script", "<!--", "</style", "</title", "<title", "<img", "<td", "<p"} {
			if got, want := strings.Count(got, tag), strings.Count(clean, tag); got != want {
				t.Errorf("%d times %s, want %d", got, tag, want)
			}
		}
		if got, want := dataOf(t, got).Tasks[0][0].Curves[0].Name, string([]rune(evil)); got != want { // bytes that are no UTF-8 are U+FFFD
			t.Errorf("the script reads %q, want %q", got, want)
		}
	})
}

func tableOf(text string) page.Table {
	return page.Table{Title: text, Head: []string{text}, Rows: [][]string{{text, text}}, More: text}
}

// The page is one file: it names no other, and none of its parts ends the element that holds it.
func TestPageIsOneFile(t *testing.T) {
	page := written(t, small())
	if m := regexp.MustCompile(`(src|href)=.{0,30}|url\(|@import|import\(`).FindString(page); m != "" {
		t.Errorf("%s in the page", m)
	}
	if n := strings.Count(strings.ReplaceAll(page, `"http://www.w3.org/2000/svg"`, ""), "://"); n > 0 { // the name of a language
		t.Errorf("%d addresses in the page", n)
	}
	for name, text := range map[string]string{"the script": pageJS, "the style": pageCSS} {
		if strings.Contains(text, "</") || strings.Contains(text, "<!--") {
			t.Errorf("%s could end its element", name)
		}
		if !strings.Contains(page, text) {
			t.Errorf("%s is not in the page as it is", name)
		}
	}
}

func TestPageWithoutScript(t *testing.T) {
	page := written(t, small())
	for _, want := range []string{"<h1>Learning from little</h1>", "6 runs", `<tr><th scope="row">base</th><td>84.20</td></tr>`, "<p>of 500</p>", "<p>one run failed</p>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
}

// No results are a page too.
func TestEmptyPage(t *testing.T) {
	for _, p := range []Page{{}, {Title: "x", Tasks: []Task{{Name: "digits"}}}} {
		if page := written(t, p); !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("%.80q", page)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteSaysThatNothingMoreFits(t *testing.T) {
	testkit.MustFail(t, Write(full{}, small()), "no space left")
}

// Any two curves in color differ, and each from those without, for everybody: by 0.1, five times what is just seen side
// by side. They stand out from the page as WCAG asks of graphics: a contrast of 3.
func TestColorsDiffer(t *testing.T) {
	for scheme, color := range browser.Colors(t, pageCSS) {
		names := []string{"line"}
		for k := range 7 {
			name := fmt.Sprintf("c%d", k)
			if c := browser.Contrast(browser.Linear(t, color[name]), browser.Linear(t, color["page"])); c < 3 {
				t.Errorf("%s: %s on the page has a contrast of %.2f", scheme, name, c)
			}
			for _, other := range names {
				if d, sight := browser.Difference(t, color[name], color[other]); d < 0.1 {
					t.Errorf("%s, %s: %s and %s differ by %.3f", scheme, sight, name, other, d)
				}
			}
			names = append(names, name)
		}
	}
}
