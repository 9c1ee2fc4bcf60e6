package recognize

import (
	"fmt"
	"math"
	"slices"

	"konkanitrain/data/cut"
	"konkanitrain/data/fft"
)

// examination measures sound while it goes by, to tell whether it is much unlike what models are trained on: its level,
// what was cut off at full scale, up to where its spectrum reaches, and which pieces of it are steady noise.
type examination struct {
	rate    int
	samples int
	clipped int // at or beyond full scale
	levels  [128]int
	spectra int

	frame    []float32    // of 10 ms, being filled
	window   []complex128 // being filled, then transformed
	scratch  []complex128
	plan     *fft.Plan
	spectrum [bandWindow / 2]float64

	steady stretch
	energy []float64 // of a piece
}

// stretch is the samples of a recording that are in some pieces of it.
type stretch struct{ from, samples int }

// What is said of sound.
const (
	bandWindow = 1024  // samples of a spectrum
	bandEvery  = 8     // of so many windows one is looked at
	bandFloor  = 1e-6  // of the strongest frequency's power: below it there is nothing
	bandNarrow = 0.7   // share of the band that the model hears, below which it is said
	quietBelow = -45.0 // dB of full scale: a level of speech
	noSound    = -115  // dB: silence, which is said otherwise
	mostClip   = 0.001 // share of samples
	fullScale  = 0.999
	bandLeast  = 3.0 // seconds that say something about a recording's spectrum,
	levelLeast = 0.2 // and about its level
)

// What is said of steady noise. From the quietest fiftieth to the loudest twentieth of its frames white noise of 2 s
// has 1 to 2 dB, hums of 50 Hz with harmonics up to 3, pink noise 3 to 5. Speech has 30, and 9 at least with noise 5 dB
// below it; with white noise as loud as the speech itself it has 5.4 at least.
const (
	steadyFrame  = 3   // of 10 ms: one and a half periods of a mains' hum
	steadySpread = 5   // dB
	steadyLeast  = 2.0 // seconds: a single vowel may be as steady
)

// oddity is a kind of what is odd about sound.
type oddity int

const (
	lowRate oddity = iota
	narrowBand
	quiet
	clipped
	steadyNoise
	oddities // how many there are
)

// String says what recordings are like that have it.
func (o oddity) String() string {
	return [...]string{"of a lower rate than the model hears", "without an upper band, as of a telephone", "very quiet", "cut off at full scale", "with steady noise"}[o]
}

// finding is what is odd about a recording, in words.
type finding struct {
	oddity
	text string
}

func newExamination(rate int) *examination {
	return &examination{rate: rate, plan: fft.New(bandWindow), window: make([]complex128, bandWindow), scratch: make([]complex128, bandWindow)}
}

// add takes the next samples, at the model's rate.
func (e *examination) add(x []float32) {
	each := e.rate / 100
	for _, v := range x {
		if v >= fullScale || v <= -fullScale {
			e.clipped++
		}
		if e.frame = append(e.frame, v); len(e.frame) == each {
			e.level()
		}
		if at := e.samples / bandWindow; at%bandEvery == 0 {
			i := e.samples % bandWindow
			hann := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/bandWindow)
			if e.window[i] = complex(hann*float64(v), 0); i == bandWindow-1 {
				e.band()
			}
		}
		e.samples++
	}
}

// level counts the frame by its level, a decibel a place.
func (e *examination) level() {
	sum := 0.0
	for _, v := range e.frame {
		sum += float64(v) * float64(v)
	}
	db := -10 * math.Log10(max(sum/float64(len(e.frame)), 1e-12))
	e.levels[int(min(max(db, 0), float64(len(e.levels)-1)))]++
	e.frame = e.frame[:0]
}

// piece takes a piece that is heard at once.
func (e *examination) piece(p cut.Piece) {
	if !e.isSteady(p.Wave) {
		return
	}
	if e.steady.samples == 0 {
		e.steady.from = p.Start
	}
	e.steady.samples += len(p.Wave) - p.Joined
}

// isSteady says whether the level of sound hardly changes, as that of no speech does: it is a hum or a hiss.
func (e *examination) isSteady(x []float32) bool {
	if float64(len(x)) < steadyLeast*float64(e.rate) {
		return false
	}
	e.energy = e.energy[:0]
	for each := steadyFrame * e.rate / 100; len(x) >= each; x = x[each:] {
		sum, squares := 0.0, 0.0
		for _, v := range x[:each] {
			sum += float64(v)
			squares += float64(v) * float64(v)
		}
		mean := sum / float64(each)
		e.energy = append(e.energy, 10*math.Log10(max(squares/float64(each)-mean*mean, 1e-12)))
	}
	slices.Sort(e.energy)
	n := len(e.energy)
	return e.energy[n*95/100]-e.energy[n/50] < steadySpread
}

func (e *examination) band() {
	y := e.plan.Transform(e.window, e.scratch)
	for i := range e.spectrum {
		e.spectrum[i] += real(y[i])*real(y[i]) + imag(y[i])*imag(y[i])
	}
	e.spectra++
}

// loud is the level in dB that the loudest twentieth of the frames is above.
func (e *examination) loud() float64 {
	total := 0
	for _, n := range e.levels {
		total += n
	}
	sum := 0
	for i, n := range e.levels {
		if sum += n; 20*sum >= total {
			return -float64(i)
		}
	}
	return -float64(len(e.levels))
}

// reach is the frequency in Hz above which there is nothing.
func (e *examination) reach() float64 {
	most := 0.0
	for _, p := range e.spectrum {
		most = max(most, p)
	}
	for i := len(e.spectrum) - 1; i >= 0; i-- {
		if e.spectrum[i] > bandFloor*most {
			return float64(i+1) * float64(e.rate) / bandWindow
		}
	}
	return 0
}

// findings says what is odd about the sound of a recording that has a rate of its own.
func (e *examination) findings(name string, rate int) (list []finding) {
	say := func(o oddity, format string, args ...any) {
		list = append(list, finding{o, name + ": " + fmt.Sprintf(format, args...)})
	}
	seconds, heard := float64(e.samples)/float64(e.rate), float64(e.rate)/2
	switch reach := e.reach(); {
	case rate < e.rate:
		say(lowRate, "it has %d Hz, and the model hears %d: there is nothing above %d Hz; expect more errors, unless it was trained on such sound", rate, e.rate, rate/2)
	case seconds >= bandLeast && reach > 0 && reach < bandNarrow*heard:
		say(narrowBand, "there is nothing above %.0f Hz, as of a telephone, and the model hears up to %.0f Hz: expect more errors, unless it was trained on such sound", reach, heard)
	}
	if seconds < levelLeast {
		return list
	}
	if loud := e.loud(); loud < quietBelow && loud > noSound {
		say(quiet, "it is very quiet, %.0f dB below full scale where it is loudest: expect more errors, or record it louder", -loud)
	}
	if s := e.steady; s.samples > 0 {
		what := "it is steady noise"
		if s.samples < e.samples*9/10 {
			what = fmt.Sprintf("%.1f s of it, from %.1f s on, are steady noise", float64(s.samples)/float64(e.rate), float64(s.from)/float64(e.rate))
		}
		say(steadyNoise, "%s, as of a hum or a hiss: nothing seems to be said there, whatever is written of it", what)
	}
	if share := float64(e.clipped) / float64(e.samples); share > mostClip {
		say(clipped, "it is too loud: %.1f %% of the samples are at full scale, where peaks are cut off", 100*share)
	}
	return list
}
