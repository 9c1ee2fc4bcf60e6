package arenapage

import (
	"bytes"
	"image/png"
	"math"
	"testing"

	"konkanitrain/internal/testkit"
)

// In the middle of a step and of the bytes of a buffer that holds data then there is the buffer's color, and where none
// does that of free memory.
func TestImage(t *testing.T) {
	p := small().Programs[0]
	p.Buffers = append(p.Buffers, Buffer{Name: "unread", First: -1, Last: -1, Size: p.Size}, Buffer{Name: "ctc", First: 1, Last: math.MaxInt})
	picture, err := Image(p)
	if err != nil {
		t.Fatal(err)
	}
	d := drawing{picture, p}
	steps, bytesOf := len(p.Steps), int64(10)
	at := peak(p.live())
	colors := map[uint8]int{}
	for step := range steps {
		for lo := int64(0); lo+bytesOf <= p.Size; lo += bytesOf {
			want, middle := free, lo+bytesOf/2
			for _, b := range p.Buffers {
				if b.Offset <= middle && middle < b.Offset+b.Size && b.First <= step && step <= b.Last {
					want = uint8(b.kind())
				}
			}
			x, y := (d.x(step)+d.x(step+1))/2, d.y(middle)
			if got := picture.ColorIndexAt(x, y); got != want {
				t.Fatalf("step %d, byte %d: color %d, want %d", step, middle, got, want)
			}
			colors[want]++
		}
		if got := picture.ColorIndexAt(d.x(step), top+1); (got == ink) != (step == at) {
			t.Errorf("step %d: color %d at its start, the peak is step %d", step, got, at)
		}
	}
	if len(colors) < 4 {
		t.Errorf("colors %v: this test says little", colors)
	}
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil || file.Len() < 1000 || file.Len() > 100_000 {
		t.Errorf("%d bytes, %v", file.Len(), err)
	}
	_, err = Image(Program{Size: 1})
	testkit.MustFail(t, err, "it has no steps")
}
