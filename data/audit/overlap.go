package audit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// longText is from how many letters on a text that is held out should not stand in training: shorter ones, words and
// digits, are what people are asked to say.
const longText = 20

// common counts, for each pair of sets, utterances of the second that have something in common with the first.
type common map[[2]int32]int

// judgeOverlaps finds what is in training and held out.
func (a *audit) judgeOverlaps() {
	sounds, texts := common{}, common{}
	var long group
	a.groups(a.soundOrder(), func(x, y *entry) bool { return x.hash == y.hash }, sounds, func(i, first int) {
		a.both.add(a.item(i, 2, "the same sound as %s", a.where(first)))
	})
	a.groups(a.textOrder(), func(x, y *entry) bool { return x.text == y.text }, texts, func(i, first int) {
		if e := &a.all[i]; e.letters >= longText {
			long.add(a.item(i, float64(e.letters), "the same text as %s", a.where(first)))
		}
	})
	a.find("sound_in_both", Fault, a.both, "%s held out and in training, with the same sound: scores on it flatter the model", "utterance is", "utterances are")
	a.find("text_in_both", Doubt, long, "%s held out, with a text of 20 letters or more that is in training too", "utterance is", "utterances are")
	speakers, names := a.judgeSpeakers()
	a.report.Overlaps = []Overlap{}
	for second := range a.sets {
		for first := range second {
			pair := [2]int32{int32(first), int32(second)}
			a.report.Overlaps = append(a.report.Overlaps, Overlap{
				First: a.sets[first].Set.Path, Second: a.sets[second].Set.Path, Of: a.sets[second].Set.Len(),
				Sound: sounds[pair], Text: texts[pair], Speaker: speakers[pair], Speakers: append([]string{}, names[pair]...),
			})
		}
	}
}

// soundOrder lists the utterances that can be heard by their sound.
func (a *audit) soundOrder() (order []int32) {
	for i := range a.all {
		if s := a.all[i].state; s == heard || s == steady {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(bytes.Compare(a.all[x].hash[:], a.all[y].hash[:]), cmp.Compare(x, y))
	})
	return order
}

// textOrder lists the utterances by their text.
func (a *audit) textOrder() []int32 {
	order := make([]int32, len(a.all))
	for i := range order {
		order[i] = int32(i)
	}
	a.sortByText(order)
	return order
}

// sortByText puts entries with the same text beside each other. Texts with the same hash of 64 bits count as one.
func (a *audit) sortByText(order []int32) {
	slices.SortFunc(order, func(x, y int32) int { return cmp.Or(cmp.Compare(a.all[x].text, a.all[y].text), cmp.Compare(x, y)) })
}

// groups counts what equal utterances of different sets there are, and calls both for each that is held out, with the
// first equal one in training.
func (a *audit) groups(order []int32, equal func(x, y *entry) bool, counts common, both func(i, first int)) {
	for _, g := range runs(order, func(x, y int32) bool { return equal(&a.all[x], &a.all[y]) }) {
		var sets []int32
		for _, i := range g { // in the order of the sets
			e := &a.all[i]
			for _, s := range sets {
				if s != e.set {
					counts[[2]int32{s, e.set}]++
				}
			}
			if !slices.Contains(sets, e.set) {
				sets = append(sets, e.set)
			}
		}
		trained := slices.IndexFunc(g, func(i int32) bool { return !a.held(&a.all[i]) })
		if trained < 0 {
			continue
		}
		for _, i := range g {
			if a.held(&a.all[i]) {
				both(int(i), int(g[trained]))
			}
		}
	}
}

// judgeSpeakers finds speakers that are in training and held out.
func (a *audit) judgeSpeakers() (counts common, names map[[2]int32][]string) {
	type voice struct {
		of    map[int32]int // utterances, by set
		first map[int32]int // entry, by set
	}
	voices := make([]voice, len(a.speakers))
	for i := range a.all {
		e := &a.all[i]
		if e.speaker == 0 {
			continue
		}
		v := &voices[e.speaker-1]
		if v.of == nil {
			*v = voice{map[int32]int{}, map[int32]int{}}
		}
		if v.of[e.set]++; v.of[e.set] == 1 {
			v.first[e.set] = i
		}
	}
	counts, names = common{}, map[[2]int32][]string{}
	var both group
	utterances := 0
	for k, v := range voices {
		name := a.speakers[k]
		trained := 0
		for s := range a.sets {
			n := v.of[int32(s)]
			for before := range s {
				if n > 0 && v.of[int32(before)] > 0 {
					pair := [2]int32{int32(before), int32(s)}
					counts[pair] += n
					names[pair] = append(names[pair], name)
				}
			}
			if a.sets[s].Role == Train {
				trained += n
			}
		}
		heldOut, first := 0, -1
		for s := range a.sets {
			if n := v.of[int32(s)]; n > 0 && a.sets[s].Role == HeldOut {
				if heldOut += n; first < 0 {
					first = v.first[int32(s)]
				}
			}
		}
		if trained > 0 && heldOut > 0 {
			utterances += heldOut
			both.add(a.item(first, float64(heldOut), "%s speaks %d that are held out and %d in training", name, heldOut, trained))
		}
	}
	title := fmt.Sprintf("%%s held out and in training, with %d utterances that are held out: scores are not those of unheard people", utterances)
	a.find("speaker_in_both", Doubt, both, title, "speaker is", "speakers are")
	return counts, names
}
