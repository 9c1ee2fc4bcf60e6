package train

import (
	"context"
	"fmt"
	"slices"

	"konkanitrain/data"
	"konkanitrain/data/audio"
	"konkanitrain/data/audit"
	"konkanitrain/data/feature"
)

// Hearing is what training hears of some utterances.
type Hearing struct {
	Utterances []Heard  // none where nothing is changed
	On, Off    []string // settings that change what is heard, in the order in which they do
	Rate       int      // Hz, of all sound
	Bins       int      // of all features
	Notes      []string // about recordings of noise
}

// Heard is an utterance as training hears it.
type Heard struct {
	*data.Utterance
	Versions []Version // as it is, with each change alone, and with all of them
}

// Version is an utterance after some changes.
type Version struct {
	Name     string    // the setting that is on alone, "" for none of them, or all
	Title    string    // of it, in words
	Epoch    int       // from 0: whose draws these are
	Drawn    []string  // in words; none where nothing was drawn, as for an utterance as it is
	Sound    []float32 // at the sample rate; nil where the change can't be heard
	Features []float32 // [T, bins], normalized
}

// hearEpochs is in how many epochs a change is looked for: one that is drawn for a share of utterances isn't in each.
const hearEpochs = 200

// hearTries is how many utterances are tried for each that is to be heard: some can't be read.
const hearTries = 10

// Hear gives what a run with a configuration would hear of n utterances of its training sets, chosen by its seed: as
// they are, and augmented, with the draws that the run would make. Those that can't be read are passed over. Where the
// context ends first, the error is its cause.
func Hear(ctx context.Context, cfg Config, parts []audit.Part, n int) (*Hearing, error) {
	if cfg.Data.Normalize == feature.Global {
		cfg.Data.Normalize = feature.PerUtterance // its statistics aren't there yet
	}
	cfg.Data.LightFirstEpochs = 0 // what is heard is what most epochs have
	h := &Hearing{Rate: cfg.Data.SampleRate, Bins: cfg.Data.NumMels}
	for _, p := range cfg.Augment().Parts() {
		if p.On {
			h.On = append(h.On, p.Name)
		} else {
			h.Off = append(h.Off, p.Name)
		}
	}
	if len(h.On) == 0 {
		return h, nil
	}
	say := func(format string, args ...any) { h.Notes = append(h.Notes, fmt.Sprintf(format, args...)) }
	noise, err := cfg.loadNoise(ctx, "", say)
	if err == nil {
		err = cfg.readNoise(ctx, noise, say)
	}
	if err != nil {
		return nil, err
	}
	var loaders []*data.Loader
	total := 0
	for _, p := range parts {
		if p.Role != audit.Train || p.Set.Len() == 0 {
			continue
		}
		l, err := data.NewLoader(p.Set, cfg.loading(nil, noise))
		if err != nil {
			return nil, err
		}
		loaders = append(loaders, l)
		total += p.Set.Len()
	}
	x, err := newHearer(cfg)
	if err != nil {
		return nil, err
	}
	for _, i := range data.Choose(cfg.Run.Seed, hearTries*n, total) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(h.Utterances) == n {
			break
		}
		k := 0
		for i >= loaders[k].Set().Len() {
			i -= loaders[k].Set().Len()
			k++
		}
		if heard, err := x.hear(loaders[k], i); err == nil {
			h.Utterances = append(h.Utterances, heard)
		}
	}
	return h, nil
}

// hearer hears utterances one after the other.
type hearer struct {
	reader    audio.Reader
	options   feature.Options
	extractor *feature.Extractor
}

func newHearer(cfg Config) (*hearer, error) {
	x, err := feature.New(cfg.Features(nil))
	return &hearer{options: cfg.Features(nil), extractor: x}, err
}

// hear gives the versions of utterance i of a loader.
func (x *hearer) hear(l *data.Loader, i int) (Heard, error) {
	u := l.Set().At(i)
	_, wave, err := x.reader.Read(u.Recording.Source, &u.Recording.Info, u.Offset, u.Duration)
	if err != nil {
		return Heard{}, err
	}
	h := Heard{Utterance: u}
	add := func(v Version, a *feature.Augment, key uint64, silent bool) {
		if err != nil {
			return
		}
		if !silent {
			var sound []float32
			sound, err = x.extractor.Sound(wave, u.Rate(), a, key)
			v.Sound = slices.Clone(sound)
		}
		if err == nil {
			v.Features, _, err = x.extractor.Extract(nil, wave, u.Rate(), a, key)
		}
		h.Versions = append(h.Versions, v)
	}
	add(Version{}, nil, 0, false)
	all, _ := l.Draws(0, i)
	for _, p := range all.Parts() {
		if !p.On {
			continue
		}
		v := Version{Name: p.Name, Title: p.Title}
		for ; v.Epoch < hearEpochs && len(v.Drawn) == 0; v.Epoch++ {
			_, key := l.Draws(v.Epoch, i)
			v.Drawn = x.words(&p.Augment, u, key)
		}
		v.Epoch--
		_, key := l.Draws(v.Epoch, i)
		add(v, &p.Augment, key, p.Seen)
	}
	_, key := l.Draws(0, i)
	add(Version{Drawn: x.words(all, u, key)}, all, key, false)
	return h, err
}

// words says what is drawn for an utterance.
func (x *hearer) words(a *feature.Augment, u *data.Utterance, key uint64) []string {
	frames, err := x.options.Frames(u.Samples, u.Rate(), a.Speed(key))
	if err != nil {
		return nil
	}
	return a.Words(key, x.options, frames)
}
