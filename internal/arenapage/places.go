package arenapage

import (
	"regexp"
	"strings"
)

// kinds are the parts of a network that the picture tells apart, each with a color of page.Parts (--k0, --k1, ...). A
// buffer is of the first kind whose pattern its place matches. Inputs are known by their first step, not by a name.
var kinds = []struct {
	name  string
	place *regexp.Regexp
}{
	{"inputs", nil},
	{"subsampling", regexp.MustCompile(`^encoder\.subsample\b`)},
	{"encoder feed-forward", regexp.MustCompile(`^encoder\.blocks\.\d+\.ffn`)},
	{"encoder attention", regexp.MustCompile(`^encoder\.blocks\.\d+\.attn\b`)},
	{"encoder convolution", regexp.MustCompile(`^encoder\.blocks\.\d+\.conv\b`)},
	{"encoder sums and norms", regexp.MustCompile(`^encoder\b`)},
	{"decoder feed-forward", regexp.MustCompile(`^decoder\.blocks\.\d+\.ffn`)},
	{"decoder attention", regexp.MustCompile(`^decoder\.blocks\.\d+\.(self|cross)\b`)},
	{"heads and losses", regexp.MustCompile(`^(ctc|loss|decoder\.out|decoder\.loss)\b`)},
	{"decoder embedding, sums and norms", regexp.MustCompile(`^decoder\b`)},
	{"other", regexp.MustCompile(``)},
}

// kind is the index in kinds of what a buffer belongs to.
func (b Buffer) kind() int {
	if b.First < 0 {
		return 0
	}
	for i, k := range kinds {
		if k.place != nil && k.place.MatchString(place(b.Name)) {
			return i
		}
	}
	return len(kinds) - 1
}

// block is the part of the network that a buffer is counted under: "encoder.blocks.3", "encoder.subsample", "ctc".
func (b Buffer) block() string {
	if b.First < 0 {
		return kinds[0].name
	}
	parts := strings.Split(place(b.Name), ".")
	length := 1
	switch {
	case len(parts) > 2 && parts[1] == "blocks":
		length = 3
	case len(parts) > 1 && (parts[0] == "encoder" || parts[0] == "decoder"):
		length = 2
	}
	return strings.Join(parts[:length], ".")
}

// place is a name up to the space behind which it says what was done there.
func place(name string) string {
	place, _, _ := strings.Cut(name, " ")
	return place
}
