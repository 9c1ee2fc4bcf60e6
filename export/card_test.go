package export

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"konkanitrain/data/feature"
	"konkanitrain/recognize"
)

// The card says what is known, and nothing of what is not.
func TestCard(t *testing.T) {
	d := described(t, 4)
	d.Policy.LowerCase, d.EMADecay, d.MeanOf = true, 0.999, []int{5, 7}
	m := stored(t, d)
	o := graphs
	o.License, o.Language = `a "license": x`, "kok"
	o.Training = Training{
		Train: []string{"/home/somebody/train.jsonl", "b.csv:2"}, Validate: []string{"v.jsonl"}, Test: []string{"/home/t.jsonl"}, Utterances: 40, Seconds: 5400,
		Epochs: 3, Settings: []string{"d_model: 16", `speeds: [1]`}, Tested: &Rates{0.3, 0.1},
	}
	dir, _ := mustWrite(t, m, o)
	got := string(mustRead(t, dir, "README.md"))
	front := strings.Split(got, "---\n")[1]
	var head map[string]any
	if err := yaml.Unmarshal([]byte(front), &head); err != nil || head["license"] != o.License || head["language"] != "kok" {
		t.Errorf("the head is %v: %v\n%s", head, err, front)
	}
	for _, want := range []string{
		"Trained on train.jsonl, b.csv:2: 40 utterances, 90.0 min of sound, in 3 epochs.", "| t.jsonl (test) | | 30.00 % | 10.00 % |", "| v.jsonl (validation) | 8 | 25.00 % (1 of 4 words) | 12.50 % (1 of 8) |",
		"weights after update 7, moving averages (ema_decay 0.999), the mean of 2 checkpoints", "from 20 to 8000 Hz", "in lower case", "2 decoder blocks",
		"time subsampled by 4", "```yaml\nd_model: 16\nspeeds: [1]\n```\n", "`log_probs` [B, S, 9]", "train with high_hz -400", "normalized to mean 0",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the card doesn't say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "/home") || strings.Contains(got, "not stated") || strings.Contains(got, "None are known") {
		t.Errorf("the card says too much:\n%s", got)
	}

	d = forSherpa(t)
	d.Score, d.Features.Normalize = nil, feature.Global
	d.Features.Stats = &feature.Stats{Frames: 9, Mean: make([]float64, 20), Deviation: []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}
	for format, want := range map[Format][]string{
		Sherpa:      {"OfflineRecognizer.from_wenet_ctc(", "sample_rate=16000, feature_dim=20", "```\n\nsherpa-onnx adds noise of one step of 16 bits", "license: unknown", "Its license is not stated", "None are known", "Not stated."},
		Safetensors: {"python conformer.py FILE.wav", "license: unknown", "over the training set"},
	} {
		o := graphs
		o.Format = format
		dir, _ := mustWrite(t, stored(t, d), o)
		got := string(mustRead(t, dir, "README.md"))
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: the card doesn't say %q:\n%s", format, w, got)
			}
		}
		if strings.Contains(got, "<no value>") || strings.Contains(got, "language:") || strings.Contains(got, "\n\n\n") || strings.Contains(got, "Settings of training") {
			t.Errorf("%s: the card is\n%s", format, got)
		}
	}
}

// Each heading has an empty line in front, wherever features are computed and whatever sherpa-onnx makes of it.
func TestHeadingsOfTheCard(t *testing.T) {
	for _, d := range []*recognize.Description{described(t, 4), forSherpa(t)} {
		for _, place := range []Place{In, Out} {
			o := graphs
			o.Features = place
			dir, _ := mustWrite(t, stored(t, d), o)
			lines := strings.Split(string(mustRead(t, dir, "README.md")), "\n")
			for i, line := range lines {
				if strings.HasPrefix(line, "#") && lines[i-1] != "" {
					t.Errorf("features %s: %q is right below %q", place, line, lines[i-1])
				}
			}
		}
	}
}
