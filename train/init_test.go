package train

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/recognize"
)

// alone copies the model's file of a checkpoint to where nothing else is.
func alone(t testing.TB, dir string, step int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "any name")
	write(t, path, readFile(t, filepath.Join(dir, checkpoint.Name(step), checkpoint.ModelFile)))
	return path
}

// mute takes the description out of the newest checkpoint's model, as models were before they described themselves, and
// returns a copy of its file.
func mute(t testing.TB, dir string) string {
	t.Helper()
	rewrite(t, dir, func(c *contents) { c.description = nil })
	return alone(t, dir, steps(t, dir)[len(steps(t, dir))-1])
}

// A new run can start with the weights of another: of a checkpoint's folder, of the file in it, of that file alone. It
// begins at update 0 with the vocabulary of these weights where that has all letters of the new texts.
func TestInitFrom(t *testing.T) {
	cfg := once(t, tiny(t, speak(t, spoken{id: "a", text: "abcd"}, spoken{id: "b", text: "dcba"})))
	dir := cfg.Run.CheckpointDir
	from := filepath.Join(dir, checkpoint.Name(2))
	want, err := recognize.Describe(from)
	if err != nil {
		t.Fatal(err)
	}
	weights := weightsOf(t, from)
	cfg.Run.Resume, cfg.Data.UnknownLimit = "", 1
	for _, path := range []string{from, filepath.Join(from, checkpoint.ModelFile), alone(t, dir, 2)} {
		c := elsewhere(t, cfg)
		c.Run.InitFrom, c.Data.TrainManifest = path, []string{speak(t, spoken{id: "a", text: "cbd"})}
		var said bytes.Buffer
		r := start(t, c, &said)
		if !slices.Equal(flat(t, r, engine.Weights), weights) || r.ledger.state.Vocabulary.Diff(want.Vocabulary) != nil {
			t.Errorf("%s: weights or vocabulary are others", path)
		}
		moments := append(flat(t, r, engine.FirstMoments), flat(t, r, engine.SecondMoments)...)
		if r.updater.Updates != 0 || slices.Max(moments) != 0 || slices.Min(moments) != 0 || r.ledger.state.Progress != (progress{}) {
			t.Errorf("%s: the run begins at update %d, %+v", path, r.updater.Updates, r.ledger.state.Progress)
		}
		testkit.MustContain(t, said.String(), "the vocabulary is that of "+path+": 7 entries", "weights from "+path)
	}
	c := elsewhere(t, cfg)
	c.Run.InitFrom, c.Model.VocabSize = from, 8
	testkit.MustContain(t, refused(t, c), "vocab_size is 8, but "+from+" with "+c.Data.TrainManifest[0]+" gives 7 entries")
	c.Run.InitFrom = filepath.Join(t.TempDir(), "none")
	testkit.MustContain(t, refused(t, c), "init_from: ", "none")
	damaged := alone(t, dir, 2)
	if err := os.Truncate(damaged, 5000); err != nil {
		t.Fatal(err)
	}
	c.Run.InitFrom = damaged
	testkit.MustContain(t, refused(t, c), "init_from: ", damaged)
}

// Of a file that says nothing of itself the tensors decide.
func TestInitFromAMuteFile(t *testing.T) {
	cfg := once(t, tiny(t, speak(t, spoken{id: "a", text: "abcd"}, spoken{id: "b", text: "dcba"})))
	weights := weightsOf(t, filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2)))
	bare := mute(t, cfg.Run.CheckpointDir)
	c := elsewhere(t, cfg)
	c.Run.Resume, c.Run.InitFrom = "", bare
	if r := start(t, c, nil); !slices.Equal(flat(t, r, engine.Weights), weights) {
		t.Error("the weights are others")
	}
	c = elsewhere(t, c)
	c.Data.TrainManifest = []string{speak(t, spoken{id: "a", text: letters})}
	testkit.MustContain(t, refused(t, c), "init_from: ", "ctc.weight", "--init_partial")
}

// Weights that are not numbers are the file's fault, and no update is made with them.
func TestInitFromBrokenWeights(t *testing.T) {
	cfg := once(t, small(tiny(t, speak(t, babble(4, 3, 1)...))))
	from := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2))
	rewrite(t, cfg.Run.CheckpointDir, func(c *contents) { c.model[1].data[1] = nan })
	c := elsewhere(t, cfg)
	c.Run.Resume, c.Run.InitFrom = "", from
	name := model.Parameters(c.Network(11))[1].Name
	testkit.MustContain(t, refused(t, c), "init_from: in "+from+" "+name+"[1] is NaN: a network with such weights can't be trained")
}

// Weights to start from are refused where the network would hear otherwise than it has learned to, or is another one:
// each setting is named with both values, of a lone file as well. Statistics of global normalization come with them.
func TestInitFromRefusesOtherSound(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	cfg := tiny(t, manifest)
	cfg.Data.Normalize = "global"
	cfg = once(t, cfg)
	dir := cfg.Run.CheckpointDir
	from := filepath.Join(dir, checkpoint.Name(2))
	cfg.Run.Resume = ""
	for _, path := range []string{from, filepath.Join(from, checkpoint.ModelFile), alone(t, dir, 2)} {
		c := elsewhere(t, cfg)
		c.Run.InitFrom = path
		c.Data.KeepJoiners, c.Data.FoldDigits, c.Data.SampleRate, c.Data.NumMels, c.Data.Normalize = true, true, 8000, 16, "none"
		mustNotContain(t, refused(t, c), "joiners", "digits", "init_partial") // texts are no matter, and sound is no matter of what fits
		c.Model = ModelConfig{DModel: 24, EncoderLayers: 3, DecoderLayers: 2, Heads: 4, ConvKernel: 7, Subsampling: 2, SubsampleChannels: 8, CTCWeight: 0.5}
		testkit.MustContain(t, refused(t, c), "init_from: "+path, "sample_rate: 16000 / 8000",
			"num_mels: 20 / 16", `normalize: "global" / "none"`, "d_model: 16 / 24", "encoder_layers: 2 / 3", "decoder_layers: 1 / 2", "heads: 2 / 4",
			"conv_kernel: 5 / 7", "subsampling: 4 / 2", "subsample_channels: 4 / 8")
	}
	c := elsewhere(t, cfg)
	c.Run.InitFrom, c.Model.EncoderLayers = from, 3
	testkit.MustContain(t, refused(t, c), "encoder_layers: 2 / 3; give the saved values, or take what fits of it with --init_partial")
	_, _, want := readCheckpoint(t, dir, 2)
	c = elsewhere(t, cfg)
	c.Run.InitFrom, c.Data.TrainManifest = alone(t, dir, 2), []string{speak(t, babble(5, 3, 9)...)}
	c.Optimizer.LearningRate, c.Model.Dropout = 2e-4, 0.3
	var said bytes.Buffer
	r := start(t, c, &said)
	if got := r.ledger.state.Stats; got == nil || !slices.Equal(got.Mean, want.Stats.Mean) || !slices.Equal(got.Deviation, want.Stats.Deviation) {
		t.Error("the statistics are not those of the weights")
	}
	testkit.MustContain(t, said.String(), "the feature statistics are those of "+c.Run.InitFrom)
	mustNotContain(t, said.String(), "computing feature statistics")
}
