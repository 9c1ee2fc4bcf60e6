package audio

import (
	"errors"
	"fmt"
	"math"
)

// vorbisSetup is what a Vorbis setup header says of the length of packets. Reading it also makes sure that the library
// can: it believes sizes, and some contents would keep it busy for ever (Vorbis I, sections 3 and 4.2.4).
type vorbisSetup struct {
	long  []bool // by mode
	books []vorbisBook
	empty []int // bits before the end of each floor without partitions
}

// forLibrary is the header with what the library expects in a floor without partitions, as that of a channel for low
// frequencies: a class, which nothing uses, of 13 bits.
func (s *vorbisSetup) forLibrary(b []byte) []byte {
	if len(s.empty) == 0 {
		return b
	}
	const class = 3 + 2 + 8
	out := make([]byte, 7, len(b)+2*len(s.empty)+1)
	copy(out, b)
	at, n := 0, 0 // bits that were written, and that were inserted
	for i := range 8 * (len(b) - 7) {
		if n < len(s.empty) && i == s.empty[n] {
			at, n = at+class, n+1
		}
		for len(out) <= 7+at/8 {
			out = append(out, 0)
		}
		out[7+at/8] |= b[7+i/8] >> (i & 7) & 1 << (at & 7)
		at++
	}
	return out
}

// vorbisBook is a codebook: values of a vector, 0 where it has no vectors.
type vorbisBook struct {
	entries, dimensions int
	vectors             bool
}

// Bounds on all codebooks together, several times what encoders make.
const (
	vorbisEntries = 1 << 17
	vorbisValues  = 1 << 21
)

var errVorbisEnds = errors.New("ends early")

func (s *vorbisSetup) read(b []byte, channels int) error {
	r := &bitsLow{b: b}
	books := r.read(8) + 1
	entries, values := 0, 0
	for i := range books {
		book, err := readVorbisBook(r)
		if err != nil {
			return fmt.Errorf("codebook %d of %d: %w", i+1, books, err)
		}
		entries += book.entries
		if book.vectors {
			values += book.entries * book.dimensions
		}
		if entries > vorbisEntries || values > vorbisValues {
			return fmt.Errorf("codebooks of more than %d entries or %d values", vorbisEntries, vorbisValues)
		}
		s.books = append(s.books, book)
	}
	for range r.read(6) + 1 {
		if r.read(16) != 0 {
			return errors.New("a time domain transform of an unknown kind")
		}
	}
	floors := r.read(6) + 1
	for range floors {
		if err := s.floor(r); err != nil {
			return err
		}
	}
	residues := r.read(6) + 1
	for range residues {
		if err := s.residue(r); err != nil {
			return err
		}
	}
	mappings := r.read(6) + 1
	for range mappings {
		if err := mapping(r, channels, floors, residues); err != nil {
			return err
		}
	}
	for range r.read(6) + 1 {
		s.long = append(s.long, r.read(1) != 0)
		if r.read(32) != 0 || r.read(8) >= mappings {
			return errors.New("a mode of an unknown kind")
		}
	}
	if r.read(1) == 0 || r.ended {
		return errVorbisEnds
	}
	return nil
}

// readVorbisBook reads a codebook. Its codewords must be a tree that has an end for whatever bits come.
func readVorbisBook(r *bitsLow) (book vorbisBook, err error) {
	if r.read(24) != 0x564342 {
		return book, errors.New("not a codebook")
	}
	book.dimensions, book.entries = r.read(16), r.read(24)
	if book.dimensions < 1 || book.entries < 2 || book.entries > vorbisEntries {
		return book, fmt.Errorf("%d entries of %d values", book.entries, book.dimensions)
	}
	used, leaves := 0, 0.0 // leaves: the part of the tree that is taken
	take := func(n, length int) {
		used += n
		leaves += float64(n) / float64(uint64(1)<<length)
	}
	if ordered := r.read(1) != 0; ordered {
		length := r.read(5) + 1
		for at := 0; at < book.entries; length++ {
			n := r.read(bitsFor(book.entries - at))
			if at += n; length > 32 || at > book.entries || r.ended {
				return book, errors.New("codewords that can't be")
			}
			take(n, length)
		}
	} else {
		sparse := r.read(1) != 0
		for range book.entries {
			if !sparse || r.read(1) != 0 {
				take(1, r.read(5)+1)
			}
			if r.ended {
				return book, errVorbisEnds
			}
		}
	}
	if used == 0 || leaves > 1 || leaves < 1 && used > 1 {
		return book, fmt.Errorf("%d codewords that are no tree", used)
	}
	switch kind := r.read(4); kind {
	case 0:
	case 1, 2:
		book.vectors = true
		r.read(32)
		r.read(32)
		bits := r.read(4) + 1
		r.read(1)
		n := book.entries * book.dimensions
		if n > vorbisValues {
			return book, fmt.Errorf("%d entries of %d values", book.entries, book.dimensions)
		}
		if kind == 1 {
			n = lattice(book.entries, book.dimensions)
			if n != int(math.Pow(float64(book.entries), 1/float64(book.dimensions))) { // as the library has it
				return book, fmt.Errorf("%d entries of %d values, which the decoder would misread", book.entries, book.dimensions)
			}
		}
		for range n {
			if r.read(bits); r.ended {
				return book, errVorbisEnds
			}
		}
	default:
		return book, errors.New("vectors of an unknown kind")
	}
	return book, nil
}

// lattice is the largest n with n^dimensions <= entries (Vorbis I, section 9.2.3).
func lattice(entries, dimensions int) int {
	for n := 1; ; n++ {
		power := 1
		for range dimensions {
			if power *= n + 1; power > entries {
				return n
			}
		}
	}
}

// book says whether there is a book of this number, with vectors where they are needed.
func (s *vorbisSetup) book(n int, vectors bool) bool {
	return n < len(s.books) && (!vectors || s.books[n].vectors)
}

// floor reads a floor of type 1. Type 0 is in the standard, and no encoder has made it since 2001.
func (s *vorbisSetup) floor(r *bitsLow) error {
	if kind := r.read(16); kind != 1 {
		return fmt.Errorf("a floor of type %d, and 1 is read", kind)
	}
	classes := make([]int, r.read(5))
	most := -1
	for i := range classes {
		classes[i] = r.read(4)
		most = max(most, classes[i])
	}
	if len(classes) == 0 {
		s.empty = append(s.empty, r.at)
	}
	var dimensions [16]int
	for class := range most + 1 {
		dimensions[class] = r.read(3) + 1
		subclass := r.read(2)
		if subclass > 0 && !s.book(r.read(8), false) {
			return errors.New("a floor with a codebook that isn't there")
		}
		for range 1 << subclass {
			if n := r.read(8); n > 0 && !s.book(n-1, false) {
				return errors.New("a floor with a codebook that isn't there")
			}
		}
	}
	r.read(2)
	bits := r.read(4)
	seen := map[int]bool{0: true, 1 << bits: true}
	for _, class := range classes {
		for range dimensions[class] {
			x := r.read(bits)
			if seen[x] || r.ended {
				return errors.New("a floor with the same place twice")
			}
			seen[x] = true
		}
	}
	return nil
}

func (s *vorbisSetup) residue(r *bitsLow) error {
	kind, begin, end := r.read(16), r.read(24), r.read(24)
	r.read(24)
	classes, classbook := r.read(6)+1, r.read(8)
	if kind > 2 || begin > end || !s.book(classbook, false) {
		return errors.New("a residue that can't be")
	}
	cascades := make([]int, classes)
	for i := range cascades {
		cascades[i] = r.read(3)
		if r.read(1) != 0 {
			cascades[i] |= r.read(5) << 3
		}
	}
	for _, cascade := range cascades {
		for ; cascade > 0; cascade &= cascade - 1 {
			if !s.book(r.read(8), true) {
				return errors.New("a residue with a codebook that isn't there")
			}
		}
	}
	return nil
}

func mapping(r *bitsLow, channels, floors, residues int) error {
	bad := r.read(16) != 0
	submaps := 1
	if r.read(1) != 0 {
		submaps = r.read(4) + 1
	}
	if r.read(1) != 0 {
		for range r.read(8) + 1 {
			m, a := r.read(bitsFor(channels-1)), r.read(bitsFor(channels-1))
			bad = bad || m == a || m >= channels || a >= channels
		}
	}
	bad = bad || r.read(2) != 0
	if submaps > 1 {
		for range channels {
			bad = r.read(4) >= submaps || bad
		}
	}
	for range submaps {
		r.read(8)
		bad = r.read(8) >= floors || bad
		bad = r.read(8) >= residues || bad
	}
	if bad || r.ended {
		return errors.New("a mapping that can't be")
	}
	return nil
}

// bitsFor is how many bits a number takes, 0 for 0.
func bitsFor(v int) (n int) {
	for ; v > 0; v >>= 1 {
		n++
	}
	return n
}

// bitsLow reads bits, the lowest of each byte first; behind the end there are zeros.
type bitsLow struct {
	b     []byte
	at    int // bits
	ended bool
}

func (r *bitsLow) read(n int) (v int) {
	for i := range n {
		if r.at>>3 >= len(r.b) {
			r.ended = true
			return v
		}
		v |= int(r.b[r.at>>3]>>(r.at&7)&1) << i
		r.at++
	}
	return v
}
