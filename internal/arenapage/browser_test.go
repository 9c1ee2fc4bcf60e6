package arenapage

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
	"testing"
	"time"
)

// browser is a headless Chromium with one tab, driven through its DevTools protocol: JSON messages, each with a zero
// byte behind it, over two pipes.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *os.File
	in      *bufio.Reader // of from
	session string        // the tab's, once there is one
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

// patience is how long a browser on a busy machine may take for one answer.
const patience = 60 * time.Second

var browserNames = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"}

// startBrowser starts a Chromium and closes it when the test is over. Where there is none the test is skipped, which
// .ci/run takes for a failure.
func startBrowser(t *testing.T) *browser {
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
	b := &browser{t: t, to: to, from: from, in: bufio.NewReader(from)}
	t.Cleanup(func() {
		to.Close() // the browser ends when nobody can speak to it
		ended := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		cmd.Wait()
		ended.Stop()
		from.Close()
	})

	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	b.screen(1, "light")
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

// call does one thing and waits for its result.
func (b *browser) call(method string, params any, result any) {
	b.t.Helper()
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
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		switch m := b.next(method); {
		case m.ID == 0:
			b.events = append(b.events, m)
		case m.ID == b.calls && m.Error != nil:
			b.t.Fatalf("%s %s: %s", method, text, m.Error.Message)
		case m.ID == b.calls:
			if result != nil {
				if err := json.Unmarshal(m.Result, result); err != nil {
					b.t.Fatalf("%s: %v in %s", method, err, m.Result)
				}
			}
			return
		}
	}
}

// next is the next message.
func (b *browser) next(waitingFor string) (m message) {
	b.t.Helper()
	b.from.SetReadDeadline(time.Now().Add(patience))
	text, err := b.in.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("waiting for %s: %v", waitingFor, err)
	}
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		b.t.Fatalf("waiting for %s: %v in %.200s", waitingFor, err, text)
	}
	return m
}

// open shows a page from a file, as a reader would.
func (b *browser) open(page string) {
	b.t.Helper()
	b.load(page)
	b.painted()
}

func (b *browser) load(page string) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "plan.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	for loaded := false; !loaded; {
		m := b.next("the page")
		b.events = append(b.events, m)
		loaded = m.Method == "Page.loadEventFired"
	}
}

// complaints are what the browser had to say since the page was opened: exceptions, errors, refused and unasked loads.
func (b *browser) complaints() (all []string) {
	for _, m := range b.events {
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening":
			all = append(all, fmt.Sprintf("%s %s", m.Method, m.Params))
		case "Network.requestWillBeSent":
			var p struct{ Type string }
			if json.Unmarshal(m.Params, &p); p.Type != "Document" {
				all = append(all, fmt.Sprintf("%s %s", m.Method, m.Params))
			}
		}
	}
	return all
}

// eval is the value of a JavaScript expression.
func eval[T any](b *browser, expression string) (value T) {
	b.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
	if got.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, got.ExceptionDetails)
	}
	if err := json.Unmarshal(got.Result.Value, &value); err != nil {
		b.t.Fatalf("%s: %v in %s", expression, err, got.Result.Value)
	}
	return value
}

// painted waits until what is due is on the screen.
func (b *browser) painted() {
	b.t.Helper()
	eval[bool](b, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
}

// screen sets how many pixels a CSS pixel has, and whether the reader likes it light or dark.
func (b *browser) screen(ratio float64, scheme string) { b.t.Helper(); b.window(1000, ratio, scheme) }

// window is screen for a window of some width in CSS pixels.
func (b *browser) window(width int, ratio float64, scheme string) {
	b.t.Helper()
	metrics := map[string]any{"width": width, "height": 1600, "deviceScaleFactor": ratio, "mobile": false}
	b.call("Emulation.setDeviceMetricsOverride", metrics, nil)
	preference := map[string]string{"name": "prefers-color-scheme", "value": scheme}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{preference}}, nil)
}

// screenshot is what the reader sees.
func (b *browser) screenshot() image.Image {
	b.t.Helper()
	b.painted()
	var shot struct{ Data []byte }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	picture, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		b.t.Fatal(err)
	}
	return picture
}

// Keys that are held while something else happens.
const (
	alt     = 1
	control = 2
	shift   = 8
)

// mouse does something with the mouse at a place of the window, in CSS pixels.
func (b *browser) mouse(what string, x, y float64, more map[string]any) {
	b.t.Helper()
	params := map[string]any{"type": what, "x": x, "y": y}
	for k, v := range more {
		params[k] = v
	}
	b.call("Input.dispatchMouseEvent", params, nil)
}

func (b *browser) moveTo(x, y float64) { b.t.Helper(); b.mouse("mouseMoved", x, y, nil); b.painted() }

func (b *browser) click(x, y float64, times int) {
	b.t.Helper()
	b.mouse("mouseMoved", x, y, nil)
	for i := range times {
		button := map[string]any{"button": "left", "clickCount": i + 1}
		b.mouse("mousePressed", x, y, button)
		b.mouse("mouseReleased", x, y, button)
	}
	b.painted()
}

// wheel turns the wheel: a positive number of pixels away from what is seen.
func (b *browser) wheel(x, y, pixels float64, modifiers int) {
	b.t.Helper()
	b.mouse("mouseWheel", x, y, map[string]any{"deltaX": 0, "deltaY": pixels, "modifiers": modifiers})
	b.painted()
}

func (b *browser) drag(fromX, fromY, toX, toY float64) {
	b.t.Helper()
	button := map[string]any{"button": "left", "buttons": 1, "clickCount": 1}
	b.mouse("mouseMoved", fromX, fromY, nil)
	b.mouse("mousePressed", fromX, fromY, button)
	b.mouse("mouseMoved", (fromX+toX)/2, (fromY+toY)/2, button)
	b.mouse("mouseMoved", toX, toY, button)
	b.mouse("mouseReleased", toX, toY, button)
	b.painted()
}

// key presses a key by its name in KeyboardEvent.key.
func (b *browser) key(name string, modifiers int) {
	b.t.Helper()
	code := map[string]int{"Tab": 9, "Enter": 13, " ": 32}[name] // what the browser itself acts on
	params := map[string]any{"type": "rawKeyDown", "key": name, "modifiers": modifiers, "windowsVirtualKeyCode": code}
	if name == "Enter" {
		params["type"], params["text"] = "keyDown", "\r"
	}
	b.call("Input.dispatchKeyEvent", params, nil)
	delete(params, "text")
	params["type"] = "keyUp"
	b.call("Input.dispatchKeyEvent", params, nil)
	b.painted()
}
