package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testdata/python.safetensors was written by Python's safetensors.torch.save_file.
func TestReadsPythonsFile(t *testing.T) {
	f, err := Open("testdata/python.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names := []string{"bf16", "bool", "empty", "f16", "f32", "f64", "i16", "i32", "i64", "i8", "scalar", "u16", "u32", "u8", "कोंकणी"}
	if diff := cmp.Diff(names, f.Names()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"made by": "Python, safetensors.torch", "sign": `"<&>`}, f.Metadata()); diff != "" {
		t.Error(diff)
	}
	inf := float32(math.Inf(1))
	for name, want := range map[string][]float32{
		"f32":    {1.5, -2, 3.25, 0, inf, 1e-40},
		"f64":    {0.1, -inf}, // -1e300 is beyond float32
		"f16":    {1, -0.5, 1.0 / (1 << 24), 65504, -inf, 6.103515625e-05},
		"bf16":   {1, -3},
		"scalar": {4.5},
		"empty":  {},
		"कोंकणी": {2},
	} {
		got, shape, err := f.Floats(name)
		info, _ := f.Info(name)
		if err != nil || !slices.Equal(got, want) || !slices.Equal(shape, info.Shape) || info.Len() != len(want) {
			t.Errorf("%s: %v %v %v, want %v", name, got, shape, err, want)
		}
	}
	for name, want := range map[string][]int64{
		"i64": {1 << 62, -5}, "i32": {7, -8}, "i16": {-300, 300}, "i8": {-3},
		"u8": {200, 0, 1}, "u16": {65535}, "u32": {4000000000}, "bool": {1, 0},
	} {
		if got, _, err := f.Ints(name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v, want %v", name, got, err, want)
		}
	}
	if got, _, err := f.Float64s("f64"); err != nil || !slices.Equal(got, []float64{0.1, -1e300}) {
		t.Errorf("f64: %v %v", got, err)
	}
	if got, _, err := f.Float64s("f16"); err != nil || got[3] != 65504 {
		t.Errorf("f16 as float64: %v %v", got, err)
	}
	if info, _ := f.Info("scalar"); len(info.Shape) != 0 {
		t.Errorf("scalar: shape %v", info.Shape)
	}
	if info, _ := f.Info("empty"); !slices.Equal(info.Shape, []int{0, 3}) {
		t.Errorf("empty: shape %v", info.Shape)
	}
}

func TestWrongReadsAreRefused(t *testing.T) {
	f, err := Open("testdata/python.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dst := []float32{9, 9}
	_, _, asInt := f.Ints("f32")
	for what, err := range map[string]error{
		"no tensor":         f.ReadFloat32("f33", dst),
		"is I64":            f.ReadFloat32("i64", dst),
		"6 elements":        f.ReadFloat32("f32", dst),
		"is F32, which can": asInt,
	} {
		if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "python.safetensors") {
			t.Errorf("want an error with %q, got %v", what, err)
		}
	}
	if dst[0] != 9 || dst[1] != 9 {
		t.Errorf("a refused read wrote into the destination: %v", dst)
	}
}

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
		got, shape, err := f.Floats(want.Name)
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
		"two tensors are named":     {one, one},
		`can't be named "__meta`:    {Floats("__metadata__", []int{1}, []float32{1})},
		`can't be named ""`:         {Floats("", []int{1}, []float32{1})},
		`can't be named "\xff"`:     {Floats("\xff", []int{1}, []float32{1})},
		"the shape [-1 -1]":         {shaped(-1, -1)},
		"the shape [0 -1]":          {shaped(0, -1)},
		"shape [1099511627776 1099": {shaped(1<<40, 1<<40)},
		"33 dimensions":             {shaped(make([]int, 33)...)},
		"too large for any disk":    {huge("a"), huge("b")},
		"has no Save":               {one, {Name: "b", Shape: []int{1}}},
	} {
		var buf bytes.Buffer
		_, err := Write(&buf, list, nil)
		if err == nil || !strings.Contains(err.Error(), what) || buf.Len() != 0 {
			t.Errorf("want an error with %q and nothing written, got %v and %d bytes", what, err, buf.Len())
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
}

// file makes the bytes of a file of a header text and a number of data bytes.
func file(head string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(b, head...), make([]byte, data)...)
}

func TestDamagedFilesAreRefused(t *testing.T) {
	entry := func(dtype, shape, offsets string) string {
		return `"t":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}`
	}
	second := `,"u":{"dtype":"U8","shape":[1],"data_offsets":`
	for _, c := range []struct {
		what string
		data []byte
	}{
		{"shortest", []byte("short")},
		{"announced", file("{}", 0)[:9]},
		{"announced", append(binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "{}"...)},
		{"doesn't start", file("", 0)},
		{"doesn't start", file(" {}", 0)},
		{"UTF-8", file("{\"\xff\":1}", 0)},
		{"unexpected EOF", file(`{"t":{`, 0)},
		{"after the closing", file(`{} {}`, 0)},
		{"file has 4 bytes", file(`{}`, 4)},
		{"unknown dtype", file(`{`+entry("F31", "[1]", "[0,4]")+`}`, 4)},
		{"doesn't take", file(`{`+entry("F32", "[2]", "[0,4]")+`}`, 4)},
		{"doesn't take", file(`{`+entry("F32", "[4294967296,4294967296,4]", "[0,4]")+`}`, 4)},
		{"not a size", file(`{`+entry("F32", "[-1]", "[0,4]")+`}`, 4)},
		{"not a size", file(`{`+entry("F32", "[1.0]", "[0,4]")+`}`, 4)},
		{"where a number", file(`{`+entry("F32", "[null]", "[0,4]")+`}`, 4)},
		{"where a number", file(`{`+entry("F32", `["1"]`, "[0,4]")+`}`, 4)},
		{"belongs", file(`{`+entry("F32", "null", "[0,4]")+`}`, 4)},
		{"don't lie within", file(`{`+entry("F32", "[1]", "[0,8]")+`}`, 4)},
		{"don't lie within", file(`{`+entry("F32", "[1]", "[4,0]")+`}`, 4)},
		{"don't lie within", file(`{`+entry("F32", "[1]", "[0]")+`}`, 4)},
		{"more than 32", file(`{`+entry("F32", "["+strings.Repeat("1,", 40)+"1]", "[0,4]")+`}`, 4)},
		{"overlaps", file(`{`+entry("U8", "[4]", "[0,4]")+second+`[3,4]}}`, 4)},
		{"gap before", file(`{`+entry("U8", "[2]", "[0,2]")+second+`[3,4]}}`, 4)},
		{"take 2 bytes", file(`{`+entry("U8", "[1]", "[0,1]")+second+`[1,2]}}`, 4)},
		{"occurs twice", file(`{`+entry("U8", "[4]", "[0,4]")+`,`+entry("U8", "[4]", "[0,4]")+`}`, 4)},
		{"unknown key", file(`{"t":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1}}`, 4)},
		{"wants the keys", file(`{"t":{"dtype":"U8","shape":[4]}}`, 4)},
		{"where a string", file(`{"__metadata__":{"a":1}}`, 0)},
	} {
		path := filepath.Join(t.TempDir(), "bad.safetensors")
		if err := os.WriteFile(path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err == nil {
			f.Close()
			t.Errorf("%q: opened", c.data)
		} else if !strings.Contains(err.Error(), c.what) || !strings.Contains(err.Error(), "bad.safetensors") {
			t.Errorf("%q: want an error with %q, got %v", c.data, c.what, err)
		}
	}
	if _, err := New("spaces", bytes.NewReader(file("{}   ", 0)), 13); err != nil {
		t.Errorf("padding with spaces: %v", err)
	}
}

func FuzzHeader(f *testing.F) {
	python, err := os.ReadFile("testdata/python.safetensors")
	if err != nil {
		f.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(python)
	f.Add(python[8:8+n], len(python)-8-int(n))
	f.Add([]byte(`{"t":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"__metadata__":{"a":"b"}}  `), 8)
	f.Add([]byte(`{}`), 0)
	f.Fuzz(func(t *testing.T, text []byte, data int) {
		if data < 0 || data > 1<<16 {
			t.Skip()
		}
		b := file(string(text), data)
		f, err := New("fuzz", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		total := int64(0)
		for _, name := range f.Names() {
			info, ok := f.Info(name)
			count := 1
			for _, d := range info.Shape {
				count *= d
			}
			if !ok || count != info.Len() {
				t.Fatalf("%q: shape %v for %d elements", name, info.Shape, info.Len())
			}
			total += info.Bytes
			_, _, errF := f.Floats(name)
			_, _, errI := f.Ints(name)
			if errF == nil && errI == nil {
				t.Fatalf("%q (%s) is both floats and ints", name, info.DType)
			}
		}
		if total != int64(data) {
			t.Fatalf("the tensors take %d of %d bytes", total, data)
		}
	})
}
