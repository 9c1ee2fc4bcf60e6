package data

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	if err := (Options{}).Validate(); err != nil {
		t.Error(err)
	}
	err := Options{SampleRate: 16, MinDuration: 5, MaxDuration: 2, MaxTextLength: -1, BadLimit: 5, PathMap: []Mapping{{"", "x"}}}.Validate()
	for _, part := range []string{"sample_rate 16", "min_duration 5", "max_text_length -1", "bad_line_limit 5", "path_map"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q isn't in: %v", part, err)
		}
	}
	for _, c := range []struct {
		o    Options
		good bool
	}{
		{Options{SampleRate: 1000}, true}, {Options{SampleRate: 999}, false}, {Options{SampleRate: -1}, false},
		{Options{MinDuration: -1}, false}, {Options{MinDuration: math.NaN()}, false}, {Options{MinDuration: 3}, true},
		{Options{MaxDuration: -1}, false}, {Options{MaxDuration: math.NaN()}, false},
		{Options{MinDuration: 2, MaxDuration: 2}, true}, {Options{MinDuration: 2.1, MaxDuration: 2}, false},
		{Options{MaxTextLength: -1}, false}, {Options{MaxTextLength: 1}, true},
		{Options{BadLimit: -0.1}, false}, {Options{BadLimit: math.NaN()}, false}, {Options{BadLimit: 1}, true}, {Options{BadLimit: 1.1}, false},
	} {
		if err := c.o.Validate(); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	if o := (Options{SampleRate: 8000, Workers: 3}).withDefaults(); o.SampleRate != 8000 || o.Workers != 3 {
		t.Errorf("%+v", o)
	}
	if _, err := Load(context.Background(), "x", Options{BadLimit: 2}); err == nil || !strings.Contains(err.Error(), "bad_line_limit 2") {
		t.Errorf("Load takes options that aren't valid: %v", err)
	}
	if m, err := ParsePathMap([]string{"/a b/c=/d=e", "x="}); err != nil || !slices.Equal(m, []Mapping{{"/a b/c", "/d=e"}, {"x", ""}}) {
		t.Errorf("%v, %v", m, err)
	}
	_, err = ParsePathMap([]string{"", "x", "a=b", "=x"})
	if err == nil || strings.Count(err.Error(), "write from=to") != 3 {
		t.Errorf("want three mistakes: %v", err)
	}
	// By default ten bad lines pass, and five per cent of a long list.
	for _, c := range []struct {
		limit      float64
		bad, lines int
		over       bool
	}{{0, 10, 10, false}, {0, 11, 200, true}, {0, 11, 220, false}, {0, 150, 3000, false}, {0, 151, 3000, true}, {0.1, 1, 9, true}, {0.1, 1, 10, false}, {1, 9, 9, false}} {
		if _, over := (Options{BadLimit: c.limit}).tooManyBad(c.bad, c.lines); over != c.over {
			t.Errorf("%d of %d bad lines, limit %v: over is %v", c.bad, c.lines, c.limit, over)
		}
	}
}

func TestPathMap(t *testing.T) {
	for _, c := range []struct {
		list []string
		say  string
	}{
		{[]string{"/a=b", "/c=d", "/a=e"}, "path_map has /a twice, for b and for e"},
		{[]string{"/a=b", "/a/=b"}, "path_map has /a twice"},
		{[]string{`D:\x=b`, "D:/x=c"}, "twice"},
		{[]string{"/a=~/b"}, "path_map /a=~/b; ~ is not expanded"},
	} {
		if _, err := ParsePathMap(c.list); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%q: %v; want %q", c.list, err, c.say)
		}
	}
	if err := (Options{PathMap: []Mapping{{"a", "b"}, {"a", "c"}}}).Validate(); err == nil || !strings.Contains(err.Error(), "a twice") {
		t.Errorf("%v", err)
	}
	if _, err := ParsePathMap([]string{"/a=b", "/ab=c", "/a/b=d"}); err != nil {
		t.Error(err)
	}
}
