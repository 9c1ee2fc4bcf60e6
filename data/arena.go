package data

// arena keeps pieces of memory that never change, without a pointer to each: a place is the number of a chunk and where
// in it the piece begins.
type arena struct {
	chunks [][]byte
}

// chunkBits is the size of a chunk; a longer piece has a chunk of its own.
const chunkBits = 18

// add keeps a copy of b and says where.
func (a *arena) add(b []byte) uint64 {
	n := len(a.chunks) - 1
	if n < 0 || len(a.chunks[n])+len(b) > cap(a.chunks[n]) {
		a.chunks = append(a.chunks, make([]byte, 0, max(1<<chunkBits, len(b))))
		n++
	}
	at := len(a.chunks[n])
	a.chunks[n] = append(a.chunks[n], b...)
	return uint64(n)<<chunkBits | uint64(at)
}

// at is the memory from a place on, to the end of its chunk.
func (a *arena) at(place uint64) []byte {
	return a.chunks[place>>chunkBits][place&(1<<chunkBits-1):]
}

// interned gives each of some strings a number, in the order in which they come.
type interned struct {
	list    []string
	numbers map[string]int32
}

// number is that of s, which is kept as a copy of its own.
func (n *interned) number(s string) int32 {
	if i, ok := n.numbers[s]; ok {
		return i
	}
	if n.numbers == nil {
		n.numbers = map[string]int32{}
	}
	s = string([]byte(s))
	i := int32(len(n.list))
	n.list = append(n.list, s)
	n.numbers[s] = i
	return i
}
