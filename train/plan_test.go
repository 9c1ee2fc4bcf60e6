package train

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/update"
)

// mustPlan plans a run, of buffers alone, without the table of shapes.
func mustPlan(t testing.TB, cfg Config, o PlanOptions) *PlanReport {
	t.Helper()
	o.buffersOnly = true
	p, err := newPlanner(t.Context(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.replica.Close()
	r, err := p.figures()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkHeld holds a plan to the run that it is of, which is set up: to the byte.
func checkHeld(t *testing.T, name string, plan PlanTotal, r *run) {
	t.Helper()
	u, workers := r.replica.Usage(), int64(r.replica.Wishes().Workers)
	got := engine.Usage{Weights: plan.Weights, Gradients: plan.Gradients, Moments: plan.Moments, Averages: plan.Averages, Arenas: plan.Arenas}
	want := engine.Usage{Weights: u.Weights, Gradients: u.Gradients, Moments: u.Moments, Averages: u.Averages, Arenas: u.Arenas}
	if got != want || plan.Arena*workers != plan.Arenas {
		t.Errorf("%s: the plan is %+v, the run holds %+v", name, plan, u)
	}
	if d := r.pool.Usage(); plan.Total-plan.Beside != d.Allocated {
		t.Errorf("%s: the plan is of %d bytes of buffers, the run has %d", name, plan.Total-plan.Beside, d.Allocated)
	}
}

// tight is the memory in which all buffers but the arenas fit, and a share of these.
func tight(p PlanTotal, share float64) int64 {
	return p.Total - p.Arenas + int64(share*float64(p.Arenas))
}

// A plan is what the run holds once it is set up, to the byte: as set, and fitted to a limit.
func TestPlanIsWhatARunHolds(t *testing.T) {
	cfg := tiny(t, speak(t, babble(12, 8, 1)...))
	cfg.Data.ValManifest = []string{speak(t, spoken{id: "long", text: letters, samples: 12 * 16000})}
	cfg.Optimizer.BatchSize, cfg.Optimizer.NumEpochs = 4, 3
	for i, half := range []bool{false, true, false} {
		cfg.Run.FP16 = half
		name := fmt.Sprintf("fp16 %v", half)
		if i == 2 {
			cfg.Optimizer.EMADecay, name = 0.999, "moving averages"
		}
		plan := mustPlan(t, cfg, PlanOptions{})
		r := startBuffersOnly(t, elsewhere(t, cfg))
		checkHeld(t, name, plan.AsSet, r)
		if plan.Verdict != Fits || plan.Fitted != nil || plan.Peak.Longest.ID == "" || plan.Peak.Bytes != plan.AsSet.Arena {
			t.Errorf("%s: %+v", name, plan)
		}
		limited := elsewhere(t, cfg)
		limited.Run.MemoryLimit = fmt.Sprint(tight(plan.AsSet, 0.75), "B")
		r = startBuffersOnly(t, limited)
		fitted := mustPlan(t, limited, PlanOptions{costs: r.ledger.state.Lessons.Costs})
		if fitted.Verdict != Fitted || len(fitted.Choice) == 0 || fitted.AsSet.Total != plan.AsSet.Total {
			t.Fatalf("%s: %+v", name, fitted)
		}
		checkHeld(t, name+", fitted", *fitted.Fitted, r)
		if !(fitted.AsSet.Seconds > 0 && fitted.Fitted.Seconds > 0) || plan.AsSet.Seconds != 0 {
			t.Errorf("%s: %v s as set, %v s fitted, and %v s where nothing was measured", name, fitted.AsSet.Seconds, fitted.Fitted.Seconds, plan.AsSet.Seconds)
		}
	}
}

// startBuffersOnly sets a run up whose limit is on buffers alone.
func startBuffersOnly(t testing.TB, cfg Config) *run {
	t.Helper()
	r, err := setUp(t.Context(), cfg, Options{buffersOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// A plan for utterances of one length is that of a run on a manifest of such utterances.
func TestPlanOfALength(t *testing.T) {
	var lines []spoken
	for i := range 16 {
		lines = append(lines, spoken{id: fmt.Sprint(i), text: letters, samples: 2 * 16000})
	}
	cfg := tiny(t, speak(t, lines...))
	cfg.Optimizer.NumEpochs = 30 // some window has two utterances at the lowest speed
	made := cfg
	made.Data.TrainManifest, made.Model.VocabSize = nil, len(letters)+3
	o := PlanOptions{Seconds: 2, TokensPerSecond: float64(len(letters)) / 2}
	plan, listed := mustPlan(t, made, o), mustPlan(t, cfg, PlanOptions{})
	checkHeld(t, "as set", plan.AsSet, startBuffersOnly(t, elsewhere(t, cfg)))
	if plan.AsSet.Arena != listed.AsSet.Arena || plan.Parameters != listed.Parameters || plan.Vocabulary != listed.Vocabulary {
		t.Errorf("%+v, of the manifest %+v", plan, listed)
	}
	cfg.Run.MemoryLimit = fmt.Sprint(tight(plan.AsSet, 0.6), "B")
	made.Run.MemoryLimit = cfg.Run.MemoryLimit
	r := startBuffersOnly(t, elsewhere(t, cfg))
	o.costs = r.ledger.state.Lessons.Costs
	if plan = mustPlan(t, made, o); plan.Verdict != Fitted {
		t.Fatalf("%+v", plan)
	}
	checkHeld(t, "fitted", *plan.Fitted, r)
}

// Workers are as many as a run has: one for each core, or fewer where there is no room for more.
func TestPlanChoosesWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	cfg := small(tiny(t, speak(t, babble(6, 4, 1)...)))
	cfg.Run.CPUWorkers = 0
	whole := mustPlan(t, cfg, PlanOptions{}).AsSet
	if whole.Gradients != 3*whole.Weights {
		t.Fatalf("%+v: want three workers", whole)
	}
	// The gradients of two workers, and a share of what three arenas take.
	for _, share := range []float64{0.2, 0.4, 0.6} {
		cfg.Run.MemoryLimit = fmt.Sprint(tight(whole, share)-whole.Weights, "B")
		r := startBuffersOnly(t, elsewhere(t, cfg))
		plan := mustPlan(t, cfg, PlanOptions{costs: r.ledger.state.Lessons.Costs})
		if plan.Workers != r.replica.Wishes().Workers || plan.Workers >= 3 && share < 0.3 || (plan.Workers < 3) != strings.Contains(plan.Title, "of 3") {
			t.Errorf("share %g: %d workers (%s) are planned, a run has %d", share, plan.Workers, plan.Title, r.replica.Wishes().Workers)
		}
		total := plan.AsSet
		if plan.Fitted != nil {
			total = *plan.Fitted
		}
		checkHeld(t, fmt.Sprintf("share %g", share), total, r)
	}
}

// A plan for a run that is gone on with knows what its ops cost.
func TestPlanOfAResumedRun(t *testing.T) {
	cfg := tiny(t, speak(t, babble(8, 6, 1)...))
	cfg.Run.MemoryLimit = fmt.Sprint(tight(mustPlan(t, cfg, PlanOptions{}).AsSet, 0.7), "B")
	r := startBuffersOnly(t, cfg)
	if err := r.ledger.save(true); err != nil {
		t.Fatal(err)
	}
	r.close()
	cfg.Run.Resume = "auto"
	origin, err := FindOrigin(cfg.Run)
	if err != nil || origin.Checkpoint == nil {
		t.Fatalf("%+v, %v", origin, err)
	}
	if p := mustPlan(t, cfg, PlanOptions{Origin: origin}); p.Verdict != Fitted || !(p.Fitted.Seconds > 0 && p.AsSet.Seconds > 0) {
		t.Errorf("%s: %+v", p.Verdict, p.Fitted)
	}
	cfg.Data.TrainManifest = nil
	if p := mustPlan(t, cfg, PlanOptions{Origin: origin, Seconds: 1, TokensPerSecond: 5}); p.Vocabulary != len(letters)+3 {
		t.Errorf("a vocabulary of %d, want the checkpoint's", p.Vocabulary)
	}
}

// A plan makes no folder, and reads nothing of a sound file but its header.
func TestPlanTouchesNothing(t *testing.T) {
	cfg := tiny(t, speak(t, babble(6, 4, 1)...))
	cfg.Data.Normalize = "global"
	names, err := filepath.Glob(filepath.Join(filepath.Dir(cfg.Data.TrainManifest[0]), "*.wav"))
	if err != nil || len(names) != 6 {
		t.Fatal(names, err)
	}
	for _, name := range names { // all that follows the header is a hole
		stat, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, 44); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, stat.Size()); err != nil {
			t.Fatal(err)
		}
	}
	if r := mustPlan(t, cfg, PlanOptions{}); r.Verdict != Fits {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(cfg.Run.CheckpointDir); !os.IsNotExist(err) {
		t.Errorf("checkpoint_dir: %v", err)
	}
}

// The most rows in a way are those of a search through all powers of two.
func TestMostRowsOfAWay(t *testing.T) {
	cfg := small(tiny(t, ""))
	o := PlanOptions{Seconds: 1, TokensPerSecond: 4, buffersOnly: true}
	whole := mustPlan(t, cfg, o)
	for _, share := range []float64{0.2, 1, 7, 1000} {
		o.Memory = tight(whole.AsSet, share)
		p, err := newPlanner(t.Context(), cfg, o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.plan()
		if err != nil {
			t.Fatal(err)
		}
		room := p.null.Room()
		for _, s := range r.Shapes {
			for _, w := range s.Ways {
				rows, bytes, next := 0, int64(0), int64(0)
				for n := 1; n <= mostRows; n *= 2 {
					prices, err := p.replica.Prices([]update.Variant{p.variant(s, w, n)})
					if err != nil {
						t.Fatal(err)
					}
					if prices[0].Bytes > room {
						next = prices[0].Bytes
						break
					}
					rows, bytes = n, prices[0].Bytes
				}
				if w.MaxRows != rows || w.MaxBytes != bytes || w.NextBytes != next {
					t.Errorf("room %d, %+v: %+v, want %d rows with %d bytes and then %d", room, s, w, rows, bytes, next)
				}
			}
		}
		p.replica.Close()
	}
}

// The numbers of parameters are those that were counted elsewhere.
func TestPlannedParameters(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testkit.Shared(t), "cases", "numbers", "parameters.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		D        int `json:"d_model"`
		Encoders int `json:"encoder_layers"`
		Decoders int `json:"decoder_layers"`
		Vocab    int

		Subsample, Encoder, CTC, Decoder, Total int // of Encoder, Subsample is a part
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 4 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		cfg := Default()
		if c.D == 64 && c.Decoders == 1 {
			cfg.Model.Subsampling = 2 // of this case alone, as its number for the subsampling says
		}
		cfg.Model.DModel, cfg.Model.EncoderLayers, cfg.Model.DecoderLayers, cfg.Model.VocabSize = c.D, c.Encoders, c.Decoders, c.Vocab
		want := PlanParameters{c.Total, c.Subsample, c.Encoder - c.Subsample, c.CTC, c.Decoder, c.Total}
		if got := mustPlan(t, cfg, PlanOptions{Seconds: 0.5, TokensPerSecond: 10}).Parameters; got != want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// A comparison is a plan of one worker and one pass, without speeds. The utterances are short enough for a worker to
// take all of them in one.
func TestCompareIsAPlan(t *testing.T) {
	cfg := plain(tiny(t, ""))
	cfg.Run.CPUWorkers = 1
	rows := []int{8, 1}
	list, err := Compare(cfg, rows, 0.5, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range rows {
		for half, bytes := range list[i].Bytes {
			for way, recompute := range []string{"none", "blocks", "all"} {
				c := cfg
				c.Optimizer.BatchSize, c.Run.FP16, c.Run.Recompute = n, half == 1, recompute
				p := mustPlan(t, c, PlanOptions{Seconds: 0.5, TokensPerSecond: 4}).AsSet
				if want := p.Weights + p.Gradients + p.Moments + p.Arena; bytes[way] != want {
					t.Errorf("%d rows, fp16 %d, recompute %s: %d bytes, planned are %d", n, half, recompute, bytes[way], want)
				}
			}
		}
	}
	_, err = Compare(cfg, []int{3}, 3, 4)
	testkit.MustFail(t, err, "3 rows: want a power of two")
}

// The page has the picture of the largest programs, each once, with its name.
func TestPageOfAPlan(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(12, 8, 1)...)))
	whole := mustPlan(t, cfg, PlanOptions{})
	var page bytes.Buffer
	r, err := Plan(t.Context(), cfg, PlanOptions{Page: &page, Memory: tight(whole.AsSet, 0.6), buffersOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{"recompute none, float32", "recompute blocks, float32", "recompute all, float32", "verdict", r.Verdict, "encoder.blocks.0"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the page of %d bytes", want, len(text))
		}
	}
	if n := strings.Count(text, ", float32\""); n != mostPictures {
		t.Errorf("%d programs, want %d", n, mostPictures)
	}
}
