package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// corpora make the manifests of tasks, and the sound that isn't there yet. The same sources give the same bytes, but
// for the paths of sources in manifests; utterances are told apart by ids, which name no folder, so that a run's random
// draws are the same wherever the sources lie.
type corpora struct {
	recordings string // folder of the Free Spoken Digit Dataset's recordings
	spoken     string // folder of sentences: synth and held in it
	script     string // what makes them; "": they are there
	text       string // the sentences' texts, for the script
	examples   string // folder of the bundled words
}

// line is one utterance of a manifest.
type line struct {
	Audio   string `json:"audio_filepath"`
	Text    string `json:"text"`
	ID      string `json:"id,omitempty"`
	Speaker string `json:"speaker,omitempty"`
}

// writeManifest writes lines as JSON.
func writeManifest(path string, lines []line) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, l := range lines {
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

// readManifest reads lines of JSON.
func readManifest(path string) ([]line, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines []line
	for row := range bytes.Lines(text) {
		var l line
		if err := json.Unmarshal(row, &l); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, len(lines)+1, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// digitNames are the words of the digits.
var digitNames = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// take is one recording of a digit.
type take struct {
	digit   int
	speaker string
	number  int
	path    string
}

func (t take) line() line {
	return line{t.path, digitNames[t.digit], fmt.Sprintf("%d_%s_%d", t.digit, t.speaker, t.number), t.speaker}
}

// takes are all recordings of digits, in the order of speaker, digit and number.
func (c *corpora) takes() ([]take, error) {
	if c.recordings == "" {
		return nil, errors.New("no --recordings: give the folder of the Free Spoken Digit Dataset's recordings, with files DIGIT_SPEAKER_TAKE.wav")
	}
	folder, err := filepath.Abs(c.recordings)
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("--recordings: %w", err)
	}
	var list []take
	for _, f := range files {
		parts := strings.Split(strings.TrimSuffix(f.Name(), ".wav"), "_")
		if len(parts) != 3 || !strings.HasSuffix(f.Name(), ".wav") {
			continue
		}
		digit, errDigit := strconv.Atoi(parts[0])
		number, errNumber := strconv.Atoi(parts[2])
		if errDigit != nil || errNumber != nil || digit < 0 || digit > 9 || number < 0 {
			continue
		}
		list = append(list, take{digit, parts[1], number, filepath.Join(folder, f.Name())})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--recordings: %s has no files DIGIT_SPEAKER_TAKE.wav, such as 7_theo_12.wav", folder)
	}
	slices.SortFunc(list, func(a, b take) int {
		if n := strings.Compare(a.speaker, b.speaker); n != 0 {
			return n
		}
		if a.digit != b.digit {
			return a.digit - b.digit
		}
		return a.number - b.number
	})
	return list, nil
}

// heldOut trains on all speakers but one, and tests on this one.
func (c *corpora) heldOut(dir, speaker string) ([]fold, error) {
	return c.digits(dir, "speaker "+speaker, func(t take) bool { return t.speaker == speaker })
}

// official is the split that the recordings' makers give: takes 0 to 4 are the test set.
func (c *corpora) official(dir string) ([]fold, error) {
	return c.digits(dir, "takes 0 to 4", func(t take) bool { return t.number < 5 })
}

// digits makes a task of single digits; tested says which recordings are tested on.
func (c *corpora) digits(dir, which string, tested func(take) bool) ([]fold, error) {
	list, err := c.takes()
	if err != nil {
		return nil, err
	}
	var train, test []line
	for _, t := range list {
		if tested(t) {
			test = append(test, t.line())
		} else {
			train = append(train, t.line())
		}
	}
	if len(train) == 0 || len(test) == 0 {
		return nil, fmt.Errorf("--recordings: %s has %d recordings to train on and %d to test on (%s): it isn't the whole set", c.recordings, len(train), len(test), which)
	}
	return c.single(dir, "", train, test)
}

// single writes the manifests of a fold without further sets.
func (c *corpora) single(dir, name string, train, test []line) ([]fold, error) {
	f := fold{name: name, train: filepath.Join(dir, prefix(name)+"train.jsonl"), test: filepath.Join(dir, prefix(name)+"test.jsonl")}
	return []fold{f}, errors.Join(writeManifest(f.train, train), writeManifest(f.test, test))
}

func prefix(fold string) string {
	if fold == "" {
		return ""
	}
	return fold + "-"
}

// voices of the bundled words, of those that its training set has: two men's and three women's.
var wordVoices = []string{"v01", "v02", "v05", "v06", "v07"}

// words makes the five folds of the bundled words. In each, four voices say 20 of the 40 words each, so that two of
// them say every word: the first and the third those of odd numbers, the others those of even ones. The fifth voice
// says all 40 to test on.
func (c *corpora) words(dir string) ([]fold, error) {
	folder, err := filepath.Abs(c.examples)
	if err != nil {
		return nil, err
	}
	all, err := readManifest(filepath.Join(folder, "train.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("the bundled words: %w (start it from the repository's root, or give --words)", err)
	}
	said := map[string][]line{} // by voice, in the order of the words
	for _, l := range all {
		parts := strings.Split(l.Audio, "/") // wav/v01/07.wav
		if len(parts) != 3 {
			return nil, fmt.Errorf("the bundled words: %s is no path wav/VOICE/NUMBER.wav", l.Audio)
		}
		l.Speaker, l.ID = parts[1], parts[1]+"/"+strings.TrimSuffix(parts[2], ".wav")
		l.Audio = filepath.Join(folder, filepath.FromSlash(l.Audio))
		said[l.Speaker] = append(said[l.Speaker], l)
	}
	var folds []fold
	for _, tested := range wordVoices {
		if n := len(said[tested]); n != 40 {
			return nil, fmt.Errorf("the bundled words: %d of voice %s, want 40", n, tested)
		}
		var train []line
		half := 0
		for _, voice := range wordVoices {
			if voice == tested {
				continue
			}
			for i := half; i < len(said[voice]); i += 2 {
				train = append(train, said[voice][i])
			}
			half = 1 - half
		}
		f, err := c.single(dir, tested, train, said[tested])
		if err != nil {
			return nil, err
		}
		folds = append(folds, f...)
	}
	return folds, nil
}
