package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// curve is points of update and value. It is thin enough to be committed.
type curve [][2]float64

// mostPoints is how many points a curve has at most.
const mostPoints = 60

// record is what is read of a line of metrics.jsonl.
type record struct {
	Event      string   `json:"event"`
	Update     int      `json:"update"`
	Loss       *float64 `json:"loss"`
	Utterances int      `json:"utterances"`
	Seconds    float64  `json:"seconds"`
	Took       float64  `json:"took"`
	WER        float64  `json:"wer"`
	CER        float64  `json:"cer"`
	Blanks     float64  `json:"blank_share"`
	Weights    string   `json:"weights"`
	Score      struct {
		Utterances int `json:"utterances"`
		Exact      int `json:"exact"`
	} `json:"score"`
}

// history is what a run has said of itself.
type history struct {
	started int // the update that the last session began at
	updates int
	seconds float64
	losses  []record
	cers    []record
	test    *record // the last score of the test set
}

// readMetrics reads a run's metrics.jsonl.
func readMetrics(path string) (*history, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	h := &history{}
	number := 0
	for row := range bytes.Lines(text) {
		number++
		var r record
		if !json.Valid(row) {
			continue // cut off by a kill
		}
		if err := json.Unmarshal(row, &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		switch r.Event {
		case "start":
			h.started = r.Update
		case "save": // at the end too, where a record of updates may not be due
			h.updates = r.Update
		case "update":
			h.updates = r.Update
			h.seconds += r.Seconds
			if r.Loss != nil && r.Utterances > 0 {
				h.losses = append(h.losses, r)
			}
		case "validation":
			h.seconds += r.Took
			h.cers = append(h.cers, r)
		case "test":
			h.test = &r
		}
	}
	if h.updates == 0 {
		return nil, errors.New(path + " has no update")
	}
	return h, nil
}

// scoreOf turns shares into percent.
func scoreOf(r *record) score {
	return score{WER: percent(r.WER), CER: percent(r.CER), Exact: percent(float64(r.Score.Exact) / float64(max(1, r.Score.Utterances))), Blanks: percent(r.Blanks)}
}

func percent(share float64) float64 { return digits(100*share, 5) }

// digits rounds to so many significant digits.
func digits(x float64, n int) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	return x
}

// lossCurve is the mean loss of an utterance, over stretches of equally many records.
func (h *history) lossCurve() curve {
	var c curve
	for _, part := range stretches(h.losses) {
		sum, n := 0.0, 0.0
		for _, r := range part {
			sum += *r.Loss * float64(r.Utterances)
			n += float64(r.Utterances)
		}
		c = append(c, [2]float64{float64(part[len(part)-1].Update), digits(sum/n, 4)})
	}
	return c
}

// cerCurve has of each stretch of validations the last.
func (h *history) cerCurve() curve {
	var c curve
	for _, part := range stretches(h.cers) {
		r := part[len(part)-1]
		c = append(c, [2]float64{float64(r.Update), percent(r.CER)})
	}
	return c
}

// stretches cuts a list into mostPoints parts as equal in length as they can be, or into single ones where there are
// fewer.
func stretches(list []record) [][]record {
	n := min(len(list), mostPoints)
	parts := make([][]record, n)
	for i := range parts {
		parts[i] = list[i*len(list)/n : (i+1)*len(list)/n]
	}
	return parts
}
