package train

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/internal/testkit"
)

// letters are the alphabet of the made-up language: each is a tone of its own.
const letters = "abcdefgh"

// perLetter is the length of a letter's tone, in samples at 16 kHz: 9 feature frames.
const perLetter = 1440

// spoken is a line of a made-up manifest.
type spoken struct {
	id, text string
	samples  int // 0: as many as the text needs
}

// speak writes the sounds and a manifest of them into a fresh folder, and returns the manifest's path.
func speak(t testing.TB, lines ...spoken) string {
	t.Helper()
	dir := t.TempDir()
	manifest, err := os.Create(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer manifest.Close()
	out := json.NewEncoder(manifest)
	for i, s := range lines {
		if s.samples == 0 {
			s.samples = perLetter * (len(s.text) + 1)
		}
		name := fmt.Sprintf("%03d.wav", i)
		writeTone(t, filepath.Join(dir, name), s, uint64(i))
		if err := out.Encode(map[string]string{"id": s.id, "audio_filepath": name, "text": s.text}); err != nil {
			t.Fatal(err)
		}
	}
	return manifest.Name()
}

// writeTone writes one utterance: its letters' tones one after the other, and a little noise.
func writeTone(t testing.TB, path string, s spoken, seed uint64) {
	t.Helper()
	noise := testkit.Normal[float64](seed, s.samples)
	var samples []int
	each := max(s.samples/(len(s.text)+1), 1)
	for n := range s.samples {
		x := 200 * noise[n]
		if i := n / each; i < len(s.text) {
			hz := 300 * math.Pow(1.4, float64(strings.IndexByte(letters, s.text[i])))
			x += 8000 * math.Sin(2*math.Pi*hz*float64(n)/16000)
		}
		samples = append(samples, int(x))
	}
	testkit.WriteWAV(t, path, 16000, samples)
}

// spoil makes the sound of files of a manifest unreadable.
func spoil(t testing.TB, manifest string, names ...string) {
	t.Helper()
	for _, name := range names {
		write(t, filepath.Join(filepath.Dir(manifest), name), "no sound")
	}
}

// notNumbers writes a file of 0.2 s whose header is as it should be and whose sound is not: floats with a NaN.
func notNumbers(t testing.TB, path string) {
	t.Helper()
	const samples = 3200
	var b bytes.Buffer
	b.WriteString("RIFF")
	put := func(fields ...any) {
		for _, f := range fields {
			if err := binary.Write(&b, binary.LittleEndian, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(uint32(36+4*samples), []byte("WAVEfmt "), uint32(16), uint16(3), uint16(1), uint32(16000), uint32(64000), uint16(4), uint16(32))
	put([]byte("data"), uint32(4*samples))
	for i := range samples {
		put(float32(0.1 * math.Sin(float64(i))))
	}
	sound := b.Bytes()
	binary.LittleEndian.PutUint32(sound[44+400:], math.Float32bits(nan))
	write(t, path, string(sound))
}

// speakSome is speak, with files that can't be read to their end for the lines of these numbers.
func speakSome(t testing.TB, lines []spoken, bad ...int) string {
	t.Helper()
	manifest := speak(t, lines...)
	for _, i := range bad {
		notNumbers(t, filepath.Join(filepath.Dir(manifest), fmt.Sprintf("%03d.wav", i)))
	}
	return manifest
}

// hide takes all sounds of a manifest away; the result brings them back.
func hide(t testing.TB, manifest string) (back func()) {
	t.Helper()
	type sound struct{ path, away string }
	var moved []sound
	files, err := filepath.Glob(filepath.Join(filepath.Dir(manifest), "*.wav"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		moved = append(moved, sound{f, f + ".away"})
		if err := os.Rename(f, f+".away"); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for _, m := range moved {
			if err := os.Rename(m.away, m.path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// silence replaces the sound of one utterance of a manifest by zeros of the same length.
func silence(t testing.TB, manifest, name string) {
	t.Helper()
	path := filepath.Join(filepath.Dir(manifest), name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(b[44:])
	write(t, path, string(b))
}

// noise is an utterance of random features and the tokens given.
func noise(id, frames, bins int, tokens ...int32) *data.Example {
	return &data.Example{
		Utt:    &data.Utterance{ID: fmt.Sprint("noise", id), Key: uint64(1000 + id), Duration: float64(frames) / 100},
		Frames: frames, Planned: frames, Tokens: tokens, Features: testkit.Normal[float32](uint64(id), frames*bins),
	}
}

// tokensFor is a target of n tokens without neighbors that are equal.
func tokensFor(n int) []int32 {
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32(3 + (3*i+i/8)%8)
	}
	return tokens
}

// babble is n utterances of 1 to longest letters, the same for the same seed.
func babble(n, longest int, seed uint64) []spoken {
	r := testkit.Rand(seed)
	lines := make([]spoken, n)
	for i := range lines {
		word := make([]byte, 1+r.IntN(longest))
		for j := range word {
			word[j] = letters[r.IntN(len(letters))]
		}
		lines[i] = spoken{id: fmt.Sprintf("utt%02d", i), text: string(word)}
	}
	lines[0].text = letters // so that each set has the whole alphabet
	return lines
}
