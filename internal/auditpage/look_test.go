package auditpage

import (
	"fmt"
	"math"
	"testing"

	"konkanitrain/internal/testkit/browser"
)

// TestLook looks at the page in a headless Chromium.
func TestLook(t *testing.T) {
	b := browser.Start(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, b *browser.Browser)
	}{
		{"histograms are drawn as they are", testBars},
		{"a bar says what it counts, by pointer and by key", testPoint},
		{"another set is another picture", testSets},
		{"sounds can be played", testSound},
		{"one sound at a time", testOneSound},
		{"what training hears can be heard and seen", testHeard},
		{"all can be read in a narrow window", testNarrow},
		{"light and dark", testSchemes},
		{"nothing to show", testNothing},
		{"without JavaScript", testNoScript},
	} {
		b.Run(t, c.name, c.test)
	}
}

// bar is where a bar of a histogram stands, in the units of the window.
const bars = `[...document.querySelectorAll("#charts figure:nth-child(%d) rect")].map(r => r.getBoundingClientRect().%s)`

// Bars are as high as their counts, the highest nearly as high as the picture, and one of a single utterance is seen.
func testBars(t *testing.T, b *browser.Browser) {
	p := small()
	p.Sets[0].Charts[0].Counts = []int{500, 0, 2000, 1}
	b.Open(written(t, p))
	high := browser.Eval[[]float64](b, fmt.Sprintf(bars, 1, "height"))
	box := b.BoxOf("#charts svg")
	if len(high) != 4 || math.Abs(high[0]/high[2]-0.25) > 0.02 || high[1] != 0 || high[3] < 1 || high[2] < 0.9*(box.Bottom-box.Top) {
		t.Errorf("heights %v in a picture of %v", high, box)
	}
	left := browser.Eval[[]float64](b, fmt.Sprintf(bars, 1, "left"))
	for i := 1; i < len(left); i++ {
		if step := left[i] - left[i-1]; math.Abs(step-(box.Right-box.Left)/4) > 1 {
			t.Errorf("bars stand at %v", left)
		}
	}
	if got, want := b.TextOf("#charts .ends"), "1\n3 s, 3 above"; got != want {
		t.Errorf("the ends are %q, want %q", got, want)
	}
}

func testPoint(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	said := func(want string) {
		t.Helper()
		if got := b.TextOf("#charts figure p"); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	said("2 s (1 to 9)")
	b.Eval("document.querySelector('#charts svg').scrollIntoView()")
	b.MoveTo(b.BoxOf("#charts svg").At(0.6, 0.5))
	said("2 to 2.5 s: 20")
	b.MoveTo(1, 1)
	said("2 s (1 to 9)")
	for range 20 { // the select, and the sounds before it
		if b.Key("Tab", 0); browser.Eval[string](b, "document.activeElement.tagName") == "svg" {
			break
		}
	}
	b.Key("ArrowRight", 0)
	said("1 to 1.5 s: 5")
	b.Key("ArrowRight", 0)
	said("1.5 to 2 s: 0")
	b.Key("End", 0)
	b.Key("ArrowRight", 0)
	said("2.5 to 3 s: 1")
	b.Key("Home", 0)
	b.Key("ArrowLeft", 0)
	said("1 to 1.5 s: 5")
	b.Key("Escape", 0)
	said("2 s (1 to 9)")
}

func testSets(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	if n := browser.Eval[int](b, "document.querySelectorAll('#charts figure').length"); n != 2 {
		t.Errorf("%d pictures", n)
	}
	b.Eval("document.getElementById('set').selectedIndex = 1, document.getElementById('set').dispatchEvent(new Event('change'))")
	if n := browser.Eval[int](b, "document.querySelectorAll('#charts rect').length"); n != 2 {
		t.Errorf("%d bars of the other set", n)
	}
}

// duration has a sound loaded, and is its length in seconds.
const duration = `new Promise((done, failed) => {
	const a = document.querySelector("audio");
	a.addEventListener("loadedmetadata", () => done(a.duration));
	a.addEventListener("error", () => failed(a.error.message));
	a.load();
	a.preload = "metadata";
})`

func testSound(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	if got := browser.Eval[float64](b, duration); math.Abs(got-1.5) > 0.001 {
		t.Errorf("%v s, want 1.5", got)
	}
	box := b.BoxOf("audio")
	if box.Right-box.Left < 200 || box.Bottom-box.Top < 25 {
		t.Errorf("the player takes %v", box)
	}
}

func testOneSound(t *testing.T, b *browser.Browser) {
	p := small()
	p.Findings[0].Items[1].Sound = tone(2)
	b.Open(written(t, p))
	b.Press("h1") // a page may not make a sound before its reader has done something
	browser.Eval[bool](b, "document.querySelectorAll('audio')[0].play().then(() => true)")
	browser.Eval[bool](b, "document.querySelectorAll('audio')[1].play().then(() => true)")
	if got := browser.Eval[[]bool](b, "[...document.querySelectorAll('audio')].map(a => a.paused)"); !got[0] || got[1] {
		t.Errorf("paused: %v", got)
	}
}

// Sounds and pictures of what training hears are there, and as large as their places.
func testHeard(t *testing.T, b *browser.Browser) {
	b.Open(written(t, small()))
	seconds := browser.Eval[[]float64](b, `Promise.all([...document.querySelectorAll("#heard audio")].map(a => new Promise((done, failed) => {
		a.addEventListener("loadedmetadata", () => done(a.duration));
		a.addEventListener("error", () => failed(a.error.message));
		a.preload = "metadata";
		a.load();
	})))`)
	if len(seconds) != 2 || math.Abs(seconds[0]-0.5) > 0.001 || math.Abs(seconds[1]-0.45) > 0.001 {
		t.Errorf("sounds of %v s, want 0.5 and 0.45", seconds)
	}
	size := browser.Eval[[]float64](b, `[...document.querySelectorAll("#heard img")].flatMap(i => [i.naturalWidth, i.naturalHeight, i.clientWidth, i.clientHeight])`)
	if len(size) != 8 || size[0] != 50 || size[1] != 8 || size[2] < 150 || size[3] < 60 {
		t.Errorf("pictures: %v", size)
	}
	if got := b.TextOf("#heard li:nth-child(2)"); got != "speed\n\nepoch 1: speed 1.1\n\nthe first 5 s" {
		t.Errorf("the second version says %q", got)
	}
}

// In a window of 400 pixels nothing lies outside but wide tables, which scroll by themselves.
func testNarrow(t *testing.T, b *browser.Browser) {
	p := small()
	long := "उच्चाराचें_एक_खूब_लांब_उतर_जें_खंयच_मोडना_आनी_ओळींत_मावना"
	p.Title, p.Findings[0].Title, p.Findings[0].Items[0].Text, p.Findings[0].Items[0].Name = long+long, long+long, long+long, long+long
	p.Sets[0].Name = long + long
	p.Hearing, p.Heard[0].Where, p.Heard[0].Versions[1].Title, p.Heard[0].Versions[1].Drawn = long+long, long+long, long+long, long+long
	p.Tables[0].Rows = append(p.Tables[0].Rows, []string{"wide", long + long, long})
	defer b.Screen(1, "light")
	b.FitsPhone(t, written(t, p))
	if box := b.BoxOf("audio"); box.Left < 0 || box.Right > 400 {
		t.Errorf("the player is at %v", box)
	}
}

func testSchemes(t *testing.T, b *browser.Browser) { b.HasSchemes(t, pageCSS, written(t, small())) }

func testNothing(t *testing.T, b *browser.Browser) {
	b.Open(written(t, Page{Title: "x", Verdict: "Nothing odd was found"}))
	if b.TextOf("#verdict") != "Nothing odd was found" || b.TextOf("#picture") != "" {
		t.Error("something is shown")
	}
}

func testNoScript(t *testing.T, b *browser.Browser) {
	b.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	defer b.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.Load(written(t, small()))
}
