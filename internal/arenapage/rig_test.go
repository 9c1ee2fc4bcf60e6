package arenapage

import (
	"fmt"
	"image"
	"regexp"
	"strings"
	"testing"
)

// box is a part of the window, in CSS pixels.
type box struct{ Left, Top, Right, Bottom float64 }

// at is a point of a box: 0, 0 at its top left, 1, 1 at its bottom right.
func (b box) at(x, y float64) (float64, float64) {
	return b.Left + x*(b.Right-b.Left), b.Top + y*(b.Bottom-b.Top)
}

// view is the part of the arena that the picture shows.
type view struct{ Left, Right, Bottom, Top float64 }

// point is where a step and a byte of the arena lie in the window.
func (v view) point(plot box, step, byte float64) (x, y float64) {
	return plot.at((step-v.Left)/(v.Right-v.Left), (v.Top-byte)/(v.Top-v.Bottom))
}

func (b *browser) view() view { b.t.Helper(); return eval[view](b, viewNow) }

// plot is where the window shows the arena.
func (b *browser) plot() box {
	b.t.Helper()
	return eval[box](b, `(() => {
		const c = canvas.getBoundingClientRect(), p = plot;
		return {Left: c.left + p.left, Top: c.top + p.top, Right: c.left + p.right, Bottom: c.top + p.bottom};
	})()`)
}

const viewNow = `({Left: shown.left, Right: shown.right, Bottom: shown.bottom, Top: shown.top})`

// boxOf is where an element is.
func (b *browser) boxOf(selector string) box {
	b.t.Helper()
	return eval[box](b, fmt.Sprintf(`(() => {
		const r = document.querySelector(%q).getBoundingClientRect();
		return {Left: r.left, Top: r.top, Right: r.right, Bottom: r.bottom};
	})()`, selector))
}

func (b *browser) press(selector string) {
	b.t.Helper()
	x, y := b.boxOf(selector).at(0.5, 0.5)
	b.click(x, y, 1)
}

// textOf is what an element shows, "" if it is hidden.
func (b *browser) textOf(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("(e => e.checkVisibility() ? e.innerText : '')(document.querySelector(%q))", selector))
}

// rows are the texts of the table's rows that can be seen: place, bytes, share.
func (b *browser) rows() [][]string {
	b.t.Helper()
	return eval[[][]string](b, tableNow)
}

const tableNow = `[...document.querySelectorAll("#holders tbody tr, #holders tfoot tr")]
	.filter(row => !row.hidden).map(row => [...row.cells].slice(0, 3).map(cell => cell.textContent))`

// rowsOf are the rows that Go makes of a step.
func rowsOf(p Program, step int) (rows [][]string) {
	s := summarize(p, step)
	for _, r := range append(s.Rows, s.Live, s.Free, s.Arena) {
		rows = append(rows, []string{r.Name, r.Bytes, r.Share})
	}
	return rows
}

// colors are those of the style sheet by their names, light and dark.
func colors(t *testing.T) map[string]map[string]string {
	t.Helper()
	variable := regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`)
	light, dark, found := strings.Cut(pageCSS, "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("the style sheet has no colors for the dark")
	}
	sets := map[string]map[string]string{"light": {}, "dark": {}}
	for scheme, text := range map[string]string{"light": light, "dark": dark} {
		for _, m := range variable.FindAllStringSubmatch(text, -1) {
			sets[scheme][m[1]] = m[2]
		}
	}
	return sets
}

// colorAt is the color of a pixel of a screenshot with so many pixels to a CSS pixel.
func colorAt(picture image.Image, ratio, x, y float64) string {
	r, g, b, _ := picture.At(int(x*ratio), int(y*ratio)).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
