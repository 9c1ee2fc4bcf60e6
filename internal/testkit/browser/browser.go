// Package browser looks at a page in a headless Chromium, as a reader would: for tests of pages.
package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Browser is a headless Chromium with one tab, driven through its DevTools protocol: JSON messages, each with a zero
// byte behind it, over two pipes.
type Browser struct {
	T       *testing.T // whose test it is
	to      *os.File
	from    *os.File
	in      *bufio.Reader // of from
	session string        // the tab's, once there is one
	site    string        // that was visited, which may be asked for more; "" for a page of its own
	calls   int
	events  []message // that came while an answer was awaited
}

// message is an answer (ID) or an event (Method).
type message struct {
	ID      int
	Method  string
	Params  json.RawMessage
	Result  json.RawMessage
	Session string                    `json:"sessionId"`
	Error   *struct{ Message string } `json:"error"`
}

// Patience is how long a browser on a busy machine may take for one answer.
const Patience = 60 * time.Second

var browserNames = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"}

// Start starts a Chromium and closes it when the test is over. Where there is none the test is skipped, which
// .ci/run takes for a failure.
func Start(t *testing.T) *Browser {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED: the page in a browser. Windows has no pipes as file descriptors 3 and 4")
	}
	path := ""
	for _, name := range browserNames {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skipf("NOT TESTED: the page in a browser. None of %v is in the path (Debian: apt-get install %s)", browserNames, browserNames[0])
	}
	read3, to := pipe(t)
	from, write4 := pipe(t)
	home := t.TempDir()
	cmd := exec.Command(path, "--headless", "--remote-debugging-pipe", "--user-data-dir="+filepath.Join(home, "profile"),
		"--no-sandbox", // its own needs rights that containers don't give; it sees nothing but our page
		"--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb")
	cmd.Env = append(os.Environ(), "HOME="+home)
	cmd.ExtraFiles = []*os.File{read3, write4} // file descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	read3.Close()
	write4.Close()
	b := &Browser{T: t, to: to, from: from, in: bufio.NewReader(from)}
	t.Cleanup(func() {
		to.Close() // the browser ends when nobody can speak to it
		ended := time.AfterFunc(Patience, func() { cmd.Process.Kill() })
		cmd.Wait()
		ended.Stop()
		from.Close()
	})

	var target struct{ TargetID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.Call(domain+".enable", nil, nil)
	}
	b.Screen(1, "light")
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// Call does one thing and waits for its result.
func (b *Browser) Call(method string, params any, result any) {
	b.T.Helper()
	b.calls++
	request := map[string]any{"id": b.calls, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.T.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.T.Fatalf("%s: %v", method, err)
	}
	for {
		switch m := b.next(method); {
		case m.ID == 0:
			b.events = append(b.events, m)
		case m.ID == b.calls && m.Error != nil:
			b.T.Fatalf("%s %s: %s", method, text, m.Error.Message)
		case m.ID == b.calls:
			if result != nil {
				if err := json.Unmarshal(m.Result, result); err != nil {
					b.T.Fatalf("%s: %v in %s", method, err, m.Result)
				}
			}
			return
		}
	}
}

// next is the next message.
func (b *Browser) next(waitingFor string) (m message) {
	b.T.Helper()
	b.from.SetReadDeadline(time.Now().Add(Patience))
	text, err := b.in.ReadBytes(0)
	if err != nil {
		b.T.Fatalf("waiting for %s: %v", waitingFor, err)
	}
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		b.T.Fatalf("waiting for %s: %v in %.200s", waitingFor, err, text)
	}
	return m
}

// Open shows a page from a file, as a reader would.
func (b *Browser) Open(page string) {
	b.T.Helper()
	b.Load(page)
	b.Painted()
}

// Load is Open without waiting for what is seen.
func (b *Browser) Load(page string) {
	b.T.Helper()
	path := filepath.Join(b.T.TempDir(), "plan.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		b.T.Fatal(err)
	}
	b.site = ""
	b.navigate("file://" + path)
}

// Visit shows the page at a site's root, as http://127.0.0.1:8420/. What it loads from there is no complaint.
func (b *Browser) Visit(site string) {
	b.T.Helper()
	b.site = site
	b.navigate(site)
	b.Painted()
}

func (b *Browser) navigate(url string) {
	b.T.Helper()
	b.events = nil
	b.Call("Page.navigate", map[string]any{"url": url}, nil)
	for loaded := false; !loaded; {
		m := b.next("the page")
		b.events = append(b.events, m)
		loaded = m.Method == "Page.loadEventFired"
	}
}

// Wait waits until an expression is true. It is evaluated time and again.
func (b *Browser) Wait(expression string) {
	b.T.Helper()
	for end := time.Now().Add(Patience); !Eval[bool](b, "!!("+expression+")"); {
		if time.Now().After(end) {
			b.T.Fatalf("%s is not true after %v", expression, Patience)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Run runs a subtest. What the browser has to complain of is an error.
func (b *Browser) Run(t *testing.T, name string, test func(t *testing.T, b *Browser)) {
	t.Run(name, func(t *testing.T) {
		here := *b
		here.T = t
		defer func() { b.calls = here.calls }()
		test(t, &here)
		for _, complaint := range here.Complaints() {
			t.Errorf("the browser says: %.500s", complaint)
		}
	})
}

// Complaints are what the browser had to say since the page was opened: exceptions, errors, refused and unasked loads.
func (b *Browser) Complaints() (all []string) {
	for _, m := range b.events {
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening":
			all = append(all, fmt.Sprintf("%s %s", m.Method, m.Params))
		case "Network.requestWillBeSent":
			var p struct {
				Type    string
				Request struct{ URL string }
			}
			_ = json.Unmarshal(m.Params, &p)
			own := b.site != "" && strings.HasPrefix(p.Request.URL, b.site)
			if p.Type != "Document" && !strings.HasPrefix(p.Request.URL, "data:") && !own {
				all = append(all, fmt.Sprintf("%s %s", m.Method, m.Params))
			}
		}
	}
	return all
}

// Eval is the value of a JavaScript expression.
func Eval[T any](b *Browser, expression string) (value T) {
	b.T.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
	if got.ExceptionDetails != nil {
		b.T.Fatalf("%s: %s", expression, got.ExceptionDetails)
	}
	if err := json.Unmarshal(got.Result.Value, &value); err != nil {
		b.T.Fatalf("%s: %v in %s", expression, err, got.Result.Value)
	}
	return value
}

// Eval does what an expression says.
func (b *Browser) Eval(expression string) {
	b.T.Helper()
	Eval[bool](b, "("+expression+", true)")
}

// Painted waits until what is due is on the screen.
func (b *Browser) Painted() {
	b.T.Helper()
	Eval[bool](b, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
}

// Screen sets how many pixels a CSS pixel has, and whether the reader likes it light or dark.
func (b *Browser) Screen(ratio float64, scheme string) { b.T.Helper(); b.Window(1000, ratio, scheme) }

// Window is screen for a window of some width in CSS pixels.
func (b *Browser) Window(width int, ratio float64, scheme string) {
	b.T.Helper()
	metrics := map[string]any{"width": width, "height": 1600, "deviceScaleFactor": ratio, "mobile": false}
	b.Call("Emulation.setDeviceMetricsOverride", metrics, nil)
	preference := map[string]string{"name": "prefers-color-scheme", "value": scheme}
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []any{preference}}, nil)
}

// Screenshot is what the reader sees.
func (b *Browser) Screenshot() image.Image {
	b.T.Helper()
	b.Painted()
	var shot struct{ Data []byte }
	b.Call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	picture, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		b.T.Fatal(err)
	}
	return picture
}
