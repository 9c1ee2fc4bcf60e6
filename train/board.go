package train

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/arenapage"
	"konkanitrain/internal/mlflow"
	"konkanitrain/internal/tensorboard"
	"konkanitrain/internal/watch"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/recognize"
)

// board shows a run in TensorBoard, by event files. Training doesn't depend on it: where nothing can be written any
// more, the run says so and goes on without. A nil board is none.
type board struct {
	dir     string
	run     string              // what tells this run's files from others'
	writer  *tensorboard.Writer // nil: nothing can be written
	sampled []recognize.Hypothesis
}

// boardBytes is more than what a board takes: a histogram, samples, and when it begins a picture on its way to a file.
const boardBytes = 3 << 20

// showsBoard says whether event files are asked for.
func (c RunConfig) showsBoard() bool {
	return c.Tensorboard != "" && c.Tensorboard != "false" && !c.measuring()
}

// BoardFolder is the folder that is given for event files; "" where none is.
func (c RunConfig) BoardFolder() string {
	if c.Tensorboard == "true" || !c.showsBoard() {
		return ""
	}
	return c.Tensorboard
}

// watchingBytes is the most that showing the run to other programs takes, in bytes.
func (c RunConfig) watchingBytes() (n int64) {
	if c.showsBoard() {
		n += boardBytes
	}
	if c.tracked() {
		n += mlflow.QueueBytes
	}
	if c.showsPage() {
		n += watch.Bytes(1)
	}
	return n
}

// boardFolder is the folder of event files, as the settings say; "" where none are written. In a log_dir that runs
// share each has a folder called as its checkpoint_dir.
func (r *run) boardFolder() string {
	switch c := r.cfg.Run; {
	case !c.showsBoard():
		return ""
	case c.BoardFolder() != "":
		return c.BoardFolder()
	case r.logRun() != "":
		return filepath.Join(r.logDir(), filepath.Base(r.logRun()))
	}
	return r.logDir()
}

// boardRun tells this run's event files from others'; "" in checkpoint_dir, and below it, where no other run is.
func (r *run) boardRun(dir string) string {
	own, err := filepath.Abs(r.cfg.Run.CheckpointDir)
	if err != nil {
		return r.cfg.Run.CheckpointDir
	}
	whole, err := filepath.Abs(dir)
	if inside, out := filepath.Rel(own, whole); err == nil && out == nil && inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator)) {
		return ""
	}
	return own
}

// openBoard removes from event files what the run makes again, begins one for this session, and shows the settings and
// the memory's plan in it.
func (r *run) openBoard() error {
	dir := r.boardFolder()
	if dir == "" {
		return nil
	}
	b := &board{dir: dir, run: r.boardRun(dir)}
	before := -1
	if from := r.ledger.origin.Checkpoint; from != nil {
		before = r.updater.Updates
		if r.ledger.inside(from.Path) {
			b.forget(r)
		}
	}
	if err := b.open(before); err != nil {
		return fmt.Errorf("tensorboard: %w", err)
	}
	r.board = b
	b.tolerate(r, b.showPlan(r))
	b.show(r, tensorboard.Text("run/config", "```json\n"+indented(r.ledger.state.Config)+"\n```"))
	return nil
}

// open begins a file.
func (b *board) open(before int) (err error) {
	if err = checkpoint.MakeDir(b.dir); err == nil {
		b.writer, err = tensorboard.Create(b.dir, b.run, before)
	}
	return err
}

// forget removes what the run makes again, as forgetMetrics does. A test of the last update is made again where the run
// still ends there.
func (b *board) forget(r *run) {
	p := r.ledger.place
	gone := func(tag string, step int) bool {
		switch event := eventOf(tag); {
		case event == "test" || event == "average" || strings.HasPrefix(tag, "run/"):
			return step >= p.updates
		default:
			return p.behind(&metricsLine{Event: event, Update: step})
		}
	}
	removed, err := tensorboard.Forget(b.dir, b.run, gone, checkpoint.ReplaceFile)
	switch {
	case err != nil:
		r.report.say("WARNING: what event files in %s show after update %d stays, and is made again: %v", b.dir, p.updates, err)
	case removed > 0:
		r.report.say("event files: what they show after update %d is removed (%s): it is made again", p.updates, words.Count(removed, "value"))
	}
}

// show writes values of the last update.
func (b *board) show(r *run, values ...tensorboard.Value) {
	if b != nil && b.writer != nil {
		b.tolerate(r, b.writer.Show(r.updater.Updates, values...))
	}
}

// tolerate says that nothing can be written any more.
func (b *board) tolerate(r *run, err error) {
	if err == nil {
		return
	}
	b.close()
	r.report.say("WARNING: event files in %s can't be written any more, the run goes on without them: %v", b.dir, err)
}

// tell shows a record of metrics.jsonl.
func (b *board) tell(r *run, p *points) {
	if b == nil {
		return
	}
	values := make([]tensorboard.Value, len(p.list))
	for i, x := range p.list {
		values[i] = tensorboard.Scalar(x.curve, x.value)
	}
	b.show(r, values...)
}

// sync makes what is written durable.
func (b *board) sync(r *run) {
	if b != nil && b.writer != nil {
		b.tolerate(r, b.writer.Sync())
	}
}

// renew begins a new file where the folder was removed with the one in use.
func (b *board) renew(r *run) {
	if b == nil || b.writer == nil {
		return
	}
	if _, err := os.Stat(b.writer.Name()); err == nil {
		return
	}
	b.close()
	b.tolerate(r, b.open(r.updater.Updates))
}

// close ends the writing.
func (b *board) close() {
	if b != nil && b.writer != nil {
		_ = b.writer.Close() // each event was written when it was due
		b.writer = nil
	}
}

// mostSamples is the number of utterances of a validation that are shown.
const mostSamples = 10

// sample keeps what is made of the first utterances of a validation; nil where nobody wants it.
func (b *board) sample() func(recognize.Hypothesis) error {
	if b == nil || b.writer == nil {
		return nil
	}
	b.sampled = nil
	return func(h recognize.Hypothesis) error {
		if len(b.sampled) < mostSamples && h.Err == nil {
			b.sampled = append(b.sampled, h)
		}
		return nil
	}
}

// samples shows them.
func (b *board) samples(r *run) {
	if b == nil || len(b.sampled) == 0 {
		return
	}
	text := "| utterance | reference | recognized | WER |\n| --- | --- | --- | --- |\n"
	for _, h := range b.sampled {
		text += fmt.Sprintf("| %s | %s | %s | %.1f %% |\n", plainly(h.Utt.ID), plainly(h.Ref), plainly(h.Text), 100*h.Words.Rate())
	}
	b.sampled = nil
	b.show(r, tensorboard.Text("validation/samples", text))
}

// plainly is a text without a meaning in Markdown and HTML.
func plainly(text string) string {
	var out strings.Builder
	for _, c := range text {
		if strings.ContainsRune("\\`*_{}[]<>|&#!~$\n\r", c) {
			fmt.Fprintf(&out, "&#%d;", c)
		} else {
			out.WriteRune(c)
		}
	}
	return out.String()
}

// gradients shows the last update's gradient layer by layer: its values, and its norm before clipping.
func (b *board) gradients(r *run) {
	if b == nil || b.writer == nil {
		return
	}
	values, err := gradientsByLayer(r)
	b.show(r, values...)
	if err != nil {
		r.report.sayOnce(fmt.Sprintf("WARNING: gradients are not shown: %v", err))
	}
}

// gradientsByLayer are a histogram and a norm for each layer. The parameters of a layer follow one another.
func gradientsByLayer(r *run) (values []tensorboard.Value, err error) {
	var h tensorboard.Histogram
	list := r.ledger.memory.learned
	for i, p := range list {
		if err := r.updater.EachGradient(p, h.Add); err != nil {
			return nil, err
		}
		if layer := layerOf(p); i+1 == len(list) || layerOf(list[i+1]) != layer {
			values = append(values, tensorboard.Histo("gradients/"+layer, &h), tensorboard.Scalar("gradient_norm/"+layer, h.Norm()))
			h = tensorboard.Histogram{}
		}
	}
	return values, nil
}

// layerOf is the layer of a parameter: "encoder.blocks.3", "encoder.subsample", "ctc".
func layerOf(p model.Parameter) string {
	parts := strings.Split(p.Name, ".")
	length := min(2, len(parts)-1)
	if len(parts) > 3 && parts[1] == "blocks" {
		length = 3
	}
	return strings.Join(parts[:length], ".")
}

// showPlan shows the plan of the largest pass as a picture.
func (b *board) showPlan(r *run) error {
	if r.largest.Frames == 0 {
		return nil // nothing is to come
	}
	p, err := r.library.Program(r.largest)
	if err != nil {
		return err
	}
	drawn, err := arenapage.Image(picture(pictureName(r.largest), p))
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := png.Encode(&file, drawn); err != nil {
		return err
	}
	b.show(r, tensorboard.Picture("run/memory_plan", tensorboard.Image{Width: arenapage.ImageWidth, Height: arenapage.ImageHeight, PNG: file.Bytes()}))
	return nil
}
