package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"konkanitrain/internal/testkit"
)

// play is all that a Track gives.
func play(t *Track, err error) (Info, []float32, error) {
	if err != nil {
		return Info{}, nil, err
	}
	var all []float32
	info, err := t.Play(func(x []float32) error {
		all = append(all, x...)
		return nil
	})
	return info, all, errors.Join(err, t.Close())
}

// somewhere are recordings of every kind: the codecs' own, joined ones, and whatever is odd in the shared folder.
func somewhere(t testing.TB) map[string][]byte {
	files := map[string][]byte{
		"joined.flac": append(codedBytes(t, "speech.flac"), codedBytes(t, "speech.flac")...),
		"joined.mp3":  append(codedBytes(t, "speech.mp3"), codedBytes(t, "speech.mp3")...),
	}
	for _, c := range codedTable {
		files[c.name] = codedBytes(t, c.name)
		files["cut-"+c.name] = files[c.name][:len(files[c.name])*2/3]
	}
	for _, dir := range []string{"cases/audio", "data/odd_audio/files"} {
		dir = filepath.Join(testkit.Shared(t), filepath.FromSlash(dir))
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return files
}

// A recording that is played gives what reading it gives: samples to the bit, warnings and errors; so does a part.
func TestTrackIsWhatIsRead(t *testing.T) {
	for name, b := range somewhere(t) {
		src := memory{name, b}
		for _, part := range [][2]float64{{0, 0}, {0.31, 0.2}, {0.4, 0}} {
			info, x, err := new(Reader).Read(src, nil, part[0], part[1])
			x = slices.Clone(x)
			got, y, failed := play(OpenTrack(src, nil, part[0], part[1]))
			if err != nil {
				if failed == nil || failed.Error() != err.Error() {
					t.Errorf("%s %v: played: %v; read: %v", name, part, failed, err)
				}
				continue
			}
			if failed != nil || !slices.Equal(x, y) || !reflect.DeepEqual(info, got) {
				t.Errorf("%s %v: %d samples, %+v, %v; read: %d samples, %+v", name, part, len(y), got, failed, len(x), info)
			}
			known, err := Probe(src)
			if err != nil {
				t.Fatal(err)
			}
			if _, z, failed := play(OpenTrack(src, &known, part[0], part[1])); failed != nil || !slices.Equal(x, z) {
				t.Errorf("%s %v, probed before: %d samples, %v; read: %d", name, part, len(z), failed, len(x))
			}
		}
	}
}

// What is played takes no more memory for a longer recording, and who uses it can end it.
func TestTrackEnds(t *testing.T) {
	for _, name := range []string{"speech.flac", "speech.mp3", "speech.ogg", "speech.opus"} {
		enough, n := errors.New("enough"), 0
		track, err := OpenTrack(memory{name, codedBytes(t, name)}, nil, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = track.Play(func(x []float32) error {
			if n += len(x); n > 3000 {
				return enough
			}
			return nil
		})
		if err != enough || n > 20000 {
			t.Errorf("%s: %v after %d samples", name, err, n)
		}
	}
	long := riffFile(binary.LittleEndian, "RIFF", format(binary.LittleEndian, 1, 1, 16000, 2, 16),
		chunk(binary.LittleEndian, "data", make([]byte, 40<<20)))
	track, err := OpenTrack(memory{"long.wav", long}, nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, pieces := live(), 0
	if _, err := track.Play(func([]float32) error {
		if pieces++; pieces%100 == 0 {
			if n := live() - before; n > TrackBytes {
				t.Errorf("%d bytes are held, %d are said to do", n, TrackBytes)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// What comes through a pipe is what a file with the same bytes is; a file that is odd in other ways is an error that
// names it, or sound, in either.
func TestPipeIsTheFile(t *testing.T) {
	for name, b := range somewhere(t) {
		info, x, err := new(Reader).Read(memory{name, b}, nil, 0, 0)
		x = slices.Clone(x)
		for way, r := range map[string]io.Reader{"whole": bytes.NewReader(b), "halves": iotest.HalfReader(bytes.NewReader(b)), "data with the end": iotest.DataErrReader(bytes.NewReader(b))} {
			got, y, failed := play(OpenPipe(name, r, Spool{Limit: 64 << 20, Dir: t.TempDir()}))
			switch {
			case err != nil && failed == nil:
				if len(y) == 0 { // a header without a size, and what follows it is no sound
					t.Errorf("%s, %s: nothing, and no error; as a file %v", name, way, err)
				}
			case failed != nil && err == nil:
				t.Errorf("%s, %s: %v", name, way, failed)
			case err != nil:
				if !strings.Contains(failed.Error(), name) {
					t.Errorf("%s, %s: %v", name, way, failed)
				}
			case !slices.Equal(x, y[:min(len(y), len(x))]) || got.Rate != info.Rate || got.Channels != info.Channels:
				t.Errorf("%s, %s: %d samples, %+v; as a file %d, %+v", name, way, len(y), got, len(x), info)
			case len(y) != len(x) && !strings.Contains(strings.Join(info.Warnings, " "), "0 bytes of samples"):
				t.Errorf("%s, %s: %d samples, as a file %d; %v", name, way, len(y), len(x), info.Warnings)
			}
		}
	}
}

// A recorder's pipe has a header without a length, which is read to its end, and gives each piece when it is there.
func TestPipeOfARecorder(t *testing.T) {
	order := binary.LittleEndian
	for _, size := range []uint32{0, 0x7FFFF000 - 36, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF - 36} {
		b := riffFile(order, "RIFF", format(order, 1, 1, 16000, 2, 16), chunk(order, "data", nil))
		order.PutUint32(b[len(b)-4:], size)
		r, w := io.Pipe()
		track := make(chan *Track, 1)
		go func() {
			o, err := OpenPipe("recorder", r, Spool{})
			if err != nil {
				t.Error(err)
			}
			track <- o
		}()
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		o := <-track
		if o == nil {
			return
		}
		if o.Info.Samples != 0 || o.Info.Rate != 16000 {
			t.Errorf("size %#x: %+v", size, o.Info)
		}
		came := make(chan int)
		done := make(chan error, 1)
		go func() {
			info, err := o.Play(func(x []float32) error { came <- len(x); return nil })
			if err == nil && (info.Samples != 300 || len(info.Warnings) != 2) {
				err = fmt.Errorf("%+v, want 300 samples, silent and short", info)
			}
			done <- err
		}()
		for range 3 {
			if _, err := w.Write(make([]byte, 200)); err != nil {
				t.Fatal(err)
			}
			if n := <-came; n != 100 {
				t.Errorf("size %#x: %d samples of a piece of 100", size, n)
			}
		}
		w.Close()
		if err := <-done; err != nil {
			t.Errorf("size %#x: %v", size, err)
		}
	}
}

// What must be put into a file is refused where it is too long, and what is no sound before anything is written.
func TestPipeIsBounded(t *testing.T) {
	dir := t.TempDir()
	b := codedBytes(t, "speech.flac")
	_, _, err := play(OpenPipe("standard input", bytes.NewReader(b), Spool{Dir: dir, Limit: int64(len(b)) - 1}))
	testkit.MustFail(t, err, "standard input", "no WAV", "give it as a file", "ffmpeg")
	_, _, err = play(OpenPipe("standard input", bytes.NewReader(b), Spool{Dir: dir, Limit: 100}))
	testkit.MustFail(t, err, "100 bytes")
	if _, x, err := play(OpenPipe("standard input", bytes.NewReader(b), Spool{Dir: dir, Limit: int64(len(b))})); err != nil || len(x) != 16000 {
		t.Errorf("%d samples, %v", len(x), err)
	}
	_, _, err = play(OpenPipe("standard input", bytes.NewReader(b), Spool{Dir: filepath.Join(dir, "nowhere"), Limit: 1 << 20}))
	testkit.MustFail(t, err, "standard input", "put into a file first", "nowhere")
	_, _, err = play(OpenPipe("standard input", strings.NewReader("these are words\n"), Spool{Dir: dir, Limit: 1 << 20}))
	testkit.MustFail(t, err, "standard input", "no format that is known")
	_, _, err = play(OpenPipe("standard input", strings.NewReader(""), Spool{Dir: dir, Limit: 1 << 20}))
	testkit.MustFail(t, err, "standard input", "0 bytes")
	_, _, err = play(OpenPipe("standard input", iotest.ErrReader(errors.New("the line is dead")), Spool{Dir: dir, Limit: 1 << 20}))
	testkit.MustFail(t, err, "standard input", "the line is dead")
	order := binary.LittleEndian
	endlessHeader := riffFile(order, "RIFF", format(order, 1, 1, 16000, 2, 16), chunk(order, "JUNK", make([]byte, 2*pipeHead)))
	_, _, err = play(OpenPipe("standard input", bytes.NewReader(endlessHeader), Spool{}))
	testkit.MustFail(t, err, "standard input", "before the first sample")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", left, err)
	}
}
