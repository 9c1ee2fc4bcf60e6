package train

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/tensorboard"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/update"
)

// eventFiles are the paths of event files, in the order in which TensorBoard reads them.
func eventFiles(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// boardValue is what a board shows of a tag at a step.
type boardValue struct {
	Tag  string
	Step int
	tensorboard.Value
}

// shownOn is all that TensorBoard shows of a folder: a session's start takes back what was written of its step and
// later ones.
func shownOn(t *testing.T, dir string) (list []boardValue) {
	t.Helper()
	for _, path := range eventFiles(t, dir) {
		in := tensorboard.NewReader(strings.NewReader(readFile(t, path)))
		for {
			e, err := in.Next()
			if err == io.EOF || err == tensorboard.ErrTorn {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if e.Start {
				list = slices.DeleteFunc(list, func(v boardValue) bool { return v.Step >= int(e.Step) })
			}
			for _, v := range e.Values {
				list = append(list, boardValue{v.Tag, int(e.Step), v})
			}
		}
	}
	return list
}

// timely are the tags of what is about time, memory or a session.
var timely = regexp.MustCompile(`^run/|^train_memory/|/(seconds|wait_share|real_time|utterances_per_second|took)$`)

// lasting is what is not, and fails where a tag has a step twice.
func lasting(t *testing.T, list []boardValue) (out []boardValue) {
	t.Helper()
	seen := map[string]bool{}
	for _, v := range list {
		at := fmt.Sprint(v.Tag, " ", v.Step)
		if seen[at] {
			t.Errorf("%s is shown twice", at)
		}
		seen[at] = true
		if !timely.MatchString(v.Tag) {
			out = append(out, v)
		}
	}
	return out
}

// Whenever a run is killed, TensorBoard shows of the run that goes on what it shows of the one that was never killed,
// each step once; and event files change no weight.
func TestKilledRunHasTheSameBoard(t *testing.T) {
	manifest := speak(t, babble(10, 3, 1)...) // epochs of three windows
	for _, c := range []struct{ log, save, eval int }{{3, 2, 3}} {
		straight := small(tiny(t, manifest))
		straight.Data.ValManifest, straight.Data.TestManifest, straight.Run.MemoryLog = []string{manifest}, []string{manifest}, "off"
		straight.Run.LogEvery, straight.Run.SaveEvery, straight.Run.EvalEvery, straight.Optimizer.MaxUpdates = c.log, c.save, c.eval, 8
		without := elsewhere(t, straight)
		straight.Run.Tensorboard = "true"
		kills := &snapshots{t: t, dir: straight.Run.CheckpointDir}
		r := start(t, straight, kills)
		settle := r.ledger.settle
		r.ledger.settle = func() {
			settle()
			_, _ = kills.Write(nil)
		}
		mustEnd(t, r)
		r.close()
		mustRun(t, without)
		mustEqualRun(t, straight.Run.CheckpointDir, without.Run.CheckpointDir, 8)
		if files := eventFiles(t, without.Run.CheckpointDir); len(files) > 0 {
			t.Errorf("nobody asked for %v", files)
		}
		want := lasting(t, shownOn(t, straight.Run.CheckpointDir))
		removed := 0
		for i, dir := range kills.taken {
			cfg := straight
			cfg.Run.CheckpointDir = dir
			if files := eventFiles(t, dir); i%2 == 1 && len(files) > 0 { // the process was killed while it wrote
				last := readFile(t, files[len(files)-1])
				write(t, files[len(files)-1], last+last[:5+i])
			}
			said := mustRun(t, withResume(cfg))
			removed += strings.Count(said, "event files: what they show after update ")
			if diff := cmp.Diff(want, lasting(t, shownOn(t, dir))); diff != "" {
				t.Fatalf("%+v, killed at moment %d:\n%s\n%s", c, i, diff, said)
			}
			mustEqualRun(t, dir, straight.Run.CheckpointDir, 8)
		}
		if removed < 2 || len(kills.taken) < 12 {
			t.Errorf("%+v: %d kills, %d with something to remove: this test says little", c, len(kills.taken), removed)
		}
	}
}

// Each figure of metrics.jsonl is a point of a curve, at the same update.
func TestBoardShowsTheMetrics(t *testing.T) {
	manifest := speak(t, babble(12, 4, 1)...)
	cfg := tiny(t, manifest)
	cfg.Data.ValManifest, cfg.Data.TestManifest = []string{manifest}, []string{manifest}
	cfg.Run.Tensorboard, cfg.Run.LogEvery, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates, cfg.Run.FP16 = "true", 2, 3, 6, true
	mustRun(t, cfg)
	list := shownOn(t, cfg.Run.CheckpointDir)
	at := map[string]tensorboard.Value{}
	for _, v := range list {
		at[fmt.Sprint(v.Tag, " ", v.Step)] = v.Value
	}
	scalar := func(tag string, step int, want float64) {
		t.Helper()
		v := at[fmt.Sprint(tag, " ", step)]
		if v.Scalar == nil || *v.Scalar != float32(want) {
			t.Errorf("%s at %d: %v, want %v", tag, step, v.Scalar, want)
		}
	}
	updates := 0
	for _, m := range figuresOf(t, cfg.Run.CheckpointDir) {
		step, group := int(m["update"].(float64)), groups[m["event"].(string)]
		for key, value := range m {
			if x, ok := value.(float64); ok && key != "update" {
				scalar(group+"/"+key, step, x)
			}
		}
		if m["event"] == "update" {
			updates++
			if v := at[fmt.Sprint("train/real_time ", step)]; v.Scalar == nil || !(*v.Scalar > 0) || at[fmt.Sprint("train_memory/peak ", step)].Scalar == nil {
				t.Errorf("update %d has no speed or no memory", step)
			}
		} else {
			score := m["score"].(map[string]any)
			scalar(group+"_score/utterances", step, 12)
			scalar(group+"_score/words/del", step, score["words"].(map[string]any)["del"].(float64))
		}
	}
	if updates != 3 || at["test/wer 6"].Scalar == nil || at["train/loss_scale 6"].Scalar == nil {
		t.Errorf("%d records of updates; test %v", updates, at["test/wer 6"])
	}
	// Samples are those of the first utterances, at each validation.
	for _, step := range []int{3, 6} {
		text := at[fmt.Sprint("validation/samples ", step)].Text
		if text == nil || strings.Count(*text, "\n") != 2+mostSamples || !strings.Contains(*text, "| utterance | reference | recognized | WER |") {
			t.Errorf("samples at %d: %v", step, text)
		}
	}
	// The picture of the plan is one, and the settings are there.
	if image := at["run/memory_plan 0"].Image; image == nil {
		t.Error("no picture of the memory")
	} else if drawn, err := png.Decode(bytes.NewReader(image.PNG)); err != nil || drawn.Bounds().Dx() != image.Width || drawn.Bounds().Dy() != image.Height {
		t.Errorf("a picture of %d x %d: %v", image.Width, image.Height, err)
	}
	if text := at["run/config 0"].Text; text == nil || !strings.Contains(*text, `"log_every": 2`) {
		t.Errorf("settings: %v", text)
	}
}

// At the updates that a validation is due after there is a histogram of each layer's gradient, of all of its elements,
// and the norms of all layers make the norm of the update.
func TestBoardShowsGradients(t *testing.T) {
	cfg := tiny(t, speak(t, babble(12, 4, 1)...))
	cfg.Run.Tensorboard, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates, cfg.Optimizer.Freeze = "true", 2, 5, []string{"encoder.subsample"}
	mustRun(t, cfg)
	elements := map[string]int{}
	for _, p := range (update.Tuning{Freeze: cfg.Optimizer.Freeze}).Learned(model.Parameters(cfg.Network(vocabularyOf(t, cfg)))) {
		n := 1
		for _, d := range p.Shape {
			n *= d
		}
		elements[layerOf(p)] += n
	}
	squares, norms := map[int]float64{}, map[int]float64{}
	steps := map[string][]int{}
	for _, v := range shownOn(t, cfg.Run.CheckpointDir) {
		if layer, ok := strings.CutPrefix(v.Tag, "gradients/"); ok {
			steps[layer] = append(steps[layer], v.Step)
			squares[v.Step] += v.Histo.Squares
			sum := 0.0
			for _, n := range v.Histo.Counts {
				sum += n
			}
			if v.Histo.Num != float64(elements[layer]) || sum != v.Histo.Num || elements[layer] == 0 {
				t.Errorf("%s: %v values, in buckets %v, want %d", v.Tag, v.Histo.Num, sum, elements[layer])
			}
		}
		if v.Tag == "train/grad_norm" {
			norms[v.Step] = float64(*v.Scalar)
		}
	}
	for layer := range elements {
		if !slices.Equal(steps[layer], []int{2, 4}) {
			t.Errorf("%s has histograms at %v", layer, steps[layer])
		}
	}
	for _, step := range []int{2, 4} {
		// Squares of the norm are added in float32, some thousands at a time; the norm is shown in float32.
		if norm := math.Sqrt(squares[step]); !(math.Abs(norm/norms[step]-1) < 1e-5) {
			t.Errorf("update %d: layers make a norm of %v, want %v", step, norm, norms[step])
		}
	}
	if len(elements) < 6 || len(steps) != len(elements) {
		t.Errorf("layers %v", elements)
	}
}

// vocabularyOf is the size of a run's vocabulary.
func vocabularyOf(t *testing.T, cfg Config) int {
	t.Helper()
	c, _, err := checkpoint.Latest(cfg.Run.CheckpointDir)
	if err != nil {
		t.Fatal(err)
	}
	var s state
	if err := c.State(&s); err != nil {
		t.Fatal(err)
	}
	return s.Vocabulary.Size()
}

// The parameters of a layer follow one another, and there are a few dozen layers at most.
func TestLayersFollowOneAnother(t *testing.T) {
	for _, decoder := range []int{0, 2} {
		net := Default().Network(40)
		net.DecoderLayers = decoder
		var layers []string
		for _, p := range model.Parameters(net) {
			layer := layerOf(p)
			if n := len(layers); n == 0 || layers[n-1] != layer {
				if slices.Contains(layers, layer) {
					t.Errorf("%s is in two pieces", layer)
				}
				layers = append(layers, layer)
			}
		}
		if !slices.Contains(layers, "encoder.blocks.7") || !slices.Contains(layers, "ctc") || len(layers) > 20 {
			t.Errorf("%v", layers)
		}
	}
}

// Event files go where the settings say: beside metrics.jsonl, in a log_dir that runs share each in a folder of its
// own, or in a folder, which belongs to one run.
func TestFoldersOfEventFiles(t *testing.T) {
	manifest, logs, boards := speak(t, babble(6, 3, 1)...), t.TempDir(), filepath.Join(t.TempDir(), "boards", "a")
	config := func(board string) Config {
		cfg := small(tiny(t, manifest))
		cfg.Run.Tensorboard, cfg.Optimizer.MaxUpdates = board, 2
		return cfg
	}
	shared := config("true")
	shared.Run.LogDir = logs
	mustRun(t, shared)
	if files := eventFiles(t, filepath.Join(logs, "run")); len(files) != 1 {
		t.Errorf("in the shared log_dir: %v", files)
	}
	own := config(boards)
	mustRun(t, own)
	if files := eventFiles(t, boards); len(files) != 1 || len(eventFiles(t, own.Run.CheckpointDir)) != 0 {
		t.Errorf("in the folder: %v", files)
	}
	own.Optimizer.MaxUpdates = 4
	mustRun(t, withResume(own))
	if files := eventFiles(t, boards); len(files) != 2 {
		t.Errorf("after a resume: %v", files)
	}
	_, err := Run(t.Context(), config(boards), Options{})
	testkit.MustFail(t, err, "tensorboard: "+boards+" holds event files of another run", own.Run.CheckpointDir, "choose another folder")
	other := shared // of the same name
	other.Run.CheckpointDir = filepath.Join(t.TempDir(), "run")
	_, err = Run(t.Context(), other, Options{})
	testkit.MustFail(t, err, "holds event files of another run")
	off := config("false")
	mustRun(t, off)
	measuring := config("true")
	measuring.Run.ProfileSteps = 1
	mustRun(t, measuring)
	for _, cfg := range []Config{off, measuring} {
		if files := eventFiles(t, cfg.Run.CheckpointDir); len(files) > 0 {
			t.Errorf("nobody asked for %v", files)
		}
	}
}

// A run that begins anew where one has lost its checkpoints is shown alone; one that comes from elsewhere shows its own
// updates.
func TestBoardOfAnotherRun(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(10, 3, 1)...)))
	cfg.Run.Tensorboard, cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = "true", 2, 5
	mustRun(t, cfg)
	losses := func(dir string) (steps []int) {
		for _, v := range shownOn(t, dir) {
			if v.Tag == "train/loss" {
				steps = append(steps, v.Step)
			}
		}
		return steps
	}
	fork := elsewhere(t, cfg)
	fork.Run.Resume = filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2))
	mustRun(t, fork)
	if got := losses(fork.Run.CheckpointDir); !slices.Equal(got, []int{3, 4, 5}) {
		t.Errorf("a run from elsewhere shows %v", got)
	}
	for _, step := range steps(t, cfg.Run.CheckpointDir) {
		remove(t, filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(step)))
	}
	cfg.Optimizer.MaxUpdates = 3
	mustRun(t, cfg)
	if got := losses(cfg.Run.CheckpointDir); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("a new run shows %v", got)
	}
}

// The event files of a run can get lost, by a full disk say; the run can't. A folder that was removed is made again.
func TestRunWithoutEventFiles(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Run.Tensorboard, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates = cfg.Data.TrainManifest, "true", 1, 4
	var said bytes.Buffer
	r := start(t, cfg, &said)
	r.hook = atUpdate(2, func() { r.board.close(); r.board.writer = closedWriter(t) })
	mustEnd(t, r)
	if got := r.result(); got.Updates != 4 {
		t.Errorf("%+v", got)
	}
	mustContainOnce(t, said.String(), "WARNING: event files in "+cfg.Run.CheckpointDir+" can't be written any more, the run goes on without them: ")
	if n := len(records(t, cfg.Run.CheckpointDir)); n < 8 {
		t.Errorf("%d records in metrics.jsonl", n)
	}
	cfg = elsewhere(t, cfg)
	cfg.Run.SaveEvery = 3
	r = start(t, cfg, &said)
	r.hook = atUpdate(2, func() { remove(t, cfg.Run.CheckpointDir) })
	mustEnd(t, r)
	after := 0
	for _, v := range shownOn(t, cfg.Run.CheckpointDir) {
		if v.Tag == "train/loss" {
			after++
		}
	}
	if after == 0 || after == 4 {
		t.Errorf("%d updates are shown", after)
	}
	// Where none can be made the run doesn't begin.
	cfg = elsewhere(t, cfg)
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	cfg.Run.Tensorboard = filepath.Join(file, "board")
	testkit.MustFail(t, errors.New(refused(t, cfg)), "tensorboard: ", "not a directory")
}

// closedWriter can't write.
func closedWriter(t *testing.T) *tensorboard.Writer {
	t.Helper()
	w, err := tensorboard.Create(t.TempDir(), "", -1)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// What files say that can't be read, or written anew, stays, and that is said.
func TestForgettingFails(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(10, 3, 1)...)))
	cfg.Run.Tensorboard, cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = "true", 2, 3
	mustRun(t, cfg)
	remove(t, filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(3)))
	in := eventFiles(t, cfg.Run.CheckpointDir)[0] + checkpoint.PartialSuffix
	if err := os.MkdirAll(filepath.Join(in, "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, mustRun(t, withResume(cfg)), "WARNING: what event files in "+cfg.Run.CheckpointDir+" show after update 2 stays, and is made again: ")
}

// No text means anything in Markdown or HTML.
func TestPlainly(t *testing.T) {
	const evil = "a|b\n# c *d* `e` <script>&amp;[x](y) ~f~ $g$ देवनागरी"
	got := plainly(evil)
	if strings.ContainsAny(regexp.MustCompile(`&#\d+;`).ReplaceAllString(got, ""), "|\n#*`<>&[]~$") || !strings.Contains(got, "देवनागरी") {
		t.Error(got)
	}
}
