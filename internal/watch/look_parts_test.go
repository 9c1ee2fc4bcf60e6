package watch

import (
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/internal/testkit/browser"
)

func testMemory(t *testing.T, b *browser.Browser) {
	open(t, b, sourceOf(aRun(t, 20), holding()))
	b.Wait(`!document.getElementById("memory").hidden && stepPicture.plot`)
	text := strings.Join(strings.Fields(b.TextOf("#holders")), " ")
	for _, want := range []string{"The run holds 10.0 MB of 50.0 MB that it may; 12.0 MB at the peak", "11.0 MB for its process", `weights 4.0 MB decoded "sound" 2.0 MB`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	wide := browser.Eval[[]float64](b, `[...document.querySelectorAll("#holders .bar")].map(e => e.getBoundingClientRect().width)`)
	if len(wide) != 2 || wide[1] < 0.48*wide[0] || wide[1] > 0.52*wide[0] {
		t.Errorf("bars %v", wide)
	}
	light := browser.Colors(t, pageCSS)["light"]
	for _, color := range []string{"k0", "k1"} {
		if ink := inkOf(b, "#chart-step", light[color]); ink < 2000 {
			t.Errorf("%d pixels of %s", ink, color)
		}
	}
	x, y := b.BoxOf("#chart-step .u-over").At(0.5, 0.5)
	b.MoveTo(x, y)
	if got := b.TextOf("#chart-step .said"); got != "kernel calls from 10: 3.0 MB: subsampling 2.0 MB, inputs 1.0 MB" {
		t.Errorf("it says %q", got)
	}
	if got := b.TextOf("#step"); !strings.Contains(got, "8 rows of 0.6 s: 30 kernel calls, 3.0 MB planned, 3.0 MB at the peak") {
		t.Errorf("%q", got)
	}
}

func testWorst(t *testing.T, b *browser.Browser) {
	open(t, b, sourceOf(aRun(t, 20), nil))
	b.Wait(`document.querySelectorAll("#utterances li").length === 1`)
	if got := b.TextOf("#worst-facts"); got != "7 of 80 utterances have errors. These have the most:" {
		t.Errorf("%q", got)
	}
	text := strings.Join(strings.Fields(b.TextOf("#utterances")), " ")
	for _, want := range []string{"utt0 dev.jsonl:1", "0.5 s · 2 of 2 words · 3 of 8 characters · loss 2.5"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	cells := browser.Eval[[]string](b, `[...document.querySelectorAll("#utterances .cell")].map(c => c.className.trim() + " " + [...c.children].map(s => s.textContent).join("/"))`)
	if got := strings.Join(cells, ", "); got != "cell sub क्ष/क, cell ण/ण, cell आ/आ, cell सा/सा, cell ins /य" {
		t.Errorf("%s", got)
	}
	// What is said stands right above what is recognized.
	above := browser.Eval[[]float64](b, `[...document.querySelector("#utterances .cell").children].map(s => s.getBoundingClientRect().top)`)
	if len(above) != 2 || above[1] <= above[0] {
		t.Errorf("at %v", above)
	}
	b.Press("h1") // a page may not make a sound before its reader has done something
	if err := browser.Eval[string](b, `document.querySelector("audio").play().then(() => "", e => e.message)`); err != "" {
		t.Errorf("it can't be played: %s", err)
	}
	if length := browser.Eval[float64](b, `document.querySelector("audio").duration`); length != 0.5 {
		t.Errorf("it is %v s long", length)
	}
	b.Eval(`(e => { e.value = "100"; e.dispatchEvent(new Event("change")); })(document.getElementById("worst-update"))`)
	b.Wait(`document.querySelectorAll("#utterances li").length === 2`)
	if got := browser.Eval[string](b, `document.getElementById("worst-update").value`); got != "100" {
		t.Errorf("%q is chosen", got)
	}
}

func testNoSound(t *testing.T, b *browser.Browser) {
	dir := aRun(t, 20)
	write(t, dir, validationsFile, utterances(100, filepath.Join(dir, "gone.wav")))
	open(t, b, sourceOf(dir, nil))
	b.Wait(`document.querySelector("audio")`)
	b.Eval(`document.querySelector("audio").load(), document.querySelector("audio").play().catch(() => 0)`)
	b.Wait(`document.querySelector("#utterances").innerText.includes("It can't be heard")`)
	if got := b.TextOf("#utterances"); !strings.Contains(got, "no such file") {
		t.Errorf("%q", got)
	}
	for _, complaint := range b.Complaints() {
		if !strings.Contains(complaint, "404") {
			t.Errorf("%s", complaint)
		}
	}
	b.Visit("about:blank") // its complaints were expected
}

// Texts come from manifests, names of runs from folders: none is taken for HTML.
func testTexts(t *testing.T, b *browser.Browser) {
	evil := `</script><img src=x onerror=alert(1)><b>"&amp;'`
	dir := aRun(t, 20)
	line := strings.NewReplacer("क्ष", strings.ReplaceAll(evil, `"`, `\"`), "dev.jsonl", strings.ReplaceAll(evil, `"`, `\"`)).Replace(utterances(100, "x.wav"))
	write(t, dir, validationsFile, line)
	source := sourceOf(dir, nil)
	source.Name = evil
	info := holding()
	info.Holders[0].Name = evil
	open(t, b, source, sourceOf(aRun(t, 10), info))
	b.Wait(`document.querySelector("#utterances li")`)
	if n := browser.Eval[int](b, `document.querySelectorAll("img, main b:not(#utterances b)").length`); n > 0 {
		t.Errorf("%d elements of texts", n)
	}
	if got := b.TextOf("#utterances p"); !strings.Contains(got, evil+":1") {
		t.Errorf("%q", got)
	}
	if got := browser.Eval[string](b, `document.querySelector("#runs button").textContent`); got != evil {
		t.Errorf("%q", got)
	}
}

// In a window of 400 pixels nothing lies outside, whatever the names are.
func testNarrow(t *testing.T, b *browser.Browser) {
	defer b.Screen(1, "light")
	b.Window(400, 1, "light")
	dir := aRun(t, 100)
	long := strings.Repeat("a-very-long-name-", 10)
	write(t, dir, validationsFile, strings.ReplaceAll(strings.ReplaceAll(utterances(100, "x.wav"), "utt0", long), "आसा", strings.Repeat("आसा", 80)))
	source := sourceOf(dir, holding())
	source.Name = long
	open(t, b, source)
	b.Wait(`document.querySelector("#utterances li") && stepPicture.plot`)
	if w := browser.Eval[float64](b, "document.documentElement.scrollWidth"); w > 400 {
		t.Errorf("the page is %v pixels wide", w)
	}
	if small := browser.Eval[[]string](b, `[...document.querySelectorAll("p, b, button, li, dt, dd, span")].filter(
		e => e.checkVisibility() && e.textContent && parseFloat(getComputedStyle(e).fontSize) < 11).map(e => e.textContent)`); len(small) > 0 {
		t.Errorf("smaller than 11 pixels: %q", small)
	}
	light := browser.Colors(t, pageCSS)["light"]
	if ink := inkOf(b, "#chart-loss", light["c0"]); ink < 100 {
		t.Errorf("%d pixels of the loss", ink)
	}
}

// Colors are those of the scheme, also where it changes while somebody looks.
func testSchemes(t *testing.T, b *browser.Browser) {
	defer b.Screen(1, "light")
	open(t, b, sourceOf(aRun(t, 100), nil))
	for _, scheme := range []string{"dark", "light"} {
		b.Screen(1, scheme)
		b.Painted()
		colors := browser.Colors(t, pageCSS)[scheme]
		b.Eval("window.scrollTo(0, 0)")
		if got := hex(b.Screenshot(), 2, 2); got != colors["page"] {
			t.Errorf("%s: the page is %s, want %s", scheme, got, colors["page"])
		}
		if ink := inkOf(b, "#chart-loss", colors["c0"]); ink < 200 {
			t.Errorf("%s: %d pixels of the loss", scheme, ink)
		}
	}
}

func testNothing(t *testing.T, b *browser.Browser) {
	dir := t.TempDir()
	open(t, b, sourceOf(dir, nil))
	if got := shownCurves(b); len(got) > 0 && b.TextOf("#curves") != "" {
		t.Errorf("%v is shown of nothing", got)
	}
	text := b.TextOf("main")
	if strings.Contains(text, "undefined") || strings.Contains(text, "NaN") || strings.Contains(text, "Invalid") {
		t.Errorf("%q", text)
	}
	write(t, dir, metricsFile, startLine(100)+updateLine(10, 5)) // a single point can be seen
	b.Wait("pictures[0].plot")
	if ink := inkOf(b, "#chart-loss", browser.Colors(t, pageCSS)["light"]["c0"]); ink < 5 {
		t.Errorf("%d pixels of a point", ink)
	}
}

func testEnded(t *testing.T, b *browser.Browser) {
	s := open(t, b, sourceOf(aRun(t, 20), nil))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b.Wait(`document.getElementById("connection").innerText.startsWith("No answer")`)
	if got := b.TextOf("#runs"); !strings.Contains(got, "200 of 200") {
		t.Errorf("what was known is gone: %q", got)
	}
	for _, complaint := range b.Complaints() {
		if !strings.Contains(complaint, "ERR_CONNECTION") {
			t.Errorf("%s", complaint)
		}
	}
	b.Visit("about:blank")
}

func testNoScript(t *testing.T, b *browser.Browser) {
	b.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	s := serve(t, sourceOf(aRun(t, 20), nil))
	b.Load(strings.ReplaceAll(readPage(t, s), "noscript", "div"))
	b.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
}
