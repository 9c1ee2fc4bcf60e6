package arenapage

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"regexp"
	"strconv"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"konkanitrain/internal/page"
)

// Sizes in pixels: of the picture, of the margins around the plot, and of a line of text.
const (
	ImageWidth, ImageHeight            = 1100, 620
	left, right, top, bottom, lineOfIt = 90, 16, 28, 86, 16
)

// Indices into the palette beside those of the kinds, which come first.
var paper, free, ink = uint8(len(kinds)), uint8(len(kinds) + 1), uint8(len(kinds) + 2)

// palette are the page's colors where the surroundings are light.
var palette = sync.OnceValue(func() (list color.Palette) {
	for k := range kinds {
		hex := regexp.MustCompile(fmt.Sprintf(`--k%d: #([0-9a-f]{6});`, k)).FindStringSubmatch(page.Parts)[1]
		rgb, _ := strconv.ParseUint(hex, 16, 32)
		list = append(list, color.RGBA{uint8(rgb >> 16), uint8(rgb >> 8), uint8(rgb), 255})
	}
	return append(list, color.White, color.RGBA{236, 237, 239, 255}, color.Black)
})

// Image is the picture of a program without the page: buffers by their place in the arena, upwards, over the steps in
// which they hold data, in the colors of what they belong to, and a line at the most that is in use. The error says
// what in p contradicts itself.
func Image(p Program) (*image.Paletted, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	d := drawing{image.NewPaletted(image.Rect(0, 0, ImageWidth, ImageHeight), palette()), p}
	d.fill(d.Rect, paper)
	d.fill(image.Rect(left, top, ImageWidth-right, ImageHeight-bottom), free)
	there := make([]bool, len(kinds))
	for _, b := range p.Buffers {
		if b.Size == 0 || b.Last < 0 {
			continue
		}
		there[b.kind()] = true
		last := min(b.Last, len(p.Steps)-1)
		d.fill(image.Rect(d.x(max(b.First, 0)), d.y(b.Offset+b.Size), max(d.x(last+1), d.x(max(b.First, 0))+1), d.y(b.Offset)), uint8(b.kind()))
	}
	live := p.live()
	at := peak(live)
	d.fill(image.Rect(d.x(at), top, d.x(at)+1, ImageHeight-bottom), ink)
	d.text(left, top-10, p.Name)
	d.text(4, top+10, bytesText(p.Size))
	d.text(4, ImageHeight-bottom, "0 B")
	d.text(left, ImageHeight-bottom+lineOfIt, fmt.Sprintf("steps 0 to %d; most is in use in step %d, %s at %s: %s, %s of the arena",
		len(p.Steps)-1, at, p.Steps[at].Name, place(p.Steps[at].Place), bytesText(live[at]), shareText(live[at], p.Size)))
	d.legend(there)
	return d.Paletted, nil
}

// drawing is a picture on its way.
type drawing struct {
	*image.Paletted
	p Program
}

// x is where a step begins, and y where a byte of the arena is.
func (d drawing) x(step int) int {
	return left + int(int64(ImageWidth-left-right)*int64(step)/int64(len(d.p.Steps)))
}

func (d drawing) y(byte int64) int {
	return ImageHeight - bottom - int(float64(ImageHeight-top-bottom)*float64(byte)/float64(d.p.Size)+0.5)
}

func (d drawing) fill(r image.Rectangle, of uint8) {
	draw.Draw(d.Paletted, r, image.NewUniform(palette()[of]), image.Point{}, draw.Src)
}

// text writes a line whose letters stand on y.
func (d drawing) text(x, y int, line string) {
	(&font.Drawer{Dst: d.Paletted, Src: image.NewUniform(palette()[ink]), Face: basicfont.Face7x13, Dot: fixed.P(x, y)}).DrawString(line)
}

// legend names the colors of the kinds that are there, four in a line.
func (d drawing) legend(there []bool) {
	n := 0
	for k, kind := range kinds {
		if !there[k] {
			continue
		}
		x, y := left+n%4*260, ImageHeight-bottom+lineOfIt*(2+n/4)+4
		d.fill(image.Rect(x, y-9, x+9, y), uint8(k))
		d.text(x+14, y, kind.name)
		n++
	}
}
