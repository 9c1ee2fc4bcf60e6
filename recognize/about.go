package recognize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/words"
	"konkanitrain/model"
)

// PartSize is how many parameters a part of a network has. The same part of each of several blocks is one part, whose
// name has a * for their numbers.
type PartSize struct {
	Name       string `json:"name"`
	Blocks     int    `json:"blocks,omitempty"` // that have it; 0 of what is in no block
	Parameters int    `json:"parameters"`       // of all of them
}

// Parts are the parts of the network, in the order of its parameters: the subsampling, the kinds of layers of the
// blocks, the heads.
func (d *Description) Parts() (list []PartSize) {
	places := map[string]int{}
	blocks := map[string]map[string]bool{}
	for _, p := range model.Parameters(d.Network) {
		name, block := partOf(p.Name)
		i, known := places[name]
		if !known {
			i = len(list)
			places[name], blocks[name] = i, map[string]bool{}
			list = append(list, PartSize{Name: name})
		}
		list[i].Parameters += p.Size()
		if block != "" {
			blocks[name][block] = true
			list[i].Blocks = len(blocks[name])
		}
	}
	return list
}

// partOf is the part that a parameter belongs to, and the number of its block, "" in none: encoder.blocks.3.attn.q.bias
// is in encoder.blocks.*.attn.
func partOf(parameter string) (part, block string) {
	names := strings.Split(parameter, ".")
	switch {
	case len(names) > 4 && names[1] == "blocks":
		return strings.Join([]string{names[0], names[1], "*", names[3]}, "."), names[2]
	case len(names) > 3 && names[1] == "blocks":
		return strings.Join([]string{names[0], names[1], "*"}, "."), names[2]
	case len(names) > 2:
		return names[0] + "." + names[1], ""
	}
	return names[0], ""
}

// ScriptCount is how many tokens are of a script, by their first letter; "" of those without one, such as digits.
type ScriptCount struct {
	Script string `json:"script"`
	Tokens int    `json:"tokens"`
}

// Scripts counts the tokens by their scripts, the most frequent first.
func (d *Description) Scripts() []ScriptCount {
	counts := map[string]int{}
	for id := text.Unk + 1; int(id) < d.Vocabulary.Size(); id++ {
		script := ""
		for _, r := range d.Vocabulary.Token(id) {
			if script = text.Script(r); script != "" {
				break
			}
		}
		counts[script]++
	}
	list := []ScriptCount{}
	for script, n := range counts {
		list = append(list, ScriptCount{script, n})
	}
	slices.SortFunc(list, func(a, b ScriptCount) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Script, b.Script))
	})
	return list
}

// TextRules says how texts are written.
func (d *Description) TextRules() string {
	list := []string{"in Unicode's form NFC"}
	for _, rule := range []struct {
		on   bool
		text string
	}{
		{d.Policy.KeepJoiners, "with zero-width joiners"}, {!d.Policy.KeepJoiners, "without zero-width joiners"},
		{d.Policy.FoldDigits, "with the digits 0-9 for those of all scripts"}, {d.Policy.RemovePunctuation, "without punctuation"},
		{d.Policy.LowerCase, "in lower case"}, {d.Policy.AllowedCharacters != "", "of the characters " + d.Policy.AllowedCharacters + " alone"},
	} {
		if rule.on {
			list = append(list, rule.text)
		}
	}
	return strings.Join(list, ", ")
}

// Normalizing says how features are normalized.
func (d *Description) Normalizing() string {
	switch d.Features.Normalize {
	case feature.PerUtterance:
		return "normalized to mean 0 and deviation 1 in each bin of an utterance"
	case feature.Global:
		return "normalized by the mean and deviation of each bin over the training set"
	}
	return "not normalized"
}

// Hearing is what the network hears, in one line.
func (d *Description) Hearing() string {
	f := d.Features
	return fmt.Sprintf("%d log-mel energies of %d Hz sound, %d ms every 10 ms, from %g to %g Hz, %s", f.NumMels, f.SampleRate, feature.WindowMS, f.LowHz, f.High(), d.Normalizing())
}

// Architecture is the network in one line.
func (d *Description) Architecture() string {
	n := d.Network
	s := fmt.Sprintf("Conformer: width %d, %s, %s, kernel of %d frames, subsampling %d (%d channels)",
		n.DModel, words.Count(n.Heads, "head"), words.Count(n.EncoderLayers, "encoder block"), n.ConvKernel, n.Subsampling, n.SubsampleChannels)
	if n.DecoderLayers == 0 {
		return s + "; CTC alone"
	}
	return s + fmt.Sprintf("; CTC and a decoder of %s, trained with %g of the loss on CTC", words.Count(n.DecoderLayers, "block"), n.CTCWeight)
}
