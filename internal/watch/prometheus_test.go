package watch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"
)

// All figures are there, each with a type and the name of its run; Prometheus's format allows nothing else.
func TestMetrics(t *testing.T) {
	live := sourceOf(aRun(t, 20), holding())
	live.Name = `runs/"a\b` + "\n"
	s := serve(t, live, sourceOf(aRun(t, 30), nil))
	code, text, head := get(t, s, "/metrics")
	if code != 200 || !strings.HasPrefix(head.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatal(code, head)
	}
	types := map[string]string{}
	values := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if types[name] != "" {
				t.Errorf("%s has its type twice", name)
			}
			types[name] = kind
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		name := line[:at]
		if err := metrics.ValidateMetric(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if family, _, _ := strings.Cut(name, "{"); types[family] != "gauge" {
			t.Errorf("%s is a %q", family, types[family])
		}
		values[name] = line[at+1:]
	}
	a, b := `run="runs/\"a\\b\n"`, fmt.Sprintf("run=%q", s.runs[1].Name)
	for name, want := range map[string]string{
		"konkanitrain_in_progress{" + a + "}": "1", "konkanitrain_in_progress{" + b + "}": "0", "konkanitrain_update{" + a + "}": "200", "konkanitrain_updates_planned{" + b + "}": "300",
		"konkanitrain_epoch{" + a + "}": "3", "konkanitrain_loss{" + a + `,part="total"}`: "2", "konkanitrain_loss{" + a + `,part="ctc"}`: "1", "konkanitrain_learning_rate{" + a + "}": "0.001",
		"konkanitrain_grad_norm{" + a + "}": "20", "konkanitrain_utterances_per_second{" + a + "}": "8", "konkanitrain_sound_seconds_per_second{" + a + "}": "30",
		"konkanitrain_wait_share{" + a + "}": "0.125", "konkanitrain_seconds_left{" + a + "}": "0", "konkanitrain_validation_word_error_rate{" + a + `,which="best"}`: "0.09999999999999998",
		"konkanitrain_validation_update{" + b + `,which="last"}`: "300", "konkanitrain_memory_allocated_bytes{" + a + "}": "6000000",
		"konkanitrain_memory_bytes{" + a + `,holder="decoded \"sound\""}`: "2000000",
	} {
		if got := values[name]; got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
}
