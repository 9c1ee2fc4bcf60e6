package train

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// Every setting that is about memory changes the plan in its direction, or is refused with a reason.
func TestPlanFollowsSettings(t *testing.T) {
	cfg := small(tiny(t, speak(t, append(babble(7, 4, 1), spoken{id: "long", text: letters, samples: 2 * 16000})...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.NumEpochs, cfg.Run.CPUWorkers, cfg.Model.EncoderLayers = 4, 3, 2, 4
	card, err := FindCard("T4")
	if err != nil {
		t.Fatal(err)
	}
	whole := mustPlan(t, cfg, PlanOptions{})
	limit := tight(whole.AsSet, 0.6)
	arena := func(r *PlanReport) int64 { return r.AsSet.Arena }
	onCard := func(c *Config, o *PlanOptions) { o.Card, c.Run.CPUWorkers = &card, 0 }
	for name, c := range map[string]struct {
		less, more func(*Config, *PlanOptions)
		of         func(*PlanReport) int64
	}{
		"recompute blocks":  {func(c *Config, _ *PlanOptions) { c.Run.Recompute = "blocks" }, nil, arena},
		"recompute all":     {func(c *Config, _ *PlanOptions) { c.Run.Recompute = "all" }, nil, arena},
		"fp16":              {func(c *Config, _ *PlanOptions) { c.Run.FP16 = true }, nil, arena},
		"max_duration":      {func(c *Config, _ *PlanOptions) { c.Data.MaxDuration = 1 }, nil, arena},
		"batch_size":        {func(c *Config, _ *PlanOptions) { c.Optimizer.BatchSize = 1 }, nil, arena},
		"batch_size, card":  {onCard, func(c *Config, o *PlanOptions) { onCard(c, o); c.Optimizer.BatchSize = 8 }, arena},
		"cpu_workers":       {func(c *Config, _ *PlanOptions) { c.Run.CPUWorkers = 1 }, nil, func(r *PlanReport) int64 { return r.AsSet.Total }},
		"memory_limit":      {func(c *Config, _ *PlanOptions) { c.Run.MemoryLimit = fmt.Sprint(limit, "B") }, nil, inTheEnd},
		"memory":            {func(_ *Config, o *PlanOptions) { o.Memory = limit }, nil, inTheEnd},
		"memory_fraction":   {func(c *Config, o *PlanOptions) { onCard(c, o); c.Run.MemoryFraction = 0.5 }, onCard, func(r *PlanReport) int64 { return r.Limit }},
		"memory and a card": {func(c *Config, o *PlanOptions) { onCard(c, o); o.Memory = limit }, onCard, func(r *PlanReport) int64 { return r.Limit }},
	} {
		plan := func(change func(*Config, *PlanOptions)) int64 {
			cfg, o := cfg, PlanOptions{}
			if change != nil {
				change(&cfg, &o)
			}
			return c.of(mustPlan(t, cfg, o))
		}
		if less, more := plan(c.less), plan(c.more); less >= more {
			t.Errorf("%s: %d bytes with less, %d with more", name, less, more)
		}
	}

	o := PlanOptions{Memory: limit}
	rigid := cfg
	rigid.Run.AutoFit = false
	if r := mustPlan(t, rigid, o); r.Verdict != TooLarge || !containsText(r.Advice, "auto_fit true: fits") || !containsText(r.Advice, "grad_accum ") {
		t.Errorf("without auto_fit: %s, %q", r.Verdict, r.Advice)
	}
	o.Memory = tight(whole.AsSet, 0.08)
	fixed := cfg
	fixed.Run.Recompute = "none"
	if r := mustPlan(t, fixed, o); r.Verdict != TooLarge || !containsText(r.Advice, "max_duration ") || len(r.LeftOut) == 0 || r.LeftOut[0].ID != "long" {
		t.Errorf("without recompute: %s, %q, %+v", r.Verdict, r.Advice, r.LeftOut)
	}
	fixed.Run.OnOOM = "skip"
	if r := mustPlan(t, fixed, o); r.Verdict != Fitted || len(r.LeftOut) == 0 {
		t.Errorf("on_oom skip: %s, %+v", r.Verdict, r.LeftOut)
	}
}

// inTheEnd is what the run holds in the end.
func inTheEnd(r *PlanReport) int64 {
	if r.Fitted != nil {
		return r.Fitted.Total
	}
	return r.AsSet.Total
}

func containsText(list []string, text string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, text) })
}

// Advice holds: with the length that is named the run fits, and with a tenth of a second more it doesn't.
func TestAdviceOfAPlanHolds(t *testing.T) {
	made := plain(tiny(t, ""))
	o := PlanOptions{Seconds: 6, TokensPerSecond: 4}
	o.Memory = tight(mustPlan(t, made, o).AsSet, 0.1)
	made.Run.Recompute = "none"
	p, err := newPlanner(t.Context(), made, PlanOptions{Seconds: 6, TokensPerSecond: 4, Memory: o.Memory, buffersOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.plan()
	if err != nil || r.Verdict != TooLarge {
		t.Fatalf("%+v, %v", r, err)
	}
	longest := p.longestMadeUp()
	if !(longest > 0.1 && longest < 6) || !containsText(r.Advice, fmt.Sprintf("utterances of up to %.1f s", longest)) {
		t.Errorf("%g s, %q", longest, r.Advice)
	}
	for seconds, want := range map[float64]string{longest: Fitted, longest + 0.1: TooLarge} {
		o.Seconds = math.Round(10*seconds) / 10
		if got := mustPlan(t, made, o).Verdict; got != want && !(want == Fitted && got == Fits) {
			t.Errorf("%g s: %s, want %s", o.Seconds, got, want)
		}
	}
}

// Options that make no plan are refused with a reason.
func TestPlanRefuses(t *testing.T) {
	manifest := speak(t, babble(4, 3, 1)...)
	card, _ := FindCard("t4")
	made := PlanOptions{Seconds: 3, TokensPerSecond: 10}
	for want, c := range map[string]func(*Config, *PlanOptions){
		"memory is -1 bytes":                 func(_ *Config, o *PlanOptions) { o.Memory = -1 },
		"a manifest lists others":            func(c *Config, o *PlanOptions) { c.Data.ValManifest = []string{manifest} },
		"there are no utterances":            func(_ *Config, o *PlanOptions) { o.Seconds = 0 },
		"seconds is -3":                      func(_ *Config, o *PlanOptions) { o.Seconds = -3 },
		"seconds is NaN":                     func(_ *Config, o *PlanOptions) { o.Seconds = math.NaN() },
		"longer than max_duration 2":         func(c *Config, _ *PlanOptions) { c.Data.MaxDuration = 2 },
		"tokens_per_second is 0":             func(_ *Config, o *PlanOptions) { o.TokensPerSecond = 0 },
		"leave cpu_workers out":              func(_ *Config, o *PlanOptions) { o.Card = &card }, // tiny has two
		"the card t4 has 14.74 GiB":          func(c *Config, o *PlanOptions) { o.Card, o.Memory, c.Run.CPUWorkers = &card, 1<<40, 0 },
		"memory_limit is 1GiB":               func(c *Config, o *PlanOptions) { c.Run.MemoryLimit, o.Memory = "1GiB", 1<<30 },
		"heads 3 does not divide d_model 16": func(c *Config, _ *PlanOptions) { c.Model.Heads = 3 },
		"init_from":                          func(c *Config, _ *PlanOptions) { c.Run.InitFrom = filepath.Join(t.TempDir(), "nowhere") },
	} {
		cfg, o := tiny(t, ""), made
		c(&cfg, &o)
		_, err := Plan(t.Context(), cfg, o)
		testkit.MustFail(t, err, want)
	}
}

// A card that isn't known is refused, with the nearest name and all others.
func TestCards(t *testing.T) {
	before := int64(5 << 30)
	for _, c := range Cards() {
		if found, err := FindCard(strings.ToUpper(c.Name)); err != nil || found != c || c.Memory < before {
			t.Errorf("%+v: %+v, %v", c, found, err)
		}
		before = c.Memory
		if s := c.Speed; s.Bytes < 3e11 || s.Bytes > 4e12 || s.Float32 < 8e12 || s.Tensor > 0 && s.Tensor < 1.9*s.Float32 || s.Double > s.Float32/1.9 || s.Processors < 28 {
			t.Errorf("the speed of %s is %+v", c.Name, s)
		}
	}
	_, err := FindCard("rtx4900")
	testkit.MustFail(t, err, `card "rtx4900" is not known (did you mean rtx4090?); known are rtx3060-laptop, rtx3060, t4, `, "--memory ")
	if _, err = FindCard("abacus"); err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("%v", err)
	}
}
