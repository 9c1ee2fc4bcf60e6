package recognize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/recognize/decode"
	"konkanitrain/update"
)

// firstWindow reads the first n utterances of a manifest.
func firstWindow(t testing.TB, m *Model, manifest string, n int) []*data.Example {
	t.Helper()
	stream, err := loader(t, m, manifest, n).Start(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stream.Close)
	w, err := stream.Next()
	if err != nil {
		t.Fatal(err)
	}
	return w.Examples
}

// What the decoder says of a hypothesis, step by step with kept keys and values, is what the whole decoder says when it
// scores the same tokens: in a joint search, and where hypotheses are rescored. With a narrow beam and a wide one.
func TestDecoderSaysWhatItScores(t *testing.T) {
	d := described(t)
	d.Network.DecoderLayers, d.Network.LabelSmoothing = 2, 0
	manifest, _ := speak(t, babble(6, 3))
	for _, c := range []Decoding{
		{Decoder: Joint, Width: 3, AttentionWeight: 0.7}, {Decoder: Joint, Width: 48, AttentionWeight: 2}, {Decoder: Rescore, Width: 20, AttentionWeight: 1},
	} {
		m := random(t, d, 2)
		if err := m.SetDecoding(c); err != nil {
			t.Fatal(err)
		}
		window := firstWindow(t, m, manifest, 6)
		var found [][]decode.Hypothesis
		all := make([]*listened, len(window))
		_, err := m.recognizer.listen(t.Context(), window, model.Transcribing, all, func() error {
			r := m.recognizer.readers[0]
			for _, u := range all {
				r.speller.begins(u, func(s *update.Step) error { return m.recognizer.runner.Steps([]update.Step{*s}) })
				r.read(u.logits)
				if r.speller.err != nil {
					return r.speller.err
				}
				if held := int64(4*(cap(r.speller.logProbs)+cap(r.speller.kept)) + 12*cap(r.speller.nodes)); held > r.speller.Bytes(r.frames.T(), c.Width) {
					t.Errorf("%+v: the speller holds %d bytes, and says %d at most", c, held, r.speller.Bytes(r.frames.T(), c.Width))
				}
				best := r.decoder.Decode(r.frames, c.Width) // again: of a speller that knows all of it
				if c.Decoder == Rescore {
					r.speller.rescore(best, c.AttentionWeight)
				}
				var own []decode.Hypothesis
				for _, h := range best {
					own = append(own, h.Clone())
				}
				found = append(found, own)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for i, x := range window {
			for k, h := range found[i] {
				if k > 0 && h.Score > found[i][k-1].Score {
					t.Errorf("%+v: hypotheses of row %d are not in order", c, i)
				}
				if k > 3 || len(h.Tokens) == 0 {
					continue
				}
				again := *x
				again.Tokens = h.Tokens
				losses, err := m.recognizer.runner.Run([]*data.Example{&again}, update.Ask{Purpose: model.Scoring})
				if err != nil {
					t.Fatal(err)
				}
				compared++
				// Sums of a few logarithms of float32 logits behind two blocks.
				if ce := losses[0].CE; math.Abs(h.Decoder.LogProb+ce) > 1e-5*(1+ce) {
					t.Errorf("%+v, row %d: %v has %.7f of the decoder, which scores it with %.7f", c, i, h.Tokens, h.Decoder.LogProb, -ce)
				}
				if want := h.CTC + c.AttentionWeight*h.Decoder.LogProb; math.Abs(h.Score-want) > 1e-9*(1-want) {
					t.Errorf("%+v: the score is %v, want %v", c, h.Score, want)
				}
			}
		}
		if compared < 10 {
			t.Errorf("%+v: %d hypotheses were compared", c, compared)
		}
	}
}

// A file gets the same transcript alone and among others, whatever the number of workers; and eval has the same texts
// and the losses of greedy decoding.
func TestJointIsTheSameInAnyBatch(t *testing.T) {
	d := described(t)
	manifest, paths := speak(t, babble(24, 1))
	for _, c := range []Decoding{
		{Decoder: Joint, Width: 6, AttentionWeight: 0.5, NBest: 3, Units: true},
		{Decoder: Rescore, Width: 6, AttentionWeight: 1, LengthWeight: 0.5, NBest: 3},
	} {
		var want []Transcript
		for _, workers := range []int{1, 3} {
			m := random(t, d, workers)
			if err := m.SetDecoding(c); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = transcribed(t, m, oneByOne(paths)...)
			}
			mustEqual(t, fmt.Sprintf("%s with %d workers", c.Decoder, workers), transcribed(t, m, paths), want)
			e, each := mustScore(t, m, manifest, 7)
			plain, _ := mustScore(t, random(t, d, 2), manifest, 5)
			if math.Abs(float64(e.Loss-plain.Loss)) > productTolerance*float64(plain.Loss) || e.BlankShare != plain.BlankShare {
				t.Errorf("%s: loss %v and blanks %v, greedily %v and %v", c.Decoder, e.Loss, e.BlankShare, plain.Loss, plain.BlankShare)
			}
			texts := transcripts(t, m, paths...)
			for i, h := range each {
				if h.Text != texts[i] {
					t.Errorf("%s: eval has %q, transcribe %q", c.Decoder, h.Text, texts[i])
				}
			}
		}
	}
}

// The decoder decides: with all the weight, what it finds likely is preferred to what CTC does.
func TestDecoderWeighs(t *testing.T) {
	manifest, _ := speak(t, babble(20, 1))
	differ := 0
	var plain []Hypothesis
	for _, weight := range []float64{0, 30} {
		for _, kind := range []Decoder{Rescore, Joint} {
			m := random(t, described(t), 1)
			if err := m.SetDecoding(Decoding{Decoder: kind, Width: 16, AttentionWeight: weight}); err != nil {
				t.Fatal(err)
			}
			_, each := mustScore(t, m, manifest, 8)
			if plain == nil {
				beam := random(t, described(t), 1)
				if err := beam.SetDecoding(Decoding{Decoder: Beam, Width: 16}); err != nil {
					t.Fatal(err)
				}
				_, plain = mustScore(t, beam, manifest, 8)
			}
			for i := range each {
				same := each[i].Text == plain[i].Text
				if weight == 0 && !same {
					t.Errorf("%s without weight: %q, beam search has %q", kind, each[i].Text, plain[i].Text)
				}
				if !same {
					differ++
				}
			}
		}
	}
	if differ == 0 {
		t.Error("the decoder changes nothing")
	}
}

func TestDecoderThatIsNotThere(t *testing.T) {
	d := described(t)
	d.Network.DecoderLayers = 0
	m := random(t, d, 1)
	testkit.MustFail(t, m.SetDecoding(Decoding{Decoder: Joint, AttentionWeight: 1}), "has no decoder", "decoder_layers 0", "want --decoder beam")
	m = random(t, described(t), 1)
	testkit.MustFail(t, m.SetDecoding(Decoding{Decoder: Rescore, AttentionWeight: -1}), "want 0 to 1000")
}

// A step that fails ends all searches with its error, and a stop doesn't wait for them.
func TestSearchStops(t *testing.T) {
	manifest, paths := speak(t, babble(12, 1))
	m := random(t, described(t), 2)
	if err := m.SetDecoding(Decoding{Decoder: Joint, Width: 4, AttentionWeight: 1}); err != nil {
		t.Fatal(err)
	}
	window := firstWindow(t, m, manifest, 12)
	all, texts := make([]*listened, 12), make([]heard, 12)
	broken, n := errors.New("broken"), 0
	_, err := m.recognizer.listen(t.Context(), window, model.Transcribing, all, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	c := &conductor{active: 3, run: func(steps []update.Step) error {
		if n++; n == 3 {
			return broken
		}
		if len(steps) == 0 || len(steps) > 3 {
			t.Errorf("%d steps together", len(steps))
		}
		return m.recognizer.runner.Steps(steps)
	}}
	done := make(chan error)
	for i := range 3 {
		go func() {
			defer c.leave()
			done <- m.recognizer.readers[i].search(all[i], c.step).err
		}()
	}
	for range 3 {
		if err := <-done; !errors.Is(err, broken) {
			t.Errorf("after a step that fails: %v", err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := m.recognizer.search(ctx, m.recognizer.readers, all, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("after a stop: %v", err)
	}
	if got := transcripts(t, m, paths[:2]...); len(got) != 2 {
		t.Error(got)
	}
}

// noSteps is a replica without memory for the decoder's steps.
type noSteps struct{ update.Replica }

func (r noSteps) Prepare(batches []engine.Batch[update.Variant], bytes int64) error {
	if len(batches) > 0 && batches[0].Key.Purpose == model.Stepping {
		return &device.OutOfMemory{What: "arena", Size: 1 << 40, Limit: 1 << 30}
	}
	return r.Replica.Prepare(batches, bytes)
}

// Where there is no memory for steps, that is an error of each file, and counted in a score.
func TestStepsWithoutMemory(t *testing.T) {
	manifest, paths := speak(t, babble(6, 1))
	d := described(t)
	m := newModel("without steps", d, noSteps{newReplica(t, d, 1, 2, device.NewHost())}, io.Discard)
	if err := m.SetDecoding(Decoding{Decoder: Joint, AttentionWeight: 1}); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := m.Transcribe(t.Context(), paths, func(x Transcript) error {
		if n++; !OutOfMemory(x.Err) {
			t.Errorf("%+v", x)
		}
		return nil
	})
	if err != nil || n != len(paths) {
		t.Errorf("%d transcripts, %v", n, err)
	}
	if e, _ := mustScore(t, m, manifest, 6); e.Failed != 6 || e.Score.Utterances != 0 {
		t.Errorf("%+v", e)
	}
	if err := m.SetDecoding(Decoding{}); err != nil {
		t.Fatal(err)
	}
	if got := transcripts(t, m, paths...); strings.Contains(strings.Join(got, " "), "error") {
		t.Error(got)
	}
}
