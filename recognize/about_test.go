package recognize

import (
	"fmt"
	"slices"
	"testing"

	"konkanitrain/data/text"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// The parts of a network are all of its parameters, in their order, with the layers of blocks together.
func TestParts(t *testing.T) {
	d := described(t)
	total, names := 0, []string{}
	for _, p := range d.Parts() {
		total += p.Parameters
		names = append(names, fmt.Sprintf("%s x %d", p.Name, p.Blocks))
	}
	counts := model.Count(d.Network)
	if total != counts.Total {
		t.Errorf("the parts have %d parameters, the network %d", total, counts.Total)
	}
	n, m := d.Network.EncoderLayers, d.Network.DecoderLayers
	for _, want := range []string{
		"encoder.subsample x 0", fmt.Sprintf("encoder.blocks.*.attn x %d", n), fmt.Sprintf("encoder.blocks.*.conv x %d", n), "ctc x 0",
		fmt.Sprintf("decoder.blocks.*.cross x %d", m), "decoder.embed x 0", "decoder.out x 0",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%q has no %s", names, want)
		}
	}
}

func TestScriptsOfAVocabulary(t *testing.T) {
	v, err := text.NewVocabulary([]rune(" \"5\\abका\u094d"))
	if err != nil {
		t.Fatal(err)
	}
	d := &Description{Vocabulary: v}
	if got, want := d.Scripts(), []ScriptCount{{"", 4}, {"Devanagari", 3}, {"Latin", 2}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := text.Shown(v), []string{"(space)", `"`, "5", `\`, "a", "b", "क", "◌ा", "◌्"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A model is described in words.
func TestDescriptionInWords(t *testing.T) {
	d := described(t)
	testkit.MustContain(t, d.Architecture(), "Conformer: width", "and a decoder of")
	testkit.MustContain(t, d.Hearing(), "log-mel energies of", "25 ms every 10 ms", "in each bin of an utterance")
	d.Network.DecoderLayers, d.Policy.LowerCase, d.Features.Normalize = 0, true, "none"
	testkit.MustContain(t, d.Architecture(), "CTC alone")
	testkit.MustContain(t, d.TextRules(), "in lower case", "without zero-width joiners")
	testkit.MustContain(t, d.Hearing(), "not normalized")
}
