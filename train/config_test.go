package train

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"konkanitrain/internal/settings"
	"konkanitrain/internal/testkit"
)

// The tags have no mistake, and the defaults pass their checks and every rule.
func TestDefaultIsValid(t *testing.T) {
	c := Default()
	if _, err := settings.Of(&c); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

// all is the settings of a configuration.
func all(t testing.TB) *settings.Set {
	t.Helper()
	s, err := settings.Of(new(Config))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What trainer.json holds of a configuration has been written like this since the first checkpoints.
func TestDefaultIsWritten(t *testing.T) {
	const want = `{"allowed_characters":"","auto_fit":true,"average_last":0,"bad_line_limit":0,"bandwidth_share":0,"batch_size":8,"best_by":"auto","blank_alarm":500,"blank_bias":0,"branch_shrink":0,"cache_clear_every":50,"checkpoint_dir":"runs/default","conv_kernel":31,"cpu_workers":0,"ctc_smoothing":0,"ctc_weight":0.3,"cuda_blas":"","cuda_driver":"","d_model":192,"decoder_layers":4,"device":"auto","dropout":0.1,"dropout_of":[],"early_stop":0,"early_stop_delta":0,"ema_decay":0,"encoder_layers":8,"eval_every":0,"final_rate":0,"find_lr":false,"fold_digits":false,"fp16":false,"freeze":[],"freq_masks":2,"freq_width":27,"grad_accum":2,"grad_clip":5,"heads":4,"high_hz":0,"init_from":"","init_partial":false,"inter_ctc_weight":0,"keep_joiners":false,"keep_last":3,"label_smoothing":0.1,"learning_rate":0.001,"light_first_epochs":0,"listen":"","listen_public":false,"log_dir":"","log_every":10,"long_warmup":false,"lower_case":false,"lr_scale":[],"max_duration":30,"max_text_length":0,"max_updates":0,"memory_fraction":0,"memory_limit":"auto","memory_log":"stages","min_char_count":1,"min_duration":0.1,"mlflow":"","mlflow_experiment":"konkanitrain","noise_manifest":[],"noise_share":0,"noise_snr":[5,25],"normalize":"utterance","num_epochs":30,"num_mels":80,"num_workers":2,"on_oom":"stop","path_map":[],"pitch":0,"profile_steps":0,"recompute":"auto","remove_punctuation":false,"resume":"","reverb_share":0,"sample_rate":16000,"sample_scale":32768,"save_every":0,"schedule":"noam","seed":1,"skip_bad_lines":false,"snapshot_every":50,"sort_first_epochs":0,"spec_augment":true,"speed_perturb":true,"speeds":[0.9,1,1.1],"stochastic_depth":0,"subsample_channels":64,"subsampling":4,"tensorboard":"","test_manifest":[],"time_masks":5,"time_share":0.05,"time_shift":0,"tokenizer":"characters","train_manifest":[],"unknown_limit":0.05,"val_manifest":[],"vocab_size":0,"volume":0,"vtlp":0,"warmup_share":0,"warmup_updates":1000,"weight_decay":0.001,"weight_decay_of":[],"worst_utterances":20}`
	saved, err := Default().settings()
	if err != nil || string(saved) != want {
		t.Errorf("%v\n got %s\nwant %s", err, saved, want)
	}
	back, err := fromSettings([]byte(want))
	if diff := cmp.Diff(Default(), back, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// A checkpoint of an older version lacks settings: they have their defaults. Numbers may be written in any way.
func TestOldSettings(t *testing.T) {
	got, err := fromSettings([]byte(`{"d_model": 96, "learning_rate": 5e-4, "min_duration": 0, "grad_clip": 5.0, "speeds": [1, 0.5],
		"seed": 18446744073709551615, "train_manifest": "\u003ca\u003e b", "path_map": []}`))
	want := Default()
	want.Model.DModel, want.Optimizer.LearningRate, want.Data.MinDuration, want.Data.Speeds = 96, 5e-4, 0, []float64{1, 0.5}
	want.Run.Seed, want.Data.TrainManifest, want.Data.PathMap = 1<<64-1, []string{"<a> b"}, []string{}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// Every problem is in one message.
func TestValidateListsEverything(t *testing.T) {
	c := Default()
	c.Model.Heads, c.Model.CTCWeight, c.Optimizer.BatchSize, c.Optimizer.GradAccum = 5, 1.5, 0, 0
	c.Optimizer.LearningRate, c.Optimizer.WarmupUpdates, c.Data.Normalize, c.Data.NumMels = -1, 0, "global", 0
	c.Data.Speeds, c.Data.MaxDuration, c.Data.MinDuration = nil, 1, 2
	c.Run.Resume, c.Run.InitFrom, c.Run.EarlyStop, c.Run.Device = "auto", "x", 3, "tpu"
	err := c.Validate()
	if err == nil {
		t.Fatal("it was accepted")
	}
	testkit.MustContain(t, err.Error(), "heads 5 does not divide d_model 192", "ctc_weight is 1.5", "batch_size is 0", "grad_accum is 0",
		"learning_rate is -1", "warmup_updates is 0", "speeds is empty", "max_duration 1 s is not above min_duration 2 s",
		"resume and init_from are both set", "early_stop is 3, but there is no val_manifest", `device is "tpu"`, "mel")
	mustContainOnce(t, err.Error(), "num_mels is 0")
	mustContainOnce(t, err.Error(), "ctc_weight")
}

// Each rule between settings is broken once, and its problem stands at the line of a setting that it is about.
func TestRulesAreLocated(t *testing.T) {
	for document, want := range map[string]string{
		"seed: 1\nheads: 5":                           "x.yaml:2: heads 5 does not divide d_model 192",
		"seed: 1\nd_model: 6":                         "x.yaml:2: heads 4 does not divide d_model 6",
		"min_duration: 40":                            "x.yaml:1: max_duration 30 s is not above min_duration 40 s",
		"speeds: []":                                  "x.yaml:1: speed_perturb is on, but speeds is empty",
		"path_map: [a]":                               `x.yaml:1: path_map "a": write from=to`,
		"path_map: [a=~/b]":                           "",
		"path_map: [a=~ann/b]":                        `x.yaml:1: path_map is "~ann/b": ~/ at the start means your home folder`,
		"find_lr: true\nprofile_steps: 3":             "x.yaml:1: find_lr and profile_steps are both set",
		"seed: 1\nfinal_rate: 0.1":                    "x.yaml:2: final_rate is 0.1, and schedule noam does not end at a share",
		"final_rate: 0.1\nschedule: one_cycle":        "x.yaml:1: final_rate is 0.1, and schedule one_cycle does not end at a share",
		"final_rate: 0.1\nschedule: linear":           "",
		"device: ''":                                  "x.yaml:1: device is empty: give it a value",
		"listen_public: true":                         "x.yaml:1: listen_public is on, and listen is empty: no page is shown",
		"listen_public: true\nlisten: 0.0.0.0:0":      "",
		"final_rate: 1.1\nschedule: cosine":           "x.yaml:1: final_rate is 1.1, want a share from 0 to 1",
		"schedule: steps":                             `x.yaml:1: schedule is "steps", want noam, cosine, linear, one_cycle or constant`,
		"seed: 1\nearly_stop: 2":                      "x.yaml:2: early_stop is 2, but there is no val_manifest to judge by",
		"init_from: x\nresume: auto":                  "x.yaml:2: resume and init_from are both set",
		"seed: 1\ngrad_accum: 99999":                  "x.yaml:2: batch_size 8 x grad_accum 99999: want at most 65536 utterances",
		"vocab_size: 3":                               "x.yaml:1: vocab_size is 3, want 4 or more (three are blank, sos/eos and unk), or 0",
		"vocab_size: -1":                              "x.yaml:1: vocab_size is -1, want 4 or more",
		"ctc_weight: 0":                               "x.yaml:1: ctc_weight is 0: the CTC output would learn nothing",
		"seed: 1\nsample_rate: 8000\nnum_mels: 128":   "x.yaml:3: mel filters 4, 7, 12, 17 of 128 catch no bin",
		"seed: 1\nsample_rate: 1000":                  "x.yaml:2: ",
		"num_mels: 100\nvtlp: 0.3":                    "x.yaml:2: vtlp is 0.3: with frequencies times 1.205, mel filters 1 of 100",
		"seed: 1\nnoise_snr: [20, 10]":                "x.yaml:2: noise_snr is [20 10]: the lowest ratio comes first",
		"seed: 1\nnoise_snr: [20]":                    "x.yaml:2: noise_snr has 1 numbers, want two",
		"seed: 1\nnoise_snr: [-30, 10]":               "x.yaml:2: noise_snr has -30 dB, want -20 to 100",
		"seed: 1\nnoise_manifest: x":                  "x.yaml:2: noise_manifest names recordings, but noise_share is 0",
		"noise_manifest: x\nnoise_share: 0.5":         "",
		"num_mels: 999":                               "x.yaml:1: num_mels is 999; an FFT of 512 points",
		"save_every: -1":                              "x.yaml:1: save_every is -1, want 0 (each epoch) or more",
		"num_epochs: 0":                               "x.yaml:1: num_epochs is 0, want 1 to 1000000000",
		"checkpoint_dir: ''":                          "x.yaml:1: checkpoint_dir is empty",
		"early_stop: -1":                              "x.yaml:1: early_stop is -1, want 0 (never) or more",
		"sort_first_epochs: -1":                       "x.yaml:1: sort_first_epochs is -1 epochs, want 0 (none) or more",
		"light_first_epochs: -1":                      "x.yaml:1: light_first_epochs is -1 epochs, want 0 (none) or more",
		"batch_size: 0\ngrad_accum: 99999":            "x.yaml:1: batch_size is 0, want 1 or more",
		"decoder_layers: 0\nctc_weight: 0":            "",
		"speed_perturb: false\nspeeds: []":            "",
		"normalize: global":                           "",
		"max_duration: 0\nmin_duration: 40":           "",
		"val_manifest: x\nearly_stop: 1\nresume: ./~": "",
	} {
		c := Default()
		set, err := settings.Of(&c)
		if err != nil {
			t.Fatal(err)
		}
		if err := set.YAML("x.yaml", []byte(document)); err != nil {
			t.Fatal(err)
		}
		problems := settings.Flatten(set.Locate(c.Validate()))
		switch {
		case want == "" && len(problems) > 0:
			t.Errorf("%q: %v", document, problems)
		case want != "" && (len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), want)):
			t.Errorf("%q: %v, want %s", document, problems, want)
		}
	}
}

// The packages below have bounds of their own, in front of their arithmetic: what a tag lets through, they take, and
// what it refuses, they would refuse as well.
func TestTagsAgreeWithPackages(t *testing.T) {
	around := func(ends ...float64) (all []float64) {
		for _, e := range ends {
			all = append(all, e-1, e-0.01, math.Nextafter(e, -1), e, math.Nextafter(e, 1e9), e+0.01, e+1)
		}
		return all
	}
	for key, values := range map[string][]float64{
		"d_model": around(2, 8, 65536), "encoder_layers": around(1, 1000), "decoder_layers": around(0, 1000), "heads": around(1),
		"conv_kernel": around(1, 4, 65535), "subsampling": around(0, 1, 2, 4, 6, 8, 16), "subsample_channels": around(1, 65536),
		"dropout": around(0, 1), "ctc_weight": around(0, 1), "label_smoothing": around(0, 1),
		"sample_rate": around(1000, 768000), "num_mels": around(1), "normalize": {0},
		"freq_masks": around(0, 1000), "freq_width": around(0, 1000), "time_masks": around(0, 1000), "time_share": around(0, 1), "speeds": around(0.5, 2),
		"vtlp": around(0, 0.001, 0.5), "noise_share": around(0, 1), "reverb_share": around(0, 1), "pitch": around(0, 0.25, 12), "time_shift": around(0, 0.5), "bandwidth_share": around(0, 1), "volume": around(0, 60), "noise_snr": around(-20, 100),
	} {
		accepted, refused := 0, 0
		for _, v := range values {
			c := Default()
			c.Model.Heads, c.Data.NumMels = 1, 1 // these fit every other value
			set, err := settings.Of(&c)
			if err != nil {
				t.Fatal(err)
			}
			text := strconv.FormatFloat(v, 'g', -1, 64)
			switch key {
			case "speeds":
				text = "[" + text + "]"
			case "noise_snr":
				text = "[" + text + ", " + text + "]"
			case "normalize":
				text = "other"
			}
			if err := set.YAML("x", []byte(key+": "+text)); err != nil && key != "normalize" {
				continue // not a whole number
			}
			if key == "normalize" {
				c.Data.Normalize = text
			}
			tag := set.Check().Err()
			below := errors.Join(c.Network(10).Validate(), c.Features(nil).Validate(), c.Augment().Validate())
			if (tag == nil) != (below == nil) {
				t.Errorf("%s %s: the tag says %v, the package %v", key, text, tag, below)
			}
			if tag == nil {
				accepted++
			} else {
				refused++
			}
		}
		if refused == 0 || accepted == 0 && key != "normalize" {
			t.Errorf("%s: %d values accepted and %d refused: want some of both", key, accepted, refused)
		}
	}
}

// What a resume makes of a change is said at the field, for these settings as it always was; it mentions all others.
func TestResumeTags(t *testing.T) {
	kinds := map[settings.Resume][]string{}
	for _, x := range all(t).All {
		kinds[x.Resume] = append(kinds[x.Resume], x.Key)
	}
	delete(kinds, settings.Note)
	want := map[settings.Resume][]string{
		settings.Fixed: strings.Fields("keep_joiners fold_digits remove_punctuation lower_case allowed_characters tokenizer sample_rate num_mels high_hz sample_scale normalize " +
			"d_model encoder_layers decoder_layers heads conv_kernel subsampling subsample_channels freeze"),
		settings.Free: strings.Fields("num_workers max_updates long_warmup checkpoint_dir log_dir tensorboard mlflow mlflow_experiment cuda_driver cuda_blas " +
			"memory_limit memory_fraction auto_fit recompute on_oom memory_log keep_last log_every worst_utterances snapshot_every"),
		settings.Start:   strings.Fields("blank_bias branch_shrink"),
		settings.Session: strings.Fields("listen listen_public resume init_from init_partial profile_steps find_lr"),
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
}

// No list of settings stands beside their fields: such a list is what a new setting would be missing from. Looked for
// are lists and tables of texts (not those of tests) with two or more keys.
func TestNoSecondList(t *testing.T) {
	keys := all(t)
	for _, dir := range []string{".", filepath.Join("..", "cmd", "konkanitrain")} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) < 5 {
			t.Fatal(dir, files, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, where := range secondLists(f, keys) {
				t.Errorf("%v: a list of settings", set.Position(where))
			}
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x; var a, b = []string{"x", "heads", "d_model"}, map[string]any{"heads": 1, "x": "d_model"}`, 0)
	if err != nil || len(secondLists(f, keys)) != 2 {
		t.Errorf("the lists of the example are not found: %v", err)
	}
}

func secondLists(f *ast.File, keys *settings.Set) (found []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		named := 0
		count := func(e ast.Expr) {
			if text, ok := e.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if key, err := strconv.Unquote(text.Value); err == nil && keys.Lookup(key) != nil {
					named++
				}
			}
		}
		for _, e := range list.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				count(pair.Key)
				e = pair.Value
			}
			count(e)
		}
		if named > 1 {
			found = append(found, list.Pos())
		}
		return true
	})
	return found
}

// The utterances of an update are counted, and that doesn't overflow.
func TestValidateWindow(t *testing.T) {
	for _, size := range [][2]int{{1 << 17, 1}, {1, 1 << 17}, {300, 300}, {1 << 40, 1 << 40}} {
		c := Default()
		c.Optimizer.BatchSize, c.Optimizer.GradAccum = size[0], size[1]
		if err := c.Validate(); err == nil {
			t.Errorf("%d x %d was accepted", size[0], size[1])
		} else {
			testkit.MustContain(t, err.Error(), "utterances in an update")
		}
	}
}

// What was saved comes back, and a key that this version doesn't know is refused.
func TestSettingsThereAndBack(t *testing.T) {
	c := tiny(t, "x.jsonl")
	c.Data.PathMap, c.Run.Seed = []string{"a=b", "c:\\d=e"}, 1<<64-1
	saved, err := c.settings()
	if err != nil {
		t.Fatal(err)
	}
	back, err := fromSettings(saved)
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.settings()
	if err != nil || !bytes.Equal(saved, again) {
		t.Errorf("%s\n%s %v", saved, again, err)
	}
	if _, err := fromSettings([]byte(`{"d_model": 16, "magic": true}`)); err == nil {
		t.Error("an unknown key was accepted")
	} else {
		testkit.MustContain(t, err.Error(), "magic")
	}
}
