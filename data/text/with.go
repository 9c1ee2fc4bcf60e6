package text

import "slices"

// With is v with the characters of other that it lacks behind its own, in other's order: all ids of v stay what they
// are.
func (v *Vocabulary) With(other *Vocabulary) (*Vocabulary, error) {
	chars := slices.Clone(v.chars)
	for _, r := range other.chars {
		if _, known := v.ID(r); !known {
			chars = append(chars, r)
		}
	}
	return NewVocabulary(chars)
}
