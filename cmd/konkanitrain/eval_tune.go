package main

import (
	"context"
	"fmt"
	"strings"

	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
)

// tuning is the settings of eval that look at how texts are found.
type tuning struct {
	Tune         bool   `yaml:"tune" default:"false" check:"any" help:"look for the weights of a beam search with which the manifest is recognized best, print them, and calibrate confidences with them"`
	Reliability  bool   `yaml:"reliability" default:"false" check:"any" help:"compare confidences with how often words of such a confidence are right"`
	SaveDecoding string `yaml:"save_decoding" default:"" check:"path" zero:"none is written" help:"YAML file to write for --decoding: the settings of decoding, tuned where --tune is given, and the calibration of confidences on the manifest"`
}

// tuneRules are what these settings have to agree with.
func (c *evalConfig) tuneRules(p *settings.Problems) {
	if c.Tune && c.Decoder == string(recognize.Greedy) {
		p.Add(settings.Problemf("tune", "tune looks for the weights of a beam search, and the decoder is greedy: want --decoder beam"))
	}
	if c.Tune && (c.PerUtterance != "" || len(c.Alignments) > 0 || len(c.By) > 0 || c.Against != "") {
		p.Add(settings.Problemf("tune", "tune prints a table of weights alone: leave out per_utterance, alignments, by and against, "+
			"and give them with the weights that are found"))
	}
	if (c.Tune || c.Reliability || c.SaveDecoding != "") && c.JSON {
		p.Add(settings.Problemf("json", "json has no place for what tune, reliability and save_decoding print: leave it out"))
	}
	p.Add(makeable("save_decoding", c.SaveDecoding))
}

// wantsWords says whether words and their confidences are needed.
func (t tuning) wantsWords() bool { return t.Reliability || t.SaveDecoding != "" }

// runTune looks for weights.
func (c *evalConfig) runTune(ctx context.Context, o *options, d recognize.Decoding, s streams) error {
	model, err := o.open(c.trained, c.machine, s.err)
	if err != nil {
		return err
	}
	defer model.Close()
	decoder := d.Decoder == recognize.Joint || d.Decoder == recognize.Rescore
	row := func(name string, t recognize.Trial) {
		greedy := t.Decoder == "" || t.Decoder == recognize.Greedy
		fmt.Fprintf(s.out, "%-8s %9s %13s %16s  %v  %v\n", name, weight(d.LM != "" && !greedy, t.LMWeight), weight(!greedy, t.LengthWeight),
			weight(decoder && !greedy, t.AttentionWeight), rate(t.Score.WER()), rate(t.Score.CER()))
	}
	fmt.Fprintf(s.out, "%-8s %9s %13s %16s  %8s  %8s\n", "decoder", "lm_weight", "length_weight", "attention_weight", "WER", "CER")
	t, err := model.Tune(ctx, c.Manifest, d, c.scoring(s.err), func(t recognize.Trial) {
		name := string(t.Decoder)
		if name == "" {
			name = string(recognize.Greedy)
		}
		row(name, t)
	})
	if err != nil {
		return err
	}
	row("best", t.Best)
	if e := t.Best.Score.Words; e.Errors() >= t.Greedy.Score.Words.Errors() {
		fmt.Fprintf(s.out, "no weights are better than greedy decoding, with %v\n", t.Greedy.Score.Words)
	}
	best := t.Best.Decoding
	fmt.Fprintf(s.out, "use      %s\n", flagsOf(c.decoding, best))
	return c.concludes(t.Judge, best, false, s)
}

// concludes prints how reliable confidences are, which are calibrated already or not, and saves the settings of
// decoding, as far as that is asked for.
func (c *evalConfig) concludes(j *recognize.Judge, d recognize.Decoding, already bool, s streams) error {
	calibrated, err := j.Calibrate()
	if d.Calibration = nil; err == nil {
		d.Calibration = &calibrated
	} else if c.SaveDecoding != "" {
		fmt.Fprintf(s.err, "WARNING: %v: %s gets no calibration; take a larger manifest\n", err, c.SaveDecoding)
	}
	if c.Reliability {
		title := "as they are measured"
		if already {
			title = "calibrated"
		}
		fmt.Fprintf(s.out, "\nconfidences, %s:\n%v\n", title, j.Reliability(nil))
		if err == nil && (c.Tune || c.SaveDecoding != "") {
			fmt.Fprintf(s.out, "\ncalibrated on this set, slope %.4f and offset %.4f:\n%v\n", calibrated.Slope, calibrated.Offset, j.Reliability(&calibrated))
		}
	}
	if c.SaveDecoding == "" {
		return nil
	}
	if err := saveDecoding(c.SaveDecoding, c.decoding, d, "for "+c.Checkpoint+", by eval on "+strings.Join(c.Manifest, ", ")); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "written  %s: --decoding %s\n", c.SaveDecoding, words.Shell(c.SaveDecoding))
	return err
}

// weight is a number of the table, or a sign that there is none.
func weight(there bool, x float64) string {
	if !there {
		return "-"
	}
	return fmt.Sprint(x)
}

func rate(x float64) string { return fmt.Sprintf("%6.2f %%", 100*x) }

// flagsOf are the flags that decode as a trial has.
func flagsOf(d decoding, tuned recognize.Decoding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--decoder %s --beam_width %d", tuned.Decoder, tuned.Width)
	if d.LM != "" {
		fmt.Fprintf(&b, " --lm %s --lm_weight %v", words.Shell(d.LM), tuned.LMWeight)
	}
	fmt.Fprintf(&b, " --length_weight %v", tuned.LengthWeight)
	if tuned.Decoder == recognize.Joint || tuned.Decoder == recognize.Rescore {
		fmt.Fprintf(&b, " --attention_weight %v", tuned.AttentionWeight)
	}
	return b.String()
}
