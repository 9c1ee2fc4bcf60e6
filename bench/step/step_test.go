package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// tiny are the flags of a network of which a step takes milliseconds.
var tiny = strings.Fields("--d_model 48 --heads 2 --encoder_layers 8 --decoder_layers 1 --vocab 9 --seconds 1 --batch 4 --steps 2 --warmup_steps 1 --threads 2")

// loss runs the program on tiny, and returns the line that it prints.
func loss(t *testing.T, flags ...string) (r result, raw map[string]any) {
	t.Helper()
	var out strings.Builder
	if err := run(append(append(tiny[:len(tiny):len(tiny)], "--json"), flags...), &out); err != nil {
		t.Fatal(err)
	}
	for _, into := range []any{&r, &raw} {
		if err := json.Unmarshal([]byte(out.String()), into); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
	}
	return r, raw
}

// The line has the keys that bench/compare.py reads; settings that save memory save it, and leave the loss alone.
func TestResult(t *testing.T) {
	plain, raw := loss(t)
	for _, key := range strings.Fields("d_model encoder_layers decoder_layers batch seconds tokens dropout precision parameters " +
		"median_s min_s cpu_s_per_step audio_seconds_per_second peak_rss_mib gflop_per_step loss workers") {
		if _, ok := raw[key]; !ok {
			t.Errorf("no key %s in %v", key, raw)
		}
	}
	if len(plain.Times) != 2 || plain.Min > plain.Median || plain.Tokens != 10 || plain.Workers != 2 || plain.Precision != "fp32" || plain.GFLOP <= 0 {
		t.Errorf("%+v", plain)
	}
	again, _ := loss(t, "--recompute")
	if again.Loss != plain.Loss || again.Allocated >= plain.Allocated || again.GFLOP <= plain.GFLOP {
		t.Errorf("with recompute loss %v, %v MiB, %v GFLOP; without %v, %v, %v",
			again.Loss, again.Allocated, again.GFLOP, plain.Loss, plain.Allocated, plain.GFLOP)
	}
	half, _ := loss(t, "--fp16")
	if half.Precision == "fp32" || half.Allocated >= plain.Allocated {
		t.Errorf("%+v in half precision, %v MiB in full", half, plain.Allocated)
	}
}

func TestProfile(t *testing.T) {
	var out strings.Builder
	if err := run(append(tiny[:len(tiny):len(tiny)], "--profile"), &out); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"2 workers: median", "attention.relative.grad", "all ops"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("it doesn't say %q:\n%s", part, &out)
		}
	}
}

// What makes no benchmark is refused, all of it at once.
func TestBadSettings(t *testing.T) {
	err := run(strings.Fields("--batch 0 --steps 0 --warmup_steps -1 --seconds 0 --tokens_per_second -1 --vocab 3 --heads 5"), &strings.Builder{})
	if err == nil {
		t.Fatal("they were accepted")
	}
	for _, part := range []string{"batch is 0", "steps is 0", "warmup_steps is -1", "seconds is 0", "tokens_per_second is -1", "vocab is 3", "heads 5 does not divide"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("it doesn't say %q:\n%v", part, err)
		}
	}
	if err := run(strings.Fields("--seconds 0.3 --tokens_per_second 100 --decoder_layers 0 --steps 1"), &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "tokens_per_second") {
		t.Errorf("more letters than CTC can align: %v", err)
	}
}
