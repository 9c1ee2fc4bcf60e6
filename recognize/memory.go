package recognize

import (
	"fmt"

	"konkanitrain/internal/machine"
	"konkanitrain/internal/words"
)

// autoShare is the share of the machine's memory that a process takes at most where nothing is said.
const autoShare = 0.9

// Memory says how much memory a process may hold, as settings say it.
type Memory struct {
	Limit    string  // an amount, as 2GiB, or "auto" (or "") for what the machine, its control group or a ulimit leaves
	Fraction float64 // share of the machine's memory, or of Limit; 0: 0.9 of the machine's, or all of Limit
}

// Budget is the most bytes that this process may hold in all, and why; 0 where nothing is known. A limit that is given
// counts as it is. A fraction is a share of that, or else of the machine's memory as a whole: two runs with 0.45 each
// fit beside each other.
func (c Memory) Budget() (bytes int64, why string, err error) {
	if bytes, why, err = c.given(); bytes > 0 || err != nil {
		return bytes, why, err
	}
	m := machine.Read()
	own, _ := machine.Self()
	bytes, why = m.Auto(own)
	share, name := c.Fraction, "memory_fraction "
	if share == 0 {
		share, name = autoShare, ""
	}
	if base := m.Base(); base > 0 && (bytes == 0 || ShareOf(share, base) < bytes) {
		bytes, why = ShareOf(share, base), fmt.Sprintf("%s%g of %s", name, share, words.Bytes(base))
		if m.Limit > 0 {
			why += " that " + m.Source + " allows"
		}
	}
	return bytes, why, nil
}

// given is the limit that is an amount, or a fraction of one, and why; 0 where there is none.
func (c Memory) given() (bytes int64, why string, err error) {
	if c.Limit == "auto" || c.Limit == "" {
		return 0, "", nil
	}
	if bytes, err = words.ParseBytes(c.Limit); err != nil {
		return 0, "", fmt.Errorf("memory_limit: %w", err)
	}
	if c.Fraction == 0 {
		return bytes, "memory_limit", nil
	}
	return ShareOf(c.Fraction, bytes), fmt.Sprintf("memory_fraction %g of memory_limit %s", c.Fraction, c.Limit), nil
}

// ShareOf is a share of so many bytes, and at least one: 0 would be no limit.
func ShareOf(share float64, bytes int64) int64 { return max(int64(share*float64(bytes)), 1) }
