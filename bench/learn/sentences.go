package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Of the list of texts, the first sentences are learned and tested on with other voices, and the next ones are those
// that nobody has said before.
const (
	learnedSentences, otherSentences = 150, 20
	learnedVoices, allVoices         = 10, 20
)

// sentences takes the synthetic sentences: synth has train.jsonl, dev.jsonl and test.jsonl, of voices of their own, and
// held has other sentences, of which those by voices that synth doesn't have are the further test set.
func (c *corpora) sentences(dir string) ([]fold, error) {
	spoken := c.spoken
	if c.script != "" {
		spoken = dir
		if err := c.speak(dir); err != nil {
			return nil, err
		}
	}
	if spoken == "" {
		return nil, errors.New("no --sentences: give a folder with the folders synth and held, or with --make-sentences and --text what makes them")
	}
	spoken, err := filepath.Abs(spoken)
	if err != nil {
		return nil, err
	}
	synth, held := filepath.Join(spoken, "synth"), filepath.Join(spoken, "held")
	f := fold{train: filepath.Join(synth, "train.jsonl"), dev: filepath.Join(synth, "dev.jsonl"), test: filepath.Join(synth, "test.jsonl")}
	heard, texts := map[string]bool{}, map[string]bool{}
	for _, path := range []string{f.train, f.dev, f.test} {
		lines, err := readManifest(path)
		if err != nil {
			return nil, fmt.Errorf("--sentences: %w", err)
		}
		for _, l := range lines {
			if l.Speaker == "" {
				return nil, fmt.Errorf("--sentences: %s: %s has no speaker, and so it can't be known which voices are others", path, l.Audio)
			}
			heard[l.Speaker], texts[l.Text] = true, true
		}
	}
	lines, err := readManifest(filepath.Join(held, "all.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("--sentences: %w", err)
	}
	var others []line
	for _, l := range lines {
		if texts[l.Text] {
			return nil, fmt.Errorf("--sentences: %q is in %s and in %s: it isn't an unseen sentence", l.Text, synth, held)
		}
		if !heard[l.Speaker] {
			l.ID = l.Audio
			l.Audio = filepath.Join(held, filepath.FromSlash(l.Audio))
			others = append(others, l)
		}
	}
	if len(others) == 0 {
		return nil, fmt.Errorf("--sentences: %s has no voice that %s doesn't have", held, synth)
	}
	f.more = []extra{{"unseen sentences", filepath.Join(dir, "held.jsonl")}}
	return []fold{f}, writeManifest(f.more[0].manifest, others)
}

// speak has the script make synth and held in dir. What is there whole stays.
func (c *corpora) speak(dir string) error {
	text, err := os.ReadFile(c.text)
	if err != nil {
		return fmt.Errorf("--text, the sentences that --make-sentences speaks: %w", err)
	}
	list := slices.Collect(strings.Lines(string(text)))
	if len(list) < learnedSentences+otherSentences {
		return fmt.Errorf("--text: %s has %d lines, want %d", c.text, len(list), learnedSentences+otherSentences)
	}
	for _, part := range []struct {
		name   string
		lines  []string
		voices int
	}{
		{"synth", list[:learnedSentences], learnedVoices},
		{"held", list[learnedSentences : learnedSentences+otherSentences], allVoices},
	} {
		folder := filepath.Join(dir, part.name)
		if _, err := os.Stat(filepath.Join(folder, "meta.json")); err == nil {
			continue // the script writes it last
		}
		chosen := filepath.Join(dir, part.name+".txt")
		if err := os.WriteFile(chosen, []byte(strings.Join(part.lines, "")), 0o666); err != nil {
			return err
		}
		cmd := exec.Command("python3", c.script, "--out", folder, "--text", chosen, "--voices", fmt.Sprint(part.voices))
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("--make-sentences: %v: %w\n%s", cmd.Args, err, said)
		}
	}
	return nil
}
