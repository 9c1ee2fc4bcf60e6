package train

import (
	"bytes"
	"testing"

	"konkanitrain/model"
)

// A set smaller than a window is planned for with the utterances that it has.
func TestPlanOfASmallSet(t *testing.T) {
	cfg := plain(tiny(t, speak(t, spoken{id: "a", text: letters}, spoken{id: "b", text: letters}, spoken{id: "c", text: letters})))
	cfg.Optimise.BatchSize, cfg.Optimise.GradAccum, cfg.Run.CPUWorkers = 8, 2, 1
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
