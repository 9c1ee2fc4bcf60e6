package watch

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"konkanitrain/internal/testkit/browser"
)

// TestLook looks at the page in a headless Chromium. What the page loads from elsewhere, and what the browser has to
// complain of, is an error in each of these (Browser.Run).
func TestLook(t *testing.T) {
	b := browser.Start(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, b *browser.Browser)
	}{
		{"no curve is empty", testCurves},
		{"a curve that has nothing is not drawn", testEmptyCurves},
		{"what a run comes to is said", testFacts},
		{"a run in progress goes on", testLive},
		{"a viewer's clock may be wrong", testOtherClock},
		{"values are said, by pointer and by key", testValues},
		{"a part comes finely", testZoom},
		{"runs are compared", testCompare},
		{"memory over a step, and by holder", testMemory},
		{"the worst utterances are read and heard", testWorst},
		{"a recording that is gone is said", testNoSound},
		{"texts are only texts", testTexts},
		{"all can be read in a narrow window", testNarrow},
		{"light and dark", testSchemes},
		{"nothing to show yet", testNothing},
		{"the server has ended", testEnded},
		{"without JavaScript", testNoScript},
	} {
		b.Run(t, c.name, c.test)
	}
}

// open opens the page of some runs, and waits until they are shown.
func open(t *testing.T, b *browser.Browser, sources ...Source) *Server {
	t.Helper()
	s := serve(t, sources...)
	b.Visit("about:blank") // where the page before asks nothing more
	b.Visit(s.listener.URL)
	b.Wait("runs.length > 0")
	b.Painted()
	return s
}

// shownCurves are the pictures that are shown, by their ids.
func shownCurves(b *browser.Browser) []string {
	b.T.Helper()
	return browser.Eval[[]string](b, `[...document.querySelectorAll("#charts figure:not([hidden])")].map(f => f.id)`)
}

// inkOf is how many pixels of a picture's plot are of a color of the style sheet, as they are on the screen.
func inkOf(b *browser.Browser, selector, color string) int {
	b.T.Helper()
	b.Eval(fmt.Sprintf("document.querySelector(%q).scrollIntoView({block: 'center'})", selector))
	box := b.BoxOf(selector + " .u-over")
	shot := b.Screenshot()
	n := 0
	for y := int(box.Top); y < int(box.Bottom); y++ {
		for x := int(box.Left); x < int(box.Right); x++ {
			if hex(shot, x, y) == color {
				n++
			}
		}
	}
	return n
}

func hex(shot image.Image, x, y int) string {
	r, g, b, _ := shot.At(x, y).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// Every picture is there, and each of its lines goes over most of the plot in its color.
func testCurves(t *testing.T, b *browser.Browser) {
	open(t, b, sourceOf(aRun(t, 100), nil))
	want := "chart-loss chart-errors chart-rate chart-norm chart-speed chart-throughput chart-wait chart-held"
	if got := strings.Join(shownCurves(b), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	light := browser.Colors(t, pageCSS)["light"]
	for _, id := range shownCurves(b) {
		lines := browser.Eval[int](b, fmt.Sprintf("pictures.find(p => p.root.id === %q).lines.length", id))
		for line := range lines {
			// The line is 1.8 pixels wide: in each column of pixels at least one is of its color alone.
			if ink := inkOf(b, "#"+id, light[fmt.Sprintf("c%d", line)]); ink < 200 {
				t.Errorf("%s: %d pixels of line %d", id, ink, line)
			}
		}
	}
	// Lines are where their values are: the loss falls from 19.8 to 2, and the rate is the same all the time.
	heights := browser.Eval[[]float64](b, `(p => [0, 50, 99].map(i => p.plot.valToPos(p.plot.data[1][i], "y")))(pictures[0])`)
	if !(heights[0] < heights[1] && heights[1] < heights[2]) {
		t.Errorf("the loss is at heights %v", heights)
	}
}

// What this test would not see in testCurves it sees here: a figure that no record has leaves no empty picture.
func testEmptyCurves(t *testing.T, b *browser.Browser) {
	dir := t.TempDir()
	line := regexp.MustCompile(`"(grad_norm|wait_share)":[0-9.e+-]+`)
	write(t, dir, metricsFile, startLine(100)+line.ReplaceAllString(updateLine(10, 3)+updateLine(20, 2), `"$1":null`))
	open(t, b, sourceOf(dir, nil))
	if got := strings.Join(shownCurves(b), " "); got != "chart-loss chart-rate chart-speed chart-throughput chart-held" {
		t.Errorf("%s", got)
	}
}

func testFacts(t *testing.T, b *browser.Browser) {
	dir := aRun(t, 20)
	add(t, dir, metricsFile, `{"event":"test","time":"2026-01-02T03:00:30Z","weights":"best weights","wer":0.25,"cer":0.125,"loss":1}`+"\n")
	open(t, b, sourceOf(dir, nil))
	text := strings.Join(strings.Fields(b.TextOf("#runs")), " ")
	for _, want := range []string{
		filepath.Base(dir), "finished, last record", "update 200 of 200", "epoch 3 of 10", "loss 2 ", "learning rate 1.00e-3", "speed 30 x real time", "utterances a second 8",
		"memory 90.0 MB", "best validation 10.00 % WER, 5.00 % CER after 200", "test set 25.00 % WER, 12.50 % CER", "parameters 1,234",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if strings.Contains(text, "left") || strings.Contains(text, "undefined") || strings.Contains(text, "NaN") {
		t.Errorf("%q", text)
	}
}

// What a run writes is on the page a few seconds later, without anybody's doing.
func testLive(t *testing.T, b *browser.Browser) {
	dir := t.TempDir()
	write(t, dir, metricsFile, startLine(1000)+updateLine(10, 9))
	open(t, b, sourceOf(dir, holding()))
	text := strings.Join(strings.Fields(b.TextOf("#runs")), " ")
	if !strings.Contains(text, "in progress") || !strings.Contains(text, "time left") || !strings.Contains(text, "10 of 1,000") {
		t.Errorf("%q", text)
	}
	if got := browser.Eval[string](b, "document.title"); !strings.HasPrefix(got, "1 % ") {
		t.Errorf("the title is %q", got)
	}
	add(t, dir, metricsFile, updateLine(20, 8)+validationLine(20, 0.5)+updateLine(500, 7))
	b.Wait(`document.getElementById("runs").innerText.includes("500 of 1,000")`)
	if n := browser.Eval[int](b, "pictures[0].plot.data[0].length"); n != 3 {
		t.Errorf("%d points", n)
	}
	if got := strings.Join(shownCurves(b), " "); !strings.Contains(got, "chart-errors") {
		t.Errorf("%s", got)
	}
}

// The time left goes by the clock of the machine that says it.
func testOtherClock(t *testing.T, b *browser.Browser) {
	dir := t.TempDir()
	at := func(line string, ago time.Duration) string {
		return regexp.MustCompile(`"time":"[^"]*"`).ReplaceAllString(line, `"time":"`+time.Now().Add(-ago).UTC().Format(time.RFC3339)+`"`)
	}
	write(t, dir, metricsFile, at(startLine(1010), 100*time.Second)+at(updateLine(10, 9), 0)) // 10,000 s are left
	open(t, b, sourceOf(dir, holding()))
	b.Eval("(now => { Date.now = () => now() + 3 * 3600e3 })(Date.now), ahead = 0")
	b.Wait(`ahead !== 0 && document.getElementById("runs").innerText.includes("2:46:")`)
}

func testValues(t *testing.T, b *browser.Browser) {
	open(t, b, sourceOf(aRun(t, 100), nil))
	b.Eval("document.querySelector('#chart-errors').scrollIntoView()")
	x, y := b.BoxOf("#chart-errors .u-over").At(0.5, 0.5)
	b.MoveTo(x, y)
	if got := b.TextOf("#chart-errors .said"); !regexp.MustCompile(`^update 5\d0: WER 55 %, CER 27\.5 %$`).MatchString(got) {
		t.Errorf("it says %q", got)
	}
	if got := b.TextOf("#chart-loss .said"); !regexp.MustCompile(`^update 5\d0: training 1\d(\.\d+)?, validation 2.2$`).MatchString(got) {
		t.Errorf("the other picture says %q", got)
	}
	b.MoveTo(1, 1)
	if got := b.TextOf("#chart-errors .said"); got != "" {
		t.Errorf("beside it, it says %q", got)
	}
	b.Eval("document.querySelector('#chart-rate .plot').focus()")
	for _, step := range []struct{ key, want string }{
		{"End", "update 1,000: learning rate 0.001"}, {"ArrowLeft", "update 990: learning rate 0.001"}, {"Home", "update 10: learning rate 0.001"},
		{"ArrowRight", "update 20: learning rate 0.001"}, {"Escape", ""},
	} {
		b.Key(step.key, 0)
		if got := b.TextOf("#chart-rate .said"); got != step.want {
			t.Errorf("%s: %q, want %q", step.key, got, step.want)
		}
	}
}

// Where a part is dragged over, it alone is shown, in all pictures, and asked for as finely as it is known.
func testZoom(t *testing.T, b *browser.Browser) {
	open(t, b, sourceOf(aRun(t, 5000), nil))
	if n := browser.Eval[int](b, "pictures[0].lines[0].x.length"); n > 1000 {
		t.Errorf("%d points for the whole", n)
	}
	if !browser.Eval[bool](b, "pictures[0].lines[0].low.some((v, i) => v < pictures[0].lines[0].high[i])") {
		t.Error("points of several records have no band")
	}
	b.Eval("document.querySelector('#chart-loss').scrollIntoView()")
	box := b.BoxOf("#chart-loss .u-over")
	fromX, fromY := box.At(0.5, 0.5)
	toX, toY := box.At(0.52, 0.5)
	b.Drag(fromX, fromY, toX, toY)
	b.Wait("pictures[0].lines[0].x.length < 150 && !pictures[0].lines[0].low")
	from, to := browser.Eval[float64](b, "pictures[3].plot.scales.x.min"), browser.Eval[float64](b, "pictures[3].plot.scales.x.max")
	if from < 24900 || from > 25200 || to < 25900 || to > 26200 {
		t.Errorf("from %v to %v is shown", from, to)
	}
	b.Eval("window.scrollTo(0, 0)")
	b.Press("#all")
	b.Wait("pictures[0].lines[0].x.length > 200 && pictures[0].plot.scales.x.max === 50000")
	if b.TextOf("#all") != "" {
		t.Error("the button stays")
	}
	b.Eval(`document.getElementById("axis").value = "hours", document.getElementById("axis").dispatchEvent(new Event("change"))`)
	b.Wait("pictures[0].plot.scales.x.max < 3") // 10,000 s
	before := browser.Eval[float64](b, "pictures[0].plot.valToPos(11, 'y')")
	b.Press("#log")
	if after := browser.Eval[float64](b, "pictures[0].plot.valToPos(11, 'y')"); after == before {
		t.Error("the axis stays logarithmic")
	}
}

func testCompare(t *testing.T, b *browser.Browser) {
	open(t, b, sourceOf(aRun(t, 100), nil), sourceOf(aRun(t, 50), nil))
	if got := browser.Eval[int](b, `document.querySelectorAll("#runs .run").length`); got != 2 {
		t.Errorf("%d runs", got)
	}
	light := browser.Colors(t, pageCSS)["light"]
	for _, id := range shownCurves(b) {
		for r, least := range []int{200, 100} { // the second is half as long
			if ink := inkOf(b, "#"+id, light[fmt.Sprintf("c%d", r)]); ink < least {
				if id == "chart-held" || id == "chart-rate" || id == "chart-wait" || id == "chart-speed" || id == "chart-throughput" {
					continue // the same in both: the second lies over the first
				}
				t.Errorf("%s: %d pixels of run %d", id, ink, r)
			}
		}
	}
	b.Eval("window.scrollTo(0, 0)")
	b.Press("#runs .run:nth-child(2) button")
	if n := inkOf(b, "#chart-loss", light["c1"]); n > 0 {
		t.Errorf("%d pixels of a run that is taken away", n)
	}
	if got := browser.Eval[string](b, "document.activeElement.getAttribute('aria-pressed')"); got != "false" {
		t.Errorf("the button is %q, or has lost the focus", got)
	}
	for _, id := range []string{"memory-run", "worst-run"} {
		b.Wait(fmt.Sprintf(`document.getElementById(%q).options.length === 2`, id))
	}
}

func readPage(t *testing.T, s *Server) string {
	t.Helper()
	code, page, _ := get(t, s, "/")
	if code != 200 || !strings.Contains(page, "needs JavaScript") {
		t.Fatalf("%d", code)
	}
	return page
}

// The library's licence goes with it, beside it and in the page.
func TestLicence(t *testing.T) {
	text, err := os.ReadFile("uplot/LICENSE")
	if err != nil || !strings.Contains(string(text), "Leon Sorokin") {
		t.Fatal(err)
	}
	if !strings.Contains(readPage(t, serve(t, sourceOf(aRun(t, 1), nil))), string(text)) {
		t.Error("the page is without it")
	}
}
