//go:build tensorboard

package train

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"konkanitrain/internal/testkit"
)

// tensorboardPython names a Python that has TensorBoard.
const tensorboardPython = "KONKANITRAIN_TENSORBOARD"

// readBack prints what TensorBoard's own reader finds in a folder.
const readBack = `
import io, json, sys
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
all = dict.fromkeys(["scalars", "histograms", "images", "tensors"], 0)
a = EventAccumulator(sys.argv[1], size_guidance=all, purge_orphaned_data=True)
a.Reload()
tags = a.Tags()
size = lambda e: list(Image.open(io.BytesIO(e.encoded_image_string)).size)
json.dump({
    "scalars": {t: [[e.step, e.value] for e in a.Scalars(t)] for t in tags["scalars"]},
    "histograms": {t: [[e.step, e.histogram_value.num, sum(e.histogram_value.bucket)] for e in a.Histograms(t)] for t in tags["histograms"]},
    "texts": {t: [e.tensor_proto.string_val[0].decode() for e in a.Tensors(t)] for t in tags["tensors"]},
    "images": {t: [size(e) for e in a.Images(t)] for t in tags["images"]},
}, sys.stdout)
`

// readByTensorBoard is what TensorBoard's reader finds.
type readByTensorBoard struct {
	Scalars    map[string][][2]float64 // step and value
	Histograms map[string][][3]float64 // step, values, and values in buckets
	Texts      map[string][]string
	Images     map[string][][2]int
}

// TensorBoard's own reader and its server find every curve of a run that was killed and went on: each step once, with
// the value that metrics.jsonl has, and none empty.
func TestTensorBoardReadsIt(t *testing.T) {
	python := os.Getenv(tensorboardPython)
	if python == "" {
		t.Fatalf("%s names no Python with TensorBoard", tensorboardPython)
	}
	train, val := speak(t, babble(23, 5, 1)...), speak(t, babble(12, 5, 2)...)
	cfg := tiny(t, train)
	cfg.Data.ValManifest, cfg.Data.TestManifest, cfg.Run.Tensorboard = []string{val}, []string{val}, "true"
	cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates, cfg.Run.FP16 = 5, 2, 12, true
	killed(t, cfg) // behind update 7
	said := mustRun(t, withResume(cfg))
	testkit.MustContain(t, said, "event files: what they show after update ")
	var read readByTensorBoard
	out, err := exec.CommandContext(t.Context(), python, "-c", readBack, cfg.Run.CheckpointDir).Output()
	if err == nil {
		err = json.Unmarshal(out, &read)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := trackedMetrics(t, cfg.Run.CheckpointDir)
	for curve, points := range want {
		mustBeCurve(t, curve, points, read.Scalars[curve])
	}
	for _, curve := range []string{"train/real_time", "train_memory/peak", "train/seconds", "gradient_norm/encoder.blocks.1", "train/loss_scale", "validation/blank_share"} {
		if len(read.Scalars[curve]) < 6 {
			t.Errorf("%s has %v", curve, read.Scalars[curve])
		}
	}
	for curve, points := range read.Scalars {
		if len(points) == 0 {
			t.Errorf("%s is empty", curve)
		}
	}
	layers := 0
	for tag, list := range read.Histograms {
		layers++
		for i, h := range list {
			if h[0] != float64(2*(i+1)) || h[1] < 8 || h[1] != h[2] {
				t.Errorf("%s: step %v with %v values, %v in buckets", tag, h[0], h[1], h[2])
			}
		}
		if len(list) != 6 {
			t.Errorf("%s has %d histograms", tag, len(list))
		}
	}
	if layers < 6 || len(read.Texts["validation/samples"]) != 6 || len(read.Texts["run/config"]) != 2 || len(read.Images["run/memory_plan"]) == 0 ||
		read.Images["run/memory_plan"][0][0] < 600 {
		t.Errorf("%d layers, %d samples, %d settings, images %v", layers, len(read.Texts["validation/samples"]), len(read.Texts["run/config"]), read.Images)
	}
	askServer(t, python, cfg.Run.CheckpointDir, want)
}

// mustBeCurve holds a curve to points, which it shows in float32.
func mustBeCurve(t *testing.T, curve string, want map[int]float64, got [][2]float64) {
	t.Helper()
	for _, p := range got {
		if v, there := want[int(p[0])]; !there || math.Abs(p[1]-v) > 1e-7*math.Abs(v) { // half a unit in float32's last place is 6e-8
			t.Errorf("%s: step %v is %v, want %v", curve, p[0], p[1], v)
		}
	}
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%s: %d points, want %d", curve, len(got), len(want))
	}
}

// askServer holds what TensorBoard's server shows to the same points.
func askServer(t *testing.T, python, dir string, want map[string]map[int]float64) {
	t.Helper()
	port := freePort(t)
	server := fmt.Sprintf("http://127.0.0.1:%d", port)
	serve(t, server, dir, python, "-m", "tensorboard.main", "--logdir", filepath.Dir(dir), "--host", "127.0.0.1", "--port", fmt.Sprint(port))
	run := filepath.Base(dir)
	var tags map[string]map[string]any
	for range 100 { // it reads files beside answering
		if ask(t, server+"/data/plugin/scalars/tags", &tags); len(tags[run]) > len(want) {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	for curve, points := range want {
		if _, there := tags[run][curve]; !there {
			t.Errorf("the server doesn't list %s", curve)
			continue
		}
		var list [][3]float64 // time, step and value
		ask(t, server+"/data/plugin/scalars/scalars?run="+url.QueryEscape(run)+"&tag="+url.QueryEscape(curve), &list)
		var got [][2]float64
		for _, p := range list {
			got = append(got, [2]float64{p[1], p[2]})
		}
		mustBeCurve(t, "the server's "+curve, points, got)
	}
	for plugin, tag := range map[string]string{"histograms": "gradients/ctc", "images": "run/memory_plan"} {
		var listed map[string]map[string]any
		if ask(t, server+"/data/plugin/"+plugin+"/tags", &listed); listed[run][tag] == nil {
			t.Errorf("%s of the server: %v", plugin, listed)
		}
	}
	var texts map[string][]string
	if ask(t, server+"/data/plugin/text/tags", &texts); !strings.Contains(strings.Join(texts[run], " "), "validation/samples") {
		t.Errorf("texts of the server: %v", texts)
	}
}
