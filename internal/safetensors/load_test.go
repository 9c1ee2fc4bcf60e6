package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// inMemory is a file of one tensor "t", of a type and shape, with these bytes as data.
func inMemory(t testing.TB, dtype DType, shape string, data []byte) *File {
	t.Helper()
	head := `{"t":{"dtype":"` + string(dtype) + `","shape":` + shape + `,"data_offsets":[0,` + strconv.Itoa(len(data)) + `]}}`
	b := append(file(head, 0), data...)
	f, err := New("memory", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// loaded is what a tensor "t" of n elements holds, read through wrap.
func loaded(f *File, n int, wrap func(io.Reader) io.Reader) ([]float32, error) {
	list := make([]float32, n)
	into := Floats("t", []int{n}, list)
	err := f.Load(Tensor{Name: "t", Shape: into.Shape, Load: func(r io.Reader) error { return into.Load(wrap(r)) }})
	return list, err
}

// Every type of floats is converted on the way, to the bit, however long the tensor and however small the reads.
func TestLoadConverts(t *testing.T) {
	for _, n := range []int{1, 3, chunk/4 - 1, chunk / 4, chunk/4 + 1, 3*chunk/4 + 5} {
		want := make([]float32, n)
		data := map[DType][]byte{}
		for i := range want {
			// A number that each of the types holds: few bits, a small exponent, either sign.
			v := float32(i%250-125) * float32(math.Ldexp(1, i%5-2))
			want[i] = v
			data[F32] = binary.LittleEndian.AppendUint32(data[F32], math.Float32bits(v))
			data[F64] = binary.LittleEndian.AppendUint64(data[F64], math.Float64bits(float64(v)))
			data[BF16] = binary.LittleEndian.AppendUint16(data[BF16], uint16(math.Float32bits(v)>>16))
			data[F16] = binary.LittleEndian.AppendUint16(data[F16], half(v))
		}
		for dtype, b := range data {
			f := inMemory(t, dtype, "["+strconv.Itoa(n)+"]", b)
			for what, wrap := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r },
				"one by one": func(r io.Reader) io.Reader {
					return iotest.OneByteReader(r)
				},
				"by halves": iotest.HalfReader,
			} {
				if got, err := loaded(f, n, wrap); err != nil || !slices.Equal(got, want) {
					t.Errorf("%d elements of %s, read %s: %v", n, dtype, what, err)
				}
			}
		}
	}
}

// half is v, which must be a number that float16 holds and no subnormal.
func half(v float32) uint16 {
	bits := math.Float32bits(v)
	if v == 0 {
		return uint16(bits >> 16)
	}
	return uint16(bits>>16&0x8000) | uint16((bits>>23&0xff)-127+15)<<10 | uint16(bits>>13&0x3ff)
}

// Numbers of 16 bits at the edges of their ranges, and numbers between those of float32.
func TestLoadConvertsAtTheEdges(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		dtype DType
		data  []byte
		want  float32
	}{
		{F16, []byte{0xff, 0x7b}, 65504}, {F16, []byte{0x01, 0x80}, -1.0 / (1 << 24)}, {F16, []byte{0xff, 0x03}, 1023.0 / (1 << 24)},
		{F16, []byte{0x00, 0x04}, 1.0 / (1 << 14)}, {F16, []byte{0x00, 0xfc}, -inf}, {BF16, []byte{0x80, 0x7f}, inf},
		{F64, binary.LittleEndian.AppendUint64(nil, math.Float64bits(1+1.0/(1<<25))), 1},
		{F64, binary.LittleEndian.AppendUint64(nil, math.Float64bits(1e300)), inf},
	} {
		got, err := loaded(inMemory(t, c.dtype, "[1]", c.data), 1, func(r io.Reader) io.Reader { return r })
		if err != nil || got[0] != c.want {
			t.Errorf("%s %x: %g, want %g (%v)", c.dtype, c.data, got[0], c.want, err)
		}
	}
	got, err := loaded(inMemory(t, F16, "[2]", []byte{0x01, 0x7e, 0x00, 0x80}), 2, func(r io.Reader) io.Reader { return r })
	if err != nil || math.Float32bits(got[0]) != 0x7fc02000 || math.Float32bits(got[1]) != 1<<31 {
		t.Errorf("NaN and -0: %x %x (%v)", math.Float32bits(got[0]), math.Float32bits(got[1]), err)
	}
}

// A Load sees the bytes of its tensor and no others, and has to take them all.
func TestLoadIsHeldToItsTensor(t *testing.T) {
	f := inMemory(t, F32, "[2]", make([]byte, 8))
	load := func(name string, shape []int, load func(r io.Reader) error) error {
		return f.Load(Tensor{Name: name, Shape: shape, Load: load})
	}
	n := 0
	all := func(r io.Reader) error { b, err := io.ReadAll(r); n = len(b); return err }
	if err := load("t", []int{2}, all); err != nil || n != 8 {
		t.Errorf("%d bytes, %v", n, err)
	}
	own := errors.New("the device is gone")
	called := func(io.Reader) error { t.Error("Load was called"); return nil }
	ints := inMemory(t, I64, "[2]", make([]byte, 16))
	for what, err := range map[string]error{
		`tensor "t": 8 of its bytes`: load("t", []int{2}, func(io.Reader) error { return nil }),
		`tensor "t": 1 of its bytes`: load("t", []int{2}, func(r io.Reader) error { _, err := r.Read(make([]byte, 7)); return err }),
		"the device is gone":         load("t", []int{2}, func(r io.Reader) error { io.ReadAll(r); return own }),
		`no tensor "u"`:              load("u", []int{2}, called),
		"has the shape [2], the":     load("t", []int{1, 2}, called),
		"the destination has no":     load("t", []int{2}, nil),
		"is I64, which can't be":     ints.Load(Tensor{Name: "t", Shape: []int{2}, Load: called}),
	} {
		if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "memory: ") {
			t.Errorf("want an error with %q, got %v", what, err)
		}
	}
}

// broken is a reader that fails from a byte on.
type broken struct {
	io.ReaderAt
	at  int64
	err error
}

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= b.at {
		return b.ReaderAt.ReadAt(p, off)
	}
	n := max(0, b.at-off)
	n2, _ := b.ReaderAt.ReadAt(p[:n], off)
	return n2, b.err
}

// A file that can't be read to its end, or was cut after its header had been read, is an error that says where, also
// where the one who takes the data in doesn't pass it on.
func TestReadErrorsAreNotLost(t *testing.T) {
	for _, dtype := range []DType{F32, F16, F64} {
		size := 3 * dtype.Size()
		whole := append(file(`{"t":{"dtype":"`+string(dtype)+`","shape":[3],"data_offsets":[0,`+strconv.Itoa(size)+`]}}`, 0), make([]byte, size)...)
		data := len(whole) - size
		for at := range len(whole) {
			for _, cause := range []error{errors.New("input/output error"), io.EOF} {
				f, err := New("memory", broken{bytes.NewReader(whole), int64(at), cause}, int64(len(whole)))
				if (err == nil) != (at >= data) {
					t.Fatalf("%s, %d bytes can be read: %v", dtype, at, err)
				}
				if err != nil {
					if !errors.Is(err, cause) {
						t.Errorf("%s, %d bytes: %v", dtype, at, err)
					}
					continue
				}
				if cause == io.EOF {
					cause = io.ErrUnexpectedEOF
				}
				if _, _, err = floats(f, "t"); !errors.Is(err, cause) || !strings.Contains(err.Error(), `memory: tensor "t"`) {
					t.Errorf("%s, %d bytes can be read: %v", dtype, at, err)
				}
				err = f.Load(Tensor{Name: "t", Shape: []int{3}, Load: func(r io.Reader) error {
					io.Copy(io.Discard, r)
					if _, err := r.Read(make([]byte, 1)); !errors.Is(err, cause) {
						t.Errorf("%s: after the error: %v", dtype, err)
					}
					return nil
				}})
				if !errors.Is(err, cause) {
					t.Errorf("%s, %d bytes, and nobody says so: %v", dtype, at, err)
				}
			}
		}
	}
}

// hiccup is a reader that fails once, at an offset.
type hiccup struct {
	io.ReaderAt
	at   int64
	err  error
	done bool
}

func (h *hiccup) ReadAt(p []byte, off int64) (int, error) {
	if off >= h.at && !h.done {
		h.done = true
		return 0, h.err
	}
	return h.ReaderAt.ReadAt(p, off)
}

// After an error a tensor's stream stays broken, even if the file could be read again: nobody gets values with a gap.
func TestReadErrorsStay(t *testing.T) {
	whole := append(file(`{"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 0), make([]byte, 8)...)
	cause := errors.New("input/output error")
	f, err := New("memory", &hiccup{ReaderAt: bytes.NewReader(whole), at: int64(len(whole)) - 8, err: cause}, int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	err = f.Load(Tensor{Name: "t", Shape: []int{2}, Load: func(r io.Reader) error {
		for range 2 {
			if _, err := r.Read(make([]byte, 8)); !errors.Is(err, cause) {
				t.Errorf("got %v", err)
			}
		}
		return nil
	}})
	if !errors.Is(err, cause) {
		t.Error(err)
	}
}

// eager is a reader that says with the last byte that it was the last, as it may.
type eager struct {
	io.ReaderAt
	size int64
}

func (e eager) ReadAt(p []byte, off int64) (int, error) {
	n, err := e.ReaderAt.ReadAt(p, off)
	if err == nil && off+int64(n) == e.size {
		err = io.EOF
	}
	return n, err
}

func TestEndWithTheLastByte(t *testing.T) {
	for dtype, want := range map[DType][]float32{F32: {1.5, -2}, F16: {0, 1.9375, 0, -2}} {
		n := len(want)
		head := `{"t":{"dtype":"` + string(dtype) + `","shape":[` + strconv.Itoa(n) + `],"data_offsets":[0,8]}}`
		whole := append(file(head, 0), 0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0)
		f, err := New("memory", eager{bytes.NewReader(whole), int64(len(whole))}, int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := floats(f, "t"); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", dtype, got, err)
		}
	}
}
