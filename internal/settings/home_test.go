package settings_test

import (
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/settings"
)

type places struct {
	File  string   `yaml:"file" default:"" check:"path" help:"h"`
	Dir   string   `yaml:"dir" default:"d" check:"not empty path" help:"h"`
	Lists []string `yaml:"lists" default:"" check:"path" help:"h"`
	Map   []string `yaml:"map" default:"" check:"path map" help:"h"`
	Name  string   `yaml:"name" default:"" check:"any" help:"h"`
}

// A ~ at the start of a path is the home folder, in a file and as a flag, and nowhere else.
func TestHomeFolder(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	want := places{"/home/ann/a.wav", "/home/ann", []string{"/home/ann/x", "./~/y", "z/~"}, []string{"~/clips=/home/ann/c", "/a=b~/c", "~/d"}, "~/name"}
	given := [][2]string{
		{"file", "~/a.wav"}, {"dir", "~"}, {"lists", "~/x"}, {"lists", "./~/y"}, {"lists", "z/~"},
		{"map", "~/clips=~/c"}, {"map", "/a=b~/c"}, {"map", "~/d"}, {"name", "~/name"},
	}
	same := func(how string, c places) {
		t.Helper()
		if c.File != want.File || c.Dir != want.Dir || !slices.Equal(c.Lists, want.Lists) || !slices.Equal(c.Map, want.Map) || c.Name != want.Name {
			t.Errorf("%s: %+v, want %+v", how, c, want)
		}
	}
	var c places
	s := of(t, &c)
	if err := s.YAML("x.yaml", []byte(`{file: ~/a.wav, dir: "~", lists: [~/x, ./~/y, z/~], map: [~/clips=~/c, /a=b~/c, ~/d], name: ~/name}`)); err != nil {
		t.Fatal(err)
	}
	same("a file", c)
	c = places{}
	s = of(t, &c)
	var args []string
	for _, g := range given {
		args = append(args, "--"+g[0]+"="+g[1])
	}
	if err := parseFlags(s, args...); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(); err != nil {
		t.Fatal(err)
	}
	same("flags", c)
	if err := s.Check().Err(); err != nil {
		t.Error(err)
	}
}

// Where there is no home folder, and for the folder of someone else, the path is refused and nothing is made.
func TestNoHomeFolder(t *testing.T) {
	t.Setenv("HOME", "")
	c := places{Dir: "d"}
	s := of(t, &c)
	if err := s.YAML("x.yaml", []byte("file: ~/a.wav\nlists: [~ann/b]\nmap: [a=b, ~/c=~d]")); err != nil {
		t.Fatal(err)
	}
	err := s.Locate(s.Check().Err())
	for _, want := range []string{`x.yaml:1: file is "~/a.wav", and ~ could not be replaced`, `x.yaml:2: lists is "~ann/b": ~/ at the start means`, `x.yaml:3: map is "~d": ~/ at the start means`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s in it", err, want)
		}
	}
}

type rivals struct {
	Updates int     `yaml:"updates" default:"1000" check:"1.." help:"h"`
	Share   float64 `yaml:"share" default:"0" check:"share" instead:"updates" help:"h"`
}

// Of two settings of which one is instead of the other, the one that is given last counts; both in one place are a
// mistake, unless one of them has its default, as in a checkpoint.
func TestInstead(t *testing.T) {
	for _, c := range []struct {
		files []string
		flags []string
		want  rivals
		err   string
	}{
		{nil, nil, rivals{1000, 0}, ""},
		{[]string{"share: 0.1"}, nil, rivals{1000, 0.1}, ""},
		{[]string{"share: 0.1", "updates: 300"}, nil, rivals{300, 0}, ""},
		{[]string{"updates: 300", "share: 0.1"}, nil, rivals{1000, 0.1}, ""},
		{[]string{"share: 0.1"}, []string{"--updates=300"}, rivals{300, 0}, ""},
		{[]string{"share: 0.1"}, []string{"--updates=1000"}, rivals{1000, 0}, ""},
		{[]string{"updates: 300"}, []string{"--share=0.2"}, rivals{1000, 0.2}, ""},
		{[]string{`{"updates": 1000, "share": 0.2}`}, nil, rivals{1000, 0.2}, ""},
		{[]string{`{"updates": 300, "share": 0}`}, nil, rivals{300, 0}, ""},
		{[]string{"updates: 300\nshare: 0.1"}, nil, rivals{300, 0.1}, "x.yaml: updates (line 1) and share (line 2) are both given, and one is instead of the other: keep one"},
		{nil, []string{"--updates=300", "--share=0.1"}, rivals{300, 0.1}, "--updates and --share are both given, and one is instead of the other: keep one"},
	} {
		got := rivals{}
		s := of(t, &got)
		settings.Defaults(&got)
		var problems []string
		for _, f := range c.files {
			if err := s.YAML("x.yaml", []byte(f)); err != nil {
				problems = append(problems, err.Error())
			}
		}
		if err := parseFlags(s, c.flags...); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(); err != nil {
			problems = append(problems, err.Error())
		}
		if got != c.want || strings.Join(problems, "|") != c.err {
			t.Errorf("%q %q: %+v, %q; want %+v, %q", c.files, c.flags, got, problems, c.want, c.err)
		}
	}
}
