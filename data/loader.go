package data

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
)

// LoaderOptions say how examples are made from a Set.
type LoaderOptions struct {
	Seed   uint64
	Window int // utterances in a window: batch size times accumulation

	// Evaluate goes through the set once, in its own order, without augmentation. Otherwise windows follow
	// an Order, epoch after epoch, without end.
	Evaluate bool
	// Sorted is how many epochs, the first ones, go from short utterances to long ones.
	Sorted  int
	Augment *feature.Augment // nil for none
	Feature feature.Options  // the sample rate must be the Set's

	Workers    int   // goroutines that decode and compute features; 0 means 2, or 1 on a single core
	Ahead      int   // windows prepared before they are asked for; 0 means 2
	Peeks      bool  // windows are looked at before they are asked for: see Stream.Peek
	CacheWaves int64 // bytes of decoded sound that may stay in memory, for small sets; 0 for none
}

func (o LoaderOptions) validate(s *Set) error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if s.Len() == 0 {
		complain("%s: no utterances", s.Path)
	}
	if o.Window < 1 {
		complain("a window of %d utterances; batch size and accumulation must be 1 or more", o.Window)
	}
	if o.Sorted < 0 || o.Sorted > 0 && o.Evaluate {
		complain("%d sorted epochs; training may have 0 or more, and an evaluation none: it has the set's own order", o.Sorted)
	}
	if o.Workers < 0 || o.Ahead < 0 || o.CacheWaves < 0 {
		complain("%d workers, %d windows ahead, %d bytes of cached sound: none can be negative", o.Workers, o.Ahead, o.CacheWaves)
	}
	if o.Evaluate && o.Augment != nil {
		complain("evaluation with augmentation: scores would change from run to run; leave one out")
	}
	if o.Feature.SampleRate != s.SampleRate {
		complain("the features are at %d Hz, but the manifest was loaded for %d Hz, and lengths would differ; use one sample_rate",
			o.Feature.SampleRate, s.SampleRate)
	}
	errs = append(errs, o.Feature.Validate())
	if o.Augment != nil {
		errs = append(errs, o.Augment.Validate())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return o.Augment.CheckWarps(o.Feature)
}

// Loader makes the windows of a Set: features, augmented where asked for, and tokens. What it makes is a
// function of the set, the seed and the epoch; workers, read-ahead and cache change only the time it takes. It may
// be used by several Streams, one after the other or at once.
type Loader struct {
	set     *Set
	fitting map[uint64]*feature.Augment // by the speeds that an utterance fits; without those that fit all
	order   *Order                      // nil when evaluating
	o       LoaderOptions
	bins    int
	buffers buffers
	cache   waves

	mu       sync.Mutex
	known    map[string]bool // warnings that were given out, or stand in the Report
	warnings []string
}

// NewLoader checks the options and makes a Loader. The Set must not be tokenized again while it is in use.
func NewLoader(s *Set, o LoaderOptions) (*Loader, error) {
	if o.Feature.Resampler == nil {
		o.Feature.Resampler = audio.NewResampler() // one set of kernels for all workers
	}
	if err := o.validate(s); err != nil {
		return nil, fmt.Errorf("loader: %w", err)
	}
	if o.Workers == 0 {
		o.Workers = min(2, runtime.GOMAXPROCS(0))
	}
	if o.Ahead == 0 {
		o.Ahead = 2
	}
	if err := o.checkRates(s); err != nil {
		return nil, fmt.Errorf("loader: %w", err)
	}
	e, err := feature.New(o.Feature)
	if err != nil {
		return nil, fmt.Errorf("loader: %w", err)
	}
	l := &Loader{set: s, o: o, bins: e.Bins(), known: map[string]bool{}, cache: waves{limit: o.CacheWaves}}
	for _, n := range s.Report.Notes {
		if n.Kind == AudioWarning {
			l.known[n.Reason] = true
		}
	}
	l.fitSpeeds()
	l.buffers.limit = l.mostFeatures()
	if !o.Evaluate {
		if l.order, err = newShared(s.frames(), s.shares(), o.Window, o.Sorted, o.Seed); err != nil {
			return nil, fmt.Errorf("loader: %w", err)
		}
	}
	return l, nil
}

// Set is the set whose windows these are.
func (l *Loader) Set() *Set { return l.set }

// Windows is the number of windows in an epoch.
func (l *Loader) Windows() int {
	if l.order != nil {
		return l.order.Windows()
	}
	return (l.set.Len() + l.o.Window - 1) / l.o.Window
}

// Window lists the utterances of window k of an epoch, without their sound.
func (l *Loader) Window(epoch, k int) []*Utterance {
	var out []*Utterance
	if l.order == nil {
		for i := k * l.o.Window; k >= 0 && i < min((k+1)*l.o.Window, l.set.Len()); i++ {
			out = append(out, l.set.At(i))
		}
		return out
	}
	for _, entry := range l.order.Window(epoch, k) {
		i, before := l.order.occurrence(entry)
		u := l.set.At(i)
		if before > 0 {
			again := *u
			again.Key = occurrenceKey(u.Key, before)
			u = &again
		}
		out = append(out, u)
	}
	return out
}

// Warnings returns what was odd in files read since the last call (silence, channels that cancel), each once,
// without what the Report of the Set says already.
func (l *Loader) Warnings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.warnings
	l.warnings = nil
	return out
}

func (l *Loader) warn(ws []string) {
	if len(ws) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range ws {
		if !l.known[w] {
			l.known[w] = true
			l.warnings = append(l.warnings, w)
		}
	}
}
