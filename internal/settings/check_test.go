package settings_test

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/settings"
)

// checked has a setting for each form of check.
type checked struct {
	From    int       `yaml:"from" default:"1" check:"1.." help:"h"`
	Within  int       `yaml:"within" default:"0" check:"0..1024" zero:"one for each core" help:"h"`
	Odd     int       `yaml:"odd" default:"31" check:"odd 1..65" unit:"frames" help:"h"`
	Even    int       `yaml:"even" default:"2" check:"even 2..8" help:"h"`
	Off     int       `yaml:"off" default:"0" check:"0.." zero:"each epoch" help:"h"`
	Above   float64   `yaml:"above" default:"5" check:">0.." help:"h"`
	Peak    float64   `yaml:"peak" default:"1" check:">0..1" help:"h"`
	Below   float64   `yaml:"below" default:"0" check:"0..<1" help:"h"`
	Step    float64   `yaml:"step" default:"0" check:"0|0.25..12" zero:"off" unit:"s" help:"h"`
	Between float64   `yaml:"between" default:"0" check:">-1.5..<1" unit:"s" help:"h"`
	Share   float64   `yaml:"share" default:"0.5" check:"share" help:"h"`
	List    []float64 `yaml:"list" default:"1" check:"0.5..2" help:"h"`
	Factor  int       `yaml:"factor" default:"4" check:"2|4|8" help:"h"`
	Device  string    `yaml:"device" default:"auto" check:"auto|cpu" help:"h"`
	Name    string    `yaml:"name" default:"x" check:"not empty" help:"h"`
	File    string    `yaml:"file" default:"" check:"path" zero:"none" help:"h"`
	Dir     string    `yaml:"dir" default:"d" check:"not empty path" help:"h"`
	Count   uint64    `yaml:"count" default:"3" check:"3..5" help:"h"`
	Words   []string  `yaml:"words" default:"a,b" check:"words" help:"h"`
	Any     uint64    `yaml:"any" default:"18446744073709551615" check:"any" help:"h"`
}

// Each change makes this one problem, and "" stands for none: ends belong to a range unless they are marked.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		change func(c *checked)
		want   string
	}{
		{func(c *checked) {}, ""},
		{func(c *checked) { c.Words = []string{"a.b", "c,d"} }, `words has "c,d": give it as several entries, without commas`},
		{func(c *checked) { c.Words = []string{"a", ""} }, "words is empty: give it a value"},
		{func(c *checked) { c.From = 0 }, "from is 0, want 1 or more"},
		{func(c *checked) { c.From = math.MaxInt }, ""},
		{func(c *checked) { c.Within = -1 }, "within is -1, want 0 (one for each core) to 1024"},
		{func(c *checked) { c.Within = 1024 }, ""},
		{func(c *checked) { c.Within = 1025 }, "within is 1025, want 0 (one for each core) to 1024"},
		{func(c *checked) { c.Odd = 30 }, "odd is 30 frames, want an odd number from 1 to 65"},
		{func(c *checked) { c.Odd = -1 }, "odd is -1 frames, want an odd number from 1 to 65"},
		{func(c *checked) { c.Odd = 65 }, ""},
		{func(c *checked) { c.Even = 3 }, "even is 3, want an even number from 2 to 8"},
		{func(c *checked) { c.Off = -1 }, "off is -1, want 0 (each epoch) or more"},
		{func(c *checked) { c.Above = 0 }, "above is 0, want more than 0"},
		{func(c *checked) { c.Above = math.NaN() }, "above is NaN, want more than 0"},
		{func(c *checked) { c.Peak = 0 }, "peak is 0, want more than 0 and at most 1"},
		{func(c *checked) { c.Peak = 1e-300 }, ""},
		{func(c *checked) { c.Below = 1 }, "below is 1, want 0 or more and below 1"},
		{func(c *checked) { c.Below = math.Nextafter(1, 0) }, ""},
		{func(c *checked) { c.Step = 0.25 }, ""},
		{func(c *checked) { c.Step = 0.2 }, "step is 0.2 s, want 0 (off), or 0.25 to 12"},
		{func(c *checked) { c.Step = -1 }, "step is -1 s, want 0 (off), or 0.25 to 12"},
		{func(c *checked) { c.Step = 13 }, "step is 13 s, want 0 (off), or 0.25 to 12"},
		{func(c *checked) { c.Between = -1.5 }, "between is -1.5 s, want more than -1.5 and below 1"},
		{func(c *checked) { c.Share = 1.01 }, "share is 1.01, want a share from 0 to 1"},
		{func(c *checked) { c.Share = 1 }, ""},
		{func(c *checked) { c.List = nil }, ""},
		{func(c *checked) { c.List = []float64{1, 3, 4} }, "list has 3, want 0.5 to 2"},
		{func(c *checked) { c.Factor = 3 }, "factor is 3, want 2, 4 or 8"},
		{func(c *checked) { c.Device = "" }, `device is "", want auto or cpu`},
		{func(c *checked) { c.Name = "" }, "name is empty: give it a value"},
		{func(c *checked) { c.Name = "~" }, ""},
		{func(c *checked) { c.File = "~/a.wav" }, `file is "~/a.wav", and ~ could not be replaced by the home folder (is HOME set?): write it out`},
		{func(c *checked) { c.File = "~ann/a.wav" }, `file is "~ann/a.wav": ~/ at the start means your home folder, and ~ has no other meaning here: ` +
			`write the folder out, or ./~ann/a.wav for what has that very name`},
		{func(c *checked) { c.File = "a~/~" }, ""},
		{func(c *checked) { c.Dir = "" }, "dir is empty: give it a value"},
		{func(c *checked) { c.Dir = "~" }, `dir is "~", and ~ could not be replaced by the home folder (is HOME set?): write it out`},
		{func(c *checked) { c.Count = 6 }, "count is 6, want 3 to 5"},
		{func(c *checked) { c.Any = 0 }, ""},
		{func(c *checked) { c.From, c.Any, c.Factor = 0, 0, 0 }, "from is 0, want 1 or more|factor is 0, want 2, 4 or 8"},
	} {
		var v checked
		settings.Defaults(&v)
		c.change(&v)
		if got := joined(of(t, &v).Check().Err()); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// joined is a list of problems on one line.
func joined(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "|")
}

// A mistake in the tags is an error of Of, and Defaults leaves such a struct alone.
func TestTagMistakes(t *testing.T) {
	for want, v := range map[string]any{
		"want a pointer to a struct": checked{},
		"tags yaml, default, check and help": &struct {
			A int `yaml:"a" default:"0" check:"any"`
		}{},
		"want it exported, with the tags": &struct {
			A int `default:"0" check:"any" help:"a"`
		}{},
		"with the tags yaml, default": &struct {
			A int `yaml:"a" check:"any" help:"a"`
		}{},
		"no settings of type complex64": &struct {
			A complex64 `yaml:"a" default:"0" check:"any" help:"a"`
		}{},
		"the name a is taken": &struct {
			A int `yaml:"a" default:"0" check:"any" help:"a"`
			B int `yaml:"a" default:"0" check:"any" help:"a"`
		}{},
		"the name b is taken": &struct {
			B int `yaml:"b" default:"0" check:"any" help:"a"`
			A int `yaml:"a" default:"0" check:"any" alias:"b" help:"a"`
		}{},
		`default is "x", want a whole number`: &struct {
			A int `yaml:"a" default:"x" check:"any" help:"a"`
		}{},
		"its default: a is 0, want 1 or more": &struct {
			A int `yaml:"a" default:"0" check:"1.." help:"a"`
		}{},
		`resume is "fix"`: &struct {
			A int `yaml:"a" default:"0" check:"any" resume:"fix" help:"a"`
		}{},
		"zero is for numbers and texts": &struct {
			A bool `yaml:"a" default:"false" check:"any" zero:"off" help:"a"`
		}{},
		"unit is for numbers": &struct {
			A string `yaml:"a" default:"" check:"any" unit:"s" help:"a"`
		}{},
		`check is "": `: &struct {
			A int `yaml:"a" default:"0" help:"a"`
		}{},
		`check is "1": `: &struct {
			A int `yaml:"a" default:"1" check:"1" help:"a"`
		}{},
		`check is "0..1": `: &struct {
			A string `yaml:"a" default:"" check:"0..1" help:"a"`
		}{},
		`check is "path map": `: &struct {
			A int `yaml:"a" default:"0" check:"path map" help:"a"`
		}{},
		"a is instead of b, and there is no such setting": &struct {
			A int `yaml:"a" default:"0" check:"any" instead:"b" help:"a"`
		}{},
		`check is "path": `: &struct {
			A int `yaml:"a" default:"0" check:"path" help:"a"`
		}{},
		`check is "share": `: &struct {
			A int `yaml:"a" default:"0" check:"share" help:"a"`
		}{},
		`"x" is no end of a range`: &struct {
			A int `yaml:"a" default:"0" check:"0..x" help:"a"`
		}{},
		`"" is no end of a range`: &struct {
			A int `yaml:"a" default:"0" check:"..5" help:"a"`
		}{},
		`check is "0..<": "" is no end`: &struct {
			A int `yaml:"a" default:"0" check:"0..<" help:"a"`
		}{},
		`"0.5" is no end of a range`: &struct {
			A int `yaml:"a" default:"1" check:"0.5..3" help:"a"`
		}{},
		`check is "odd 1..": "" is no end`: &struct {
			A int `yaml:"a" default:"1" check:"odd 1.." help:"a"`
		}{},
		`check is "odd >1..5": that is no range`: &struct {
			A int `yaml:"a" default:"3" check:"odd >1..5" help:"a"`
		}{},
		`check is "0|0..5": that is no range`: &struct {
			A int `yaml:"a" default:"0" check:"0|0..5" help:"a"`
		}{},
		`check is "5..1": that is no range`: &struct {
			A int `yaml:"a" default:"3" check:"5..1" help:"a"`
		}{},
		`check is "a|": "" is no string`: &struct {
			A string `yaml:"a" default:"a" check:"a|" help:"a"`
		}{},
		`check is "1|02": "02" is no int`: &struct {
			A int `yaml:"a" default:"1" check:"1|02" help:"a"`
		}{},
	} {
		_, err := settings.Of(v)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		settings.Defaults(v)
	}
}

// network is a package below the settings, with its own way to say which setting it means.
type network struct{ key, text string }

func (n network) Error() string      { return n.text }
func (n network) Settings() []string { return []string{n.key} }

// Problems know their settings, whatever their text; of a setting that is wrong by itself no rule is asked.
func TestProblems(t *testing.T) {
	c := defaults()
	s := of(t, &c)
	if err := s.YAML("x.yaml", []byte("batch_size: 0\nlearning_rate: 0.5\ngradient_accumulation_steps: 3\ntrain_manifest: a")); err != nil {
		t.Fatal(err)
	}
	p := s.Check()
	p.Require(false, "seed grad_accum", "more of %d", 3)
	p.Require(false, "grad_accum batch_size", "not asked")
	p.Require(true, "warmup_updates", "holds")
	p.Require(true, "warmup", "holds, of a setting that isn't there")
	p.Add(nil)
	p.Add(errors.Join(network{"learning_rate", "too fast"}, errors.New("nobody's"), network{"batch_size", "not asked"}))
	p.Add(settings.About("train_manifest", errors.Join(os.ErrNotExist, network{"seed", "odd"})))
	err := s.Locate(p.Err())
	want := "x.yaml:1: batch_size is 0, want 1 or more|x.yaml:3: more of 3|settings: a rule is about warmup, and there is no such setting|" +
		"x.yaml:2: too fast|nobody's|x.yaml:4: file does not exist|odd"
	if got := joined(err); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Error("what a problem wraps is lost")
	}
	if settings.About("seed", nil) != nil || s.Locate(nil) != nil {
		t.Error("no error became one")
	}
}

// A problem between what a flag gave and what a file gave has no place in the file: the flag is what was typed last.
func TestProblemsOfFlagsHaveNoPlace(t *testing.T) {
	rule := func(s *settings.Set) string {
		p := s.Check()
		p.Require(false, "grad_accum batch_size", "too many")
		p.Require(false, "seed", "odd")
		return joined(s.Locate(p.Err()))
	}
	c := defaults()
	s := of(t, &c)
	if err := parseFlags(s, "--batch_size=3"); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"x.yaml", "y.yaml"} {
		if err := s.YAML(file, []byte("grad_accum: 2\nseed: 3\nbatch_size: 5")); err != nil {
			t.Fatal(err)
		}
		if got, want := rule(s), file+":1: too many|"+file+":2: odd"; got != want {
			t.Errorf("files alone: %q, want %q", got, want)
		}
		if err := s.Apply(); err != nil {
			t.Fatal(err)
		}
		if got, want := rule(s), "too many|"+file+":2: odd"; got != want {
			t.Errorf("with a flag: %q, want %q", got, want)
		}
	}
}

// A resumed run takes over what is not of one session.
func TestReset(t *testing.T) {
	c := defaults()
	s := of(t, &c)
	if err := s.YAML("x.yaml", []byte("fp16: true\nwarmup_updates: 5")); err != nil {
		t.Fatal(err)
	}
	s.Reset(settings.Session)
	if c.Run.FP16 || s.Lookup("fp16").Where() != "" || c.Run.Warmup != 5 || s.Lookup("warmup_updates").Where() != "x.yaml:2" {
		t.Errorf("%+v", c.Run)
	}
	for key, want := range map[string]settings.Resume{"fp16": settings.Session, "warmup_updates": settings.Free, "seed": settings.Note} {
		if got := s.Lookup(key).Resume; got != want {
			t.Errorf("%s: resume is %s, want %s", key, got, want)
		}
	}
}

// Structs don't share the lists of their defaults.
func TestDefaultsAreOnesOwn(t *testing.T) {
	a := defaults()
	a.Sound.Speeds[0] = 7
	if b := defaults(); b.Sound.Speeds[0] != 0.9 || b.Sound.PathMap != nil {
		t.Errorf("%+v", b.Sound)
	}
}

// An embedded struct belongs to the group where it stands.
func TestGroups(t *testing.T) {
	type inner struct {
		A int `yaml:"a" default:"0" check:"any" help:"h"`
	}
	var c struct {
		inner `yaml:",inline"`
		Run   run `yaml:",inline"`
		B     int `yaml:"b" default:"2" check:"any" help:"h"`
	}
	settings.Defaults(&c)
	s := of(t, &c)
	if diff := cmp.Diff([]string{"", "Run"}, s.Groups()); diff != "" || c.B != 2 {
		t.Error(diff, c.B)
	}
}

// Values come back from JSON as they were, to the last digit.
func TestJSON(t *testing.T) {
	c := defaults()
	c.Sound = sound{"क \u2028<\"\\\n:#", []string{"- a=b", ""}, []float64{0.1 + 0.2, 1e-9, 1e21, 2}}
	c.Run.Rate, c.Run.Seed, c.Run.FP16 = 1e-310, 1<<64-1, true
	text, err := of(t, &c).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var back config
	if err := of(t, &back).YAML("x.json", text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, back, cmp.AllowUnexported(config{})); diff != "" {
		t.Error(diff)
	}
	c = defaults()
	if text, err = of(t, &c).JSON(); err != nil {
		t.Fatal(err)
	}
	want := `{"batch_size":8,"fp16":false,"grad_accum":2,"learning_rate":0.001,"path_map":[],"seed":1,"speeds":[0.9,1,1.1],"train_manifest":"","warmup_updates":1000}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	c.Run.Rate = math.Inf(1)
	if _, err := of(t, &c).JSON(); err == nil {
		t.Error("infinity was written")
	}
}
