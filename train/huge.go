package train

import (
	"fmt"

	"konkanitrain/internal/words"
	"konkanitrain/model"
)

// huge is the number of parameters from which on a network is not priced, which takes minutes, where it is known before
// that nothing would fit. Smaller ones are, for the sake of what is said of them then.
const huge = 100_000_000

// refuseHuge is an error where the flat buffers of a huge network are over the limit with a single worker, whatever
// else is chosen.
func (r *run) refuseHuge() error {
	const float = 4 // bytes
	t, all := r.cfg.Tuning(), model.Parameters(r.net)
	n, each := size(all), 3 // gradients and two moments
	if t.Averages {
		each++
	}
	least, limit := float*int64(n+each*size(t.Learned(all))), r.pool.Usage().Limit
	if n < huge || limit == 0 || least <= limit {
		return nil
	}
	return fmt.Errorf("it doesn't fit: the %s of %s alone take %s, and %s are allowed (%s): use a smaller network, "+
		"or a machine with more memory; nothing else would help, so nothing else was looked at",
		r.cfg.flatBuffers(), words.Count(n, "parameter"), words.Binary(least), words.Binary(limit), r.limitFrom)
}
