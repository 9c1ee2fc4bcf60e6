package auditpage

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"image/png"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit/browser"
)

// tone is a WAV file of so many seconds.
func tone(seconds float64) []byte {
	const rate = 8000
	var b []byte
	word := func(v uint32) { b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24)) }
	n := uint32(2 * seconds * rate)
	b = append(b, "RIFF"...)
	word(36 + n)
	b = append(b, "WAVEfmt "...)
	word(16)
	word(1 | 1<<16) // PCM, one channel
	word(rate)
	word(2 * rate)
	word(2 | 16<<16) // bytes and bits of a sample
	b = append(b, "data"...)
	word(n)
	for i := range n / 2 {
		v := int16(8000 * math.Sin(2*math.Pi*440*float64(i)/rate))
		b = append(b, byte(v), byte(uint16(v)>>8))
	}
	return b
}

// small is a page with one of everything.
func small() Page {
	return Page{
		Title: "train.jsonl, test.jsonl", Verdict: "What to look at: 1 kind of fault, 1 kind of remark",
		Findings: []Finding{
			{Grade: "fault", Title: "2 utterances are silent", Count: 2, Items: []Item{
				{Where: "train.jsonl:3", Name: "wav/3.wav", Length: "1.50 s", Detail: "every sample is 0", Text: "म्हजें नांव", Sound: tone(1.5)},
				{Where: "train.jsonl:4", Detail: "there is no such file"},
			}},
			{Grade: "remark", Title: "70 utterances are quiet", Count: 70, Items: make([]Item, 60)},
		},
		Hearing: "With these settings training hears other versions: speed_perturb, vtlp.",
		Heard: []Heard{{Where: "train.jsonl:7", Name: "wav/7.wav", Length: "0.50 s", Text: "आनी", Versions: []Version{
			{Title: "as it is", Sound: tone(0.5), Picture: Picture(ramp(50, 8), 8)},
			{Title: "speed", Drawn: "epoch 1: speed 1.1", Sound: tone(0.45), Cut: "the first 5 s"},
			{Title: "vtlp", Drawn: "epoch 2: frequencies times 1.043", Picture: Picture(ramp(50, 8), 8)},
		}}},
		Sets: []Set{
			{Name: "train.jsonl", Charts: []Chart{
				{Title: "length", Unit: "s", Facts: "2 s (1 to 9)", From: 1, Step: 0.5, Counts: []int{5, 0, 20, 1}, Above: 3},
				{Title: "letters", Facts: "10 (3 to 50)", From: 3, Step: 1, Counts: []int{1}},
			}},
			{Name: "test.jsonl", Charts: []Chart{{Title: "length", Unit: "s", From: 2, Step: 1, Counts: []int{1, 2}}}},
		},
		Tables: []Table{{Title: "Sets", Head: []string{"", "train.jsonl", "test.jsonl"}, Rows: [][]string{{"lines", "60", "20"}}, More: "and 3 more"}},
		Notes:  []string{"sound was not read"},
	}
}

// ramp is features [T, bins] that rise from -3 to 3 with time, by which bin they are as well.
func ramp(frames, bins int) []float32 {
	x := make([]float32, frames*bins)
	for i := range x {
		x[i] = -3 + 6*float32(i)/float32(len(x)-1)
	}
	return x
}

func written(t testing.TB, p Page) string {
	t.Helper()
	var out strings.Builder
	if err := Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// dataOf is what a page's script would read.
func dataOf(t testing.TB, page string) (charts [][]Chart) {
	t.Helper()
	_, rest, found := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, ends := strings.Cut(rest, "</script>")
	if !found || !ends {
		t.Fatal("the page has no data element")
	}
	if err := json.Unmarshal([]byte(text), &charts); err != nil {
		t.Fatal(err)
	}
	return charts
}

func TestScriptReadsWhatWasGiven(t *testing.T) {
	p := small()
	want := [][]Chart{p.Sets[0].Charts, p.Sets[1].Charts}
	if diff := cmp.Diff(want, dataOf(t, written(t, p))); diff != "" {
		t.Errorf("given (-) and what the script reads (+):\n%s", diff)
	}
}

// Texts come from manifests. None may end an element, begin one, or be lost.
func FuzzTextsAreOnlyTexts(f *testing.F) {
	for _, evil := range []string{
		"</script><script>alert(1)</script>", "<!-- <script>", "</title></style>", `" onload="alert(1)`, "javascript:alert(1)",
		"a&lt;b & 'c' `${d}`", "\u2028 and \u2029", "{{.Title}}", "]]>", "\xff\xfe\x00", "",
	} {
		f.Add(evil)
	}
	page := func(t testing.TB, text string) string {
		p := small()
		p.Title, p.Verdict, p.Notes[0] = text, text, text
		p.Findings[0].Title, p.Findings[0].Grade = text, text
		p.Findings[0].Items[0] = Item{Where: text, Name: text, Length: text, Detail: text, Text: text, Sound: tone(0.1), Cut: text}
		p.Hearing = text
		p.Heard[0] = Heard{text, text, text, text, []Version{{text, text, tone(0.1), Picture(ramp(3, 2), 2), text}}}
		p.Sets[0].Name, p.Sets[0].Charts[0].Title, p.Sets[0].Charts[0].Facts = text, text, text
		p.Tables[0] = Table{Title: text, Head: []string{text}, Rows: [][]string{{text, text}}, More: text}
		return written(t, p)
	}
	clean := page(f, "clean")
	f.Fuzz(func(t *testing.T, evil string) {
		if evil == "" {
			return // elements are left out
		}
		got := page(t, evil)
		for _, tag := range []string{"<script", "</script", "<!--", "</style", "</title", "<title", "<img", "<audio", "<p"} {
			if got, want := strings.Count(got, tag), strings.Count(clean, tag); got != want {
				t.Errorf("%d times %s, want %d", got, tag, want)
			}
		}
		if got, want := dataOf(t, got)[0][0].Title, string([]rune(evil)); got != want { // bytes that are no UTF-8 are U+FFFD
			t.Errorf("the script reads %q, want %q", got, want)
		}
	})
}

// The page is one file: sounds are in it, it names no other, and none of its parts ends the element that holds it.
func TestPageIsOneFile(t *testing.T) {
	page := written(t, small())
	for _, m := range regexp.MustCompile(`(src|href)="([^"]{0,30})`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[2], "data:audio/wav;base64,") && !strings.HasPrefix(m[2], "data:image/png;base64,") {
			t.Errorf("%s in the page", m[0])
		}
	}
	for _, other := range []string{"url(", "@import", "import("} {
		if at := strings.Index(page, other); at >= 0 {
			t.Errorf("%s in the page: %.60q", other, page[at:])
		}
	}
	if n := strings.Count(strings.ReplaceAll(page, `"http://www.w3.org/2000/svg"`, ""), "://"); n > 0 { // the name of a language
		t.Errorf("%d addresses in the page", n)
	}
	if want := base64.StdEncoding.EncodeToString(tone(1.5)); !strings.Contains(html.UnescapeString(page), want) {
		t.Error("the sound is not in the page")
	}
	silent := small()
	silent.Findings[0].Items[0].Sound = nil
	around := len(`
<div class="sound"><audio controls preload="none" aria-label="train.jsonl:3" src="data:audio/wav;base64,"></audio></div>`)
	if got, want := SoundBytes(tone(1.5)), len(page)-len(written(t, silent))-around; got != want {
		t.Errorf("the sound takes %d bytes, SoundBytes is %d", want, got)
	}
	for name, text := range map[string]string{"page.js": pageJS, "page.css": pageCSS} {
		if strings.Contains(text, "</") || strings.Contains(text, "<!--") {
			t.Errorf("%s could end its element", name)
		}
		if !strings.Contains(page, text) {
			t.Errorf("%s is not in the page as it is", name)
		}
	}
}

// However much there is, a page shows so much of a finding, and counts the rest.
func TestPageIsBounded(t *testing.T) {
	p := small()
	page := written(t, p)
	if got, want := strings.Count(page, "<li>"), 2+MostItems+3; got != want { // with three versions
		t.Errorf("%d items, want %d", got, want)
	}
	if want := fmt.Sprintf("and %d more", 70-MostItems); !strings.Contains(page, want) {
		t.Errorf("no %q", want)
	}
	if len(p.Findings[1].Items) != 60 {
		t.Error("the caller's page was changed")
	}
}

// Without JavaScript the page shows all but the histograms. Remarks are closed.
func TestPageWithoutScript(t *testing.T) {
	page := written(t, small())
	for _, want := range []string{
		"<h1>train.jsonl, test.jsonl</h1>", "<b>train.jsonl:3</b>", "म्हजें नांव", "every sample is 0", `<details class="fault" open>`,
		`<details class="remark">`, `<tr><th scope="row">lines</th><td>60</td><td>20</td></tr>`, "<p>sound was not read</p>", "and 3 more",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	if n := strings.Count(page, "<audio"); n != 3 {
		t.Errorf("%d sounds", n)
	}
}

// What training hears is in the page with its pictures; without a sentence about it there is no such section.
func TestHeardIsShown(t *testing.T) {
	p := small()
	page := written(t, p)
	for _, want := range []string{
		"<h2>What training hears</h2>", "other versions: speed_perturb, vtlp.", "<b>train.jsonl:7</b>", "<b>speed</b>", "epoch 1: speed 1.1", "the first 5 s",
		`<img alt="Features: vtlp" src="data:image/png;base64,`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	p.Hearing = ""
	if page := written(t, p); strings.Contains(page, "What training hears") || strings.Contains(page, "vtlp") {
		t.Error("it is shown")
	}
}

// A picture has a pixel for each feature, time to the right and bins up, from dark to light.
func TestPicture(t *testing.T) {
	const frames, bins = 40, 5
	img, err := png.Decode(bytes.NewReader(Picture(ramp(frames, bins), bins)))
	if err != nil || img.Bounds().Dx() != frames || img.Bounds().Dy() != bins {
		t.Fatalf("%v, %v", img.Bounds(), err)
	}
	before := -1.0
	for frame := range frames {
		for bin := range bins {
			r, g, b, _ := img.At(frame, bins-1-bin).RGBA()
			light := 0.2126*float64(r) + 0.7152*float64(g) + 0.0722*float64(b)
			if light < before {
				t.Fatalf("frame %d, bin %d is darker than the one before", frame, bin)
			}
			before = light
		}
	}
	if nan := Picture([]float32{float32(math.NaN()), 1e9, -1e9}, 1); nan == nil {
		t.Error("no picture of odd numbers")
	}
	if Picture(nil, 5) != nil {
		t.Error("a picture of nothing")
	}
}

// Nothing found, and nothing in a set, is a page too.
func TestEmptyPage(t *testing.T) {
	for _, p := range []Page{{}, {Title: "x", Verdict: "nothing odd was found", Sets: []Set{{Name: "x", Charts: []Chart{}}}}} {
		if page := written(t, p); !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("%.80q", page)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteSaysThatNothingMoreFits(t *testing.T) {
	if err := Write(full{}, small()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
}

// Texts can be read, in the light and in the dark: contrast of 4.5 and more, as WCAG asks for; bars of 2.5.
func TestColorsCanBeSeen(t *testing.T) {
	for scheme, color := range browser.Colors(t, pageCSS) {
		for _, on := range []string{"page", "free"} {
			for _, ink := range []string{"ink", "quiet", "accent", "peak", "doubt"} {
				if c := browser.Contrast(browser.Linear(t, color[ink]), browser.Linear(t, color[on])); c < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", scheme, ink, on, c)
				}
			}
		}
		if c := browser.Contrast(browser.Linear(t, color["bar"]), browser.Linear(t, color["page"])); c < 2.5 {
			t.Errorf("%s: bars have a contrast of %.2f", scheme, c)
		}
	}
}
