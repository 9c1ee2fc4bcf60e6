package data

import (
	"fmt"

	"konkanitrain/internal/philox"
)

// identities gives each entry its identity and refuses ids that stand twice. again says so of paths that were
// listed before; it is "" for all others.
func (s *Set) identities(entries []entry) (ids []string, again map[int]string, err error) {
	ids, again = make([]string, len(entries)), map[int]string{}
	lines := make(map[string]int, len(entries)) // of each identity
	times := map[string]int{}                   // that a path was listed again
	for i := range entries {
		e := &entries[i]
		if ids[i] = e.id; e.id == "" {
			continue
		}
		if before, twice := lines[e.id]; twice {
			return nil, nil, fmt.Errorf("manifest %s: the id %s stands on lines %d and %d; it keys the random draws and must be unique, rename one",
				e.file, e.id, before, e.line)
		}
		lines[e.id] = e.line
	}
	for i := range entries {
		e := &entries[i]
		if e.id != "" || e.audio == "" {
			continue
		}
		id := e.audio
		if e.offset > 0 {
			id = fmt.Sprintf("%s@%v", e.audio, e.offset)
		}
		base := id
		first, taken := lines[id]
		for taken {
			times[base]++
			id = fmt.Sprintf("%s#%d", base, times[base]+1)
			_, taken = lines[id]
			again[i] = fmt.Sprintf("%s, as on line %d; called %s", base, first, id)
		}
		ids[i], lines[id] = id, e.line
	}
	keys := make(map[uint64]string, len(ids))
	for _, id := range ids {
		if other, taken := keys[philox.ID(id)]; taken && other != id {
			return nil, nil, fmt.Errorf("manifest %s: the ids %s and %s have the same 64-bit key, so their random draws would be the same; rename one",
				s.Path, other, id)
		}
		keys[philox.ID(id)] = id
	}
	return ids, again, nil
}
