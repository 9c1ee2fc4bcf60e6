package archive

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
)

// bounded runs f and holds the memory that it takes to the size of its input.
func bounded(t *testing.T, size int, f func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20+uint64(size)*4096 {
		t.Errorf("%d bytes of memory for %d bytes", took, size)
	}
}

// now is the state of a file.
func now(t *testing.T, path string) file {
	h, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	f, err := fileOf(path, h)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readAll opens every recording; errors are no matter.
func readAll(l *List) {
	for i := range min(len(l.Rows), 50) {
		if s := l.Rows[i].Source; s != nil {
			if b, err := s.Open(); err == nil {
				io.Copy(io.Discard, io.NewSectionReader(b, 0, b.Size()))
				b.Close()
			}
		}
	}
}

func FuzzTar(f *testing.F) {
	f.Add(makeTar(f, pair{"a.wav", wav(1, 100)}, pair{"a.json", `{"text": "x"}`}))
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := write(t, filepath.Join(t.TempDir(), "x.tar"), b)
		bounded(t, len(b), func() {
			if r, err := readTar(t.Context(), bytes.NewReader(b), now(t, path)); err == nil {
				l := new(List)
				r.samples(l)
				readAll(l)
				if replayTar(r.record(), *r.file) == nil {
					t.Error("what is recorded is not read again")
				}
			}
		})
	})
}

func FuzzParquet(f *testing.F) {
	rows := []sample{{ID: "a", Audio: sound{[]byte(wav(1, 100)), "a.wav"}, Text: "x"}, {Text: "y"}, {Audio: sound{[]byte(wav(2, 90)), ""}}}
	for _, b := range makeParquets(f, rows) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := write(t, filepath.Join(t.TempDir(), "x.parquet"), b)
		bounded(t, len(b), func() {
			if r, err := readParquet(t.Context(), bytes.NewReader(b), now(t, path)); err == nil {
				l := new(List)
				r.list(l)
				readAll(l)
				if replayTable(r.record(), r.file) == nil {
					t.Error("what is recorded is not read again")
				}
			}
		})
	})
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte{0, 2, 2, 'a', 0, 8, 0}, uint16(5))
	f.Fuzz(func(t *testing.T, b []byte, size uint16) {
		path := write(t, filepath.Join(t.TempDir(), "x"), make([]byte, size))
		at := now(t, path)
		bounded(t, len(b)+int(size), func() {
			if r := replayTar(b, at); r != nil {
				l := new(List)
				r.samples(l)
				readAll(l)
			}
			if r := replayTable(b, at); r != nil {
				l := new(List)
				r.list(l)
				readAll(l)
			}
			new(sounds).replay(b)
		})
	})
}

func FuzzLhotse(f *testing.F) {
	f.Add([]byte(`{"id": "a", "type": "MonoCut", "start": 0, "duration": 2, "channel": [0], "supervisions": [{"id": "s", "duration": 2}], "recording": ` + recording("r", oneFile) + "}\n"))
	f.Add([]byte(recording("r", oneFile)))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		write(t, dir+"/cuts.000000.jsonl", b)
		write(t, dir+"/recordings.jsonl", b)
		write(t, dir+"/supervisions.jsonl", b)
		bounded(t, len(b), func() {
			for _, path := range []string{dir, dir + "/recordings.jsonl"} {
				if l, err := Open(t.Context(), path, NewIndex("")); err == nil && l != nil {
					readAll(l)
				}
			}
		})
	})
}

func FuzzExpand(f *testing.F) {
	f.Add("a{0..9}{a,b}.tar")
	f.Add("_OP_0..100000_CL_")
	f.Fuzz(func(t *testing.T, s string) {
		os.Chdir(t.TempDir())
		Expand(s)
	})
}

// FuzzSnappyCuts holds every piece of a block to the library's decoding of the whole, for encoders that refer back by
// 64 KiB and by more.
func FuzzSnappyCuts(f *testing.F) {
	f.Add([]byte("abcabcabcabcabc"), uint32(1), byte(0))
	f.Add(bytes.Repeat([]byte(wav(1, 300)), 3), uint32(9), byte(1))
	f.Fuzz(func(t *testing.T, b []byte, seed uint32, how byte) {
		plain := bytes.Repeat(b, min(1+int(seed%400), 1+(1<<20)/(len(b)+1)))
		for i := uint32(0); int(i) < len(plain); i += 1 + seed%5000 {
			plain[i] ^= byte(i * seed >> 7)
		}
		packed := map[byte]func() []byte{
			0: func() []byte { return snappy.Encode(nil, plain) }, 1: func() []byte { return s2.EncodeSnappyBest(nil, plain) },
			2: func() []byte { return inPieces(plain) }, 3: func() []byte { return b },
		}[how%4]()
		cuts, err := snappyCuts(packed)
		whole, e := snappy.Decode(nil, packed)
		if how%4 < 3 && err != nil || err == nil && e != nil && len(packed) < 1<<20 {
			t.Fatalf("cuts: %v; decoding: %v", err, e)
		}
		if err != nil {
			return
		}
		for i := range cuts[1:] {
			from, to := cuts[i], cuts[i+1]
			got, err := decodePieces(packed[from.packed:to.packed], to.plain-from.plain)
			if err != nil || !bytes.Equal(got, whole[from.plain:to.plain]) {
				t.Fatalf("piece %d of %d: %v", i, len(cuts)-1, err)
			}
		}
	})
}

// TestCutsAreMany wants the block of an encoder that works in pieces to be cut at each.
func TestCutsAreMany(t *testing.T) {
	plain := bytes.Repeat([]byte(wav(1, 5000)), 100)
	cuts, err := snappyCuts(inPieces(plain))
	if err != nil || len(cuts) != (len(plain)-1)/cutEvery+2 {
		t.Errorf("%d cuts in %d bytes, %v", len(cuts), len(plain), err)
	}
	if _, err := snappyCuts(binary.AppendUvarint(nil, 1<<40)); err == nil {
		t.Error("a block of a terabyte")
	}
}

// inPieces compresses as Snappy's own encoder does: each 64 KiB without a look at the others.
func inPieces(plain []byte) []byte {
	b := binary.AppendUvarint(nil, uint64(len(plain)))
	for piece := range slices.Chunk(plain, cutEvery) {
		packed := snappy.Encode(nil, piece)
		_, n := binary.Uvarint(packed)
		b = append(b, packed[n:]...)
	}
	return b
}

func FuzzHybrid(f *testing.F) {
	f.Add([]byte{8, 1, 3, 0xff}, uint(3), uint16(20))
	f.Fuzz(func(t *testing.T, b []byte, width uint, n uint16) {
		if out, err := hybrid(b, width%40, int(n)); err == nil && len(out) != int(n) {
			t.Errorf("%d numbers of %d", len(out), n)
		}
		if out, _, err := deltas(b, int(n)); err == nil && len(out) > int(n) {
			t.Errorf("%d numbers of %d", len(out), n)
		}
		if out, err := prefixed(b, int(n), 1<<16); err == nil && len(out) != int(n) {
			t.Errorf("%d texts of %d", len(out), n)
		}
	})
}
