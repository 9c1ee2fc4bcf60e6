package tensorboard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit"
)

// The check value of CRC-32C is that of its definition (RFC 3720, appendix B.4: 32 bytes of zeros); the mask is undone
// by its definition.
func TestChecksum(t *testing.T) {
	masked := checksum(make([]byte, 32)) - 0xa282ead8
	if got := masked>>17 | masked<<15; got != 0x8a9136aa {
		t.Errorf("%#x, want 0x8a9136aa", got)
	}
}

// events is one of each kind.
func events() []*Event {
	x, text := float32(0.1), "| a | ब |\n"
	return []*Event{
		{Wall: 1.5, Version: formatVersion, Writer: "konkanitrain /runs/a"},
		{Wall: 2, Step: 6, Start: true},
		{Wall: 3, Step: math.MaxInt32 + 1, Values: []Value{{Tag: "train/loss", Scalar: &x}, {Tag: "", Text: &text}}},
		{Step: 7, Values: []Value{
			{Tag: "g", Histo: &Buckets{Min: -1, Max: 2, Num: 3, Sum: 1, Squares: 5, Limits: []float64{-0.5, 0.5, 3}, Counts: []float64{1, 0, 2}}},
			{Tag: "plan", Image: &Image{Width: 3, Height: 2, PNG: []byte("png")}},
		}},
	}
}

func encoded(list ...*Event) (b []byte) {
	for _, e := range list {
		b = appendRecord(b, e.marshal())
	}
	return b
}

// readAll reads until the error.
func readAll(b []byte) (list []*Event, err error) {
	r := NewReader(bytes.NewReader(b))
	for {
		e, err := r.Next()
		if err != nil {
			return list, err
		}
		list = append(list, e)
	}
}

func TestEventsComeBack(t *testing.T) {
	want := events()
	got, err := readAll(encoded(want...))
	if err != io.EOF {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Wherever a file ends, all whole records are read; wherever a bit is another, none is read that isn't as it was.
func TestTornAndDamagedFiles(t *testing.T) {
	list := events()
	whole := encoded(list...)
	var ends []int
	for i := range list {
		ends = append(ends, len(encoded(list[:i+1]...)))
	}
	for n := range whole {
		got, err := readAll(whole[:n])
		want := 0
		for want < len(ends) && ends[want] <= n {
			want++
		}
		atEnd := n == 0 || slices.Contains(ends, n)
		if len(got) != want || atEnd != (err == io.EOF) || !atEnd && err != ErrTorn {
			t.Fatalf("%d bytes: %d events, want %d; %v", n, len(got), want, err)
		}
	}
	for i := range whole {
		bad := slices.Clone(whole)
		bad[i] ^= 1 << (i % 8)
		got, err := readAll(bad)
		if err == io.EOF {
			t.Fatalf("nobody sees that byte %d is another", i)
		}
		if diff := cmp.Diff(list[:len(got)], got, cmp.Transformer("none", func(l []*Event) []*Event { return append([]*Event{}, l...) })); diff != "" {
			t.Fatalf("byte %d: %s", i, diff)
		}
	}
	huge := make([]byte, 0, 64)
	for range 8 {
		huge = append(huge, 0xff)
	}
	sum := checksum(huge)
	_, err := readAll(append(huge, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)))
	testkit.MustFail(t, err, "a record of 18446744073709551615 bytes")
	_, err = readAll(appendRecord(nil, []byte{0x0f}))
	testkit.MustFail(t, err, "byte 0: a record that is no event")
	_, err = readAll(appendRecord(nil, appendBytes(nil, eventSummary, appendBytes(nil, summaryValue, appendBytes(nil, valueHisto, appendBytes(nil, histoLimits, []byte{1}))))))
	testkit.MustFail(t, err, "a list of float64 with a rest")
}

// Whatever a file holds, reading ends, and what was read is the same when it is written and read again.
func FuzzReader(f *testing.F) {
	f.Add(encoded(events()...))
	f.Add(appendRecord(nil, []byte{0x2a, 0x00, 0x52, 0x00, 0x2a, 0x04, 0x0a, 0x02, 0x22, 0x00}))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, data := range [][]byte{b, appendRecord(nil, b)} { // bytes that are a record whatever they are
			first, _ := readAll(data)
			for _, e := range first {
				for i := range e.Values {
					v := &e.Values[i]
					if v.Image != nil { // only the kind that marshal chooses comes back
						v.Histo, v.Text = nil, nil
					}
					if v.Scalar != nil {
						v.Image, v.Histo, v.Text = nil, nil, nil
					}
					if v.Histo != nil {
						v.Text = nil
					}
				}
				if e.Version == "" {
					e.Writer = ""
				}
				once := e.marshal()
				again, err := parseEvent(once)
				if err != nil || !bytes.Equal(again.marshal(), once) {
					t.Fatalf("%+v became %+v, %v", e, again, err)
				}
			}
		}
	})
}

// Every value is in the bucket that its limits say, and the sums are those of the values.
func TestHistogram(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	normal := make([]float32, 5000)
	for i := range normal {
		normal[i] = float32(random.NormFloat64() * 1e-3)
	}
	for name, values := range map[string][]float32{
		"normal": normal, "zeros": {0, 0, float32(math.Copysign(0, -1))}, "one": {2.5}, "below": {-1, -2, -1e-9}, "above": {1, 1.25, 1.5, 1.75, 2, 3e-8},
		"extremes": {math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 0}, "edges": {-2, -1.75, -1, 1, 1.75, 2}, "tiny": {1e-44, -1e-45},
	} {
		var h Histogram
		var sum, squares float64
		for _, x := range values {
			h.Add(x)
			sum += float64(x)
			squares += float64(x) * float64(x)
		}
		b := h.Buckets()
		if !slices.IsSorted(b.Limits) || len(b.Limits) != len(b.Counts) || len(b.Limits) > 2*4*octaves+1 || h.n != int64(len(values)) {
			t.Fatalf("%s: %+v", name, b)
		}
		if b.Num != float64(len(values)) || b.Sum != sum || b.Squares != squares || h.Norm() != math.Sqrt(squares) ||
			b.Min != float64(slices.Min(values)) || b.Max != float64(slices.Max(values)) || b.Max > b.Limits[len(b.Limits)-1] {
			t.Errorf("%s: %+v", name, b)
		}
		want := make([]float64, len(b.Counts))
		for _, x := range values {
			i := 0
			// A value at a limit is in the bucket that is farther from 0.
			for v := float64(x); i < len(want)-1 && (v > b.Limits[i] || v > 0 && v == b.Limits[i]); {
				i++
			}
			want[i]++
		}
		if diff := cmp.Diff(want, b.Counts); diff != "" {
			t.Errorf("%s, limits %v: %s", name, b.Limits, diff)
		}
		if len(values) == len(normal) && len(b.Limits) < 60 {
			t.Errorf("%s: %d buckets only", name, len(b.Limits))
		}
	}
	if b := new(Histogram).Buckets(); b.Num != 0 || len(b.Limits) != 1 {
		t.Errorf("of nothing: %+v", b)
	}
}

// shown is what a folder's files show, by TensorBoard's rule: a session's start takes back what was written of its step
// and later ones.
func shown(t *testing.T, dir string) (list []string) {
	t.Helper()
	names, err := own(dir)
	if err != nil {
		t.Fatal(err)
	}
	var steps []int64
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all, err := readAll(b)
		if err != io.EOF {
			t.Errorf("%s: %v", name, err)
		}
		for _, e := range all {
			if e.Start {
				for len(steps) > 0 && steps[len(steps)-1] >= e.Step {
					steps, list = steps[:len(steps)-1], list[:len(list)-1]
				}
			}
			for _, v := range e.Values {
				steps, list = append(steps, e.Step), append(list, fmt.Sprintf("%s %d", v.Tag, e.Step))
			}
		}
	}
	return list
}

func replace(path string, fill func(io.Writer) error) error {
	var b bytes.Buffer
	if err := fill(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

func mustCreate(t *testing.T, dir, run string, before int) *Writer {
	t.Helper()
	w, err := Create(dir, run, before)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// Sessions follow each other, also within a second; what is forgotten is gone, with a torn end, and nothing else; other
// programs' files stay.
func TestSessionsAndForgetting(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, namePrefix+"0000000001.host")
	if err := os.WriteFile(foreign, []byte("not ours"), 0o666); err != nil {
		t.Fatal(err)
	}
	after := func(n int) func(string, int) bool { return func(_ string, step int) bool { return step > n } }
	if n, err := Forget(filepath.Join(dir, "none"), "", after(0), replace); n != 0 || err != nil {
		t.Errorf("%d, %v of no folder", n, err)
	}
	w := mustCreate(t, dir, "", -1)
	for step := range 5 {
		if err := w.Show(step, Scalar("a", float64(step)), Text("b", "x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Show(9), w.Sync(), w.Close()); err != nil {
		t.Fatal(err)
	}
	names, _ := own(dir)
	path := filepath.Join(dir, names[0])
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("torn")
	f.Close()
	if n, err := Forget(dir, "", after(2), replace); n != 4 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
	want := []string{"a 0", "b 0", "a 1", "b 1", "a 2", "b 2"}
	if diff := cmp.Diff(want, shown(t, dir)); diff != "" {
		t.Error(diff)
	}
	before, _ := os.Stat(path)
	if n, err := Forget(dir, "", after(2), func(string, func(io.Writer) error) error { return errors.New("written") }); n != 0 || err != nil {
		t.Errorf("%d removed, %v: nothing was there to remove", n, err)
	}
	if n, err := Forget(dir, "/other", after(-1), replace); n != 0 || err != nil {
		t.Errorf("%d of another run removed, %v", n, err)
	}
	if now, _ := os.Stat(path); now.Size() != before.Size() {
		t.Error("the file has changed")
	}
	full := errors.New("disk full")
	if _, err := Forget(dir, "", after(0), func(string, func(io.Writer) error) error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	second := mustCreate(t, dir, "", 1) // step 2 is made again
	if err := second.Show(2, Scalar("a", 2)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a 0", "b 0", "a 1", "b 1", "a 2"}, shown(t, dir)); diff != "" {
		t.Error(diff)
	}
	if names, _ := own(dir); len(names) != 2 || names[0] == names[1] {
		t.Errorf("files %v", names)
	}
	_, err = Create(dir, "/runs/other", -1)
	testkit.MustFail(t, err, dir+" holds event files of another run", "konkanitrain", "choose another folder")
	if text, _ := os.ReadFile(foreign); string(text) != "not ours" {
		t.Error("another program's file has changed")
	}
	if _, err := Create(filepath.Join(dir, "none"), "", -1); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Writing to a file that takes no more is an error each time.
func TestWritingFails(t *testing.T) {
	w := mustCreate(t, t.TempDir(), "", -1)
	w.file.Close()
	if err := w.Show(1, Scalar("a", 1)); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}

// An event's memory is kept, but for that of a large one; times never go back.
func TestWriterKeepsLittle(t *testing.T) {
	w := mustCreate(t, t.TempDir(), "", -1)
	w.wall = 1e12 // the clock was set back
	if err := w.Show(1, Picture("plan", Image{PNG: make([]byte, 1<<20)})); err != nil || w.data != nil {
		t.Errorf("%v, %d bytes are kept", err, cap(w.data))
	}
	if w.wall != 1e12 {
		t.Errorf("time %v", w.wall)
	}
}
