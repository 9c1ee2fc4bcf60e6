package control

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

func TestParseRequest(t *testing.T) {
	for line, want := range map[string]Request{
		`{"version":1,"ask":"info"}`:                                  {Version: 1, Ask: AskInfo},
		` {"ask":"clear","version":1,"wait":2.5,"later":"x"} ` + "\n": {Version: 1, Ask: AskClear, Wait: 2.5},
		`{"version":1,"ask":"fraction","fraction":0.8}`:               {Version: 1, Ask: AskFraction, Fraction: 0.8},
		`{"version":1,"ask":"fraction","fraction":1}`:                 {Version: 1, Ask: AskFraction, Fraction: 1},
		`{"version":1,"ask":"reset","wait":60}`:                       {Version: 1, Ask: AskReset, Wait: 60},
	} {
		if got, err := parseRequest([]byte(line)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
	for line, why := range map[string]string{
		"":                               "no JSON object",
		"null":                           "not of version 1",
		"[]":                             "no JSON object",
		"{":                              "no JSON object",
		`{"ask":"info"}`:                 "not of version 1",
		`{"version":2,"ask":"info"}`:     "not of version 1, which this run speaks",
		`{"version":"1","ask":"info"}`:   "no JSON object",
		`{"version":1}`:                  `"" is unknown`,
		`{"version":1,"ask":"stop"}`:     `"stop" is unknown to this run, which can be asked for info, clear, reset and fraction`,
		`{"version":1,"ask":"info"} {}`:  "more behind",
		`{"version":1,"ask":"fraction"}`: "the fraction is 0, want more than 0 and at most 1",
		`{"version":1,"ask":"fraction","fraction":1.01}`:          "the fraction is 1.01",
		`{"version":1,"ask":"fraction","fraction":-1}`:            "the fraction is -1",
		`{"version":1,"ask":"fraction","fraction":"x"}`:           "no JSON object",
		`{"version":1,"ask":"info","wait":61}`:                    "the wait is 61 s, want 0 to 60",
		`{"version":1,"ask":"info","wait":-1}`:                    "the wait is -1 s",
		`{"version":1,"ask":"` + strings.Repeat("y", 1000) + `"}`: `"yyy`,
	} {
		_, err := parseRequest([]byte(line))
		testkit.MustFail(t, err, why)
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("%d bytes of error for %.40s", len(err.Error()), line)
		}
	}
}

// What is accepted can be carried out, and means the same when it is written again.
func FuzzRequest(f *testing.F) {
	for _, line := range []string{`{"version":1,"ask":"info"}`, `{"version":1,"ask":"fraction","fraction":0.5,"wait":1e1}`, `{"Version":1,"ASK":"reset"}`, "null", "{}{}"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parseRequest(line)
		if err != nil {
			if err.Error() == "" || r != (Request{}) {
				t.Errorf("%+v beside the error %q", r, err)
			}
			return
		}
		if r.Version != Version || math.IsNaN(r.Wait) || r.Wait < 0 || r.Wait > MaxWait || r.Ask == AskFraction && !(r.Fraction > 0 && r.Fraction <= 1) {
			t.Errorf("%+v", r)
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := parseRequest(again); err != nil || second != r {
			t.Errorf("%+v became %+v, %v", r, second, err)
		}
	})
}

// A response is either an error or has figures, whatever the other side sends.
func FuzzResponse(f *testing.F) {
	for _, line := range []string{`{"version":1,"done":true,"info":{"pid":1,"holders":[{"name":"a","bytes":5}]}}`, `{"version":1,"error":"no"}`, `{"version":2}`, "1", "x"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, err := parseResponse(line); (r == nil) == (err == nil) || r != nil && (r.Info == nil || r.Error != "" || r.Version != Version) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
