package train

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/model"
)

// A set smaller than a window is planned for with the utterances that it has.
func TestPlanOfASmallSet(t *testing.T) {
	cfg := plain(tiny(t, speak(t, spoken{id: "a", text: letters}, spoken{id: "b", text: letters}, spoken{id: "c", text: letters})))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Run.CPUWorkers = 8, 2, 1
	var said bytes.Buffer
	run := start(t, cfg, &said)
	mustContain(t, said.String(), " 1 worker with ")
	most, err := run.largest(run.loader, cfg.Window(), true)
	if err != nil || most.shape.Batch != 2 {
		t.Fatalf("%+v, %v: of 3 utterances the largest pass has 2 rows", most.shape, err)
	}
	planned := run.dev.Usage()
	out, err := run.update(windows(t, run, 1)[0])
	if err != nil || out.utterances != 3 || run.dev.Usage() != planned {
		t.Errorf("%+v, %v: %+v in use, %+v were planned", out, err, run.dev.Usage(), planned)
	}
	full, err := run.programs.Get(programKey{model.Shape{Batch: 8, Frames: most.shape.Frames, Tokens: most.shape.Tokens}, true})
	if err != nil || full.ArenaBytes() <= most.bytes {
		t.Errorf("%d bytes for 2 rows, %d for 8 (%v)", most.bytes, full.ArenaBytes(), err)
	}
}

// The pass with the most work needn't be the one that takes the most memory: attention's quadratic part weighs more in
// work than in bytes. Four utterances of 256 frames take more memory, and less work, than two of 416 to 480.
func TestPlanIsOfTheMostMemory(t *testing.T) {
	lengths := []int{256, 416, 448, 480}
	var lines []spoken
	for i := range 4 * len(lengths) {
		lines = append(lines, spoken{id: fmt.Sprint(i), text: letters, samples: 160 * lengths[i/4]})
	}
	cfg := plain(tiny(t, speak(t, lines...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Run.CPUWorkers = 4, 1, 1
	run := start(t, cfg, nil)
	planned := run.dev.Usage()
	var costs, bytes []float64
	for _, n := range lengths {
		full := slices.Repeat([]*data.Example{noise(n, n, run.net.NumMels, tokensFor(len(letters))...)}, cfg.Window())
		batches := deal(full, run.net, cfg.Optimizer.BatchSize, 1)
		if err := run.prepare(batches, true); err != nil {
			t.Fatal(err)
		}
		if got := run.dev.Usage(); got != planned {
			t.Errorf("a window of %d frames: %+v in use, %+v were planned", n, got, planned)
		}
		costs, bytes = append(costs, cost(batches[0].shape, run.net)), append(bytes, float64(run.running[0].ArenaBytes()))
	}
	if slices.Min(costs) != costs[0] || slices.Max(bytes) != bytes[0] {
		t.Errorf("work %v, bytes %v: this test says nothing", costs, bytes)
	}
}
