package recognize

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/device"
	"konkanitrain/internal/testkit"
)

// withUpdate is a tiny model after this update.
func withUpdate(t testing.TB, update int) *Description {
	d := described(t)
	d.Update = update
	return d
}

// runDir is the checkpoint_dir of a run: checkpoints of updates 1, 2, .. and the states of these.
func runDir(t testing.TB, states ...map[string]any) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	for i, s := range states {
		saved(t, dir, i+1, withUpdate(t, i+1), uint64(i), s)
	}
	return dir
}

// Load takes the averaged weights if the run ended with them, else the best checkpoint, else the newest whole one.
func TestLoadChooses(t *testing.T) {
	best := map[string]any{"best": map[string]any{"wer": 0.5}, "best_step": 2}
	none := map[string]any{"best": nil}
	sum := func(dir string, step int) string {
		c, err := checkpoint.Open(filepath.Join(dir, checkpoint.Name(step)))
		if err != nil {
			t.Fatal(err)
		}
		return c.ModelSHA256
	}
	average := func(dir string, of int) {
		d := withUpdate(t, 3)
		d.MeanOf = []int{1, 3}
		saved(t, filepath.Join(dir, AveragedDir), 3, d, 9, map[string]any{"averaged": d.MeanOf, "average_of": sum(dir, of)})
	}
	damage := func(dir string, elements ...string) {
		if err := os.Truncate(filepath.Join(append([]string{dir}, elements...)...), 100); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name     string
		states   []map[string]any
		prepare  func(dir string)
		want     string // the checkpoint's path in dir
		warnings []string
	}{
		{"the newest", []map[string]any{none, none}, nil, checkpoint.Name(2), nil},
		{"without a word of the best", []map[string]any{{}, {}}, nil, checkpoint.Name(2), nil},
		{"the best", []map[string]any{best, best, best}, nil, checkpoint.Name(2), nil},
		{"the best is the newest", []map[string]any{best, best}, nil, checkpoint.Name(2), nil},
		{"damaged best", []map[string]any{best, best, best}, func(dir string) { damage(dir, checkpoint.Name(2), checkpoint.ModelFile) },
			checkpoint.Name(3), []string{"the best checkpoint can't be used, taking the newest: ", checkpoint.Name(2)}},
		{"the best is gone", []map[string]any{best, best, best}, func(dir string) { os.RemoveAll(filepath.Join(dir, checkpoint.Name(2))) },
			checkpoint.Name(3), []string{"the best checkpoint can't be used, taking the newest: ", checkpoint.Name(2)}},
		{"damaged newest", []map[string]any{best, best, best}, func(dir string) { damage(dir, checkpoint.Name(3), checkpoint.StateFile) },
			checkpoint.Name(2), []string{"passed over the checkpoint ", checkpoint.Name(3)}},
		{"averaged", []map[string]any{best, best, best}, func(dir string) { average(dir, 3) },
			filepath.Join(AveragedDir, checkpoint.Name(3)), nil},
		{"averaged at another end", []map[string]any{best, best, best}, func(dir string) { average(dir, 1) }, checkpoint.Name(2), nil},
		{"averaged before the newest", []map[string]any{best, best, best, best}, func(dir string) { average(dir, 3) }, checkpoint.Name(2), nil},
		{"damaged average", []map[string]any{best, best, best},
			func(dir string) {
				average(dir, 3)
				damage(dir, AveragedDir, checkpoint.Name(3), checkpoint.ModelFile)
			}, checkpoint.Name(2), []string{"the averaged weights can't be used: ", AveragedDir}},
		{"average without a description", []map[string]any{best, best, best},
			func(dir string) {
				saved(t, filepath.Join(dir, AveragedDir), 3, withUpdate(t, 3), 9, map[string]any{"average_of": sum(dir, 3)}, metadataKey)
			}, checkpoint.Name(2), []string{"the averaged weights can't be used: ", "format 0"}},
		{"average with a damaged state", []map[string]any{best, best, best},
			func(dir string) {
				saved(t, filepath.Join(dir, AveragedDir), 3, withUpdate(t, 3), 9, map[string]any{"average_of": 3})
			}, checkpoint.Name(2), []string{"the averaged weights can't be used: ", "state is damaged"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := runDir(t, c.states...)
			if c.prepare != nil {
				c.prepare(dir)
			}
			var said bytes.Buffer
			m := mustLoad(t, dir, LoadOptions{Workers: 1, Log: &said})
			if want := filepath.Join(dir, c.want); m.Path != want {
				t.Errorf("%s, want %s", m.Path, want)
			}
			testkit.MustContain(t, said.String(), c.warnings...)
			if n := strings.Count(said.String(), "WARNING: "); n != min(1, len(c.warnings)) {
				t.Errorf("%d warnings:\n%s", n, said.String())
			}
			testkit.MustContain(t, m.String(), m.Path+": update ", "vocabulary 11")
		})
	}
}

// A model that is loaded is the one that was saved: a checkpoint's folder, its file by any name, a folder with it.
func TestLoadedModelIsTheSaved(t *testing.T) {
	_, paths := speak(t, babble(12, 1))
	d := full(t)
	d.Features.SampleRate = 16000
	want := transcripts(t, newModel("memory", d, newReplica(t, d, 5, 1, device.NewHost()), &bytes.Buffer{}), paths...)
	folder := saved(t, t.TempDir(), 7, d, 5, nil)
	b, err := os.ReadFile(filepath.Join(folder, checkpoint.ModelFile))
	if err != nil {
		t.Fatal(err)
	}
	copied, bare := filepath.Join(t.TempDir(), "konkani"), t.TempDir()
	write(t, copied, string(b))
	write(t, filepath.Join(bare, checkpoint.ModelFile), string(b))
	for _, path := range []string{folder, filepath.Join(folder, checkpoint.ModelFile), copied, bare} {
		m := mustLoad(t, path, LoadOptions{Workers: 2})
		if got := transcripts(t, m, paths...); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		if m.Path != path || m.Description.Update != 7 || m.Description.Score.WER != 0.25 {
			t.Errorf("%s: %v", path, m)
		}
	}
	// The checksum is in the checkpoint's state, and a lone file has none.
	b[len(b)-1] ^= 1
	file := filepath.Join(folder, checkpoint.ModelFile)
	write(t, file, string(b))
	for _, path := range []string{folder, file} {
		_, err = Load(path, LoadOptions{})
		testkit.MustFail(t, err, "has changed since it was saved")
	}
	write(t, copied, string(b))
	mustLoad(t, copied, LoadOptions{})
}

// Weights that are not numbers give no text: that is said, not shown as silence.
func TestWeightsThatAreNotNumbers(t *testing.T) {
	for _, v := range [][]byte{{0, 0, 0xC0, 0x7F}, {0, 0, 0x80, 0xFF}} { // NaN and -Inf
		folder := saved(t, t.TempDir(), 7, full(t), 5, nil)
		b, err := os.ReadFile(filepath.Join(folder, checkpoint.ModelFile))
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(t.TempDir(), "model")
		copy(b[len(b)-4:], v)
		write(t, copied, string(b))
		_, err = Load(copied, LoadOptions{})
		testkit.MustFail(t, err, "in "+copied+" ", "] is "+fmt.Sprint(math.Float32frombits(binary.LittleEndian.Uint32(v))), "recognizes nothing")
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(filepath.Join(dir, "nowhere"), LoadOptions{})
	testkit.MustFail(t, err, "nowhere")
	_, err = Load(dir, LoadOptions{})
	testkit.MustFail(t, err, "is neither a checkpoint (a folder step-... with trainer.json) nor a model", "nor a folder with checkpoints")
	var refused *DeviceError
	if _, err = Load(dir, LoadOptions{Device: nowhere("cuda:1")}); !errors.As(err, &refused) || refused.Setting != "cuda:1" {
		t.Error(err)
	}
	_, err = Load(dir, LoadOptions{Device: DeviceSetting{Name: "tpu"}})
	testkit.MustFail(t, err, `device is "tpu", want auto, cpu, cuda or cuda:N`)
	_, err = Load(saved(t, dir, 1, described(t), 1, nil), LoadOptions{Workers: -1})
	testkit.MustFail(t, err, "a replica of -1 workers")

	// A model that doesn't describe itself, in its folder and elsewhere.
	old := saved(t, t.TempDir(), 1, described(t), 1, nil, metadataKey)
	_, err = Load(old, LoadOptions{})
	testkit.MustFail(t, err, old, "format 0")
	file := filepath.Join(old, checkpoint.ModelFile)
	_, err = Load(file, LoadOptions{})
	testkit.MustFail(t, err, file, "format 0")
	moved := filepath.Join(dir, "moved.safetensors")
	if err := os.Rename(file, moved); err != nil {
		t.Fatal(err)
	}
	_, err = Load(moved, LoadOptions{})
	testkit.MustFail(t, err, moved, `no key "konkanitrain" with network, vocabulary and feature settings`, "for an older model give its checkpoint's folder, with trainer.json in it")
	if _, err := Describe(moved); !errors.Is(err, ErrNoDescription) {
		t.Errorf("%v is not ErrNoDescription", err)
	}
	write(t, moved, "no tensors")
	_, err = Load(moved, LoadOptions{})
	testkit.MustFail(t, err, moved)

	// A description of another network: too large for the file, and of other shapes.
	for want, spoil := range map[string]func(*Description){
		"describes a network of ": func(d *Description) { d.Network.DModel, d.Network.EncoderLayers = 65536, 1000 },
		"doesn't fit this model":  func(d *Description) { d.Network.ConvKernel = 5 },
	} {
		other := saved(t, t.TempDir(), 1, described(t), 1, nil)
		d := described(t)
		spoil(d)
		metadata, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		lie := filepath.Join(t.TempDir(), "lie.safetensors")
		write(t, lie, replaceMetadata(t, filepath.Join(other, checkpoint.ModelFile), metadata[metadataKey]))
		_, err = Load(lie, LoadOptions{})
		testkit.MustFail(t, err, lie, want)
		write(t, lie, replaceMetadata(t, filepath.Join(other, checkpoint.ModelFile), "{"))
		_, err = Load(lie, LoadOptions{})
		testkit.MustFail(t, err, lie, "the model's description is damaged")
	}
	// All are damaged: each is named once.
	run := runDir(t, map[string]any{}, map[string]any{})
	for step := range 2 {
		if err := os.Remove(filepath.Join(run, checkpoint.Name(step+1), checkpoint.StateFile)); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	_, err = Load(run, LoadOptions{Log: &said})
	testkit.MustFail(t, err, "none of the checkpoints in "+run+" is whole")
	if n := strings.Count(said.String(), "WARNING: "); n != 2 {
		t.Errorf("%d warnings of two checkpoints:\n%s", n, said.String())
	}
	// States that say nothing of use.
	for _, state := range []any{3, map[string]any{"best_step": "two"}} {
		run := filepath.Join(t.TempDir(), "run")
		saved(t, run, 1, described(t), 1, state)
		_, err = Load(run, LoadOptions{})
		testkit.MustFail(t, err, "the checkpoint's state is damaged", checkpoint.Name(1))
	}
	// Nothing stays allocated after an error.
	dev := device.NewHost()
	f := &found{path: "x", file: moved, description: described(t), load: func([]checkpoint.Tensor) error { return os.ErrInvalid }}
	if err := os.Truncate(moved, 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := f.open(LoadOptions{Workers: 1}, &Device{}, dev); err != os.ErrInvalid || dev.Usage().Buffers != 0 {
		t.Errorf("%v, %+v", err, dev.Usage())
	}
	if _, err := f.open(LoadOptions{Workers: 1}, &Device{}, limited{device.NewHost(), 10, nil}); err == nil {
		t.Error("weights without memory")
	}
}

// The file of a checkpoint of before models described themselves is described by the state beside it.
func TestOldModelFileInItsFolder(t *testing.T) {
	want := full(t)
	want.Score.Took, want.Features.LowHz, want.Phrases = 0, 20, nil
	dir := t.TempDir()
	folder := saved(t, dir, 7, want, 1, oldCheckpointState(t), metadataKey)
	file := filepath.Join(folder, checkpoint.ModelFile)
	for _, path := range []string{folder, file} {
		d, err := Describe(path)
		if d != nil && d.Score != nil {
			d.Score.Took = 0
		}
		if err != nil || !reflect.DeepEqual(d, want) {
			t.Errorf("%s: %+v, want %+v (%v)", path, d, want, err)
		}
		if m := mustLoad(t, path, LoadOptions{Workers: 1}); m.Path != path || m.Description.Update != 7 {
			t.Errorf("%s: %v", path, m)
		}
	}
	other := filepath.Join(folder, "other.safetensors") // not the one that trainer.json is about
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, other, string(b))
	if _, err := Describe(other); !errors.Is(err, ErrNoDescription) {
		t.Errorf("another file in the folder: %v", err)
	}
	if err := os.Truncate(filepath.Join(folder, checkpoint.OptimizerFile), 1); err != nil {
		t.Fatal(err)
	}
	_, err = Describe(file)
	testkit.MustFail(t, err, file+" is checked with the checkpoint around it", checkpoint.OptimizerFile)
	_, err = Describe(dir)
	testkit.MustFail(t, err, dir+" is a folder of checkpoints: name one of them")
}

// replaceMetadata is a safetensors file with another description in it.
func replaceMetadata(t testing.TB, file, description string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	if header["__metadata__"], err = json.Marshal(map[string]string{metadataKey: description}); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	size := len(text)
	return string([]byte{byte(size), byte(size >> 8), byte(size >> 16), 0, 0, 0, 0, 0}) + string(text) + string(b[8+n:])
}

// onWrite calls itself with whatever is written.
type onWrite func(text string)

func (f onWrite) Write(b []byte) (int, error) {
	f(string(b))
	return len(b), nil
}

// A run in progress removes old checkpoints: where the one that was found goes before it is read, Load looks again.
func TestLoadBesideARunThatPrunes(t *testing.T) {
	best := map[string]any{"best": map[string]any{}, "best_step": 1}
	dir := runDir(t, best, best, best, best)
	if err := os.Truncate(filepath.Join(dir, checkpoint.Name(4), checkpoint.ModelFile), 10); err != nil {
		t.Fatal(err)
	}
	looks := 0
	log := onWrite(func(text string) { // between the search for the newest and the reading of the best
		testkit.MustContain(t, text, "passed over", checkpoint.Name(4))
		looks++
		if err := os.RemoveAll(filepath.Join(dir, checkpoint.Name(1))); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, checkpoint.Name(4))); err != nil {
			t.Error(err)
		}
		saved(t, dir, 5, withUpdate(t, 5), 5, map[string]any{"best": map[string]any{}, "best_step": 3})
	})
	m := mustLoad(t, dir, LoadOptions{Workers: 1, Log: log})
	if want := filepath.Join(dir, checkpoint.Name(3)); m.Path != want || looks != 1 {
		t.Errorf("%s after %d warnings, want %s", m.Path, looks, want)
	}
}

func TestCloseFreesAll(t *testing.T) {
	dev := device.NewHost()
	path := saved(t, t.TempDir(), 1, described(t), 1, nil)
	m, err := load(path, LoadOptions{Workers: 1}, &Device{}, dev)
	if err != nil {
		t.Fatal(err)
	}
	_, paths := speak(t, babble(3, 1))
	transcripts(t, m, paths...)
	if dev.Usage().Buffers == 0 {
		t.Error("nothing is held by a model")
	}
	m.Close()
	if dev.Usage().Buffers != 0 {
		t.Errorf("%+v after Close", dev.Usage())
	}
	m.Close()
}

// A weight that is no number is named without loading the model.
func TestStoredOdd(t *testing.T) {
	path := filepath.Join(saved(t, t.TempDir(), 1, described(t), 1, nil), "model.safetensors")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "alone.safetensors")
	for _, want := range []string{"", "is NaN"} {
		write(t, alone, string(b))
		m, err := Open(alone, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if odd, err := m.Odd(); err != nil || (odd == "") != (want == "") || !strings.HasSuffix(odd, want) {
			t.Errorf("%q, %v, want %q", odd, err, want)
		}
		copy(b[len(b)-4:], "\x00\x00\xc0\x7f")
	}
}
