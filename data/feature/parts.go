package feature

import (
	"fmt"
	"strconv"
	"strings"
)

// Part is one of the changes that an Augment makes, alone.
type Part struct {
	Name  string // of the setting that turns it on
	Title string // what it is, in words
	Augment
	On   bool
	Seen bool // it changes features and can't be heard
}

// Parts are all changes that there are, in the order in which they are made. Alone each draws what it draws together
// with the others.
func (a Augment) Parts() []Part {
	fast := false
	for _, f := range a.Speeds {
		fast = fast || f != 1
	}
	return []Part{
		{Name: "speed_perturb", Title: "speed", On: fast, Augment: Augment{Speeds: a.Speeds}},
		{Name: "pitch", Title: "pitch", On: a.Pitch > 0, Augment: Augment{Pitch: a.Pitch}},
		{Name: "time_shift", Title: "shift in time", On: a.TimeShift > 0, Augment: Augment{TimeShift: a.TimeShift}},
		{Name: "reverb_share", Title: "reverberation", On: a.ReverbShare > 0, Augment: Augment{ReverbShare: a.ReverbShare}},
		{Name: "noise_share", Title: "noise", On: a.NoiseShare > 0, Augment: Augment{NoiseShare: a.NoiseShare, NoiseSNR: a.NoiseSNR, NoiseFrom: a.NoiseFrom}},
		{Name: "bandwidth_share", Title: "narrow channel", On: a.BandwidthShare > 0, Augment: Augment{BandwidthShare: a.BandwidthShare}},
		{Name: "volume", Title: "volume", On: a.Volume > 0, Augment: Augment{Volume: a.Volume}},
		{Name: "vtlp", Title: "vocal tract length (vtlp)", On: a.VTLP > 0, Augment: Augment{VTLP: a.VTLP}, Seen: true},
		{Name: "spec_augment", Title: "SpecAugment", On: a.FreqMasks > 0 && a.FreqWidth > 0 || a.TimeMasks > 0 && a.TimeShare > 0, Seen: true,
			Augment: Augment{FreqMasks: a.FreqMasks, FreqWidth: a.FreqWidth, TimeMasks: a.TimeMasks, TimeShare: a.TimeShare}},
	}
}

// Words says what is drawn for a key, in the order in which it is done: for features as o says, of so many frames.
// Nothing is said of what changes nothing.
func (a *Augment) Words(key uint64, o Options, frames int) (all []string) {
	add := func(s fmt.Stringer, drawn bool) {
		if drawn {
			all = append(all, s.String())
		}
	}
	if r := a.Speed(key); !r.One() {
		all = append(all, "speed "+strconv.FormatFloat(r.Float(), 'g', 3, 64))
	}
	pitch, higher := a.Higher(key)
	add(pitch, higher)
	shift, later := a.Later(key)
	add(shift, later)
	room, reverberates := a.Reverb(key)
	add(room, reverberates)
	noise, noisy := a.Noise(key)
	add(noise, noisy)
	band, narrow := a.Band(key, o.SampleRate)
	add(band, narrow)
	gain, louder := a.Gain(key)
	add(gain, louder)
	if f := a.Warp(key); f != 1 {
		all = append(all, fmt.Sprintf("frequencies times %.3f", f))
	}
	bins, times := a.masks(key, frames, o.NumMels, nil, nil)
	if len(bins) > 0 {
		all = append(all, "without bins "+spans(bins))
	}
	if len(times) > 0 {
		all = append(all, "without frames "+spans(times))
	}
	return all
}

// spans lists masks, each from its first place to its last: "3 to 7, 12".
func spans(masks []span) string {
	list := make([]string, len(masks))
	for i, m := range masks {
		list[i] = strconv.Itoa(m.from)
		if last := m.to - 1; last > m.from {
			list[i] += fmt.Sprintf(" to %d", last)
		}
	}
	return strings.Join(list, ", ")
}
