package recognize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/recognize/decode"
	"konkanitrain/update"
)

// LoadOptions say where a model runs.
type LoadOptions struct {
	Device  DeviceSetting
	Workers int       // compute workers on a CPU; 0: one for each core
	Memory  Memory    // how much memory the process may hold
	Log     io.Writer // warnings; nil: none
}

// batchSize is the most files in a micro-batch. Of all but the shortest fewer fill a core.
const batchSize = 16

// Model is a trained model in memory. One goroutine uses it at a time.
type Model struct {
	Path        string // where it was found
	Description *Description

	recognizer *Recognizer
	replica    update.Replica
	device     *Device
	pools      Pools // with nil where a test makes the replica
	program    int64 // what the process had before it was loaded, bytes
	models     int64 // language model and hotwords, bytes
	log        io.Writer
	idle       chan struct{} // holds a token while the replica makes no pass
}

// Load opens a model. path is a checkpoint's folder, or the file model.safetensors of a checkpoint by whatever name, or
// a checkpoint_dir: then it is what the run in it came to, the averaged weights if it ended with them, else the best
// checkpoint, or without a best one the newest whole one. An error is a *DeviceError where the device can't be used.
func Load(path string, o LoadOptions) (*Model, error) {
	d, err := o.Device.Open()
	if err != nil {
		return nil, err
	}
	if o.Log != nil && (d.Card != nil || d.passedOver) {
		fmt.Fprintf(o.Log, "device: %v (%s)\n", d, d.Why)
	}
	m, err := load(path, o, d, device.NewHost())
	if err != nil {
		d.Close()
	}
	return m, err
}

// OutOfMemory says of an error whether it is for lack of memory, of the host or of a card.
func OutOfMemory(err error) bool {
	var oom *device.OutOfMemory
	return errors.As(err, &oom)
}

// looks is how often a model is looked for: a run in progress may remove an old checkpoint between the look at its name
// and at its files.
const looks = 4

// load is Load on a device that is open; host is the host's memory.
func load(path string, o LoadOptions, d *Device, host device.Device) (*Model, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	finder := &finder{log: o.Log, said: map[string]bool{}}
	for look := 1; ; look++ {
		f, err := finder.find(path)
		if err == nil {
			var m *Model
			if m, err = f.open(o, d, host); err == nil {
				return m, nil
			}
		}
		if look == looks || !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// open loads what was found.
func (f *found) open(o LoadOptions, d *Device, host device.Device) (*Model, error) {
	net := f.description.Network
	if err := f.checkSize(); err != nil {
		return nil, err
	}
	network, err := update.NetworkOn(d.Target(), net, update.Tuning{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	pools, err := d.Pools(o.Memory, host)
	if err != nil {
		return nil, err
	}
	program := programBytes()
	_ = pools.Host.Hold("the program itself", program) // where it is too much there is no room for weights, which is said
	replica, err := d.NewReplica(pools, engine.NewLibrary(network), o.Workers, false, false)
	if err != nil {
		if oom := (*device.OutOfMemory)(nil); errors.As(err, &oom) && oom.Advice == "" && oom.Limit > 0 {
			oom.Advice = "raise memory_limit"
		}
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	var weights []checkpoint.Tensor
	for _, p := range model.Parameters(net) {
		weights = append(weights, checkpoint.Tensor{Name: p.Name, Shape: p.Shape, Load: func(r io.Reader) error {
			return replica.Import(engine.Weights, p.Name, r)
		}})
	}
	if err := f.loadInto(replica, weights); err != nil {
		replica.Close()
		pools.Trim()
		return nil, err
	}
	m := newModel(f.path, f.description, replica, o.Log)
	if d.Card != nil {
		m.recognizer.beside = runtime.GOMAXPROCS(0)
	}
	m.device, m.pools, m.program = d, pools, program
	return m, nil
}

// loadInto loads weights into a replica. One that is not a finite number is an error: there would be no text, and no
// word of why; and of a lone file there is no checksum.
func (f *found) loadInto(replica update.Replica, weights []checkpoint.Tensor) error {
	if err := f.load(weights); err != nil {
		return err
	}
	odd, err := replica.Finite()
	if odd != nil {
		err = fmt.Errorf("in %s %v: a network with such weights recognizes nothing; the file is damaged, or its training went wrong", f.file, odd)
	}
	return err
}

// checkSize is an error where a file is too short for its network, whose weights would else be allocated first.
func (f *found) checkSize() error {
	stat, err := os.Stat(f.file)
	if err != nil {
		return err
	}
	const least = 2 // bytes of a weight
	if n := model.Count(f.description.Network).Total; stat.Size() < least*int64(n) {
		return fmt.Errorf("%s has %s, and describes a network of %s: it is damaged, or not the whole model",
			f.file, words.Count(int(stat.Size()), "byte"), words.Count(n, "parameter"))
	}
	return nil
}

func newModel(path string, d *Description, r update.Replica, log io.Writer) *Model {
	m := &Model{Path: path, Description: d, replica: r, log: log, idle: make(chan struct{}, 1)}
	m.recognizer = New(d.Network, r, batchSize, d.Vocabulary, d.Policy)
	m.recognizer.script.Calibration = d.calibration()
	fit := m.recognizer.runner.Fit
	fit.Leave = true // and named, with what it takes
	if room := r.Room(); room < math.MaxInt64 {
		fit.SetLimit(max(room, 1))
	}
	m.recognizer.run = m.untilStopped(m.recognizer.run)
	m.idle <- struct{}{}
	return m
}

// untilStopped makes passes in a goroutine of their own, and doesn't wait for the end of one when the context has
// ended: a long recording takes minutes. The window is lost then, and the replica busy until that end.
func (m *Model) untilStopped(run runPass) runPass {
	type outcome struct {
		losses []update.Loss
		err    error
	}
	return func(ctx context.Context, window []*data.Example, ask update.Ask) ([]update.Loss, error) {
		select {
		case <-m.idle:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		done := make(chan outcome, 1)
		go func() {
			losses, err := run(ctx, window, ask)
			m.idle <- struct{}{}
			done <- outcome{losses, err}
		}()
		select {
		case o := <-done:
			return o.losses, o.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Close frees the model: at once, or where a call was stopped in the middle of a pass, when that pass has ended. The
// model must not be used afterwards; a second call does nothing.
func (m *Model) Close() {
	select {
	case <-m.idle:
		m.free()
		m.idle <- struct{}{}
	default:
		go func() {
			<-m.idle
			m.free()
			m.idle <- struct{}{}
		}()
	}
}

// free gives the memory back to the system.
func (m *Model) free() {
	m.replica.Close()
	if m.pools.Host != nil {
		m.pools.Trim()
	}
	m.device.Close()
}

// String is one line: which model, how far it was trained, how large it is, how well it did on validation.
func (m *Model) String() string { return m.Path + ": " + m.Description.String() }

// SetDecoding says how texts are found from now on; until then it is greedily. What a language model takes in memory
// counts; where there is no room for it the error wraps *device.OutOfMemory.
func (m *Model) SetDecoding(d Decoding) error {
	r := m.recognizer
	s := *r.script
	if d.Calibration == nil && d.greedy() {
		d.Calibration = m.Description.calibration()
	}
	s.Decoding, s.fusion = d, nil
	if d.asksDecoder() && s.net.DecoderLayers == 0 {
		return fmt.Errorf("%s has no decoder (it was trained with decoder_layers 0), and %s asks one: want --decoder beam, or a model with decoder_layers of 1 or more", m.Path, d.Decoder)
	}
	if !d.greedy() || d.Units {
		f, err := d.load(s.tokenizer, s.policy, func(warning string) { fmt.Fprintln(m.log, "WARNING:", warning) })
		if err != nil {
			return err
		}
		s.fusion = f
	} else if err := d.Check(); err != nil {
		return err
	}
	m.models = 0
	if s.fusion != nil {
		m.models = s.fusion.bytes()
	}
	if m.limited() {
		if err := m.pools.Host.Hold("language model and hotwords", m.models); err != nil {
			return err
		}
	}
	return r.use(s)
}

// Calibration is what makes probabilities of confidences now; nil: nothing does.
func (m *Model) Calibration() *Calibration {
	if c := m.recognizer.script.Calibration; c != nil && *c != decode.Unchanged {
		return c
	}
	return nil
}

// workers is the number of its compute workers.
func (m *Model) workers() int { return m.replica.Wishes().Workers }
