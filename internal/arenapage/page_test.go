package arenapage

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// small is a page of two programs, with places that are easy to find: the first arena is 1000 bytes high and 10 steps
// long, and in the middle of its time step 5 holds most.
func small() Page {
	steps := make([]Step, 10)
	for i := range steps {
		place := fmt.Sprintf("encoder.blocks.0.ffn1.s%d sum", i)
		steps[i] = Step{Name: fmt.Sprintf("op%d", i), Place: place, Backward: i >= 6}
	}
	return Page{
		Title: "small.yaml",
		Facts: []Fact{{"weights", "1.0 MB"}, {"verdict", "it fits"}},
		Programs: []Program{
			{Name: "2 rows", Size: 1000, Steps: steps, Buffers: []Buffer{
				{Name: "features", Offset: 0, Size: 100, First: -1, Last: 8},
				{Name: "encoder.subsample.conv.0", Offset: 100, Size: 300, First: 0, Last: 9},
				{Name: "encoder.blocks.0.ffn1.up", Offset: 400, Size: 200, First: 2, Last: 7},
				{Name: "encoder.blocks.0.attn scratch", Offset: 600, Size: 100, First: 5, Last: 5},
				{Name: "ctc.loss", Offset: 900, Size: 50, First: 4, Last: math.MaxInt},
				{Name: "nothing", Offset: 1000, Size: 0, First: 5, Last: 5},
			}},
			{Name: "1 row", Size: 64, Steps: steps[:1], Buffers: []Buffer{{Name: "loss", Size: 64, Last: 1}}},
		},
	}
}

// large is a page of one program with many buffers, named as those of a real network.
func large(buffers int) Page {
	random := rand.New(rand.NewPCG(1, 2))
	p := Program{Name: "8 rows of 20.0 s, 200 tokens", Size: 4e9}
	for i := range 2 * buffers {
		p.Steps = append(p.Steps, Step{Name: "attention.relative.grad",
			Place: fmt.Sprintf("encoder.blocks.%d.conv.part%d", i%24, i/24), Backward: i >= buffers})
	}
	for i := range buffers {
		first := random.IntN(len(p.Steps))
		p.Buffers = append(p.Buffers, Buffer{
			Name:   fmt.Sprintf("encoder.blocks.%d.conv.part%d layernorm.grad", i%24, i/24),
			Offset: random.Int64N(3e9), Size: random.Int64N(1e9), First: first, Last: first + random.IntN(len(p.Steps)),
		})
	}
	return Page{Title: "large", Programs: []Program{p}}
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
func dataOf(t testing.TB, page string) data {
	t.Helper()
	_, rest, found := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, ends := strings.Cut(rest, "</script>")
	if !found || !ends {
		t.Fatal("the page has no data element")
	}
	var d data
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return d
}

// decoded turns what the script reads back into programs.
func decoded(d data) (programs []Program) {
	for _, t := range d.Programs {
		p := Program{Name: t.Name, Size: t.Size}
		for i := range t.Ops {
			p.Steps = append(p.Steps, Step{d.Texts[t.Ops[i]], d.Texts[t.Places[i]], t.Backward[i] == 1})
		}
		for i := range t.Names {
			p.Buffers = append(p.Buffers, Buffer{d.Texts[t.Names[i]], t.Offsets[i], t.Sizes[i], t.First[i], t.Last[i]})
		}
		programs = append(programs, p)
	}
	return programs
}

func TestScriptReadsWhatWasGiven(t *testing.T) {
	for _, p := range []Page{small(), large(200)} {
		got := decoded(dataOf(t, written(t, p)))
		want := p.Programs
		for _, program := range want {
			for i := range program.Steps {
				program.Steps[i].Place = strings.TrimSuffix(program.Steps[i].Place, " sum")
			}
			for i := range program.Buffers {
				program.Buffers[i].Last = min(program.Buffers[i].Last, len(program.Steps)) // after the run
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: given (-) and what the script reads (+):\n%s", p.Title, diff)
		}
	}
}

// Texts come from file names and graphs. None may end an element, begin one, or be lost.
func FuzzTextsAreOnlyTexts(f *testing.F) {
	for _, evil := range []string{
		"</script><script>alert(1)</script>", "<!-- <script>", "</title></style>", `" onload="alert(1)`,
		"a&lt;b & 'c' `${d}`", "\u2028 and \u2029", "{{.Title}}", "]]>", "\xff\xfe\x00", "",
	} {
		f.Add(evil)
	}
	clean := written(f, small())
	f.Fuzz(func(t *testing.T, evil string) {
		p := small()
		p.Title = evil
		p.Facts[0] = Fact{evil, evil}
		p.Programs[0].Name = evil
		p.Programs[0].Steps[5].Name = evil
		p.Programs[0].Buffers[2].Name = evil
		page := written(t, p)
		for _, tag := range []string{"<script", "</script", "<!--", "</style", "</title", "<title", "<img"} {
			if got, want := strings.Count(page, tag), strings.Count(clean, tag); got != want {
				t.Errorf("%d times %s, want %d", got, tag, want)
			}
		}
		want := string([]rune(evil)) // bytes that are no UTF-8 are shown as U+FFFD
		if got := decoded(dataOf(t, page))[0]; got.Name != want || got.Steps[5].Name != want || got.Buffers[2].Name != want {
			t.Errorf("the script reads %q, %q, %q, want %q", got.Name, got.Steps[5].Name, got.Buffers[2].Name, want)
		}
	})
}

// The page is one file: it names no other, and none of its parts ends the element that holds it.
func TestPageIsOneFile(t *testing.T) {
	page := written(t, small())
	loads := strings.ReplaceAll(page, `"http://www.w3.org/2000/svg"`, "") // the name of a language
	for _, other := range []string{"://", "src=", "href=", "url(", "@import", "import("} {
		if at := strings.Index(loads, other); at >= 0 {
			t.Errorf("%s in the page: %.60q", other, loads[at:])
		}
	}
	for name, text := range map[string]string{"chart.js": chartJS, "table.js": tableJS, "page.js": pageJS, "page.css": pageCSS} {
		if strings.Contains(text, "</") || strings.Contains(text, "<!--") {
			t.Errorf("%s could end its element", name)
		}
		if !strings.Contains(page, text) {
			t.Errorf("%s is not in the page as it is", name)
		}
	}
}

// 3,000 buffers and twice as many steps stay far below what a mail takes.
func TestPageIsSmall(t *testing.T) {
	if n := len(written(t, large(3000))); n > 1e6 {
		t.Errorf("%d bytes, want at most 1 MB", n)
	}
}

var tableRow = regexp.MustCompile(`<tr><th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td></tr>`)

// Without JavaScript the page shows the facts, and who holds what at the first program's peak.
func TestPageWithoutScript(t *testing.T) {
	page := written(t, small())
	for _, want := range []string{
		"<h1>small.yaml</h1>", "<div><dt>weights</dt><dd>1.0 MB</dd></div>", "<div><dt>verdict</dt><dd>it fits</dd></div>",
		"<p>2 rows: step 5, op5 at encoder.blocks.0.ffn1.s5</p>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	var rows [][]string
	for _, m := range tableRow.FindAllStringSubmatch(page, -1) {
		rows = append(rows, m[1:])
	}
	want := [][]string{
		{"encoder.subsample", "300 B", "30.0 %"},
		{"encoder.blocks.0", "300 B", "30.0 %"},
		{"inputs", "100 B", "10.0 %"},
		{"ctc", "50 B", "5.0 %"},
		{"in use", "750 B", "75.0 %"},
		{"free", "250 B", "25.0 %"},
		{"arena", "1.0 kB", "100.0 %"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

func TestContradictionsAreRefused(t *testing.T) {
	buffer := func(b Buffer) func(*Page) {
		return func(p *Page) { p.Programs[1].Buffers = append(p.Programs[1].Buffers, b) }
	}
	for want, spoil := range map[string]func(*Page){
		"without a program":                                               func(p *Page) { p.Programs = nil },
		`program 2 of the arena page, "1 row"`:                            func(p *Page) { p.Programs[1].Steps = nil },
		"it has no steps":                                                 func(p *Page) { p.Programs[1].Steps = nil },
		"its arena has 0 bytes":                                           func(p *Page) { p.Programs[1].Size = 0 },
		"x has 1 bytes at 64, outside the arena of 64 bytes":              buffer(Buffer{Name: "x", Offset: 64, Size: 1}),
		"x has 1 bytes at -1, outside":                                    buffer(Buffer{Name: "x", Offset: -1, Size: 1}),
		"x has -1 bytes at 1, outside":                                    buffer(Buffer{Name: "x", Offset: 1, Size: -1}),
		"x has 9223372036854775807 bytes at 9223372036854775807, outside": buffer(Buffer{Name: "x", Offset: math.MaxInt64, Size: math.MaxInt64}),
		"x is written in step 1, but the program has steps 0 to 0":        buffer(Buffer{Name: "x", First: 1, Last: 2}),
		"x is written in step -2, but":                                    buffer(Buffer{Name: "x", First: -2}),
		"x is written in step 0 and last read in step -1, before that":    buffer(Buffer{Name: "x", Last: -1}),
	} {
		p := small()
		spoil(&p)
		var out strings.Builder
		if err := Write(&out, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if out.Len() > 0 {
			t.Errorf("%s: %d bytes were written all the same", want, out.Len())
		}
	}
}

// full is a writer that takes nothing.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteSaysThatNothingMoreFits(t *testing.T) {
	if err := Write(full{}, small()); !errors.Is(err, errFull) {
		t.Errorf("%v, want %v", err, errFull)
	}
}
