package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() ([]Tensor, map[string]string) {
	large := make([]float32, 40_000) // more than two chunks
	for i := range large {
		large[i] = float32(i) / 7
	}
	return []Tensor{
		Floats("model.weight", []int{2, 3}, []float32{1, -2, 3.5, float32(math.Inf(-1)), 0, 1e-42}),
		Floats("a<b>&\"c\"", []int{}, []float32{7}),
		Floats("empty", []int{4, 0}, nil),
		Floats("कोंकणी", []int{1}, []float32{0.1}),
		Floats("large", []int{200, 200}, large),
	}, map[string]string{"step": "12", "b": "<ok>"}
}

// values is what a tensor's Save writes.
func values(t testing.TB, tensor Tensor) []float32 {
	t.Helper()
	var b bytes.Buffer
	if err := tensor.Save(&b); err != nil {
		t.Fatal(err)
	}
	list := make([]float32, b.Len()/4)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(b.Next(4)))
	}
	return list
}

func TestWriteThenRead(t *testing.T) {
	tensors, metadata := sample()
	var buf bytes.Buffer
	written, err := Write(&buf, tensors, metadata)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(buf.Bytes())
	if size, err := Size(tensors, metadata); err != nil || size != int64(buf.Len()) || written.Bytes != size || written.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("Size %d %v, Written %+v, wrote %d bytes", size, err, written, buf.Len())
	}
	if n := binary.LittleEndian.Uint64(buf.Bytes()); n%8 != 0 {
		t.Errorf("the data begins at byte %d, not at a multiple of 8", n+8)
	}
	f, err := New("memory", bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range tensors {
		got, shape, err := floats(f, want.Name)
		if err != nil || !slices.Equal(got, values(t, want)) || !slices.Equal(shape, want.Shape) {
			t.Errorf("%s: shape %v, %v", want.Name, shape, err)
		}
	}
	if diff := cmp.Diff(metadata, f.Metadata()); diff != "" || len(f.Names()) != len(tensors) {
		t.Error(diff, f.Names())
	}
	slices.Reverse(tensors)
	var again bytes.Buffer
	if _, err := Write(&again, tensors, metadata); err != nil || !bytes.Equal(buf.Bytes(), again.Bytes()) {
		t.Errorf("the same tensors in another order give other bytes (%v)", err)
	}
}

// testdata/written.safetensors was written by this package and read back, equal, by Python's safetensors.
func TestWritesTheBytesThatPythonRead(t *testing.T) {
	tensors, metadata := sample()
	tensors = tensors[:4]
	var buf bytes.Buffer
	if _, err := Write(&buf, tensors, metadata); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/written.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(buf.Bytes(), want) {
		t.Errorf("got\n%q\nwant\n%q", buf.Bytes(), want)
	}
}

func TestNothingAtAll(t *testing.T) {
	var buf bytes.Buffer
	if _, err := Write(&buf, nil, nil); err != nil {
		t.Fatal(err)
	}
	f, err := New("memory", bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil || len(f.Names()) != 0 || f.Metadata() == nil {
		t.Errorf("%v %v", f, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	one := Floats("a", []int{1}, []float32{1})
	shaped := func(shape ...int) Tensor { return Floats("a", shape, nil) }
	huge := func(name string) Tensor { return Floats(name, []int{1 << 30, 1 << 30}, nil) }
	for what, list := range map[string][]Tensor{
		"two tensors are named":               {one, one},
		`can't be named "__meta`:              {Floats("__metadata__", []int{1}, []float32{1})},
		`can't be named ""`:                   {Floats("", []int{1}, []float32{1})},
		`can't be named "\xff"`:               {Floats("\xff", []int{1}, []float32{1})},
		"the shape [-1 -1]":                   {shaped(-1, -1)},
		"the shape [0 -1]":                    {shaped(0, -1)},
		"shape [" + strconv.Itoa(math.MaxInt): {shaped(math.MaxInt, math.MaxInt, math.MaxInt)},
		"33 dimensions":                       {shaped(make([]int, 33)...)},
		"too large for any disk":              {huge("a"), huge("b")},
		"has no Save":                         {one, {Name: "b", Shape: []int{1}}},
	} {
		var buf bytes.Buffer
		_, err := Write(&buf, list, nil)
		if err == nil || !strings.Contains(err.Error(), what) || buf.Len() != 0 {
			t.Errorf("want an error with %q and nothing written, got %v and %d bytes", what, err, buf.Len())
		}
		_, sizeErr := Size(list, nil)
		if complete := what != "has no Save"; complete && (sizeErr == nil || sizeErr.Error() != err.Error()) || !complete && sizeErr != nil {
			t.Errorf("Size says %v, Write %v", sizeErr, err)
		}
	}
	for what, metadata := range map[string]map[string]string{
		`metadata "k" is`:    {"k": "\xff"},
		`metadata "\xff" is`: {"\xff": "v"},
		"readers refuse":     {"k": strings.Repeat("x", MaxHeader)},
	} {
		var buf bytes.Buffer
		if _, err := Write(&buf, nil, metadata); err == nil || !strings.Contains(err.Error(), what) || buf.Len() != 0 {
			t.Errorf("want an error with %q and nothing written, got %v and %d bytes", what, err, buf.Len())
		}
	}
}

type limited struct{ left int }

var errFull = errors.New("full")

func (l *limited) Write(b []byte) (int, error) {
	n := min(l.left, len(b))
	l.left -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func TestWriteErrorIsPassedOn(t *testing.T) {
	tensors, metadata := sample()
	size, _ := Size(tensors, metadata)
	for _, n := range []int{0, 1, 7, 8, 100, 1000, int(size) / 2, int(size) - 1} {
		if _, err := Write(&limited{n}, tensors, metadata); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if _, err := Write(&limited{int(size)}, tensors, metadata); err != nil {
		t.Error(err)
	}
	if written, err := Write(&limited{15}, nil, nil); !errors.Is(err, errFull) || written != (Written{}) { // 16 bytes, all of them header
		t.Errorf("a header alone: %+v, %v", written, err)
	}
}

// A Save that writes other than the bytes of its shape, or loses an error, is found out.
func TestSaveIsHeldToItsShape(t *testing.T) {
	own := errors.New("the device is gone")
	for what, c := range map[string]struct {
		save func(w io.Writer) error
		room int // bytes until the writer fails
	}{
		"wrote 4 bytes, and the shape [2] takes 8": {func(w io.Writer) error { _, err := w.Write(make([]byte, 4)); return err }, 1000},
		"wrote 0 bytes":          {func(io.Writer) error { return nil }, 1000},
		"more bytes than":        {func(w io.Writer) error { _, err := w.Write(make([]byte, 12)); return err }, 1000},
		"writes more bytes than": {func(w io.Writer) error { w.Write(make([]byte, 8)); w.Write(make([]byte, 1)); return nil }, 1000},
		"device is gone":         {func(io.Writer) error { return own }, 1000},
		"full":                   {func(w io.Writer) error { w.Write(make([]byte, 4)); w.Write(make([]byte, 4)); return nil }, 68},
	} {
		_, err := Write(&limited{c.room}, []Tensor{{Name: "t", Shape: []int{2}, Save: c.save}}, nil)
		if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), `tensor "t"`) {
			t.Errorf("want an error with %q, got %v", what, err)
		}
	}
	// What follows an error is refused, and a write of nothing is no error.
	var after error
	tensor := Tensor{Name: "t", Shape: []int{2}, Save: func(w io.Writer) error {
		w.Write(make([]byte, 9))
		_, after = w.Write(make([]byte, 1))
		return nil
	}}
	var buf bytes.Buffer
	if _, err := Write(&buf, []Tensor{tensor}, nil); err == nil || after == nil {
		t.Errorf("got %v, and the second write %v", err, after)
	}
	tensor.Save = func(w io.Writer) error { _, err := w.Write(nil); return err }
	tensor.Shape = []int{0}
	if _, err := Write(&buf, []Tensor{tensor}, nil); err != nil {
		t.Error(err)
	}
}

// The largest rank is written and read, and a size of any number of bytes that an int64 holds is one.
func TestLargest(t *testing.T) {
	shape := slices.Repeat([]int{1}, MaxRank)
	var buf bytes.Buffer
	if _, err := Write(&buf, []Tensor{Floats("t", shape, []float32{7})}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := New("memory", bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got, read, err := floats(f, "t"); err != nil || got[0] != 7 || !slices.Equal(read, shape) {
		t.Errorf("%v %v, %v", got, read, err)
	}
	const most = math.MaxInt32
	if n, ok := product([]int{most}, math.MaxInt64/most); !ok || n != math.MaxInt64/most*most {
		t.Errorf("%d %v", n, ok)
	}
	if n, ok := product([]int{most}, math.MaxInt64/most+1); ok {
		t.Errorf("%d is more than it can be", n)
	}
}

// A slice passes on the errors of what it is written to and read from.
func TestFloatsPassErrorsOn(t *testing.T) {
	tensor := Floats("t", []int{chunk}, make([]float32, chunk)) // four chunks
	for _, n := range []int{0, 1, chunk, 4*chunk - 1} {
		if err := tensor.Save(&limited{n}); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: %v", n, err)
		}
		want := io.ErrUnexpectedEOF
		if n%chunk == 0 {
			want = io.EOF
		}
		if err := tensor.Load(bytes.NewReader(make([]byte, n))); err != want {
			t.Errorf("%d bytes to read: %v", n, err)
		}
	}
}

// A slice of another length than the shape says is refused, whichever way the data goes.
func TestFloatsRefuseAnotherLength(t *testing.T) {
	for _, n := range []int{1, 3} {
		tensor := Floats("t", []int{2}, make([]float32, n))
		for what, err := range map[string]error{
			"Save": tensor.Save(io.Discard),
			"Load": tensor.Load(bytes.NewReader(make([]byte, 4*n))),
		} {
			if err == nil || !strings.Contains(err.Error(), "doesn't fit its") {
				t.Errorf("%s of %d elements: %v", what, n, err)
			}
		}
	}
}
