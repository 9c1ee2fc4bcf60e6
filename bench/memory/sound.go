package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// sound is what a run is given to hear: noise, which takes as much memory as speech.
type sound struct {
	utterances, validated int
	seconds               float64 // in the mean
	spread                float64 // lengths go from 1 - spread to 1 + spread of the mean
	rate                  int     // Hz
	long                  float64 // length of one utterance more, the last line of both manifests, in seconds; 0: none
}

func (s sound) check() error {
	if s.utterances < 1 || s.validated < 1 || !(s.seconds >= 0.2 && s.seconds <= 1000) || s.rate < 8000 || s.rate > 192000 {
		return fmt.Errorf("%d and %d utterances of %v s at %d Hz: want 1 or more of each, 0.2 to 1000 s and 8000 to 192000 Hz",
			s.utterances, s.validated, s.seconds, s.rate)
	}
	return nil
}

// alphabet is as many letters as a script has.
const alphabet = "अआइईउऊएऐओऔकखगघचछजझटठडढणतथदधनपफबभमयरलवशषसहळ"

// noise is what was written: two manifests.
type noise struct{ train, val string }

// training is the arguments of a run on it, whose folder is named.
func (n noise) training(dir, name string) []string {
	return []string{"--train_manifest", n.train, "--val_manifest", n.val, "--checkpoint_dir", filepath.Join(dir, name)}
}

// write makes WAV files and two manifests in dir. Lengths are spread evenly around the mean, in an order of their own;
// there are ten letters to a second. The same settings give the same files.
func (s sound) write(dir string) (noise, error) {
	for set, name := range []string{"train", "val"} {
		order := rand.New(rand.NewPCG(1, uint64(set)))
		n := s.utterances
		if name == "val" {
			n = s.validated
		}
		lengths := make([]float64, n)
		for i, k := range order.Perm(n) {
			lengths[i] = s.seconds
			if n > 1 {
				lengths[i] *= 1 - s.spread + 2*s.spread*float64(k)/float64(n-1)
			}
		}
		if s.long > 0 {
			lengths = append(lengths, s.long)
		}
		var lines strings.Builder
		for i, seconds := range lengths {
			file := fmt.Sprintf("%s-%03d.wav", name, i)
			random := rand.New(rand.NewPCG(uint64(2+set), uint64(i))) // a file more changes no other
			if err := writeNoise(filepath.Join(dir, file), int(seconds*float64(s.rate)), s.rate, random); err != nil {
				return noise{}, err
			}
			fmt.Fprintf(&lines, "{\"audio_filepath\": %q, \"text\": %q}\n", file, letters(int(10*seconds), random))
		}
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(lines.String()), 0o644); err != nil {
			return noise{}, err
		}
	}
	return noise{filepath.Join(dir, "train.jsonl"), filepath.Join(dir, "val.jsonl")}, nil
}

func letters(n int, random *rand.Rand) string {
	all := []rune(alphabet)
	text := make([]rune, max(n, 1))
	for i := range text {
		text[i] = all[random.IntN(len(all))]
	}
	return string(text)
}

// writeNoise writes a WAV file of one channel and 16 bits.
func writeNoise(path string, samples, rate int, random *rand.Rand) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	number := func(n, bytes int) {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], uint32(n))
		w.Write(b[:bytes])
	}
	w.WriteString("RIFF")
	number(36+2*samples, 4)
	w.WriteString("WAVEfmt ")
	number(16, 4)
	for _, n := range []int{1, 1} { // PCM, one channel
		number(n, 2)
	}
	number(rate, 4)
	number(2*rate, 4)
	number(2, 2)
	number(16, 2)
	w.WriteString("data")
	number(2*samples, 4)
	for range samples {
		number(random.IntN(1<<14)-1<<13, 2)
	}
	return errors.Join(w.Flush(), f.Close())
}
