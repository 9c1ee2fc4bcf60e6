package arenapage

import (
	"fmt"
	"image"

	"konkanitrain/internal/testkit/browser"
)

// view is the part of the arena that the picture shows.
type view struct{ Left, Right, Bottom, Top float64 }

// point is where a step and a byte of the arena lie in the window.
func (v view) point(plot browser.Box, step, byte float64) (x, y float64) {
	return plot.At((step-v.Left)/(v.Right-v.Left), (v.Top-byte)/(v.Top-v.Bottom))
}

func viewOf(b *browser.Browser) view { b.T.Helper(); return browser.Eval[view](b, viewNow) }

// plotOf is where the window shows the arena.
func plotOf(b *browser.Browser) browser.Box {
	b.T.Helper()
	return browser.Eval[browser.Box](b, `(() => {
		const c = canvas.getBoundingClientRect(), p = plot;
		return {Left: c.left + p.left, Top: c.top + p.top, Right: c.left + p.right, Bottom: c.top + p.bottom};
	})()`)
}

const viewNow = `({Left: shown.left, Right: shown.right, Bottom: shown.bottom, Top: shown.top})`

// rowsShown are the texts of the table's rows that can be seen: place, bytes, share.
func rowsShown(b *browser.Browser) [][]string {
	b.T.Helper()
	return browser.Eval[[][]string](b, tableNow)
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

// colorAt is the color of a pixel of a screenshot with so many pixels to a CSS pixel.
func colorAt(picture image.Image, ratio, x, y float64) string {
	r, g, b, _ := picture.At(int(x*ratio), int(y*ratio)).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
