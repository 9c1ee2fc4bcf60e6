package browser

import "fmt"

// Keys that are held while something else happens.
const (
	Alt     = 1
	Control = 2
	Shift   = 8
)

// mouse does something with the mouse at a place of the window, in CSS pixels.
func (b *Browser) mouse(what string, x, y float64, more map[string]any) {
	b.T.Helper()
	params := map[string]any{"type": what, "x": x, "y": y}
	for k, v := range more {
		params[k] = v
	}
	b.Call("Input.dispatchMouseEvent", params, nil)
}

// MoveTo moves the mouse to a place.
func (b *Browser) MoveTo(x, y float64) { b.T.Helper(); b.mouse("mouseMoved", x, y, nil); b.Painted() }

// Click clicks so many times at a place.
func (b *Browser) Click(x, y float64, times int) {
	b.T.Helper()
	b.mouse("mouseMoved", x, y, nil)
	for i := range times {
		button := map[string]any{"button": "left", "clickCount": i + 1}
		b.mouse("mousePressed", x, y, button)
		b.mouse("mouseReleased", x, y, button)
	}
	b.Painted()
}

// Wheel turns the wheel: a positive number of pixels away from what is seen.
func (b *Browser) Wheel(x, y, pixels float64, modifiers int) {
	b.T.Helper()
	b.mouse("mouseWheel", x, y, map[string]any{"deltaX": 0, "deltaY": pixels, "modifiers": modifiers})
	b.Painted()
}

// Drag moves the mouse between two places with its button held.
func (b *Browser) Drag(fromX, fromY, toX, toY float64) {
	b.T.Helper()
	button := map[string]any{"button": "left", "buttons": 1, "clickCount": 1}
	b.mouse("mouseMoved", fromX, fromY, nil)
	b.mouse("mousePressed", fromX, fromY, button)
	b.mouse("mouseMoved", (fromX+toX)/2, (fromY+toY)/2, button)
	b.mouse("mouseMoved", toX, toY, button)
	b.mouse("mouseReleased", toX, toY, button)
	b.Painted()
}

// Key presses a key by its name in KeyboardEvent.key.
func (b *Browser) Key(name string, modifiers int) {
	b.T.Helper()
	code := map[string]int{"Tab": 9, "Enter": 13, " ": 32}[name] // what the browser itself acts on
	params := map[string]any{"type": "rawKeyDown", "key": name, "modifiers": modifiers, "windowsVirtualKeyCode": code}
	if name == "Enter" {
		params["type"], params["text"] = "keyDown", "\r"
	}
	b.Call("Input.dispatchKeyEvent", params, nil)
	delete(params, "text")
	params["type"] = "keyUp"
	b.Call("Input.dispatchKeyEvent", params, nil)
	b.Painted()
}

// Box is a part of the window, in CSS pixels.
type Box struct{ Left, Top, Right, Bottom float64 }

// At is a point of a Box: 0, 0 at its top left, 1, 1 at its bottom right.
func (b Box) At(x, y float64) (float64, float64) {
	return b.Left + x*(b.Right-b.Left), b.Top + y*(b.Bottom-b.Top)
}

// BoxOf is where an element is.
func (b *Browser) BoxOf(selector string) Box {
	b.T.Helper()
	return Eval[Box](b, fmt.Sprintf(`(() => {
		const r = document.querySelector(%q).getBoundingClientRect();
		return {Left: r.left, Top: r.top, Right: r.right, Bottom: r.bottom};
	})()`, selector))
}

// Press clicks on the middle of an element.
func (b *Browser) Press(selector string) {
	b.T.Helper()
	x, y := b.BoxOf(selector).At(0.5, 0.5)
	b.Click(x, y, 1)
}

// TextOf is what an element shows, "" if it is hidden.
func (b *Browser) TextOf(selector string) string {
	b.T.Helper()
	return Eval[string](b, fmt.Sprintf("(e => e.checkVisibility() ? e.innerText : '')(document.querySelector(%q))", selector))
}
