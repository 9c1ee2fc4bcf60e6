package auditpage

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
)

// pictureColors are the stops between which a picture's colors lie, from the least value to the largest: dark to light,
// so that nobody needs their hues.
var pictureColors = []color.RGBA{{13, 8, 60, 255}, {60, 30, 120, 255}, {150, 50, 110, 255}, {230, 110, 60, 255}, {252, 210, 90, 255}, {253, 253, 220, 255}}

// Picture is features [T, bins], normalized to mean 0 and deviation 1, as a PNG file with a pixel for each: time goes
// to the right and bins go up. Values from -2.5 to 2.5 have a color each. It is nil for no frame.
func Picture(features []float32, bins int) []byte {
	const levels, most = 64, 2.5
	palette := make(color.Palette, levels)
	for i := range palette {
		at := float64(i) / (levels - 1) * float64(len(pictureColors)-1)
		k := min(int(at), len(pictureColors)-2)
		a, b, part := pictureColors[k], pictureColors[k+1], at-float64(k)
		mix := func(x, y uint8) uint8 { return uint8(float64(x) + part*(float64(y)-float64(x)) + 0.5) }
		palette[i] = color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
	}
	frames := len(features) / bins
	img := image.NewPaletted(image.Rect(0, 0, frames, bins), palette)
	for t := range frames {
		for k := range bins {
			v := (float64(features[t*bins+k]) + most) / (2 * most) * levels
			img.SetColorIndex(t, bins-1-k, uint8(max(0, min(v, levels-1))))
		}
	}
	var b bytes.Buffer
	if png.Encode(&b, img) != nil {
		return nil
	}
	return b.Bytes()
}
