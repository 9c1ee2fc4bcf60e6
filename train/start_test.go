package train

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/update"
)

// trained is a checkpoint after two updates on "abcd", and the settings of a new run.
func trained(t *testing.T) (from string, cfg Config) {
	t.Helper()
	cfg = once(t, tiny(t, speak(t, spoken{id: "a", text: "abcd"}, spoken{id: "b", text: "dcba"})))
	from = filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2))
	cfg.Run.Resume = ""
	return from, elsewhere(t, cfg)
}

// New letters get rows behind those that are there, drawn as those of a new run with this vocabulary; all else is the
// model's. What is new, and what no text needs, is said.
func TestInitFromAnotherVocabulary(t *testing.T) {
	from, cfg := trained(t)
	cfg.Data.TrainManifest, cfg.Data.FoldDigits = []string{speak(t, spoken{id: "a", text: "bxy"}, spoken{id: "b", text: "yax"})}, true
	cfg.Run.InitFrom, cfg.Model.BlankBias = from, 2 // the head is the model's, its blank too
	var said bytes.Buffer
	r := start(t, cfg, &said)
	testkit.MustContain(t, said.String(), "the vocabulary is that of "+from+`, 7 entries, and behind it 2 new characters of the training texts: "x", "y"`,
		"NOTE: no training text has 2 characters of "+from+`: "c", "d"`, "weights from "+from,
		"NOTE: texts are written otherwise than those of "+from+" (its / now): fold_digits: false / true")
	var tokens string
	for id := range r.ledger.state.Vocabulary.Size() {
		tokens += r.ledger.state.Vocabulary.Token(int32(id))
	}
	if tokens != "<blank><sos/eos><unk>abcdxy" {
		t.Errorf("the vocabulary is %s", tokens)
	}
	old := parametersOf(t, from)
	for i, p := range model.Parameters(r.net) {
		got, was := values(t, r, engine.Weights, p.Name), old[i]
		if was.name != p.Name {
			t.Fatalf("parameter %d is %s, %s in the file", i, p.Name, was.name)
		}
		n := len(was.data)
		if !slices.Equal(got[:n], was.data) || p.Vocab != (len(got) > n) {
			t.Errorf("%s: its first %d of %d values are not those of the model", p.Name, n, len(got))
		}
		if p.Vocab { // drawn for nine entries
			drawn := make([]float32, len(got))
			p.Init(drawn, cfg.Run.Seed)
			if !slices.Equal(got[n:], drawn[n:]) {
				t.Errorf("%s: new rows are not as they are drawn", p.Name)
			}
		}
	}
}

// The blank's bias starts where blank_bias says, and the others at 0.
func TestBlankBias(t *testing.T) {
	cfg := tiny(t, speak(t, spoken{id: "a", text: "abcd"}))
	cfg.Model.BlankBias = -1.5
	if got, want := values(t, start(t, cfg, io.Discard), engine.Weights, "ctc.bias"), []float32{-1.5, 0, 0, 0, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("the biases start as %v, want %v", got, want)
	}
}

// A resume with another start says that it has no effect, and has none.
func TestStartAtAResume(t *testing.T) {
	cfg := small(tiny(t, speak(t, spoken{id: "a", text: "abcd"})))
	straight := elsewhere(t, cfg)
	straight.Optimizer.MaxUpdates = 3
	mustRun(t, straight)
	cfg = once(t, cfg)
	cfg.Model.BlankBias, cfg.Model.BranchShrink = 3, 0.5
	said := mustRun(t, cfg)
	testkit.MustContain(t, said, "NOTE: blank_bias is 3 now, and was 0 in the checkpoint: it says how a new run starts, and has no effect on this one",
		"NOTE: branch_shrink is 0.5 now")
	mustNotContain(t, said, "a setting differs")
	sameWeights(t, straight, cfg, 3)
}

// Such a run goes on bit for bit, though its texts alone would give another vocabulary; with a letter more it is
// another run.
func TestResumeOfARunThatWasStarted(t *testing.T) {
	from, cfg := trained(t)
	for _, text := range []string{"bxya", "dc"} { // a vocabulary that grew, and one that is kept
		cfg.Data.TrainManifest = []string{speak(t, spoken{id: "a", text: text}, spoken{id: "b", text: text})}
		cfg.Optimizer.MaxUpdates = 4
		straight, broken := elsewhere(t, cfg), elsewhere(t, cfg)
		straight.Run.InitFrom, broken.Run.InitFrom = from, from
		mustRun(t, straight)
		broken.Optimizer.MaxUpdates = 2
		mustRun(t, broken)
		broken.Optimizer.MaxUpdates, broken.Run.InitFrom, broken.Run.Resume = 4, "", "auto"
		c := broken
		c.Data.TrainManifest = []string{speak(t, spoken{id: "a", text: text + "z"}, spoken{id: "b", text: text})}
		testkit.MustContain(t, refused(t, c), "its vocabulary is not that of")
		mustRun(t, broken)
		if s := mustEqualRun(t, broken.Run.CheckpointDir, straight.Run.CheckpointDir, 4); s.Source != from {
			t.Errorf("the state says it began with %q", s.Source)
		}
	}
}

// With init_partial what fits of another depth and width is taken, and it is said what; without it nothing is.
func TestInitPartial(t *testing.T) {
	from, base := trained(t)
	base.Run.InitFrom = from
	for _, c := range []struct {
		change func(*Config)
		want   []string
	}{
		{func(c *Config) { c.Model.EncoderLayers = 5 }, []string{"  taken: encoder.subsample, encoder.blocks.0-1, ctc, decoder", "  drawn, not there: encoder.blocks.2-4"}},
		{func(c *Config) { c.Model.EncoderLayers, c.Model.DecoderLayers = 1, 0 }, []string{"  taken: encoder, ctc", "  left: encoder.blocks.1, decoder"}},
		{func(c *Config) { c.Model.ConvKernel = 7 }, []string{"  drawn, of another shape there: encoder.blocks.0-1.conv.depthwise.weight"}},
		{func(c *Config) { c.Model.DModel = 24 }, []string{"  taken: encoder.subsample.conv, encoder.subsample.depthwise, encoder.subsample.pointwise, ctc.bias, decoder.out.bias"}},
		{func(c *Config) {
			c.Model.DecoderLayers = 2
			c.Data.TrainManifest = []string{speak(t, spoken{id: "a", text: "ax"})}
		},
			[]string{"  taken: encoder, ctc, decoder.embed, decoder.blocks.0, decoder.norm, decoder.out", "  drawn, not there: decoder.blocks.1", `new character of the training texts: "x"`}},
	} {
		cfg := elsewhere(t, base)
		c.change(&cfg)
		testkit.MustContain(t, refused(t, cfg), "init_from: "+from, "--init_partial")
		cfg.Run.InitPartial = true
		var said bytes.Buffer
		r := start(t, cfg, &said)
		testkit.MustContain(t, said.String(), c.want...)
		was := map[string][]float32{}
		for _, p := range parametersOf(t, from) {
			was[p.name] = p.data
		}
		for _, p := range model.Parameters(r.net) {
			want := make([]float32, p.Size())
			p.Init(want, cfg.Run.Seed)
			if old := was[p.Name]; len(old) == len(want) || p.Vocab && cfg.Model.DModel == base.Model.DModel {
				copy(want, old)
			}
			if !slices.Equal(values(t, r, engine.Weights, p.Name), want) {
				t.Errorf("%s is neither the model's nor drawn", p.Name)
			}
		}
	}
	nothing := filepath.Join(t.TempDir(), "other.safetensors")
	b, err := os.ReadFile(filepath.Join("..", "internal", "safetensors", "testdata", "python.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, nothing, string(b))
	cfg := elsewhere(t, base)
	cfg.Run.InitFrom, cfg.Run.InitPartial = nothing, true
	testkit.MustContain(t, refused(t, cfg), "init_from: "+nothing, "not one of its tensors")
}

// A frozen part keeps its bits and has no moments on disk; a run with it, and with rates of several sizes, goes on bit
// for bit and is averaged. A resume can't change what is frozen.
func TestFreeze(t *testing.T) {
	from, cfg := trained(t)
	cfg.Run.InitFrom, cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.AverageLast = from, 4, 1, 3
	cfg.Optimizer.Freeze, cfg.Optimizer.LRScale = []string{"encoder.subsample", "encoder.blocks.0"}, []string{"encoder=0.1", "ctc=2"}
	cfg.Optimizer.WarmupUpdates = 1
	said := mustRun(t, cfg)
	testkit.MustContain(t, said, "frozen: encoder.subsample, encoder.blocks.0: ", " parameters learn", "learning_rate times 0.1: encoder.blocks.1", "learning_rate times 2: ctc")
	dir := cfg.Run.CheckpointDir
	was := map[string][]float32{}
	for _, p := range parametersOf(t, from) {
		was[p.name] = p.data
	}
	for _, path := range []string{filepath.Join(dir, checkpoint.Name(4)), filepath.Join(dir, "averaged", checkpoint.Name(4))} {
		for _, p := range parametersOf(t, path) {
			if slices.Equal(p.data, was[p.name]) != cfg.Tuning().Frozen(p.name) {
				t.Errorf("%s: %s has changed: %v", path, p.name, cfg.Tuning().Frozen(p.name))
			}
		}
	}
	_, moments, _ := readCheckpoint(t, dir, 4)
	if bytes.Contains(moments, []byte(`"m.encoder.blocks.0.`)) || !bytes.Contains(moments, []byte(`"m.encoder.blocks.1.`)) {
		t.Error("the moments on disk are not those of what learns")
	}

	broken := elsewhere(t, cfg)
	broken.Optimizer.MaxUpdates = 2
	mustRun(t, broken)
	broken.Optimizer.MaxUpdates, broken.Run.InitFrom, broken.Run.Resume = 4, "", "auto"
	c := broken
	c.Optimizer.Freeze = []string{"encoder.subsample"}
	testkit.MustContain(t, refused(t, c), `freeze: ["encoder.subsample","encoder.blocks.0"] / ["encoder.subsample"]`, "give the saved values",
		"a new run with --init_from "+filepath.Join(broken.Run.CheckpointDir, checkpoint.Name(2))+" --freeze encoder.subsample")
	mustRun(t, broken)
	mustEqualRun(t, broken.Run.CheckpointDir, dir, 4)
}

// What is drawn and frozen is never learned: a new run's whole part, new rows of the vocabulary, and what a model
// doesn't give.
func TestFrozenAsDrawn(t *testing.T) {
	from, base := trained(t)
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) {}, "WARNING: freeze keeps ctc, decoder.embed as drawn from the seed: they are never learned"},
		{func(c *Config) {
			c.Run.InitFrom, c.Data.TrainManifest = from, []string{speak(t, spoken{id: "a", text: "ax"})}
		},
			"WARNING: the rows of 1 new character in ctc, decoder.embed are drawn and frozen, so they are never learned: take these out of freeze"},
		{func(c *Config) { c.Run.InitFrom, c.Run.InitPartial, c.Model.DModel = from, true, 24 },
			"WARNING: freeze keeps ctc.weight, decoder.embed as drawn from the seed, as " + from + " doesn't have them in this shape"},
	} {
		cfg := elsewhere(t, base)
		cfg.Optimizer.Freeze = []string{"ctc", "decoder.embed"}
		c.change(&cfg)
		var said bytes.Buffer
		start(t, cfg, &said)
		testkit.MustContain(t, said.String(), c.want)
	}
	cfg := elsewhere(t, base)
	cfg.Optimizer.Freeze, cfg.Run.InitFrom = []string{"ctc", "encoder"}, from
	var said bytes.Buffer
	start(t, cfg, &said)
	mustNotContain(t, said.String(), "WARNING: freeze", "never learned")
}

// Prefixes are held to the names there are.
func TestTuningRules(t *testing.T) {
	base := small(tiny(t, "m.jsonl"))
	base.Model.EncoderLayers = 12
	for _, c := range []struct {
		freeze, scale, decay, dropout []string
		want                          string
	}{
		{[]string{"encodr"}, nil, nil, nil, `freeze "encodr": no parameter's name begins so: the network has encoder, ctc: did you mean encoder?`},
		{[]string{"encoder.block.0"}, nil, nil, nil, `encoder has subsample, blocks: did you mean encoder.blocks?`},
		{[]string{"decoder"}, nil, nil, nil, `the network has encoder, ctc`},
		{[]string{"encoder.blocks.12"}, nil, nil, nil, `encoder.blocks has 0-11`},
		{[]string{"encoder.blocks.0.ffn1.up.weight.x"}, nil, nil, nil, `encoder.blocks.0.ffn1.up.weight is one, without parts`},
		{[]string{"encoder", "ctc"}, nil, nil, nil, `freeze encoder,ctc is the whole network: nothing is left to learn`},
		{[]string{"encoder"}, []string{"encoder.blocks=0.1"}, nil, nil, `lr_scale is for encoder.blocks, and freeze encoder leaves nothing of that to learn`},
		{nil, []string{"encoder=2000"}, nil, nil, `learning_rate 0.001 times lr_scale 2000, for encoder, is 2: want at most 1`},
		{nil, []string{"encodr=0.1"}, nil, nil, `lr_scale "encodr"`},
		{nil, []string{"encoder"}, nil, nil, `write PATTERN=FACTOR`},
		{nil, []string{"encoder=0.1", "encoder=0.2"}, nil, nil, `lr_scale gives encoder two values`},
		{[]string{"a,b"}, nil, nil, nil, `without commas`},
		{[]string{"encoder.*.12"}, nil, nil, nil, `freeze "encoder.*.12": no parameter's name begins so: encoder.* has conv, depthwise, pointwise, proj, 0-11`},
		{nil, []string{"encoder.blocks.*.atn=2"}, nil, nil, `encoder.blocks.* has ffn1, attn, conv, ffn2, norm: did you mean encoder.blocks.*.attn?`},
		{nil, nil, []string{"encoder.blocks.*.norm=0.1"}, nil, `weight_decay_of is for encoder.blocks.*.norm, of which nothing decays: biases and norms never do`},
		{[]string{"encoder"}, nil, []string{"encoder.blocks=0.1"}, nil, `weight_decay_of is for encoder.blocks, and freeze encoder leaves nothing of that to learn`},
		{nil, nil, []string{"encoder=1"}, nil, `weight_decay_of "encoder=1": the decay is 1, want 0 or more and below 1`},
		{nil, nil, []string{"decoder=0.1"}, nil, `weight_decay_of "decoder": no parameter's name begins so: the network has encoder, ctc`},
		{nil, nil, nil, []string{"ctc=0.1"}, `dropout_of "ctc": no name of a dropout begins so: the network has encoder`},
		{nil, nil, nil, []string{"encoder.blocks.*.conv.up=0.1"}, `dropout_of "encoder.blocks.*.conv.up": no name of a dropout begins so: encoder.blocks.*.conv has down`},
		{nil, nil, nil, []string{"encoder=1"}, `dropout_of "encoder=1": the share is 1, want 0 to 0.99`},
		{nil, nil, nil, []string{"encoder"}, `dropout_of "encoder": write PATTERN=SHARE, such as encoder.subsample=0`},
	} {
		cfg := base
		cfg.Optimizer.Freeze, cfg.Optimizer.LRScale, cfg.Optimizer.WeightDecayOf, cfg.Model.DropoutOf = c.freeze, c.scale, c.decay, c.dropout
		testkit.MustFail(t, cfg.Validate(), c.want)
	}
	cfg := base
	cfg.Optimizer.Freeze, cfg.Optimizer.LRScale = []string{"encoder.blocks.0", "*.*.*.ffn1"}, []string{"encoder=0.1", "ctc=3", "*.blocks.1=2"}
	cfg.Optimizer.WeightDecayOf, cfg.Model.DropoutOf = []string{"*=0", "*.blocks.*.attn=0.1"}, []string{"encoder.subsample=0", "*.*.*.attn.weights=0.3"}
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}

// Parts are named by the longest prefixes that hold nothing else, and numbers in a row as one.
func TestGrouped(t *testing.T) {
	all := model.Parameters(model.Config{
		DModel: 8, Heads: 1, EncoderLayers: 12, DecoderLayers: 2, ConvKernel: 3, Subsampling: 4, SubsampleChannels: 2, NumMels: 8, Vocab: 5,
	})
	for _, c := range []struct {
		prefixes, want []string
	}{
		{nil, nil},
		{[]string{"encoder", "decoder", "ctc"}, []string{"encoder", "ctc", "decoder"}},
		{[]string{"encoder.blocks.0", "encoder.blocks.1", "encoder.blocks.9", "encoder.blocks.10"}, []string{"encoder.blocks.0-1", "encoder.blocks.9-10"}},
		{[]string{"encoder.blocks.3.ffn1", "encoder.blocks.4.ffn1", "encoder.blocks.5"}, []string{"encoder.blocks.3-4.ffn1", "encoder.blocks.5"}},
		{[]string{"decoder.blocks.0.self.norm.weight", "decoder.blocks.0.self.norm.bias", "decoder.out.bias"},
			[]string{"decoder.blocks.0.self.norm", "decoder.out.bias"}},
	} {
		got := grouped(all, func(p model.Parameter) bool { return update.Tuning{Freeze: c.prefixes}.Frozen(p.Name) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%v is called %v, want %v", c.prefixes, got, c.want)
		}
	}
}

// A plan knows what is frozen: fewer bytes and fewer parameters that learn, and to the byte what the run holds.
func TestPlanKnowsWhatIsFrozen(t *testing.T) {
	cfg := tiny(t, speak(t, babble(12, 8, 1)...))
	whole := mustPlan(t, cfg, PlanOptions{})
	cfg.Optimizer.Freeze = []string{"encoder.subsample", "encoder.blocks.0", "decoder.embed"}
	cfg.Optimizer.LRScale = []string{"encoder=0.1"}
	plan := mustPlan(t, cfg, PlanOptions{})
	r := startBuffersOnly(t, elsewhere(t, cfg))
	checkHeld(t, "frozen", plan.AsSet, r)
	learned := size(r.ledger.memory.learned)
	if a, b := plan.Parameters, whole.Parameters; a.Total != b.Total || b.Learned != b.Total || a.Learned != learned || learned >= a.Total {
		t.Errorf("%d of %d parameters learn, want %d", a.Learned, a.Total, learned)
	}
	a, b := plan.AsSet, whole.AsSet
	if a.Weights != b.Weights || a.Gradients >= b.Gradients || a.Moments >= b.Moments || a.Arena >= b.Arena {
		t.Errorf("frozen %+v, whole %+v", a, b)
	}
}

// A run from a model with statistics of its own can be planned: these change no size.
func TestPlanFromGlobalNormalization(t *testing.T) {
	cfg := tiny(t, speak(t, babble(8, 4, 1)...))
	cfg.Data.Normalize = "global"
	cfg = once(t, cfg)
	c := elsewhere(t, cfg)
	c.Run.InitFrom, c.Run.Resume = filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2)), ""
	if plan := mustPlan(t, c, PlanOptions{}); plan.Verdict != Fits {
		t.Errorf("the verdict is %s", plan.Verdict)
	}
}
