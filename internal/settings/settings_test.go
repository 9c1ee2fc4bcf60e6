package settings_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"konkanitrain/internal/settings"
	"konkanitrain/internal/testkit"
)

type sound struct {
	Manifest string    `yaml:"train_manifest" default:"" check:"path" help:"manifest"`
	PathMap  []string  `yaml:"path_map" default:"" check:"any" help:"from=to"`
	Speeds   []float64 `yaml:"speeds" default:"0.9,1,1.1" check:"0.5..3" help:"speeds"`
}

type run struct {
	BatchSize int     `yaml:"batch_size" default:"8" check:"1.." help:"utterances"`
	GradAccum int     `yaml:"grad_accum" default:"2" check:"1.." alias:"gradient_accumulation_steps" help:"micro-batches"`
	Rate      float64 `yaml:"learning_rate" default:"0.001" check:">0..1" help:"rate"`
	Warmup    int     `yaml:"warmup_updates" default:"1000" check:"0.." zero:"none" resume:"free" help:"updates"`
	FP16      bool    `yaml:"fp16" default:"false" check:"any" alias:"mixed_precision" resume:"session" help:"half"`
	Seed      uint64  `yaml:"seed" default:"1" check:"any" help:"seed"`
}

type config struct {
	Sound sound `yaml:",inline"`
	Run   run   `yaml:",inline"`
}

func defaults() (c config) {
	settings.Defaults(&c)
	return c
}

func of(t *testing.T, c any) *settings.Set {
	t.Helper()
	s, err := settings.Of(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestYAML(t *testing.T) {
	c := defaults()
	document := "# a comment\r\ntrain_manifest: देवनागरी/train.jsonl\r\nspeeds: [1, 0.95]\r\nbatch_size: 2\r\nlearning_rate: 5e-4\r\n" +
		"mixed_precision: true\r\nseed: 18446744073709551615\r\npath_map:\r\n- /a=/b\r\n- c,d=e\r\n"
	if err := of(t, &c).YAML("x.yaml", []byte(document)); err != nil {
		t.Fatal(err)
	}
	want := config{
		sound{"देवनागरी/train.jsonl", []string{"/a=/b", "c,d=e"}, []float64{1, 0.95}},
		run{2, 2, 0.0005, 1000, true, 18446744073709551615},
	}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(config{})); diff != "" {
		t.Error(diff)
	}
	for _, empty := range []string{"", "# nothing\n", "---\n", "{}\n"} {
		if err := of(t, &c).YAML("x.yaml", []byte(empty)); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

// True and false may be written as YAML's core schema has them.
func TestYAMLBooleans(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false} {
		c := config{Run: run{FP16: !want}}
		if err := of(t, &c).YAML("x.yaml", []byte("fp16: "+text)); err != nil || c.Run.FP16 != want {
			t.Errorf("%s: %v, %v", text, c.Run.FP16, err)
		}
	}
}

// Each mistake is refused with this text, and the setting keeps its value.
func TestYAMLMistakes(t *testing.T) {
	for document, want := range map[string]string{
		"a: 1\nb: 2\nbacth_size: 2":                     `x.yaml:1: unknown key "a"|x.yaml:2: unknown key "b"|x.yaml:3: unknown key "bacth_size": did you mean batch_size?`,
		"warmup: -10":                                   `x.yaml:1: unknown key "warmup": did you mean warmup_updates?`,
		"seed: 1\nseed\xff: 2":                          "x.yaml:2: not a YAML file: this line is not UTF-8",
		"batch-size: 1":                                 `x.yaml:1: unknown key "batch-size": did you mean batch_size?`,
		"lr: 1":                                         `x.yaml:1: unknown key "lr": did you mean learning_rate?`,
		"optim:\n  lr: 1":                               `x.yaml:1: "optim" is a section: settings stand at the left edge, without sections`,
		"seeds:\n  batch_size: 1":                       `x.yaml:1: "seeds" is a section: settings stand at the left edge, without sections`,
		"seed:\n  batch_size: 1":                        `x.yaml:2: seed is a section of keys, want a whole number of 0 or more`,
		"batch_size: 1\nfp16: true\nbatch_size: 1":      `x.yaml:3: batch_size is set twice, on lines 1 and 3`,
		"grad_accum: 1\ngradient_accumulation_steps: 1": `x.yaml:2: grad_accum (line 1) and gradient_accumulation_steps (line 2) are the same setting: keep one`,
		"batch_size: 2.5":                               `x.yaml:1: batch_size is 2.5, want a whole number`,
		"batch_size: 8.0":                               `x.yaml:1: batch_size is 8.0, want a whole number`,
		"batch_size: 0x10":                              `x.yaml:1: batch_size is 0x10, want a whole number`,
		"batch_size: 1_000":                             `x.yaml:1: batch_size is 1_000, want a whole number`,
		"batch_size: '8'":                               `x.yaml:1: batch_size is the text "8", want a whole number: take the quotes away`,
		"batch_size: eight":                             `x.yaml:1: batch_size is the text "eight", want a whole number`,
		"batch_size: true":                              `x.yaml:1: batch_size is true, want a whole number`,
		"batch_size: 99999999999999999999":              `x.yaml:1: batch_size is 99999999999999999999, want a whole number nearer to zero`,
		"batch_size:":                                   `x.yaml:1: batch_size has no value: give it one, or take the line out`,
		"batch_size: [1]":                               `x.yaml:1: batch_size is a list, want a whole number`,
		"seed: -1":                                      `x.yaml:1: seed is -1, want a whole number of 0 or more`,
		"fp16: yes":                                     `x.yaml:1: fp16 is the text "yes", want true or false`,
		"fp16: 1":                                       `x.yaml:1: fp16 is 1, want true or false`,
		"learning_rate: '5e-4'":                         `x.yaml:1: learning_rate is the text "5e-4", want a number: take the quotes away`,
		"learning_rate: .nan":                           `x.yaml:1: learning_rate is .nan, want a number`,
		"learning_rate: .inf":                           `x.yaml:1: learning_rate is .inf, want a number`,
		"learning_rate: 1e999":                          `x.yaml:1: learning_rate is the text "1e999", want a number nearer to zero`,
		"train_manifest: 2024":                          `x.yaml:1: train_manifest is 2024, want text: put it in quotes if it is meant`,
		"speeds: 1":                                     `x.yaml:1: speeds is 1, want a list of numbers in square brackets, such as [0.9, 1, 1.1]`,
		"speeds:\n- 1\n- fast":                          `x.yaml:3: speeds (entry 2) is the text "fast", want a number`,
		"- 1":                                           "x.yaml:1: the file holds a list, want lines of the form `key: value`",
		"hello":                                         "x.yaml:1: the file holds the text \"hello\", want lines of the form `key: value`",
		"[a, b]: 1":                                     `x.yaml:1: a key is a list, want a name`,
		"batch_size: 1\n---\nbatch_size: 2":             `x.yaml:2: a second document begins here, want one`,
		"batch_size: 1\n\n\tgrad_accum: 2":              `x.yaml:3: the line begins with a tab: YAML is indented with spaces, and settings stand at the left edge`,
		"optim:\n \tgrad_accum: 2":                      `x.yaml:2: the line begins with a tab: YAML is indented with spaces, and settings stand at the left edge`,
		"\t\nbatch_size: @":                             `x.yaml: not a YAML file: found character that cannot start any token`,
		"batch_size: [":                                 `x.yaml: not a YAML file: line 1: did not find expected node content`,
		"fp16: \"yes\"\nbatch_size: 2.5\nfpl6: true\n":     `x.yaml:1: fp16 is the text "yes", want true or false|x.yaml:2: batch_size is 2.5, want a whole number|x.yaml:3: unknown key "fpl6": did you mean fp16?`,
		"batch_size: &n 3\ngrad_accum: *n\nspeeds: [*n]":   "",
		"batch_size: &n [1, *n]":                           `x.yaml:1: batch_size is a list, want a whole number`,
		"<<: {batch_size: 1}":                              `x.yaml:1: "<<" is a section: settings stand at the left edge, without sections`,
		"mixed_precision: maybe":                           `x.yaml:1: mixed_precision is the text "maybe", want true or false`,
		"\ufeffbatch_size: 4":                              "",
		"batch_size: 010":                                  "",
		"learning_rate: -1e-3\nspeeds: []\npath_map: ['']": "",
	} {
		c := defaults()
		got := ""
		if err := of(t, &c).YAML("x.yaml", []byte(document)); err != nil {
			got = strings.ReplaceAll(err.Error(), "\n", "|")
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", document, got, want)
		}
		if want != "" && !strings.Contains(want, "twice") && !strings.Contains(want, "document") && c.Run.BatchSize != 8 {
			t.Errorf("%q: batch_size became %d", document, c.Run.BatchSize)
		}
	}
}

func parseFlags(s *settings.Set, args ...string) error {
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	fs.SetNormalizeFunc(settings.Underscores)
	s.Flags(fs)
	return fs.Parse(args)
}

// A flag overrules the file, the file the default.
func TestPrecedence(t *testing.T) {
	c := defaults()
	s := of(t, &c)
	if err := parseFlags(s, "--batch-size", "3", "--gradient_accumulation_steps=5", "--fp16=false", "--speeds", "1,1.5", "--speeds=2", "--path_map", "a=b,c", "--path_map=d=e"); err != nil {
		t.Fatal(err)
	}
	if err := s.YAML("x.yaml", []byte("batch_size: 2\nfp16: true\nspeeds: [3]\nlearning_rate: -1\ngrad_accum: 9")); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(); err != nil {
		t.Fatal(err)
	}
	want := config{sound{"", []string{"a=b,c", "d=e"}, []float64{1, 1.5, 2}}, run{3, 5, -1, 1000, false, 1}}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(config{})); diff != "" {
		t.Error(diff)
	}
}

func TestFlagMistakes(t *testing.T) {
	c := defaults()
	s := of(t, &c)
	if err := parseFlags(s, "--batch_size=2.5", "--fp16=yes", "--speeds=1,,2", "--learning_rate=nan", "--seed", "-4", "--grad_accum=3", "--gradient-accumulation-steps=3",
		"--train_manifest=a", "--train-manifest", "b", "--warmup_updates=7", "--warmup_updates=7"); err != nil {
		t.Fatal(err)
	}
	err := s.Apply()
	for _, want := range []string{
		`--batch_size is "2.5", want a whole number`,
		`--fp16 is "yes", want true or false`,
		`--speeds is "", want a number`,
		`--learning_rate is "nan", want a number`,
		`--seed is "-4", want a whole number of 0 or more`,
		`--grad_accum and --gradient_accumulation_steps are the same setting: give one`,
		`--train_manifest is given twice, as "a" and "b": give it once`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s in it", err, want)
		}
	}
	if n := len(settings.Flatten(err)); n != 7 || c.Run.Warmup != 7 { // the same value twice is no mistake
		t.Errorf("%d problems and warmup_updates %d, want 7 and 7", n, c.Run.Warmup)
	}
}

func TestNearest(t *testing.T) {
	keys := []string{"batch_size", "grad_accum", "learning_rate", "warmup_updates", "num_epochs", "seed", "encoder_layers", "device", "warmup_share", "long_warmup", "lr_scale"}
	for name, want := range map[string]string{
		"bacth_size": "batch_size", "BATCH-SIZE": "batch_size", "batch": "batch_size", "lr": "learning_rate", "warmup": "warmup_updates",
		"epochs": "num_epochs", "epoch": "num_epochs", "sede": "seed", "devise": "device", "layers": "encoder_layers", "": "", "zzz": "", "optimizer": "", "ब": "",
	} {
		if got := settings.Nearest(name, keys); got != want {
			t.Errorf("%q: %q is nearest, want %q", name, got, want)
		}
	}
}

// Whatever a file holds, YAML returns; a struct without an error has only values that the file could have meant.
func FuzzYAML(f *testing.F) {
	for _, seed := range []string{"batch_size: 2\n", "speeds: [1, 2]", "a: &x [*x]", "fp16: !!bool 'true'", "? [a]\n: b", "---\n...\n---", "batch_size: !!binary aGk=", "\xff\xfe"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		c := defaults()
		s, _ := settings.Of(&c)
		err := s.YAML("x.yaml", document)
		for _, problem := range settings.Flatten(err) {
			if !strings.HasPrefix(problem.Error(), "x.yaml:") {
				t.Errorf("the problem %q doesn't begin with the file", problem)
			}
		}
		if math.IsNaN(c.Run.Rate) || math.IsInf(c.Run.Rate, 0) {
			t.Errorf("learning_rate became %g", c.Run.Rate)
		}
	})
}

// The files with mistakes among the reference data.
func TestSharedFiles(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "configs")
	for file, want := range map[string]string{
		"unknown_key.yaml":   `unknown_key.yaml:1: unknown key "d_model"|unknown_key.yaml:2: unknown key "encoder_layers"|unknown_key.yaml:3: unknown key "bacth_size": did you mean batch_size?`,
		"duplicate_key.yaml": `duplicate_key.yaml:3: batch_size is set twice, on lines 1 and 3`,
		"types.yaml":         `types.yaml:2: fp16 is the text "yes", want true or false|types.yaml:3: batch_size is 2.5, want a whole number`,
	} {
		document, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		c := defaults()
		err = of(t, &c).YAML(file, document)
		if got := strings.ReplaceAll(err.Error(), "\n", "|"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", file, got, want)
		}
		if file == "types.yaml" && c.Run.Rate != 0.0005 {
			t.Errorf("%s: learning_rate became %g, want 0.0005", file, c.Run.Rate)
		}
	}
}

// A list of whole numbers is one like any other.
func TestListOfWholeNumbers(t *testing.T) {
	c := struct {
		Prune []int `yaml:"prune" default:"0,1" check:"0..9" help:"numbers"`
	}{}
	settings.Defaults(&c)
	s := of(t, &c)
	if err := s.YAML("x.yaml", []byte("prune: [2, 3]")); err != nil || !cmp.Equal(c.Prune, []int{2, 3}) {
		t.Error(c.Prune, err)
	}
	testkit.MustFail(t, of(t, &c).YAML("x.yaml", []byte("prune: 1")), "prune is 1, want a list of whole numbers in square brackets, such as [1, 2]")
	testkit.MustFail(t, of(t, &c).YAML("x.yaml", []byte("prune: [0.5]")), "prune (entry 1) is 0.5, want a whole number")
	for text, want := range map[string]string{"0,4": "", "1,x": `prune is "x", want a whole number`, "1,10": "prune has 10, want 0 to 9"} {
		fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
		s := of(t, &c)
		s.Flags(fs)
		if err := fs.Parse([]string{"--prune", text}); err != nil {
			t.Fatal(err)
		}
		err := s.Apply()
		if err == nil {
			err = s.Check().Err()
		}
		if want != "" {
			testkit.MustFail(t, err, want)
		} else if err != nil || !cmp.Equal(c.Prune, []int{0, 4}) {
			t.Error(c.Prune, err)
		}
	}
}

// An empty text empties a list of any kind, as [] in a file does, beside whatever a file gave before; where an empty
// text is a value that was forgotten, it is an error.
func TestEmptyList(t *testing.T) {
	type lists struct {
		Paths   []string  `yaml:"paths" default:"" check:"path" help:"h"`
		Map     []string  `yaml:"map" default:"" check:"path map" help:"h"`
		Words   []string  `yaml:"words" default:"a,b" check:"words" help:"h"`
		Texts   []string  `yaml:"texts" default:"" check:"any" help:"h"`
		Numbers []float64 `yaml:"numbers" default:"0.9,1" check:"0.5..2" help:"h"`
		Counts  []int     `yaml:"counts" default:"1" check:"1.." help:"h"`
		Files   []string  `yaml:"files" default:"" check:"not empty path" help:"h"`
		Needed  []string  `yaml:"needed" default:"" check:"not empty" help:"h"`
	}
	const given = "paths: [a]\nmap: [a=b]\nwords: [c]\ntexts: [d]\nnumbers: [2]\ncounts: [3]\nfiles: [e]\nneeded: [f]\n"
	refused := map[string]string{"files": "files is empty: give it a value", "needed": "needed is empty: give it a value"}
	for _, x := range of(t, &lists{}).All {
		for _, how := range []string{"flag", "two flags", "file", "nothing"} {
			var c lists
			s := of(t, &c)
			var args []string
			var err error
			later := ""
			switch how {
			case "flag":
				args = []string{"--" + x.Key + "="}
			case "two flags":
				args = []string{"--" + x.Key + "=", "--" + x.Key + "=1"}
			case "file":
				later = x.Key + ": []"
			case "nothing":
				later = x.Key + ":"
			}
			if err = parseFlags(s, args...); err != nil {
				t.Fatal(err)
			}
			if err = s.YAML("x.yaml", []byte(given)); err != nil {
				t.Fatal(err)
			}
			err = s.YAML("y.yaml", []byte(later))
			if err == nil {
				err = s.Apply()
			}
			if err == nil {
				err = s.Check().Err()
			}
			values, _ := s.JSON()
			emptied := strings.Contains(string(values), `"`+x.Key+`":[]`)
			switch {
			case how == "nothing":
				testkit.MustFail(t, err, "y.yaml:1: "+x.Key+" has no value: give it some, write [] for none, or take the line out")
			case how == "two flags":
				if emptied {
					t.Errorf("%s: %s: one of two values emptied it", x.Key, how)
				}
			case how == "flag" && refused[x.Key] != "":
				testkit.MustFail(t, err, refused[x.Key])
			case err != nil || !emptied:
				t.Errorf("%s: %s: %v, %s", x.Key, how, err, values)
			}
		}
	}
}
