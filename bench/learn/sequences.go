package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"konkanitrain/data/audio"
)

// What a sequence is made of.
const (
	sequenceRate     = 8000 // Hz, as the recordings
	sequenceDigits   = 8
	sequenceTrain    = 40 // recordings: eight of each of five speakers
	sequenceTest     = 30
	sequenceQuiet    = 20       // noise of pauses is drawn evenly from -20 to 20, of 32767
	shortest, widest = 0.1, 0.4 // a pause is 0.1 to 0.5 s
)

// sequences joins recordings of digits, each with a pause of quiet noise behind it: of one speaker to test on, and of
// the others, who take turns, to train on. Digits, takes and pauses are drawn.
func (c *corpora) sequences(dir, speaker string) ([]fold, error) {
	list, err := c.takes()
	if err != nil {
		return nil, err
	}
	said := map[string][10][]take{} // by speaker and digit
	var others []string
	for _, t := range list {
		if _, known := said[t.speaker]; !known && t.speaker != speaker {
			others = append(others, t.speaker)
		}
		of := said[t.speaker]
		of[t.digit] = append(of[t.digit], t)
		said[t.speaker] = of
	}
	for _, one := range append([]string{speaker}, others...) {
		for digit, of := range said[one] {
			if len(of) == 0 {
				return nil, fmt.Errorf("--recordings: no %s by %s in %s: it isn't the whole set", digitNames[digit], one, c.recordings)
			}
		}
	}
	if len(others) == 0 {
		return nil, fmt.Errorf("--recordings: %s has no speaker but %s", c.recordings, speaker)
	}
	f := fold{train: filepath.Join(dir, "train.jsonl"), test: filepath.Join(dir, "test.jsonl")}
	return []fold{f}, errors.Join(
		joinTakes(f.train, "train", said, others, sequenceTrain, rand.New(rand.NewPCG(7, 0))),
		joinTakes(f.test, "test", said, []string{speaker}, sequenceTest, rand.New(rand.NewPCG(7, 1))))
}

// joinTakes writes n sequences and their manifest.
func joinTakes(manifest, name string, said map[string][10][]take, speakers []string, n int, random *rand.Rand) error {
	var reader audio.Reader
	var lines []line
	for i := range n {
		speaker := speakers[i%len(speakers)]
		var sound []int16
		var text []string
		for range sequenceDigits {
			digit := random.IntN(10)
			of := said[speaker][digit]
			info, samples, err := reader.Read(audio.File(of[random.IntN(len(of))].path), nil, 0, 0)
			if err != nil {
				return err
			}
			if info.Rate != sequenceRate {
				return fmt.Errorf("%s has a rate of %d Hz, want %d", info.Path, info.Rate, sequenceRate)
			}
			for _, x := range samples {
				sound = append(sound, int16(math.Round(float64(x)*(1<<15)))) // whole numbers: the files have 16 bits
			}
			pause := shortest + widest*random.Float64()
			for range int(pause * sequenceRate) {
				sound = append(sound, int16(random.IntN(2*sequenceQuiet+1)-sequenceQuiet))
			}
			text = append(text, digitNames[digit])
		}
		file := fmt.Sprintf("%s-%02d.wav", name, i)
		if err := writeSound(filepath.Join(filepath.Dir(manifest), file), sequenceRate, sound); err != nil {
			return err
		}
		lines = append(lines, line{Audio: file, Text: strings.Join(text, " "), Speaker: speaker})
	}
	return writeManifest(manifest, lines)
}

// writeSound writes a WAV file of one channel and 16 bits.
func writeSound(path string, rate int, sound []int16) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, part := range []any{
		[]byte("RIFF"), uint32(36 + 2*len(sound)), []byte("WAVEfmt "), uint32(16),
		uint16(1), uint16(1), // PCM, one channel
		uint32(rate), uint32(2 * rate), uint16(2), uint16(16), // bytes a second, bytes and bits of a sample
		[]byte("data"), uint32(2 * len(sound)), sound,
	} {
		err = errors.Join(err, binary.Write(w, binary.LittleEndian, part))
	}
	return errors.Join(err, w.Flush(), f.Close())
}
